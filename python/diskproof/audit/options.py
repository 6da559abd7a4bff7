"""Checks of a server's settings as somebody published or kept them, before or beside a server's answer."""

import re
from collections.abc import Iterator

from diskproof.audit.check import (
    Configuration,
    NothingToCheckError,
    Problem,
    Said,
    check,
    note,
    warning,
)
from diskproof.audit.configuration import effective, option_file, server_of, untold_groups, where_of
from diskproof.families import of
from diskproof.families.mysql.option_file import is_read
from diskproof.families.values import Values, as_bytes, same
from diskproof.results.imported import AskedOption
from diskproof.results.record import NotRecordedError, recorded
from diskproof.wording import Message, bytes_, say

# ---------------------------------------------------------------- options and each other


@check(
    "repeated-option",
    reason="If an option is set twice, the last value holds, but a reader may believe the first.",
    remedy="leave one line of each, and publish what the server answers to SHOW VARIABLES",
    source="MySQL Reference Manual, Using Option Files; PostgreSQL documentation, Setting Parameters",
)
def repeated_option(configuration: Configuration) -> Iterator[Said]:
    """Find options that are set more than once, to different values, and do not add up."""
    settings, server = option_file(configuration, "each variable once"), server_of(configuration)
    adds_up = of(server.family).adds_up
    last: dict[str, AskedOption] = {}
    found: dict[str, AskedOption] = {}
    for one in settings.options:
        if is_read(one.group, server) or server.family != "mysql":
            before = last.get(one.name)
            if before and not same(_on(before.value), _on(one.value)) and not re.fullmatch(adds_up, one.name):
                found[one.name] = before
            last[one.name] = one
    yield from _bounded([_repeated(before, last[name]) for name, before in found.items()])
    yield from untold_groups(configuration)


def _repeated(before: AskedOption, last: AskedOption) -> Message:
    return say(
        "`{name}` is set more than once, to {before} and then to {value} in {where}; the last one holds",
        name=last.name,
        before=_on(before.value),
        value=_on(last.value),
        where=where_of(last),
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
    yield from untold_groups(configuration)
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
