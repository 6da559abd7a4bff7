"""What holds on a server, by its option file and by what it answered."""

from collections.abc import Iterator
from dataclasses import replace

from diskproof.audit.check import Configuration, NothingToCheckError, Untold
from diskproof.families import of
from diskproof.families.options import FAMILY_OF, WHICH_SERVER, Server, Version, server_named
from diskproof.families.values import Values
from diskproof.results.imported import Settings


def server_of(configuration: Configuration) -> Server:
    """Return the server of a configuration, as far as anything names it."""
    observed = configuration.observed
    named = configuration.server or configuration.settings.version or (observed.version if observed else None)
    if named:
        return server_named(named)
    form = configuration.settings.source.format
    return Server(next((one for one in FAMILY_OF if form in of(FAMILY_OF[one]).settings_formats), None), None)


def option_file(configuration: Configuration, what_an_answer_holds: str) -> Settings:
    """Return settings that somebody asked for; NothingToCheckError of what a server answered."""
    if configuration.settings.observed:
        raise NothingToCheckError(f"a server's answer, which holds {what_an_answer_holds}")
    return configuration.settings


def with_its_series(configuration: Configuration) -> Configuration:
    """Return a configuration with the options that its server's own series reads, if that is known."""
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
    read = settings.model_copy(
        update={
            "values": values,
            "lines": lines,
            "loose": sorted(loose),
            "repeated": list(dict.fromkeys(repeated)),
            "of_series": [],
        }
    )
    return replace(configuration, settings=read, beside=beside)


def _is_of(series: str, version: Version) -> bool:
    parts = tuple(int(part) for part in series.split("."))
    return version[: len(parts)] == parts


def untold_series(configuration: Configuration) -> Iterator[Untold]:
    """Yield what is missing if some options are for one series of servers only."""
    if configuration.settings.of_series:
        yield Untold(WHICH_SERVER)


def effective(configuration: Configuration) -> Values:
    """Return what holds: what the server answered, and else what was asked for."""
    observed = configuration.observed.values if configuration.observed else {}
    return {**plainly(configuration.settings.values), **observed}


SKIPPED = {"log_bin", "innodb_doublewrite", "innodb_adaptive_hash_index", "performance_schema"}
"""Variables that people turn off by ``skip-``; skip_name_resolve and others are variables themselves."""


def plainly(values: Values) -> Values:
    """Return options by the variable that they set: ``skip_innodb_doublewrite`` turns another one off."""
    found = dict(values)
    for name in values:
        for prefix in ("skip_", "disable_"):
            if name.startswith(prefix) and name.removeprefix(prefix) in SKIPPED:
                found[name.removeprefix(prefix)] = "OFF"
                del found[name]
    return found


WHOLE_FROM = 200
"""Variables, a judgement: MySQL 5.1 answers 270; a shorter answer was cut, or asked for with LIKE."""


def is_whole(observed: Settings) -> bool:
    """Return whether a server's answer holds all its variables, so that what it lacks does not exist."""
    return len(observed.values) >= WHOLE_FROM
