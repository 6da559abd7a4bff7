"""Which values of SHOW GLOBAL STATUS are levels: everything else only ever grows, from the server's start.

From the reference manuals of MySQL 5.6 to 9 and of MariaDB (Server Status Variables).
"""

import re
from collections.abc import Iterable

from diskproof.server.samples import Status

GAUGES = re.compile(
    r"(Threads_(cached|connected|running)"
    r"|Max_used_connections|Max_memory_used|Prepared_stmt_count|Memory_used(_initial)?"
    r"|Global_connection_memory"
    r"|Open_(files|streams|tables|table_definitions)|Table_open_cache_active_instances"
    # Connections, accounts and replicas as they are now.
    r"|Acl_(?!cache_items).+|Delayed_insert_threads|Not_flushed_delayed_rows|Threadpool_(idle_)?threads"
    r"|(Slave|Replica)_(open_temp_tables|heartbeat_period)|Slaves_(connected|running)"
    r"|Rpl_semi_sync_\w+_(clients|wait_sessions|(net|tx)_avg_wait_time)|wsrep(_\w+)?"
    r"|Ssl_(ctx_)?verify_(depth|mode)|Ssl_default_timeout|Ssl_session_cache_(size|timeout)"
    r"|Ssl_used_session_cache_entries|Mysqlx_(ssl_(ctx_)?verify_(depth|mode)|worker_threads(_active)?)"
    # InnoDB's memory, queues and files.
    r"|Innodb_buffer_pool_(bytes_(data|dirty)|pages_(data|dirty|free|latched|misc|old|total)"
    r"|resize_status_(code|progress))"
    r"|Innodb_(data|os_log)_pending_\w+|Innodb_history_list_length|Innodb_checkpoint_(max_|target_)?age"
    r"|Innodb_row_lock_(current_waits|time_avg|time_max)|Innodb_current_row_locks"
    r"|Innodb_(page_size|num_open_files|available_undo_logs)|Innodb_undo_tablespaces_\w+"
    r"|Innodb_ibuf_(free_list|segment_size|size)|Innodb_(mem|onlineddl)_\w+"
    r"|Innodb_redo_log_(uuid|physical_size|logical_size|capacity_resized)"
    r"|Innodb_(descriptors|read_views)_memory|Innodb_encryption_rotation_estimated_iops"
    # Other caches.
    r"|(Key|Aria_pagecache)_blocks_\w+|Qcache_(free_blocks|free_memory|queries_in_cache|total_blocks)"
    r"|Tc_log_(max_pages_used|page_size)"
    # What the last statement, log entry or binary log left.
    r"|Last_query_(cost|partial_plans)|Binlog_snapshot_position|Error_log_(buffered_\w+|latest_write)"
    r"|innodb_metrics\.trx_rseg_history_len"
    r"|Performance_schema_session_connect_attrs_longest_seen|Uptime\w*)",
    re.IGNORECASE,
)

_NUMBER = re.compile(r"-?\d+(\.\d+)?")


def status(rows: Iterable[tuple[str, str]]) -> Status:
    """Sort the numeric values of SHOW GLOBAL STATUS; those in words are left out."""
    values = {name: float(text) for name, text in rows if _NUMBER.fullmatch(text)}
    gauges = {name for name in values if GAUGES.fullmatch(name)}
    return Status(
        counters={name: value for name, value in values.items() if name not in gauges},
        gauges={name: value for name, value in values.items() if name in gauges},
    )
