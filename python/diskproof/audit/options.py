"""Checks of a server's settings: what cannot take effect, what is set twice, what is not what it is called.

They look at settings as somebody published or kept them, before or beside what a server answered.
"""

from collections.abc import Callable, Iterator
from dataclasses import replace

from diskproof.audit.check import Apart, Configuration, Problem, Said, Untold, check
from diskproof.audit.configuration import WHICH_SERVER, Values, effective, server_of, untold_series
from diskproof.audit.option_facts import Life, Server, Version
from diskproof.results.imported import Settings
from diskproof.results.record import format_bytes
from diskproof.results.trial import Severity
from diskproof.server.values import as_bytes, same


def _dotted(version: Version) -> str:
    return ".".join(map(str, version))


# ---------------------------------------------------------------- one option and the server's version


@check(
    "unknown-option",
    reason="A server does not start with an option that it does not know, or runs as if it were not there: "
    "either way the figures are of other settings than the file's.",
    remedy="take the option out, and say what the server answers to SHOW VARIABLES",
    source="the change history of each option, named with the finding",
)
def unknown_option(configuration: Configuration) -> Iterator[Said]:
    """Find options that the server of that version does not have yet, no longer has, or never had."""
    yield from _lives(configuration, _unknown)


@check(
    "deprecated-option",
    reason="A deprecated option still acts, but not in the next version: who repeats the experiment there "
    "runs another one.",
    remedy="set what has taken its place, where there is one",
    source="the change history of each option, named with the finding",
)
def deprecated_option(configuration: Configuration) -> Iterator[Said]:
    """Note options that the server still takes and warns of."""
    yield from _lives(configuration, _deprecated)


def _lives(configuration: Configuration, judge: Callable[[Life, Server], Problem | None]) -> Iterator[Said]:
    """Judge every option of an option file of which something is known.

    Of a server of which the series alone is told, what changed within that series cannot be told.
    """
    settings = configuration.settings
    if settings.observed:
        yield Apart("a server's answer, which holds only what it knows")
        return
    server = server_of(configuration)
    if server.version is None and (settings.values or settings.of_series):
        yield Untold(WHICH_SERVER)
    for name in settings.values:
        life = server.life(name)
        if life is not None and (server.version or life.never):
            bounds = (life.since, life.removed) if judge is _unknown else (life.deprecated,)
            if server.version and any(bound and server.since(*bound) is None for bound in bounds):
                yield Untold(f"which release of {server.words} it is: `{name}` changed within them")
                continue
            said = judge(life, server)
            if said is not None and name in settings.loose and said.severity != "note":
                said = replace(said, message=f"{said.message}, but for `loose_`: it is passed over")
            if said is not None:
                yield said


def _unknown(life: Life, server: Server) -> Problem | None:
    if life.never:
        what = f"{server.words} has no option `{life.name}`"
    elif life.since and server.since(*life.since) is False:
        what = f"`{life.name}` came with {_dotted(life.since)}, and this is {server.words}"
    elif life.removed and server.since(*life.removed):
        what = f"`{life.name}` was removed in {_dotted(life.removed)}, and this is {server.words}"
    else:
        return None
    outcome = "the server does not start with it"
    if not life.never and life.removed and server.since(*life.removed):
        if life.still_taken:
            outcome = "the server takes it and does nothing"
        elif server.flavour == "MariaDB":  # which takes some of its old options, and others not
            outcome = "it does nothing there, if the server starts with it at all"
    return Problem("warning", f"{what}: {outcome} ({life.source})", _instead(life))


def _deprecated(life: Life, server: Server) -> Problem | None:
    if not life.deprecated or not server.since(*life.deprecated) or _unknown(life, server):
        return None
    message = f"`{life.name}` is deprecated since {_dotted(life.deprecated)}, and this is {server.words}"
    return Problem("note", f"{message} ({life.source})", _instead(life))


def _instead(life: Life) -> str | None:
    return f"set {life.instead}" if life.instead else None


# ---------------------------------------------------------------- options and each other


@check(
    "repeated-option",
    reason="Of an option that is set twice the last one holds, and a reader may believe the first.",
    remedy="leave one line of each, and say what the server answers to SHOW VARIABLES",
    source="MySQL Reference Manual, Using Option Files; PostgreSQL documentation, Setting Parameters",
)
def repeated_option(configuration: Configuration) -> Iterator[Said]:
    """Find options that are set more than once."""
    settings = configuration.settings
    if settings.observed:
        yield Apart("a server's answer, which tells each variable once")
    yield from _bounded([_repeated(settings, name) for name in settings.repeated])
    yield from untold_series(configuration)


def _repeated(settings: Settings, name: str) -> str:
    value, line = settings.values.get(name), settings.lines.get(name)
    where = f" in line {line}" if line else ""
    return (
        f"`{name}` is set more than once; what holds is the last one that the server reads, "
        f"{'ON' if value is None else value}{where}"
    )


# ---------------------------------------------------------------- levels beside each other


@check(
    "same-level",
    reason="Two tuning levels that are the same settings under two names show only noise.",
    remedy="leave one of them out, or set what they were to differ in",
    source="Fisher, The Design of Experiments, 1935: what is compared must differ",
)
def same_level(configuration: Configuration) -> Iterator[Said]:
    """Find other levels with the same settings."""
    if not configuration.beside:
        yield Apart("settings of one level")
    for other in configuration.beside:
        if not differences(effective(configuration), effective(other)):
            # Nobody said that they are levels: two copies of one file are none.
            severity: Severity = "note" if configuration.differs_in is None else "warning"
            yield Problem(severity, f"`{configuration.level}` and `{other.level}` differ in no option")


@check(
    "undeclared-difference",
    reason="What two levels differ in besides what is said has a part in the difference of their figures.",
    remedy="give the option one value at all levels, or say that it is part of the level",
    source="Fisher, The Design of Experiments, 1935, on confounding",
)
def undeclared_difference(configuration: Configuration) -> Iterator[Said]:
    """Find options in which levels differ although nobody says so."""
    if not configuration.beside:
        yield Apart("settings of one level")
        return
    if configuration.differs_in is None:
        yield Untold("what the levels are said to differ in")
        return
    for other in configuration.beside:
        levels = f"`{configuration.level}` and `{other.level}`"
        yield from _bounded(
            [
                f"{levels} differ in `{name}` too: {ours} and {theirs}"
                for name, ours, theirs in differences(effective(configuration), effective(other))
                if name not in configuration.differs_in and "/" not in ours + theirs
            ]
        )


def differences(ours: Values, theirs: Values) -> list[tuple[str, str, str]]:
    """Return each option that does not have one value in both, with both values.

    Places are among them (they hold a ``/``): by their storage levels may always differ.
    """
    return [
        (name, _told(ours, name), _told(theirs, name))
        for name in dict.fromkeys((*ours, *theirs))
        if not _equal(ours.get(name, ""), theirs.get(name, ""))
    ]


MOST_FOUND = 20
"""Of the same fault; a file that has more is another file."""


def _bounded(messages: list[str]) -> Iterator[Problem]:
    """Yield the first of many problems of one kind, and how many there are besides."""
    yield from (Problem("warning", message) for message in messages[:MOST_FOUND])
    if len(messages) > MOST_FOUND:
        yield Problem("warning", f"and {len(messages) - MOST_FOUND} more of the same")


def _equal(one: str | None, other: str | None) -> bool:
    return same("ON" if one is None else one, "ON" if other is None else other)


def _told(values: Values, name: str) -> str:
    return "not set" if name not in values else (values[name] or "ON")


# ---------------------------------------------------------------- memory


PER_CONNECTION = (
    "sort_buffer_size",
    "join_buffer_size",
    "read_buffer_size",
    "read_rnd_buffer_size",
    "binlog_cache_size",
    "thread_stack",
)
"""What each connection may take besides (MySQL Reference Manual, How MySQL Uses Memory)."""


@check(
    "memory",
    reason="A server that is given more memory than the machine has swaps, or is killed: what is measured is "
    "the swap.",
    remedy="a smaller buffer pool, fewer connections, or smaller buffers for each",
    source="MySQL Reference Manual, How MySQL Uses Memory; PostgreSQL documentation, Resource Consumption",
)
def memory(configuration: Configuration) -> Iterator[Said]:
    """Find buffers that are larger than the machine's memory, alone or with all connections at work."""
    values, server = effective(configuration), server_of(configuration)
    yield from untold_series(configuration)
    names = ("shared_buffers",) if server.is_postgresql else ("innodb_buffer_pool_size", "key_buffer_size")
    shared = {name: size for name in names if (size := as_bytes(values.get(name) or "")) is not None}
    if not shared:
        yield Apart("settings without a size of the buffer pool")
        return
    if configuration.memory_bytes is None:
        yield Untold("the machine's memory")
        return
    pool = sum(shared.values())
    machine = format_bytes(configuration.memory_bytes)
    if pool > configuration.memory_bytes:
        yield Problem(
            "warning", f"{' and '.join(shared)} take {format_bytes(pool)} of the machine's {machine}"
        )
        return
    each = (
        0 if server.is_postgresql else sum(as_bytes(values.get(name) or "") or 0 for name in PER_CONNECTION)
    )
    if server.is_postgresql:
        each = as_bytes(values.get("work_mem") or "") or 0
    connections = as_bytes(values.get("max_connections") or "") or 0
    whole = pool + each * connections
    if whole > configuration.memory_bytes:
        yield Problem(
            "note",
            f"with all {connections:.0f} connections at work the buffers may take {format_bytes(pool)} + "
            f"{connections:.0f} x {format_bytes(each)} = {format_bytes(whole)} of the machine's {machine}",
        )
