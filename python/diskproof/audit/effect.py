"""What was asked for beside what the server answered."""

from collections.abc import Iterator
from dataclasses import dataclass

from diskproof.audit.check import Apart, Configuration, Problem, Said, Untold, check
from diskproof.audit.configuration import Values, plainly, untold_series
from diskproof.server.values import same

NO_VARIABLES = ("plugin_load", "early_plugin_load", "user", "console", "symbolic_links", "optimizer_switch")
"""Options without a variable of that name, or with one that tells more than was asked for."""

MOST_TOLD = 20
"""Options of one sentence."""

UNREAD_FROM = 3
"""Options of which more than half read back otherwise: one or two are a server's own doing. A judgement."""

READ_AT_ALL = (
    "see which files the server reads (`mysqld --verbose --help` begins with them), that it was started anew "
    "since, and publish what SHOW VARIABLES answers"
)


@dataclass(frozen=True)
class _Other:
    """An option that reads back otherwise."""

    name: str
    asked: str
    read: str


@check(
    "took-effect",
    reason="A server that runs with another value than the option file's is another experiment.",
    remedy="see the server's log for what it made of the option, and publish what SHOW VARIABLES answers",
    source="the option file beside what the running server answered",
)
def took_effect(configuration: Configuration) -> Iterator[Said]:
    """Find options that do not read back as requested."""
    settings, observed = configuration.settings, configuration.observed
    if settings.observed:
        yield Apart("what a server answered, with no option file beside it")
        return
    if observed is None:
        yield Untold("what the server answered to SHOW VARIABLES")
        return
    yield from untold_series(configuration)
    asked = {name: value for name, value in plainly(settings.values).items() if _has_variable(name)}
    answered = [name for name in asked if name in observed.values]
    other = [found for name in answered if (found := _other(name, asked[name], observed.values))]
    if other:
        yield _reads_back(other, len(answered))
    if untold := [f"`{name}`" for name in asked if name not in observed.values]:
        yield Untold(f"what the server answered for {_some(untold, ', ')}")


def _has_variable(name: str) -> bool:
    return not name.startswith((*NO_VARIABLES, "disable_"))


def _other(name: str, asked: str | None, observed: Values) -> _Other | None:
    read = observed[name] or ""
    return None if _holds(name, asked, read) else _Other(name, "ON" if asked is None else asked, read)


def _reads_back(other: list[_Other], answered: int) -> Problem:
    """Say what reads back otherwise, in one finding: the remedy of all is one."""
    if len(other) == 1:
        one = other[0]
        return Problem("warning", f"`{one.name}` reads back as {one.read}, but {one.asked} was asked for")
    count = f"{len(other)} of {answered} options"
    told = _some([f"`{one.name}` as {one.read}, but {one.asked} was asked for" for one in other], "; ")
    if len(other) >= UNREAD_FROM and 2 * len(other) > answered:
        said = f"{count} differ: the server probably did not read this file. Read back: {told}"
        return Problem("warning", said, READ_AT_ALL)
    return Problem("warning", f"{count} read back otherwise: {told}")


def _some(told: list[str], between: str) -> str:
    """Join the first of many, and count those besides."""
    more = f"{between}and {len(told) - MOST_TOLD} more" if len(told) > MOST_TOLD else ""
    return between.join(told[:MOST_TOLD]) + more


def _holds(name: str, asked: str | None, observed: str) -> bool:
    if name == "log_bin" and asked is not None and not same(asked, "OFF"):
        return same("ON", observed)  # its value is a path, the variable's is whether there is one
    if asked is None:
        return same("ON", observed)
    if "/" in asked and not asked.startswith("/"):
        return True  # a relative path reads back as a whole one
    return same(asked, observed)
