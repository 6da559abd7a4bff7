"""Options that no server has: a letter too many in a name that decides about durability."""

from collections.abc import Collection, Iterator
from difflib import get_close_matches

from diskproof.audit.check import Configuration, Said, check, note, warning
from diskproof.audit.configuration import is_whole, option_file, plainly, server_of
from diskproof.families import of

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
