"""Checks of a server's settings as somebody published or kept them, before or beside a server's answer."""

import re
from collections.abc import Collection, Iterator
from difflib import get_close_matches

from diskproof.audit.check import Configuration, Problem, Said, check, note, warning
from diskproof.audit.configuration import is_whole, option_file, plainly, server_of, untold_groups, where_of
from diskproof.families import of
from diskproof.families.mysql.option_file import is_read
from diskproof.families.values import Values, same
from diskproof.results.imported import AskedOption
from diskproof.wording import Message, say


@check(
    "repeated-option",
    reason="If an option is set twice, the last value holds, but a reader may believe the first.",
    remedy="leave one line of each, and publish what the server answers to SHOW VARIABLES "
    "(PostgreSQL: SHOW ALL)",
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


def differences(ours: Values, theirs: Values) -> list[tuple[str, str, str]]:
    """Return each option whose values differ, with both values."""
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


SHORTEST = 8
"""Letters of a name that is compared: too many shorter names differ in one letter. A judgement."""

ALIKE = 0.93
"""Ratio of difflib from which a name is a misspelt one: one mistake in a name of 10 letters, two in one of
30. A judgement: no two variables of the installed servers that are compared here are as near."""


@check(
    "misspelt-option",
    reason="A server does not start with an option that it does not know. An option file that no server "
    "started with is no evidence for the figures beside it.",
    remedy="spell it as the server does, and publish what the server answers to SHOW VARIABLES "
    "(PostgreSQL: SHOW ALL)",
    source="the server's own answer, or the variables that decide about durability and memory",
)
def misspelt_option(configuration: Configuration) -> Iterator[Said]:
    """Find options whose names are near to one that decides about durability, or that the server answered."""
    settings, observed = option_file(configuration, "only what it knows"), configuration.observed
    known = set(of(server_of(configuration).family).known)
    known |= set(observed.values if observed is not None and is_whole(observed) else ())
    loose = {one.name for one in settings.options if one.loose}
    for name in plainly(configuration):
        if near := nearest(name, known):
            found = note if name in loose else warning
            yield found("`{name}` is no option; did you mean `{near}`?", name=name, near=near)


def nearest(name: str, known: Collection[str]) -> str | None:
    """Return the known name that `name` most probably misspells; None if it is known, or none is near."""
    if name in known or len(name) < SHORTEST:
        return None
    others = [one for one in known if not name.startswith(f"{one}_") and not one.startswith(f"{name}_")]
    return next(iter(get_close_matches(name, others, n=1, cutoff=ALIKE)), None)
