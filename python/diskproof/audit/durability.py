"""What a power cut takes by a server's settings, and settings of durability that contradict each other."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

from diskproof.audit.check import Configuration, Problem, Said, Untold, check
from diskproof.audit.configuration import (
    ON,
    WHICH_SERVER,
    Values,
    effective,
    is_off,
    is_set,
    is_whole,
    server_of,
    untold_series,
)
from diskproof.audit.option_facts import Server
from diskproof.results.record import NotRecordedError
from diskproof.server.durability import at_risk
from diskproof.server.values import same
from diskproof.study.part import Family

POSSIBLE: tuple[Server, ...] = (
    Server("MySQL", (5, 6, 0)),
    Server("MySQL", (5, 7, 44)),
    Server("MySQL", (8, 4, 0)),
    Server("MariaDB", (10, 11, 0)),
)
"""One server for each set of defaults that bear on durability: where nobody tells which it is, what all of
them make of some settings holds, and what they do not agree on cannot be told."""


@check(
    "mixed-durability",
    reason="Settings that flush one log at each commit and leave another to the system are neither fast nor "
    "safe; and a level that is called safe must keep what it acknowledged.",
    remedy="for safe: innodb_flush_log_at_trx_commit = 1, sync_binlog = 1, innodb_doublewrite = ON "
    "(PostgreSQL: fsync, synchronous_commit and full_page_writes on); for fast: 2 and 0 "
    "(PostgreSQL: synchronous_commit off alone)",
    source="MySQL Reference Manual, innodb_flush_log_at_trx_commit and sync_binlog; "
    "PostgreSQL documentation, WAL settings",
)
def mixed_durability(configuration: Configuration) -> Iterator[Said]:
    """Find settings of durability that contradict each other or the level's name."""
    yield from untold_series(configuration)
    values, server = effective(configuration), server_of(configuration)
    if server.is_postgresql:
        yield from (Problem("warning", message) for message in _postgresql_durability(values))
    else:
        said = [list(_mysql_durability(values, one)) for one in possible(server)]
        sure = [message for message in said[0] if all(message in other for other in said)]
        yield from (Problem("warning", message) for message in sure)
        if any(len(other) > len(sure) for other in said):
            yield Untold(WHICH_SERVER)
    if (risk := _sold_as_safe(configuration.level, values, server)) is not None:
        yield Problem("warning", f"level `{configuration.level}` is called safe, but {risk}")


def possible(server: Server) -> tuple[Server, ...]:
    """Return the servers that it may be, one for each set of defaults; itself where its version is told."""
    if server.is_postgresql or (server.flavour and server.version):
        return server.releases
    return tuple(
        one
        for one in POSSIBLE
        if server.flavour in {None, one.flavour} or (server.is_mysql and one.flavour == "MySQL")
    )


def _mysql_durability(values: Values, server: Server) -> Iterator[str]:
    commit = values.get("innodb_flush_log_at_trx_commit", "1")
    flushed = commit is None or same(commit, "1") or same(commit, "3")
    interval, by_default = _sync_binlog(values, server)
    if logs(values, server):
        pair = f"innodb_flush_log_at_trx_commit = {commit} with sync_binlog = {interval}{by_default}"
        if not flushed and same(interval, "1"):
            yield (
                f"{pair}: each commit still waits for a flush, the binary log's, while a power cut may lose "
                "about a second of the redo log: the binary log then holds transactions that InnoDB has lost"
            )
        if flushed and not same(interval, "1"):
            yield (
                f"{pair}: each commit waits for the redo log's flush, while a power cut may lose the last "
                "transactions of the binary log, by which recovery decides"
            )
    if flushed and is_set(values, "innodb_doublewrite", "OFF", "DETECT_ONLY"):
        yield (
            f"innodb_doublewrite = {values['innodb_doublewrite']} with innodb_flush_log_at_trx_commit = "
            f"{commit}: commits are flushed, but a page that is half written in a power cut stays torn, "
            "unless the device writes pages whole"
        )
    if flushed and is_set(values, "innodb_flush_method", "nosync"):
        yield (
            f"innodb_flush_method = nosync with innodb_flush_log_at_trx_commit = {commit}: "
            "data files are never flushed"
        )
    early = server.is_mysql and server.since(8, 0, 14) is False
    if flushed and early and is_set(values, "innodb_flush_method", "O_DIRECT_NO_FSYNC"):
        yield (
            f"innodb_flush_method = O_DIRECT_NO_FSYNC on {server.words}: before 8.0.14 the growth of a file "
            "is not flushed either, and is lost in a power cut"
        )


def _sync_binlog(values: Values, server: Server) -> tuple[str, str]:
    """Return how often the binary log of a server of known version is flushed, and whether by default.

    The default is 1 on MySQL from 5.7.7 on, and 0 on MariaDB and before (their manuals).
    """
    if (told := values.get("sync_binlog")) is not None:
        return told, ""
    return ("1" if server.is_mysql and server.since(5, 7, 7) else "0"), ", its default there"


def logs(values: Values, server: Server) -> bool:
    """Tell whether there is a binary log; where nothing is said, MySQL has one from 8.0 on.

    Raises NotRecordedError where the settings leave it to the defaults of a server that nobody tells.
    """
    if "log_bin" in values:
        return not is_off(values, "log_bin")
    if server.flavour is None or (server.is_mysql and server.version is None):
        raise NotRecordedError(WHICH_SERVER)
    return server.is_mysql and bool(server.since(8, 0, 0))


def _postgresql_durability(values: Values) -> Iterator[str]:
    commits = is_set(values, "synchronous_commit", *ON) or "synchronous_commit" not in values
    if is_off(values, "fsync") and commits:
        yield (
            "fsync = off with synchronous_commit = on: a commit waits for a flush that is never made, and a "
            "power cut may leave a database that does not come up"
        )
    if is_off(values, "full_page_writes") and not is_off(values, "fsync"):
        yield (
            "full_page_writes = off with fsync = on: a page that is half written in a power cut stays torn, "
            "unless the file system writes pages whole"
        )


SAFE = frozenset({"safe", "safer", "safest", "durable", "acid"})
UNSAFE = frozenset({"unsafe", "nondurable"})
TAKE_IT_BACK = frozenset({"not", "non", "un", "thread", "mysqld", "mariadbd"})
"""Words of names that promise, words that promise the contrary, and words before which the first promise
nothing: ``not_safe``, ``thread-safe``, ``mysqld_safe``."""


def promises_safety(name: str) -> bool:
    """Tell whether the name of a level or of a file promises that what was acknowledged stays."""
    words = re.findall(r"[^\W\d_]+", name.casefold())
    if not UNSAFE.isdisjoint(words):
        return False
    return any(word in SAFE and before not in TAKE_IT_BACK for before, word in pairwise(["", *words]))


def _sold_as_safe(level: str, values: Values, server: Server) -> str | None:
    """Say what a level may lose whose name promises to keep all."""
    if not promises_safety(level):
        return None
    if server.is_postgresql:
        off = next((one for one in ("fsync", "synchronous_commit") if is_off(values, one)), None)
        return f"{off} = off may lose acknowledged commits" if off else None
    told = values.get("innodb_flush_log_at_trx_commit")
    if told is not None and not is_set(values, "innodb_flush_log_at_trx_commit", "1", "3"):
        return f"innodb_flush_log_at_trx_commit = {told} may lose about a second of acknowledged commits"
    return None


# ---------------------------------------------------------------- what a power cut takes

TAKES: dict[str, str] = {
    "innodb_flush_log_at_trx_commit": "commits of about the last second may be lost",
    "sync_binlog": "the binary log may lose its end, and with it the last commits, for recovery goes by it",
    "innodb_doublewrite": "torn pages are not repaired",
    "innodb_flush_method": "data pages that count as written may be lost",
    "fsync": "the database may not come up again",
    "synchronous_commit": "the last commits may be lost",
    "full_page_writes": "torn pages are not repaired",
    "synchronous": "the last commits may be lost",
    "journal_mode": "a transaction that was half written stays half written",
}
"""For each variable of `server.durability` what a power cut may do where it does not hold."""

POSTGRESQL_DEFAULTS = {"fsync": "on", "synchronous_commit": "on", "full_page_writes": "on"}
"""PostgreSQL documentation, WAL settings; the same in all its versions since 9.1."""


@dataclass(frozen=True)
class Risks:
    """What of a server's settings lets a power cut take commits."""

    sure: dict[str, str]
    """Variables that do, with their values."""
    untold: tuple[str, ...] = ()
    """Variables that bear on it and that nobody tells."""
    unsure: tuple[str, ...] = ()
    """Those of which the server's version would have to be known."""

    @property
    def said(self) -> list[str]:
        """Return what may be lost by each: ``torn pages are not repaired (innodb_doublewrite = OFF)``."""
        return [f"{TAKES[name]} ({name} = {value})" for name, value in self.sure.items()]


def after_a_power_cut(configuration: Configuration) -> str:
    """Say in one sentence what these settings leave of a database after a power cut."""
    risks = risks_of(configuration)
    said = risks.said
    if risks.untold:
        said.append(f"{_names(risks.untold)} {'is' if len(risks.untold) == 1 else 'are'} not told")
    if risks.unsure:
        said.append(f"the settings do not tell, nor the server's version, what {_names(risks.unsure)} does")
    if not said:
        values, servers = effective(configuration), possible_servers(configuration)
        may_tear = method_untold(configuration) or any(copies_unflushed(values, one) for one in servers)
        torn = " and tears no page" if may_tear else ""
        return f"A power cut takes no acknowledged commit, if the device keeps what it says is flushed{torn}."
    return f"After a power cut: {'; '.join(said)}."


def risks_of(configuration: Configuration) -> Risks:
    """Return what settings risk, on whichever server they may be for.

    Of an option file the server's defaults hold beside it. Of a part of a server's answer they do not: what
    that leaves out is not told.
    """
    found = [_risks(configuration, one) for one in possible_servers(configuration)]
    common = {name: value for name, value in found[0].items() if all(name in other for other in found)}
    unsure = dict.fromkeys(name for one in found for name in one if name not in common)
    return _sorted(common, tuple(unsure))


def risks_where(family: Family, observed: Values) -> Risks:
    """Return what the settings risk that a server itself answered."""
    return _sorted(at_risk(family, observed))


def _sorted(found: dict[str, str], unsure: tuple[str, ...] = ()) -> Risks:
    known = {name: value for name, value in found.items() if value != NOT_KNOWN}
    return Risks(known, tuple(name for name in found if name not in known), unsure)


def possible_servers(configuration: Configuration) -> tuple[Server, ...]:
    """Return the servers that settings may be for, one for each set of defaults."""
    return possible(server_of(configuration))


def holding(configuration: Configuration, server: Server) -> dict[str, str | None]:
    """Return what holds on one server: what it answered, what was asked for, and its defaults beside that.

    Switches are spelt as servers tell them.
    """
    values = dict(effective(configuration))
    if configuration.observed is None or is_whole(configuration.observed):
        values = {**_defaults(values, server), **values}
    switches = {"innodb_doublewrite", "log_bin", *POSTGRESQL_DEFAULTS}
    return {name: _spelt(values[name]) if name in switches else values[name] for name in values}


METHOD = "innodb_flush_method"


def copies_unflushed(values: Values, server: Server) -> str | None:
    """Say how a server writes pages before their copies are flushed; None where it does not.

    MySQL's doublewrite buffer is files of its own from 8.0.20 on, which O_DIRECT leaves unflushed before the
    pages are written (storage/innobase/buf/buf0dblwr.cc, is_fsync_required). O_DIRECT is the default from
    8.4 on (MySQL 8.4 Reference Manual, innodb_flush_method).
    """
    if without_copies(values) or not _copies_in_files(server):
        return None
    method = values.get(METHOD, "O_DIRECT" if server.since(8, 4, 0) else "fsync")
    if not any(same(method or "", one) for one in ("O_DIRECT", "O_DIRECT_NO_FSYNC")):
        return None
    return (
        f"{METHOD} = {method}{'' if METHOD in values else ', its default there'}: {server.words} writes a "
        "page before its copy in the doublewrite buffer is flushed, and a power cut may leave both torn "
        "where the disk has a volatile cache"
    )


def without_copies(values: Values) -> bool:
    """Tell whether InnoDB keeps no copy of a page that it writes: DETECT_ONLY notes which pages alone."""
    return is_off(values, "innodb_doublewrite") or is_set(values, "innodb_doublewrite", "DETECT_ONLY")


def method_untold(configuration: Configuration) -> bool:
    """Tell whether it is the flush method that decides about the copies, and a part of an answer omits it."""
    values, observed = effective(configuration), configuration.observed
    if METHOD in values or without_copies(values) or observed is None or is_whole(observed):
        return False
    return any(_copies_in_files(one) for one in possible_servers(configuration))


def _copies_in_files(server: Server) -> bool:
    """Tell whether the doublewrite buffer is files of its own there, which have flushes of their own."""
    return server.is_mysql and bool(server.since(8, 0, 20))


def _names(names: Sequence[str]) -> str:
    return " and ".join(f"`{name}`" for name in names)


NOT_KNOWN = "not known"
"""What `at_risk` calls a variable that was not read."""


def _risks(configuration: Configuration, server: Server) -> dict[str, str]:
    """Return the variables with which a power cut takes something on one server, each as it was told."""
    values = effective(configuration)
    found = at_risk("postgresql" if server.is_postgresql else "mysql", holding(configuration, server))
    return {name: values.get(name) or value for name, value in found.items()}


def _defaults(values: Values, server: Server) -> dict[str, str]:
    if server.is_postgresql:
        return POSTGRESQL_DEFAULTS
    return {
        "innodb_flush_log_at_trx_commit": "1",
        "innodb_doublewrite": "ON",
        "sync_binlog": _sync_binlog(values, server)[0],
        "log_bin": "ON" if logs(values, server) else "OFF",
    }


def _spelt(value: str | None) -> str:
    """Return a switch as servers tell it; an option without a value is on."""
    if value is None or any(same(value, one) for one in ON):
        return "on"
    return "off" if same(value, "off") else value
