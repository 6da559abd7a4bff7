"""What InnoDB's settings and the binary log's mean for commits, and which of them contradict each other."""

from collections.abc import Iterator

from diskproof.families.facts import Need
from diskproof.families.options import WHICH_SERVER, Server
from diskproof.families.values import Values, is_off, is_set, lower, same
from diskproof.results.record import NotRecordedError
from diskproof.wording import Message, say

COMMIT, INTERVAL, DOUBLEWRITE = "innodb_flush_log_at_trx_commit", "sync_binlog", "innodb_doublewrite"
METHOD = "innodb_flush_method"

UNFLUSHED = frozenset({"nosync", "littlesync", "o_direct_no_fsync"})
"""Flush methods that leave data files to the operating system, or to the disk's volatile cache, although a
checkpoint releases the log. O_DIRECT_NO_FSYNC is safe since MySQL 8.0.14 if data and log share a device,
because the log's flush covers the data. The settings say neither."""

_FLUSHED = frozenset({"1", "3"})
"""3 is MariaDB's: as 1, with another flush at prepare."""


def needs(observed: Values) -> dict[str, Need]:
    """Return the needs. One of a binary log that is not known to be off is among them.

    Recovery asks the binary log which prepared transactions were committed, so it must be flushed at each
    commit too. A half-written page is repaired from the doublewrite buffer; without it, its commits are lost.
    """
    logs = lower(observed, "log_bin") not in {"off", "0"}
    found = {
        COMMIT: Need(
            "commits of about the last second may be lost",
            keeps=_FLUSHED,
            log="redo",
            called="redo log",
            waits=_FLUSHED,
        ),
        "log_bin": Need(log="binlog", waits=frozenset({"on", "1"}), never=frozenset({"off", "0"})),
        INTERVAL: Need(
            "the binary log may lose its end, and with it the last commits, because recovery follows it",
            keeps=frozenset({"1"}) if logs else None,
            log="binlog",
            called="binary log",
            waits=frozenset({"1"}),
            never=frozenset({"0"}),
        ),
        DOUBLEWRITE: Need("torn pages are not repaired", keeps=frozenset({"on", "1", "detect_and_recover"})),
    }
    if lower(observed, DOUBLEWRITE) == "fast":  # MariaDB from 11.0 on
        found[DOUBLEWRITE] = Need("data pages that count as written may be lost", keeps=frozenset())
    if lower(observed, METHOD) in UNFLUSHED:
        found[METHOD] = Need("data pages that count as written may be lost", keeps=frozenset())
    return found


def relaxed(observed: Values) -> dict[str, str]:
    """Return the variables with which both logs are written and flushed about once a second."""
    binlog = {} if lower(observed, "log_bin") in {"off", "0"} else {INTERVAL: "0"}
    return {COMMIT: "2", **binlog}


POSSIBLE = (
    Server("MySQL", (5, 6, 0)),
    Server("MySQL", (5, 7, 44)),
    Server("MySQL", (8, 4, 0)),
    Server("MariaDB", (10, 11, 0)),
)


def defaults(values: Values, server: Server) -> dict[str, str]:
    """Return the defaults that bear on durability.

    sync_binlog is 1 on MySQL from 5.7.7 on, and 0 on older ones and MariaDB (their manuals).
    """
    return {
        COMMIT: "1",
        DOUBLEWRITE: "ON",
        INTERVAL: "1" if server.is_mysql and server.since(5, 7, 7) else "0",
        "log_bin": "ON" if logs(values, server) else "OFF",
    }


def logs(values: Values, server: Server) -> bool:
    """Return whether there is a binary log; if nothing is set, MySQL has one from 8.0 on.

    Raises NotRecordedError if the settings leave it to the defaults of an unknown server.
    """
    if "log_bin" in values:
        return not is_off(values, "log_bin")
    if server.flavour is None or (server.is_mysql and server.version is None):
        raise NotRecordedError(WHICH_SERVER)
    return server.is_mysql and bool(server.since(8, 0, 0))


def contradictions(values: Values, server: Server) -> Iterator[Message]:
    """Yield the settings of durability that contradict each other."""
    commit = values.get(COMMIT, "1")
    flushed = commit is None or any(same(commit, one) for one in _FLUSHED)
    set_to, default = values.get(INTERVAL), defaults(values, server)[INTERVAL]
    if logs(values, server):
        pair = say(
            "innodb_flush_log_at_trx_commit = {commit} with sync_binlog = {interval}{by_default}",
            commit=commit or "1",
            interval=set_to or default,
            by_default="" if set_to is not None else ", its default there",
        )
        synced = same(set_to or default, "1")
        if not flushed and synced:
            yield say(
                "{pair}: each commit still waits for the binary log's flush, but a power cut may lose about "
                "a second of the redo log. The binary log then holds transactions that InnoDB has lost",
                pair=pair,
            )
        if flushed and not synced:
            yield say(
                "{pair}: each commit waits for the redo log's flush, but a power cut may lose the last "
                "transactions of the binary log, which recovery follows",
                pair=pair,
            )
    if not flushed:
        return
    if without_copies(values):
        yield say(
            "innodb_doublewrite = {doublewrite} with innodb_flush_log_at_trx_commit = {commit}: commits are "
            "flushed, but a page that is half written in a power cut stays torn, unless the device writes "
            "whole pages",
            doublewrite=values[DOUBLEWRITE] or "",
            commit=commit or "1",
        )
    if is_set(values, DOUBLEWRITE, "fast"):
        yield say(
            "innodb_doublewrite = fast with innodb_flush_log_at_trx_commit = {commit}: data files are not "
            "flushed before a checkpoint releases the log, which is safe only if the log's flush covers them",
            commit=commit or "1",
        )
    if is_set(values, METHOD, "nosync"):
        yield say(
            "innodb_flush_method = nosync with innodb_flush_log_at_trx_commit = {commit}: data files are "
            "never flushed",
            commit=commit or "1",
        )
    early = server.is_mysql and server.since(8, 0, 14) is False
    if early and is_set(values, METHOD, "O_DIRECT_NO_FSYNC"):
        yield say(
            "innodb_flush_method = O_DIRECT_NO_FSYNC on {server}: before 8.0.14 the growth of a file is not "
            "flushed either, and a power cut loses it",
            server=server.title,
        )


# ---------------------------------------------------------------- the doublewrite buffer


def without_copies(values: Values) -> bool:
    """Return whether InnoDB keeps no copy of a page that it writes; DETECT_ONLY notes only which pages."""
    return is_set(values, DOUBLEWRITE, "OFF", "DETECT_ONLY")


def copies_in_files(server: Server) -> bool:
    """Return whether the doublewrite buffer has files of its own, with flushes of their own."""
    return server.is_mysql and bool(server.since(8, 0, 20))


def copies_unflushed(values: Values, server: Server) -> Message | None:
    """Return how a server writes pages before their copies are flushed; None if it does not.

    MySQL's doublewrite buffer has files of its own from 8.0.20 on. With O_DIRECT they are not flushed before
    the pages are written (storage/innobase/buf/buf0dblwr.cc, is_fsync_required). O_DIRECT is the default from
    8.4 on (MySQL 8.4 Reference Manual, innodb_flush_method).
    """
    if without_copies(values) or not copies_in_files(server):
        return None
    method = values.get(METHOD, "O_DIRECT" if server.since(8, 4, 0) else "fsync") or ""
    if not is_set({METHOD: method}, METHOD, "O_DIRECT", "O_DIRECT_NO_FSYNC"):
        return None
    return say(
        "innodb_flush_method = {method}{by_default}: {server} writes a page before its copy in the "
        "doublewrite buffer is flushed. On a disk with a volatile cache a power cut may leave both torn",
        method=method,
        by_default="" if METHOD in values else ", its default there",
        server=server.title,
    )
