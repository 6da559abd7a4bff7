"""What a power cut may take by a server's settings, and settings of durability that contradict each other."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import pairwise

from diskproof.audit.check import (
    Apart,
    Configuration,
    NothingToCheckError,
    Problem,
    Said,
    Untold,
    check,
    warning,
)
from diskproof.audit.configuration import effective, is_whole, server_of, untold_groups
from diskproof.families import Family, of
from diskproof.families.durability import at_risk
from diskproof.families.mysql.durability import METHOD, copies_in_files, copies_unflushed, without_copies
from diskproof.families.mysql.option_file import is_read, resolved
from diskproof.families.options import WHICH_SERVER, Server
from diskproof.families.values import Values, as_switch
from diskproof.wording import Message, say


@check(
    "mixed-durability",
    reason="Settings that flush one log at each commit and leave another to the operating system are neither "
    "fast nor safe. A level that is called safe must keep what it acknowledged.",
    remedy="for safe: innodb_flush_log_at_trx_commit = 1, sync_binlog = 1, innodb_doublewrite = ON "
    "(PostgreSQL: fsync, synchronous_commit and full_page_writes on); for fast: 2 and 0 "
    "(PostgreSQL: only synchronous_commit off)",
    source="MySQL Reference Manual, innodb_flush_log_at_trx_commit and sync_binlog; "
    "PostgreSQL documentation, WAL settings",
)
def mixed_durability(configuration: Configuration) -> Iterator[Said]:
    """Find settings of durability that contradict each other or the level's name."""
    yield from untold_groups(configuration)
    values, servers = effective(configuration), possible_servers(configuration)
    if not any(name in values for one in servers for name in of(one.family).needs(values)):
        untold = configuration.observed or configuration.settings.observed
        yield (
            Untold("the settings of durability")
            if untold
            else Apart("it leaves them to the server's defaults")
        )
        return
    found = [list(of(one.family).contradictions(values, one)) for one in servers]
    sure = [message for message in found[0] if all(message in other for other in found)]
    yield from (Problem("warning", message) for message in sure)
    if any(len(other) > len(sure) for other in found):
        yield Untold(WHICH_SERVER)
    if promises_safety(configuration.level) and (lost := _lost_by_choice(configuration, values)):
        yield warning("level `{level}` is called safe, but {lost}", level=configuration.level, lost=lost)


def _lost_by_choice(configuration: Configuration, values: Values) -> Message | None:
    """Return what is lost because the settings themselves do not flush the first log."""
    server = server_of(configuration)
    facts, held = of(server.family), _spelt(server.family, values)
    for name, need in facts.needs(held).items():
        if need.log == facts.log_roles[0] and values.get(name) and name in at_risk(server.family, held):
            return _loss(need.otherwise, name, values[name])
    return None


SAFE = frozenset({"safe", "safer", "safest", "durable", "acid"})
UNSAFE = frozenset({"unsafe", "nondurable"})
TAKE_IT_BACK = frozenset({"not", "non", "un", "thread", "mysqld", "mariadbd"})
"""Words of names that promise safety, words that promise the contrary, and words after which the first ones
promise nothing: ``not_safe``, ``thread-safe``, ``mysqld_safe``."""


def promises_safety(name: str) -> bool:
    """Return whether the name of a level or a file promises that acknowledged commits are kept."""
    words = re.findall(r"[^\W\d_]+", name.casefold())
    if not UNSAFE.isdisjoint(words):
        return False
    return any(word in SAFE and before not in TAKE_IT_BACK for before, word in pairwise(["", *words]))


# ---------------------------------------------------------------- what a power cut takes


@dataclass(frozen=True)
class Risks:
    """Which of a server's settings let a power cut take commits."""

    sure: dict[str, Message]
    """What may be lost, by the variable that allows it."""
    untold: tuple[str, ...] = ()
    """Variables that decide about it and that were not read."""
    unsure: tuple[str, ...] = ()
    """Variables that decide about it on some of the servers that it may be."""
    elsewhere: tuple[str, ...] = ()
    """What was not read and may say anything about it."""

    @property
    def losses(self) -> list[Message]:
        """What may be lost by each: ``torn pages are not repaired (innodb_doublewrite = OFF)``."""
        return list(self.sure.values())


def after_a_power_cut(configuration: Configuration) -> Message:
    """Return one sentence on what these settings leave of a database after a power cut."""
    risks = risks_of(configuration)
    said = risks.losses
    if risks.untold:
        said.append(say("{names} {names:is|are} not known", names=_quoted(risks.untold)))
    if risks.elsewhere:
        said.append(say("not known, for it includes what was not read: {files:/; }", files=risks.elsewhere))
    if risks.unsure:
        said.append(
            say(
                "what {names} {names:does|do} depends on the server's version, which is not known",
                names=_quoted(risks.unsure),
            )
        )
    if said:
        return say("After a power cut: {said:/; }.", said=said)
    values, servers = effective(configuration), possible_servers(configuration)
    may_tear = method_untold(configuration) or any(copies_unflushed(values, one) for one in servers)
    return say(
        "A power cut takes no acknowledged commit, if the device keeps what it reports as "
        "flushed{torn}{here}.",
        torn=" and tears no page" if may_tear else "",
        here=", and if the server reads the same files as here" if configuration.settings.included else "",
    )


def _quoted(names: tuple[str, ...]) -> list[str]:
    return [f"`{name}`" for name in names]


def _loss(otherwise: str, name: str, value: str | None) -> Message:
    return say("{loss} ({name} = {value})", loss=otherwise, name=name, value=value or "ON")


def risks_of(configuration: Configuration) -> Risks:
    """Return what settings risk, on any server that they may be for.

    Beside an option file the server's defaults hold. Beside a part of a server's answer they do not: what it
    leaves out is not known.
    """
    values = effective(configuration)
    found = []
    for server in possible_servers(configuration):
        held = holding(configuration, server)
        risks = at_risk(server.family, held)
        found.append({name: values.get(name) or value for name, value in risks.items()})
    common = {name: value for name, value in found[0].items() if all(name in other for other in found)}
    unsure = dict.fromkeys(name for one in found for name in one if name not in common)
    server, facts = server_of(configuration), of(possible_servers(configuration)[0].family)
    for one in configuration.settings.options:
        if is_read(one.group, server) is None:
            name = resolved(one.name, one.value, facts.known, server)[0]
            unsure |= {name: None} if name in facts.needs(values) else {}
    observed = configuration.observed
    missing = [] if observed and is_whole(observed) else configuration.settings.missing
    return replace(_risks(facts.name, values, common, tuple(unsure)), elsewhere=tuple(missing))


def risks_where(family: Family, observed: Values) -> Risks:
    """Return what the settings risk that a server itself answered."""
    return _risks(family, observed, at_risk(family, observed))


def _risks(
    family: Family, values: Values, found: dict[str, str | None], unsure: tuple[str, ...] = ()
) -> Risks:
    needs = of(family).needs(values)
    return Risks(
        {name: _loss(needs[name].otherwise, name, value) for name, value in found.items() if value},
        tuple(name for name, value in found.items() if not value),
        unsure,
    )


def possible(server: Server) -> tuple[Server, ...]:
    """Return the servers that it may be, one for each set of defaults; itself if its version is known."""
    if server.flavour and server.version:
        return server.releases
    return tuple(
        one
        for one in of(server.family).possible
        if server.flavour in {None, one.flavour} or (server.is_mysql and one.flavour == "MySQL")
    ) or (server,)


def possible_servers(configuration: Configuration) -> tuple[Server, ...]:
    """Return the servers that settings may be for, one for each set of defaults."""
    return possible(server_of(configuration))


def holding(configuration: Configuration, server: Server) -> Values:
    """Return what holds on one server: what it answered, what was asked for, and its defaults beside that."""
    values = effective(configuration)
    if configuration.observed is None or is_whole(configuration.observed):
        values = {**of(server.family).defaults(values, server), **values}
    return _spelt(server.family, values)


def _spelt(family: Family, values: Values) -> Values:
    """Return settings with their switches spelt as servers report them."""
    needs = of(family).needs(values)
    switches = {name for name, need in needs.items() if "on" in need.waits | (need.keeps or frozenset())}
    return {name: as_switch(value) if name in switches else value for name, value in values.items()}


def method_untold(configuration: Configuration) -> bool:
    """Return whether the flush method decides about the copies of pages, and the server's answer omits it."""
    values, observed = effective(configuration), configuration.observed
    if METHOD in values or without_copies(values) or observed is None or is_whole(observed):
        return False
    return any(copies_in_files(one) for one in possible_servers(configuration))


@check(
    "unflushed-doublewrite",
    reason="A torn page is repaired from its copy in the doublewrite buffer. If the copy was not flushed "
    "before the page was written, a disk's volatile cache may tear both, also at the safest level.",
    remedy="a disk whose cache survives a power cut, or innodb_flush_method = fsync (then data "
    "lie in the system's page cache as well)",
    source="MySQL's source, storage/innobase/buf/buf0dblwr.cc, is_fsync_required, from 8.0.20 on; "
    "seen in docs/durability.md",
)
def unflushed_doublewrite(configuration: Configuration) -> Iterator[Said]:
    """Find MySQL servers that write pages before the doublewrite buffer's copies of them are flushed."""
    family = server_of(configuration).family
    if family != "mysql":
        raise NothingToCheckError(f"{of(family).title} has no doublewrite buffer")
    values = effective(configuration)
    found = [copies_unflushed(values, one) for one in possible_servers(configuration)]
    if without_copies(values):
        raise NothingToCheckError("no copies are made: the doublewrite buffer is off")
    if method_untold(configuration):
        yield Untold("`{method}`, which the server's answer leaves out", method=METHOD)
    elif all(found) and found[0]:
        yield Problem("warning" if promises_safety(configuration.level) else "note", found[0])
    elif any(found):
        yield Untold(WHICH_SERVER)
