"""What was asked for beside what the server answered."""

from collections.abc import Iterator, Sequence

from diskproof.audit.check import Configuration, Problem, Said, Untold, check, warning
from diskproof.audit.configuration import is_whole, option_file, plainly, server_of, untold_groups
from diskproof.families import of
from diskproof.families.values import Values, same
from diskproof.results.record import recorded
from diskproof.wording import say

MOST_NAMED = 20
"""Options of one sentence."""

UNREAD_FROM = 3
"""Options of which more than half read back differently: one or two are a server's own doing. A judgement."""

UNREAD_REMEDY = (
    "see which files the server reads (`mysqld --verbose --help` begins with them), that it was started anew "
    "since, and publish what it answers to SHOW VARIABLES (PostgreSQL: SHOW ALL)"
)


@check(
    "took-effect",
    reason="A server that runs with another value than the option file's is another experiment.",
    remedy="look in the server's log for the option, and publish what the server answers to SHOW VARIABLES "
    "(PostgreSQL: SHOW ALL)",
    source="the option file beside what the running server answered",
)
def took_effect(configuration: Configuration) -> Iterator[Said]:
    """Find options that do not read back as requested."""
    option_file(configuration, "nothing that was asked for")
    asking = of(server_of(configuration).family).asked_by
    observed = recorded(configuration.observed, f"what the server answered to {asking}")
    yield from untold_groups(configuration)
    asked = plainly(configuration)
    answered = [name for name in asked if name in observed.values]
    others = [name for name in answered if not _holds(name, asked[name], observed.values[name] or "")]
    if others:
        yield _reads_back(others, len(answered), asked, observed.values)
    untold = [f"`{name}`" for name in asked if name not in observed.values]
    if untold and not is_whole(observed):  # of a whole answer, those are options without a variable
        more = f", and {len(untold) - MOST_NAMED} more" if len(untold) > MOST_NAMED else ""
        missing = "what the server answered for {names:/, }{more}"
        yield Untold(missing, names=untold[:MOST_NAMED], more=more)


def _reads_back(names: Sequence[str], answered: int, asked: Values, observed: Values) -> Problem:
    """Return one finding on all options that read back differently: they have one remedy."""
    said = [
        say(
            "`{name}` {reads}as {observed}, but {asked} was asked for",
            name=name,
            reads="reads back " if len(names) == 1 else "",
            observed=observed[name] or "",
            asked="ON" if asked[name] is None else asked[name] or "",
        )
        for name in names[:MOST_NAMED]
    ]
    if len(names) == 1:
        return Problem("warning", said[0])
    if len(names) > MOST_NAMED:
        said.append(say("and {more:.0f} more", more=len(names) - MOST_NAMED))
    unread = len(names) >= UNREAD_FROM and 2 * len(names) > answered
    return warning(
        "{number:.0f} of {answered:.0f} options {verdict}: {said:/; }",
        number=len(names),
        answered=answered,
        verdict="differ: the server probably did not read this file. Read back"
        if unread
        else "read back differently",
        said=said,
        remedy=UNREAD_REMEDY if unread else None,
    )


def _holds(name: str, asked: str | None, observed: str) -> bool:
    if name == "log_bin" and asked is not None and not same(asked, "OFF"):
        return same("ON", observed)  # the option's value is a path, the variable's is a switch
    if asked is None:
        return same("ON", observed)
    if "/" in asked and not asked.startswith("/"):
        return True  # a relative path reads back as a whole one
    return same(asked, observed)
