"""Options that have no effect beside the others."""

from collections.abc import Iterator
from dataclasses import dataclass

from diskproof.audit.check import Apart, Configuration, Problem, Said, Untold, check
from diskproof.audit.configuration import Values, effective, is_off, is_set, plainly, server_of, untold_series
from diskproof.audit.durability import logs
from diskproof.audit.option_facts import Server
from diskproof.results.record import NotRecordedError, format_bytes
from diskproof.server.values import as_bytes, same

GIB = 2**30


@dataclass(frozen=True)
class Idle:
    """Why an option has no effect beside others."""

    name: str
    because: str
    source: str


@check(
    "idle-option",
    reason="An option that another one keeps from acting tells a reader of a tuning that never was.",
    remedy="set what it needs, or take it out",
    source="the reference manual of the server, named with the finding",
)
def idle_option(configuration: Configuration) -> Iterator[Said]:
    """Find options that have no effect beside the others, on that server."""
    if configuration.settings.observed:
        yield Apart("a server's answer, which tells the defaults too")
        return
    yield from untold_series(configuration)
    asked = plainly(configuration.settings.values)
    values, server = effective(configuration), server_of(configuration)
    for rule in _POSTGRESQL_RULES if server.is_postgresql else _MYSQL_RULES:
        try:
            found = rule(asked, values, server)
        except NotRecordedError as error:
            yield Untold(error.what)
            continue
        if found is not None:
            yield Problem("warning", f"`{found.name}` has no effect: {found.because} ({found.source})")


# Each rule takes what the option file asks for, what holds, and the server. An option is idle only if
# somebody set it; whether what it needs is there, the server's answer tells as well.


def _thread_pool(asked: Values, values: Values, server: Server) -> Idle | None:
    sized = next((name for name in asked if name.startswith("thread_pool_")), None)
    if sized is None or is_set(values, "thread_handling", "pool-of-threads"):
        return None
    if any(name.startswith(("plugin_load", "early_plugin_load")) for name in values):
        return None
    if server.flavour == "MySQL":
        return Idle(
            sized,
            "MySQL's thread pool is a plugin of its Enterprise Edition, and none is loaded",
            "MySQL Reference Manual, MySQL Enterprise Thread Pool",
        )
    return Idle(
        sized,
        "`thread_handling` is not `pool-of-threads`, so every connection has a thread of its own",
        "Percona Server and MariaDB documentation, Thread Pool",
    )


def _pool_instances(asked: Values, values: Values, server: Server) -> Idle | None:
    told = asked.get("innodb_buffer_pool_instances")
    if told is None or same(told, "1") or same(told, "0") or server.flavour == "MariaDB":
        return None  # MariaDB's are `unknown-option`'s business
    size = as_bytes(values.get("innodb_buffer_pool_size") or "128M")
    if size is None or size >= GIB:
        return None
    return Idle(
        "innodb_buffer_pool_instances",
        f"the buffer pool has {format_bytes(size)}, and only one of 1 GiB or more is divided",
        "MySQL Reference Manual, Configuring Multiple Buffer Pool Instances",
    )


def _binary_log(asked: Values, values: Values, server: Server) -> Idle | None:
    told = asked.get("sync_binlog")
    if told is None or same(told, "0") or logs(values, server):
        return None
    return Idle("sync_binlog", "there is no binary log", "MySQL Reference Manual, Binary Logging Options")


def _old_redo_options(asked: Values, values: Values, server: Server) -> Idle | None:
    old = next((one for one in ("innodb_log_file_size", "innodb_log_files_in_group") if one in asked), None)
    if old is None or "innodb_redo_log_capacity" not in values:
        return None
    if server.version and server.since(8, 0, 30) is None:
        raise NotRecordedError(f"which release of {server.words} it is")
    if not server.is_mysql or server.since(8, 0, 30) is False:
        return None  # without the newer option: `unknown-option`'s business
    return Idle(
        old,
        "`innodb_redo_log_capacity` is set too, and holds",
        "MySQL 8.0 Reference Manual, section Redo Log",
    )


def _query_cache(asked: Values, values: Values, _: Server) -> Idle | None:
    size = as_bytes(asked.get("query_cache_size") or "0")
    if not size or not is_set(values, "query_cache_type", "0", "OFF"):
        return None
    return Idle(
        "query_cache_size",
        "`query_cache_type` is OFF",
        "MySQL 5.7 Reference Manual, Query Cache Configuration",
    )


def _doublewrite_files(asked: Values, values: Values, _: Server) -> Idle | None:
    told = next((name for name in asked if name.startswith("innodb_doublewrite_")), None)
    if told is None or not is_off(values, "innodb_doublewrite"):
        return None
    return Idle(told, "`innodb_doublewrite` is OFF", "MySQL Reference Manual, Doublewrite Buffer")


def _temporary_tables(asked: Values, values: Values, _: Server) -> Idle | None:
    table, heap = (as_bytes(values.get(name) or "") for name in ("tmp_table_size", "max_heap_table_size"))
    if "tmp_table_size" not in asked or table is None or heap is None or table <= heap:
        return None
    return Idle(
        "tmp_table_size",
        f"`max_heap_table_size` is smaller ({format_bytes(heap)}), and the smaller of both holds",
        "MySQL Reference Manual, Internal Temporary Table Use",
    )


def _commit_delay(asked: Values, values: Values, _: Server) -> Idle | None:
    if asked.get("commit_delay") is None or is_set(asked, "commit_delay", "0"):
        return None
    off = next((name for name in ("fsync", "synchronous_commit") if is_off(values, name)), None)
    if off is None:
        return None
    return Idle(
        "commit_delay",
        f"`{off}` is off: no commit waits for a flush",
        "PostgreSQL documentation, WAL settings",
    )


def _sync_method(asked: Values, values: Values, _: Server) -> Idle | None:
    if "wal_sync_method" not in asked or not is_off(values, "fsync"):
        return None
    return Idle("wal_sync_method", "`fsync` is off", "PostgreSQL documentation, WAL settings")


_MYSQL_RULES = (
    _thread_pool,
    _pool_instances,
    _binary_log,
    _old_redo_options,
    _query_cache,
    _doublewrite_files,
    _temporary_tables,
)
_POSTGRESQL_RULES = (_commit_delay, _sync_method)
