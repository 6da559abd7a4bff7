"""Checks of a server's settings as somebody published or kept them, before or beside a server's answer."""

from collections.abc import Callable, Iterator
from dataclasses import replace

from diskproof.audit.check import (
    Configuration,
    NothingToCheckError,
    Problem,
    Said,
    Untold,
    check,
    note,
    warning,
)
from diskproof.audit.configuration import effective, option_file, server_of, untold_series
from diskproof.families import of
from diskproof.families.options import WHICH_SERVER, Life, Server, dotted
from diskproof.families.values import Values, as_bytes, same
from diskproof.results.imported import Settings
from diskproof.results.record import NotRecordedError, recorded
from diskproof.wording import Message, bytes_, say

# ---------------------------------------------------------------- one option and the server's version


@check(
    "unknown-option",
    reason="A server does not start with an option that it does not know, or ignores it. "
    "Either way the figures belong to other settings than the file's.",
    remedy="take the option out, and publish what the server answers to SHOW VARIABLES",
    source="the change history of each option, named with the finding",
)
def unknown_option(configuration: Configuration) -> Iterator[Said]:
    """Find options that the server of that version does not have yet, no longer has, or never had."""
    yield from _lives(configuration, _unknown)


@check(
    "deprecated-option",
    reason="A deprecated option still acts, but not in a later version: an experiment that is repeated there "
    "is another one.",
    remedy="set the option that replaces it, if there is one",
    source="the change history of each option, named with the finding",
)
def deprecated_option(configuration: Configuration) -> Iterator[Said]:
    """Note options that the server still takes but warns about."""
    yield from _lives(configuration, _deprecated)


def _lives(
    configuration: Configuration, judge: Callable[[str, Life, Server], Problem | None]
) -> Iterator[Said]:
    """Judge every option of an option file that something is known of.

    If only the series of the server is known, nothing can be said of what changed within that series.
    """
    settings = option_file(configuration, "only what it knows")
    server = server_of(configuration)
    if server.version is None and (settings.values or settings.of_series):
        yield Untold(WHICH_SERVER)
    for name in settings.values:
        life = server.life(name)
        if life is None or not (server.version or life.never):
            continue
        bounds = (life.since, life.removed) if judge is _unknown else (life.deprecated,)
        if server.version and any(bound and server.since(*bound) is None for bound in bounds):
            missing = "which release of {server} it is: `{name}` changed within them"
            yield Untold(missing, server=server.title, name=name)
        elif (problem := judge(name, life, server)) is not None:
            if name in settings.loose and problem.severity != "note":
                message = say("{problem}, but `loose_` lets the server ignore it", problem=problem.message)
                problem = replace(problem, message=message)
            yield problem


def _unknown(name: str, life: Life, server: Server) -> Problem | None:
    outcome = "the server does not start with it"
    values = {"option": name, "server": server.title, "source": life.source}
    if life.never:
        fault = "{server} has no option `{option}`"
    elif life.since and server.since(*life.since) is False:
        fault = "`{option}` came with {version}, and this is {server}"
        values["version"] = dotted(life.since)
    elif life.removed and server.since(*life.removed):
        fault = "`{option}` was removed in {version}, and this is {server}"
        values["version"] = dotted(life.removed)
        if life.still_taken:
            outcome = "the server accepts and ignores it"
        elif server.flavour == "MariaDB":  # which accepts some of its old options, and others not
            outcome = "it does nothing there, if the server starts with it at all"
    else:
        return None
    return warning(f"{fault}: {outcome} ({{source}})", _instead(life), **values)


def _deprecated(name: str, life: Life, server: Server) -> Problem | None:
    if not life.deprecated or not server.since(*life.deprecated) or _unknown(name, life, server):
        return None
    return note(
        "`{option}` is deprecated since {deprecated}, and this is {server} ({source})",
        _instead(life),
        option=name,
        deprecated=dotted(life.deprecated),
        server=server.title,
        source=life.source,
    )


def _instead(life: Life) -> Message | None:
    return say("set {instead}", instead=life.instead) if life.instead else None


# ---------------------------------------------------------------- options and each other


@check(
    "repeated-option",
    reason="If an option is set twice, the last value holds, but a reader may believe the first.",
    remedy="leave one line of each, and publish what the server answers to SHOW VARIABLES",
    source="MySQL Reference Manual, Using Option Files; PostgreSQL documentation, Setting Parameters",
)
def repeated_option(configuration: Configuration) -> Iterator[Said]:
    """Find options that are set more than once."""
    settings = option_file(configuration, "each variable once")
    yield from _bounded([_repeated(settings, name) for name in settings.repeated])
    yield from untold_series(configuration)


def _repeated(settings: Settings, name: str) -> Message:
    line = settings.lines.get(name)
    return say(
        "`{name}` is set more than once; what holds is the last one that the server reads, {value}{where}",
        name=name,
        value=_value(settings.values, name),
        where=f" in line {line}" if line else "",
    )


# ---------------------------------------------------------------- levels beside each other


@check(
    "same-level",
    reason="Two tuning levels that are the same settings under two names show only noise.",
    remedy="leave one of them out, or set what they were meant to differ in",
    source="Fisher, The Design of Experiments, 1935: what is compared must differ",
)
def same_level(configuration: Configuration) -> Iterator[Said]:
    """Find other levels with the same settings."""
    if not configuration.beside:
        raise NothingToCheckError("settings of one level")
    for other in configuration.beside:
        if not differences(effective(configuration), effective(other)):
            # Nobody said that they are levels: they may be two copies of one file.
            found = note if configuration.differs_in is None else warning
            yield found(
                "`{one}` and `{other}` differ in no option", one=configuration.level, other=other.level
            )


@check(
    "undeclared-difference",
    reason="An option that differs between two levels without being declared may cause the difference of "
    "their figures.",
    remedy="give the option one value at all levels, or say that it is part of the level",
    source="Fisher, The Design of Experiments, 1935, on confounding",
)
def undeclared_difference(configuration: Configuration) -> Iterator[Said]:
    """Find options in which levels differ although nobody says so."""
    differs_in = configuration.differs_in
    if not configuration.beside:
        raise NothingToCheckError("settings of one level")
    if differs_in is None:
        raise NotRecordedError("what the levels are said to differ in")
    for other in configuration.beside:
        yield from _bounded(
            [
                say(
                    "`{one}` and `{other}` differ in `{name}` too: {ours} and {theirs}",
                    one=configuration.level,
                    other=other.level,
                    name=name,
                    ours=ours,
                    theirs=theirs,
                )
                for name, ours, theirs in differences(effective(configuration), effective(other))
                if name not in differs_in and "/" not in ours + theirs
            ]
        )


def differences(ours: Values, theirs: Values) -> list[tuple[str, str, str]]:
    """Return each option whose values differ, with both values.

    Places are among them (they hold a ``/``): levels on different storages may always differ in them.
    """
    return [
        (name, _value(ours, name), _value(theirs, name))
        for name in dict.fromkeys((*ours, *theirs))
        if not same(_on(ours.get(name, "")), _on(theirs.get(name, "")))
    ]


MOST_FOUND = 20
"""Of the same fault; a file with more is another file."""


def _bounded(messages: list[Message]) -> Iterator[Problem]:
    """Yield the first of many problems of one kind, and how many more there are."""
    yield from (Problem("warning", message) for message in messages[:MOST_FOUND])
    if len(messages) > MOST_FOUND:
        yield warning("and {more:.0f} more of the same", more=len(messages) - MOST_FOUND)


def _value(values: Values, name: str) -> str:
    return "not set" if name not in values else (values[name] or "ON")


def _on(value: str | None) -> str:
    return "ON" if value is None else value


# ---------------------------------------------------------------- memory


@check(
    "memory",
    reason="A server with more memory than the machine has swaps, or is killed: the figures are of the swap.",
    remedy="a smaller buffer pool, fewer connections, or smaller buffers for each",
    source="MySQL Reference Manual, How MySQL Uses Memory; PostgreSQL documentation, Resource Consumption",
)
def memory(configuration: Configuration) -> Iterator[Said]:
    """Find buffers that are larger than the machine's memory, alone or with all connections at work."""
    values, facts = effective(configuration), of(server_of(configuration).family)
    yield from untold_series(configuration)
    shared = {name: size for name in facts.pools if (size := as_bytes(values.get(name))) is not None}
    if not shared:
        raise NothingToCheckError("settings without a size of the buffer pool")
    machine, pool = recorded(configuration.memory_bytes, "the machine's memory"), sum(shared.values())
    each = sum(as_bytes(values.get(name)) or 0 for name in facts.per_connection)
    connections = as_bytes(values.get("max_connections")) or 0
    if pool > machine:
        yield warning(
            "{pools} take {pool} of the machine's {machine}",
            pools=list(shared),
            pool=bytes_(pool),
            machine=bytes_(machine),
        )
    elif pool + each * connections > machine:
        yield note(
            "with all {connections:.0f} connections at work the buffers may take "
            "{pool} + {connections:.0f} x {each} = {whole} of the machine's {machine}",
            connections=connections,
            pool=bytes_(pool),
            each=bytes_(each),
            whole=bytes_(pool + each * connections),
            machine=bytes_(machine),
        )
