"""Options of the MySQL family that have no effect beside the others."""

from collections.abc import Iterator

from diskproof.families.facts import Idle
from diskproof.families.mysql.durability import logs
from diskproof.families.options import Server
from diskproof.families.values import Values, as_bytes, is_set, same
from diskproof.results.record import NotRecordedError
from diskproof.wording import bytes_, say

GIB = 2**30


def idle(asked: Values, values: Values, server: Server) -> Iterator[Idle]:
    """Yield the options without effect.

    An option is idle only if the option file sets it. What it needs may stand in the server's answer too.
    """
    yield from _thread_pool(asked, values, server)
    instances, size = asked.get("innodb_buffer_pool_instances"), values.get("innodb_buffer_pool_size")
    pool_bytes = as_bytes(size or "128M")
    several = instances is not None and not is_set(asked, "innodb_buffer_pool_instances", "0", "1")
    if several and pool_bytes is not None and pool_bytes < GIB and server.flavour != "MariaDB":
        yield Idle(
            "innodb_buffer_pool_instances",
            say(
                "the pool has {size}, and only one of 1 GiB or more is divided",
                size=bytes_(pool_bytes),
            ),
            "MySQL Reference Manual, Configuring Multiple Buffer Pool Instances",
        )
    table, heap = (as_bytes(values.get(name)) for name in ("tmp_table_size", "max_heap_table_size"))
    if "tmp_table_size" in asked and table is not None and heap is not None and table > heap:
        yield Idle(
            "tmp_table_size",
            say("`max_heap_table_size` is smaller ({heap}), and the smaller one holds", heap=bytes_(heap)),
            "MySQL Reference Manual, Internal Temporary Table Use",
        )
    yield from _old_redo_log(asked, values, server)
    interval = asked.get("sync_binlog")
    if interval is not None and not same(interval, "0") and not logs(values, server):
        yield Idle(
            "sync_binlog", say("there is no binary log"), "MySQL Reference Manual, Binary Logging Options"
        )


def _thread_pool(asked: Values, values: Values, server: Server) -> Iterator[Idle]:
    sized = next((name for name in asked if name.startswith("thread_pool_")), None)
    plugin = any(name.startswith(("plugin_load", "early_plugin_load")) for name in values)
    if sized is None or plugin or is_set(values, "thread_handling", "pool-of-threads"):
        return
    if server.flavour == "MySQL":
        yield Idle(
            sized,
            say("MySQL's thread pool is a plugin of its Enterprise Edition, and none is loaded"),
            "MySQL Reference Manual, MySQL Enterprise Thread Pool",
        )
    else:
        yield Idle(
            sized,
            say("`thread_handling` is not `pool-of-threads`, so every connection has a thread of its own"),
            "Percona Server and MariaDB documentation, Thread Pool",
        )


def _old_redo_log(asked: Values, values: Values, server: Server) -> Iterator[Idle]:
    """Find the old sizes beside the new one; servers without the new one are for `unknown-option` to find."""
    old = next((one for one in ("innodb_log_file_size", "innodb_log_files_in_group") if one in asked), None)
    if old is None or "innodb_redo_log_capacity" not in values:
        return
    since = server.since(8, 0, 30)
    if server.version and since is None:
        raise NotRecordedError(f"which release of {server.title} it is")
    if server.is_mysql and since is not False:
        yield Idle(
            old,
            say("`innodb_redo_log_capacity` is set too, and holds"),
            "MySQL 8.0 Reference Manual, section Redo Log",
        )
