"""Options and values that no server takes: a letter too many, a word instead of a number."""

import re
from collections.abc import Callable, Collection, Iterator
from itertools import islice

from diskproof.audit.check import Configuration, Problem, Said, Untold, check, note, warning
from diskproof.audit.configuration import is_whole, option_file, server_of
from diskproof.families import of
from diskproof.families.options import Options
from diskproof.results.imported import Settings
from diskproof.wording import Message, counted, say

SHORTEST = 5
"""Letters of a name that is compared: too many shorter names differ in one letter. A judgement."""

TWO_FROM = 10
"""Letters from which two mistakes count as one misspelling, and not as another name. A judgement: no option
of MySQL 5.5, 5.7 or 8.0 that MariaDB lacks is so near to one that it has."""

MOST_NAMED = 10

MOST_COMPARED = 30
"""Strange names of one file that are compared; a file with more is another file."""

PREFIXES = ("skip_", "disable_", "enable_", "maximum_")
"""What servers of the MySQL family take before a name (MySQL Reference Manual, Program Option Modifiers)."""


@check(
    "misspelt-option",
    reason="A server does not start with an option that it does not know. An option file that no server "
    "started with is no evidence for the figures beside it.",
    remedy="spell it as the server does, and publish what the server answers to SHOW VARIABLES",
    source="the server's own answer, or the names that the servers' help and manuals list; "
    "Damerau, A technique for computer detection and correction of spelling errors, 1964",
)
def misspelt_option(configuration: Configuration) -> Iterator[Said]:
    """Find options that no server has but whose names are near to one that a server has."""
    settings, observed = option_file(configuration, "only what it knows"), configuration.observed
    known = of(server_of(configuration).family).options.known
    answered = observed.values if observed is not None and is_whole(observed) else {}
    strange = (name for name in settings.values if not _is_known(name, known, answered))
    untold = []
    for name in islice(strange, MOST_COMPARED):
        near = nearest(_plain(name), answered or known) or nearest(_plain(name), known)
        if not near and not answered:
            untold.append(f"`{name}`")
            continue
        variables = counted(len(answered), "variable")
        absent = say("the server's {variables} do not include it", variables=variables)
        yield _found(settings, name)(
            "`{name}` in {where}: {absent}{meant}",
            name=name,
            where=_where(settings, name),
            absent=absent if answered else "no server known here has it",
            meant=say("; did you mean `{near}`?", near=near) if near else ", and no server known here has it",
        )
    if untold:
        more = f" and {len(untold) - MOST_NAMED} more" if len(untold) > MOST_NAMED else ""
        missing = "which server has {names:/, }{more}: none that is known here"
        yield Untold(missing, names=untold[:MOST_NAMED], more=more)


def _is_known(name: str, known: Collection[str], answered: Collection[str]) -> bool:
    """Return whether some server has this name, maybe behind a prefix, or shortened.

    A server of the MySQL family takes the beginning of a name if no other begins so (`key_buffer`).
    PostgreSQL takes any name with a point, as an extension's.
    """
    plain = _plain(name)
    if "." in name or any(one in known or one in answered for one in (name, plain)):
        return True
    return any(one.startswith(plain) for one in (*known, *answered))


def _plain(name: str) -> str:
    return next((name.removeprefix(one) for one in PREFIXES if name.startswith(one)), name)


def nearest(name: str, known: Collection[str]) -> str | None:
    """Return the known name that `name` most probably misspells; None if none is near."""
    if len(name) < SHORTEST:
        return None
    most = 2 if len(name) >= TWO_FROM else 1
    near = [(distance, one) for one in known if (distance := _distance(name, one, most)) <= most]
    return min(near)[1] if near else None


def _distance(one: str, other: str, most: int) -> int:
    """Return how many letters are inserted, left out, replaced or swapped with the next; `most` + 1 if more.

    Damerau 1964, as optimal string alignment: no part is changed twice.
    """
    if abs(len(one) - len(other)) > most or len({*one} ^ {*other}) > 2 * most:
        return most + 1  # a change brings in at most one letter and takes out at most one
    before: list[int] = []
    row = list(range(len(other) + 1))
    for at, letter in enumerate(one, start=1):
        last, row = row, [at]
        for there, its in enumerate(other, start=1):
            steps = min(last[there] + 1, row[-1] + 1, last[there - 1] + (letter != its))
            if at > 1 and there > 1 and (letter, one[at - 2]) == (other[there - 2], its):
                steps = min(steps, before[there - 2] + 1)
            row.append(steps)
        if min(row) > most:
            return most + 1
        before = last
    return row[-1]


# ---------------------------------------------------------------- values


@check(
    "option-value",
    reason="A server does not start with a value that it cannot read, or takes another value instead.",
    remedy="give a value that the server takes, and publish what it answers to SHOW VARIABLES",
    source="mariadbd --verbose --help and postgres --describe-config for the kind of value; the reference "
    "manuals for the choices",
)
def option_value(configuration: Configuration) -> Iterator[Said]:
    """Find words in place of numbers, and values that an option does not have."""
    settings = option_file(configuration, "only what it accepted")
    options = of(server_of(configuration).family).options
    for name, value in settings.values.items():
        if value and (wanted := _wanted(options, name, value)):
            yield _found(settings, name)(
                "`{name} = {value}` in {where}: it takes {wanted}",
                name=name,
                value=value,
                where=_where(settings, name),
                wanted=wanted,
            )


def _found(settings: Settings, name: str) -> Callable[..., Problem]:
    """Return how a fault of an option counts: a server ignores a loose one that it does not know."""
    return note if name in settings.loose else warning


def _where(settings: Settings, name: str) -> str:
    return f"line {settings.lines[name]}" if name in settings.lines else "the settings"


def _wanted(options: Options, name: str, value: str) -> Message | None:
    """Return what an option takes; None if `value` is that, or nothing is known."""
    choices = options.choices.get(name) or (options.values.switch if name in options.switches else ())
    if choices:
        # Servers take the beginning of a choice too.
        taken = any(one.casefold().startswith(value.strip().casefold()) for one in choices)
        words = [one for one in choices if not one.isdecimal()] or list(choices)
        return None if taken else say("{words:/, } or {last}", words=words[:-1], last=words[-1])
    if name in options.numbers and not re.fullmatch(options.values.number, value.strip()):
        return say(options.values.number_is)
    return None
