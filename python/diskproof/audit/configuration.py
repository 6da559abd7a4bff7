"""What holds on a server, out of an option file and what the server answered."""

from collections.abc import Iterator, Mapping
from dataclasses import replace

from diskproof.audit.check import Configuration, Untold
from diskproof.audit.option_facts import Server, Version, server_named
from diskproof.results.imported import Settings
from diskproof.server.values import same

WHICH_SERVER = (
    "which server and version the settings are for (give what it answers to SHOW VARIABLES beside them)"
)
"""What is missing where the same option means other things on other servers."""

ON = ("on", "1", "true", "yes")

Values = Mapping[str, str | None]


def server_of(configuration: Configuration) -> Server:
    """Return the server of a configuration, by whatever tells it."""
    observed = configuration.observed
    told = configuration.server or configuration.settings.version or (observed.version if observed else None)
    if told:
        return server_named(told)
    if configuration.settings.source.format in {"postgresql.conf", "pg_settings"}:
        return Server("PostgreSQL", None)
    return Server(None, None)


def with_its_series(configuration: Configuration) -> Configuration:
    """Return a configuration with the options that its server's own series reads, where that is told."""
    version = server_of(configuration).version
    beside = tuple(with_its_series(replace(one, beside=())) for one in configuration.beside)
    if version is None or not configuration.settings.of_series:
        return replace(configuration, beside=beside)
    settings = configuration.settings
    own = [one for one in settings.of_series if _is_of(one.series, version)]
    values, lines, loose = dict(settings.values), dict(settings.lines), set(settings.loose)
    repeated = [*settings.repeated, *(one.name for one in own if one.name in values)]
    for one in own:
        if one.line >= lines.get(one.name, 0):  # the last line holds, whichever group it stands in
            values[one.name], lines[one.name] = one.value, one.line
            loose = loose | {one.name} if one.loose else loose - {one.name}
    told = settings.model_copy(
        update={
            "values": values,
            "lines": lines,
            "loose": sorted(loose),
            "repeated": list(dict.fromkeys(repeated)),
            "of_series": [],
        }
    )
    return replace(configuration, settings=told, beside=beside)


def _is_of(series: str, version: Version) -> bool:
    parts = tuple(int(part) for part in series.split("."))
    return version[: len(parts)] == parts


def untold_series(configuration: Configuration) -> Iterator[Untold]:
    """Yield that nobody knows which groups are read, where some are of one series of servers alone."""
    if configuration.settings.of_series:
        yield Untold(WHICH_SERVER)


def effective(configuration: Configuration) -> Values:
    """Return what holds: what the server answered, and else what was asked for."""
    observed = configuration.observed.values if configuration.observed else {}
    return {**plainly(configuration.settings.values), **observed}


def plainly(values: Values) -> Values:
    """Return options by the variable that they set: ``skip_innodb_doublewrite`` is a value of another."""
    found = dict(values)
    for name in values:
        for prefix in ("skip_", "disable_"):
            if name.startswith(prefix) and name.removeprefix(prefix) in SKIPPED:
                found[name.removeprefix(prefix)] = "OFF"
                del found[name]
    return found


SKIPPED = {"log_bin", "innodb_doublewrite", "innodb_adaptive_hash_index", "performance_schema"}
"""Variables that people turn off by ``skip-``; others, as skip_name_resolve, are variables by themselves."""


def is_set(values: Values, name: str, *wanted: str) -> bool:
    """Tell whether a variable is set, and to one of these values."""
    value = values.get(name)
    return value is not None and any(same(one, value) for one in wanted)


def is_off(values: Values, name: str) -> bool:
    """Tell whether a variable is set, and to off."""
    return is_set(values, name, "OFF")


WHOLE_FROM = 200
"""Variables, a judgement: MySQL 5.1 answers 270; what is shorter was cut, or asked for with LIKE."""


def is_whole(observed: Settings) -> bool:
    """Tell whether a server's answer holds all its variables, so that what is not in it is not there."""
    return len(observed.values) >= WHOLE_FROM
