"""What holds on a server, by its option file and by what it answered."""

from collections.abc import Iterator
from dataclasses import replace

from diskproof.audit.check import Configuration, NothingToCheckError, Untold
from diskproof.families import of
from diskproof.families.mysql.option_file import is_read, resolved
from diskproof.families.options import WHICH_SERVER, Server, server_named
from diskproof.families.values import Values
from diskproof.results.imported import AskedOption, Settings
from diskproof.results.record import FAMILY_OF


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


def with_its_groups(configuration: Configuration) -> Configuration:
    """Return a configuration with the options of the groups that its server reads; the last line holds."""
    settings, server = configuration.settings, server_of(configuration)
    if not settings.options or server.family != "mysql":
        return configuration
    values = {one.name: one.value for one in settings.options if is_read(one.group, server)}
    return replace(configuration, settings=settings.model_copy(update={"values": values}))


def untold_groups(configuration: Configuration) -> Iterator[Untold]:
    """Yield what is missing if some options are for one series of servers only, or stand elsewhere."""
    server = server_of(configuration)
    if any(is_read(one.group, server) is None for one in configuration.settings.options):
        yield Untold(WHICH_SERVER)
    if configuration.settings.missing:
        yield Untold(
            "what the files say that it includes: {missing:/, }", missing=configuration.settings.missing
        )


def effective(configuration: Configuration) -> Values:
    """Return what holds: what the server answered, and else what was asked for."""
    observed = configuration.observed.values if configuration.observed else {}
    return {**plainly(configuration), **observed}


def plainly(configuration: Configuration) -> Values:
    """Return options by the variable that they set: ``skip_innodb_doublewrite`` turns another one off."""
    asked, server = configuration.settings.values, server_of(configuration)
    if server.family != "mysql" or configuration.settings.observed:
        return asked
    known = of(server.family).known | SKIPPED
    return dict(resolved(name, value, known, server) for name, value in asked.items())


SKIPPED = {"innodb_adaptive_hash_index", "performance_schema", "skip_name_resolve"}
"""Variables beside those of durability that people turn on or off by a prefix."""


def where_of(option: AskedOption) -> str:
    """Return where an option stands: ``line 5``, ``conf.d/a.cnf, line 5``."""
    return f"{option.file}, line {option.line}" if option.file else f"line {option.line}"


WHOLE_FROM = 200
"""Variables, a judgement: MySQL 5.1 answers 270; a shorter answer was cut, or asked for with LIKE."""


def is_whole(observed: Settings) -> bool:
    """Return whether a server's answer holds all its variables, so that what it lacks does not exist."""
    return len(observed.values) >= WHOLE_FROM
