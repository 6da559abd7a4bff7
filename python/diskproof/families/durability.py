"""What a server's settings mean for its commits: which flush they wait for, and what a power cut may take."""

from collections.abc import Collection
from typing import Literal

from diskproof.families import of
from diskproof.families.options import Server
from diskproof.families.values import Values, lower
from diskproof.results.record import Family, Role


def flushed_logs(family: Family, observed: Values) -> list[Role]:
    """Return the logs whose flush every commit waits for, by the settings of a running server."""
    needs = of(family).needs(observed)
    return [
        role
        for role in of(family).log_roles
        if all(lower(observed, name) in need.waits for name, need in needs.items() if need.log == role)
    ]


def flushes_alone(server: Server, observed: Values) -> bool:
    """Return whether the server is too old for commits to share the flush of the binary log they wait for."""
    since = of(server.family).groups_binlog_since.get(server.flavour or "MySQL")
    waits = "binlog" in flushed_logs(server.family, observed)
    return waits and since is not None and server.since(*since) is False


def log_names(family: Family, observed: Values, roles: Collection[Role]) -> list[str]:
    """Return what the logs of some roles are called."""
    needs = of(family).needs(observed).values()
    return list(dict.fromkeys(need.called for need in needs if need.called and need.log in roles))


def commits_wait_for_flush(family: Family, observed: Values) -> bool:
    """Return whether each commit waits for the first log; False if the settings do not say so."""
    return of(family).log_roles[0] in flushed_logs(family, observed)


def no_commit_waits(family: Family, observed: Values) -> bool:
    """Return whether no commit waits for any log; False if not all of the settings are known."""
    first, *others = of(family).log_roles
    needs = of(family).needs(observed)
    if any(need.log == first and observed.get(name) is None for name, need in needs.items()):
        return False
    for role in others:
        if not any(lower(observed, name) in need.never for name, need in needs.items() if need.log == role):
            return False
    return not commits_wait_for_flush(family, observed)


Awaited = Literal["log", "binary log", "nothing"]
"""The flush that commits wait for: the first log's, the binary log's alone, or none."""


def awaited_flush(family: Family, observed: Values) -> Awaited | None:
    """Return which flush a server's commits wait for; None if its settings do not say."""
    if commits_wait_for_flush(family, observed):
        return "log"
    if no_commit_waits(family, observed):
        return "nothing"
    needs = of(family).needs(observed)
    unknown = any(need.log and observed.get(name) is None for name, need in needs.items())
    return None if unknown else "binary log"


def at_risk(family: Family, observed: Values) -> dict[str, str | None]:
    """Return the variables of a running server that let a power cut take commits, with their values.

    A variable that was not read is among them, with None: we promise only what is known to hold.
    """
    return {
        name: observed.get(name)
        for name, need in of(family).needs(observed).items()
        if need.keeps is not None and lower(observed, name) not in need.keeps
    }
