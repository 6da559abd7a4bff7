"""Checks of a server's settings: what cannot take effect, what is set twice, what is not what it is called.

They look at settings as somebody published or kept them, before or beside what a server answered.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace

from diskproof.audit.check import Apart, Configuration, Problem, Said, Untold, check
from diskproof.audit.option_facts import Life, Server, Version, known_to_any, server_named
from diskproof.results.imported import Settings
from diskproof.results.record import NotRecordedError, format_bytes
from diskproof.results.trial import Severity
from diskproof.server.values import as_bytes, same

GIB = 2**30

ON = ("on", "1", "true", "yes")

Values = Mapping[str, str | None]


def server_of(configuration: Configuration) -> Server:
    """Return the server of a configuration, by whatever tells it."""
    observed = configuration.observed
    told = configuration.server or configuration.settings.version or (observed.version if observed else None)
    if told:
        return server_named(told)
    if configuration.settings.source.format in {"postgresql.conf", "pg_settings"}:
        return Server("PostgreSQL", None)
    return Server(None, None)


def effective(configuration: Configuration) -> Values:
    """Return what holds: what the server answered, and else what was asked for."""
    observed = configuration.observed.values if configuration.observed else {}
    return {**_plainly(configuration.settings.values), **observed}


def _plainly(values: Values) -> Values:
    """Return options by the variable that they set: ``skip_innodb_doublewrite`` is a value of another."""
    found = dict(values)
    for name in values:
        for prefix in ("skip_", "disable_"):
            if name.startswith(prefix) and name.removeprefix(prefix) in SKIPPED:
                found[name.removeprefix(prefix)] = "OFF"
    return found


SKIPPED = {"log_bin", "innodb_doublewrite", "innodb_adaptive_hash_index", "performance_schema"}
"""Variables that people turn off by ``skip-``; others, as skip_name_resolve, are variables by themselves."""


def _is(values: Values, name: str, *wanted: str) -> bool:
    """Tell whether a variable is set, and to one of these values."""
    value = values.get(name)
    return value is not None and any(same(one, value) for one in wanted)


def _is_off(values: Values, name: str) -> bool:
    return _is(values, name, "OFF")


def _dotted(version: Version) -> str:
    return ".".join(map(str, version))


# ---------------------------------------------------------------- one option and the server's version


@check(
    "unknown-option",
    reason="A server does not start with an option that it does not know, or runs as if it were not there: "
    "either way the figures are of other settings than the file's.",
    remedy="take the option out, and say what the server answers to SHOW VARIABLES",
    source="the change history of each option, named with the finding",
)
def unknown_option(configuration: Configuration) -> Iterator[Said]:
    """Find options that the server of that version does not have yet, no longer has, or never had."""
    yield from _lives(configuration, _unknown)


@check(
    "deprecated-option",
    reason="A deprecated option still acts, but not in the next version: who repeats the experiment there "
    "runs another one.",
    remedy="set what has taken its place, where there is one",
    source="the change history of each option, named with the finding",
)
def deprecated_option(configuration: Configuration) -> Iterator[Said]:
    """Note options that the server still takes and warns of."""
    yield from _lives(configuration, _deprecated)


def _lives(configuration: Configuration, judge: Callable[[Life, Server], Problem | None]) -> Iterator[Said]:
    """Judge every option of an option file of which something is known."""
    settings = configuration.settings
    if settings.observed:
        yield Apart("a server's answer, which holds only what it knows")
        return
    server = server_of(configuration)
    for name in settings.values:
        life = server.life(name)
        if life is not None and (server.version or life.never):
            said = judge(life, server)
            if said is not None and name in settings.loose and said.severity != "note":
                said = replace(said, message=f"{said.message}, but for `loose_`: it is passed over")
            if said is not None:
                yield said
        elif life is not None or (server.flavour is None and known_to_any(name)):
            yield Untold("which server and version the settings are for")


def _unknown(life: Life, server: Server) -> Problem | None:
    if life.never:
        what = f"{server.words} has no option `{life.name}`"
    elif life.since and server.since(*life.since) is False:
        what = f"`{life.name}` came with {_dotted(life.since)}, and this is {server.words}"
    elif life.removed and server.since(*life.removed):
        what = f"`{life.name}` was removed in {_dotted(life.removed)}, and this is {server.words}"
    else:
        return None
    outcome = "the server does not start with it"
    if not life.never and life.removed and server.since(*life.removed):
        if life.still_taken:
            outcome = "the server takes it and does nothing"
        elif server.flavour == "MariaDB":  # which takes some of its old options, and others not
            outcome = "it does nothing there, if the server starts with it at all"
    return Problem("warning", f"{what}: {outcome} ({life.source})", _instead(life))


def _deprecated(life: Life, server: Server) -> Problem | None:
    if not life.deprecated or not server.since(*life.deprecated) or _unknown(life, server):
        return None
    message = f"`{life.name}` is deprecated since {_dotted(life.deprecated)}, and this is {server.words}"
    return Problem("note", f"{message} ({life.source})", _instead(life))


def _instead(life: Life) -> str | None:
    return f"set {life.instead}" if life.instead else None


# ---------------------------------------------------------------- options and each other


@check(
    "repeated-option",
    reason="Of an option that is set twice the last one holds, and a reader may believe the first.",
    remedy="leave one line of each, and say what the server answers to SHOW VARIABLES",
    source="MySQL Reference Manual, Using Option Files; PostgreSQL documentation, Setting Parameters",
)
def repeated_option(configuration: Configuration) -> Iterator[Said]:
    """Find options that are set more than once."""
    settings = configuration.settings
    if settings.observed:
        yield Apart("a server's answer, which tells each variable once")
    yield from _bounded([_repeated(settings, name) for name in settings.repeated])


def _repeated(settings: Settings, name: str) -> str:
    value, line = settings.values.get(name), settings.lines.get(name)
    where = f" in line {line}" if line else ""
    return (
        f"`{name}` is set more than once; what holds is the last one that the server reads, "
        f"{'ON' if value is None else value}{where}"
    )


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
    values, server = effective(configuration), server_of(configuration)
    rules = _POSTGRESQL_RULES if server.is_postgresql else _MYSQL_RULES
    for rule in rules:
        try:
            found = rule(values, server)
        except NotRecordedError as error:
            yield Untold(error.what)
            continue
        if found is not None:
            yield Problem("warning", f"`{found.name}` has no effect: {found.because} ({found.source})")


def _thread_pool(values: Values, server: Server) -> Idle | None:
    sized = next((name for name in values if name.startswith("thread_pool_")), None)
    if sized is None or _is(values, "thread_handling", "pool-of-threads"):
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


def _pool_instances(values: Values, server: Server) -> Idle | None:
    told = values.get("innodb_buffer_pool_instances")
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


def _binary_log(values: Values, server: Server) -> Idle | None:
    told = values.get("sync_binlog")
    if told is None or same(told, "0") or _logs(values, server):
        return None
    return Idle("sync_binlog", "there is no binary log", "MySQL Reference Manual, Binary Logging Options")


def _logs(values: Values, server: Server) -> bool:
    """Tell whether there is a binary log; where nothing is said, MySQL has one from 8.0 on."""
    if "log_bin" in values:
        return not _is_off(values, "log_bin")
    if server.flavour is None or (server.is_mysql and server.version is None):
        raise NotRecordedError("which server and version the settings are for")
    return server.is_mysql and bool(server.since(8, 0, 0))


def _old_redo_options(values: Values, server: Server) -> Idle | None:
    old = next((one for one in ("innodb_log_file_size", "innodb_log_files_in_group") if one in values), None)
    if old is None or "innodb_redo_log_capacity" not in values:
        return None
    if not server.is_mysql or server.since(8, 0, 30) is False:
        return None  # without the newer option: `unknown-option`'s business
    return Idle(
        old,
        "`innodb_redo_log_capacity` is set too, and holds",
        "MySQL 8.0 Reference Manual, section Redo Log",
    )


def _query_cache(values: Values, _: Server) -> Idle | None:
    size = as_bytes(values.get("query_cache_size") or "0")
    if not size or not _is(values, "query_cache_type", "0", "OFF"):
        return None
    return Idle(
        "query_cache_size",
        "`query_cache_type` is OFF",
        "MySQL 5.7 Reference Manual, Query Cache Configuration",
    )


def _doublewrite_files(values: Values, _: Server) -> Idle | None:
    told = next((name for name in values if name.startswith("innodb_doublewrite_")), None)
    if told is None or not _is_off(values, "innodb_doublewrite"):
        return None
    return Idle(told, "`innodb_doublewrite` is OFF", "MySQL Reference Manual, Doublewrite Buffer")


def _temporary_tables(values: Values, _: Server) -> Idle | None:
    table, heap = (as_bytes(values.get(name) or "") for name in ("tmp_table_size", "max_heap_table_size"))
    if table is None or heap is None or table <= heap:
        return None
    return Idle(
        "tmp_table_size",
        f"`max_heap_table_size` is smaller ({format_bytes(heap)}), and the smaller of both holds",
        "MySQL Reference Manual, Internal Temporary Table Use",
    )


def _commit_delay(values: Values, _: Server) -> Idle | None:
    if values.get("commit_delay") is None or _is(values, "commit_delay", "0"):
        return None
    off = next((name for name in ("fsync", "synchronous_commit") if _is_off(values, name)), None)
    if off is None:
        return None
    return Idle(
        "commit_delay",
        f"`{off}` is off: no commit waits for a flush",
        "PostgreSQL documentation, WAL settings",
    )


def _checkpoint_target(values: Values, _: Server) -> Idle | None:
    if not _is_off(values, "fsync") or "wal_sync_method" not in values:
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
_POSTGRESQL_RULES = (_commit_delay, _checkpoint_target)


# ---------------------------------------------------------------- durability


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
    values, server = effective(configuration), server_of(configuration)
    if server.is_postgresql:
        found = list(_postgresql_durability(values))
    else:
        found = list(_mysql_durability(values, server))
    yield from (Problem("warning", message) for message in found)
    if (risk := _sold_as_safe(configuration.level, values, server)) is not None:
        yield Problem("warning", f"level `{configuration.level}` is called safe, but {risk}")


def _mysql_durability(values: Values, server: Server) -> Iterator[str]:
    commit = values.get("innodb_flush_log_at_trx_commit", "1")
    flushed = commit is None or same(commit, "1") or same(commit, "3")
    interval, by_default = _sync_binlog(values, server)
    if _logs_surely(values, server) and interval is not None:
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
    if flushed and _is(values, "innodb_doublewrite", "OFF", "DETECT_ONLY"):
        yield (
            f"innodb_doublewrite = {values['innodb_doublewrite']} with innodb_flush_log_at_trx_commit = "
            f"{commit}: commits are flushed, but a page that is half written in a power cut stays torn, "
            "unless the device writes pages whole"
        )
    if flushed and _is(values, "innodb_flush_method", "nosync"):
        yield (
            f"innodb_flush_method = nosync with innodb_flush_log_at_trx_commit = {commit}: "
            "data files are never flushed"
        )
    early = server.is_mysql and server.since(8, 0, 14) is False
    if flushed and early and _is(values, "innodb_flush_method", "O_DIRECT_NO_FSYNC"):
        yield (
            f"innodb_flush_method = O_DIRECT_NO_FSYNC on {server.words}: before 8.0.14 the growth of a file "
            "is not flushed either, and is lost in a power cut"
        )


def _sync_binlog(values: Values, server: Server) -> tuple[str | None, str]:
    """Return how often the binary log is flushed, and whether by default; None where nothing tells.

    The default is 1 on MySQL from 5.7.7 on, and 0 on MariaDB and before (their manuals).
    """
    if values.get("sync_binlog") is not None:
        return values["sync_binlog"], ""
    if server.flavour == "MariaDB":
        return "0", ", its default there"
    if server.is_mysql and server.version is not None:
        return ("1" if server.since(5, 7, 7) else "0"), ", its default there"
    return None, ""


def _logs_surely(values: Values, server: Server) -> bool:
    """Tell whether it is known that there is a binary log."""
    try:
        return _logs(values, server)
    except NotRecordedError:
        return False


def _postgresql_durability(values: Values) -> Iterator[str]:
    commits = _is(values, "synchronous_commit", *ON) or "synchronous_commit" not in values
    if _is_off(values, "fsync") and commits:
        yield (
            "fsync = off with synchronous_commit = on: a commit waits for a flush that is never made, and a "
            "power cut may leave a database that does not come up"
        )
    if _is_off(values, "full_page_writes") and not _is_off(values, "fsync"):
        yield (
            "full_page_writes = off with fsync = on: a page that is half written in a power cut stays torn, "
            "unless the file system writes pages whole"
        )


def _sold_as_safe(level: str, values: Values, server: Server) -> str | None:
    """Say what a level may lose whose name promises to keep all."""
    words = level.casefold()
    if "unsafe" in words or not any(word in words for word in ("safe", "durable", "acid")):
        return None
    if server.is_postgresql:
        off = next((one for one in ("fsync", "synchronous_commit") if _is_off(values, one)), None)
        return f"{off} = off may lose acknowledged commits" if off else None
    told = values.get("innodb_flush_log_at_trx_commit")
    if told is not None and not _is(values, "innodb_flush_log_at_trx_commit", "1", "3"):
        return f"innodb_flush_log_at_trx_commit = {told} may lose about a second of acknowledged commits"
    return None


# ---------------------------------------------------------------- levels beside each other


@check(
    "same-level",
    reason="Two tuning levels that are the same settings under two names show only noise.",
    remedy="leave one of them out, or set what they were to differ in",
    source="Fisher, The Design of Experiments, 1935: what is compared must differ",
)
def same_level(configuration: Configuration) -> Iterator[Said]:
    """Find other levels with the same settings."""
    if not configuration.beside:
        yield Apart("settings of one level")
    for other in configuration.beside:
        if not _differences(configuration, other):
            # Nobody said that they are levels: two copies of one file are none.
            severity: Severity = "note" if configuration.differs_in is None else "warning"
            yield Problem(severity, f"`{configuration.level}` and `{other.level}` differ in no option")


@check(
    "undeclared-difference",
    reason="What two levels differ in besides what is said has a part in the difference of their figures.",
    remedy="give the option one value at all levels, or say that it is part of the level",
    source="Fisher, The Design of Experiments, 1935, on confounding",
)
def undeclared_difference(configuration: Configuration) -> Iterator[Said]:
    """Find options in which levels differ although nobody says so."""
    if not configuration.beside:
        yield Apart("settings of one level")
        return
    if configuration.differs_in is None:
        yield Untold("what the levels are said to differ in")
        return
    for other in configuration.beside:
        levels = f"`{configuration.level}` and `{other.level}`"
        yield from _bounded(
            [
                f"{levels} differ in `{name}` too: {ours} and {theirs}"
                for name, ours, theirs in _differences(configuration, other)
                if name not in configuration.differs_in and "/" not in ours + theirs
            ]
        )


def _differences(one: Configuration, other: Configuration) -> list[tuple[str, str, str]]:
    """Return each option that does not have one value in both, with both values.

    Places are among them (they hold a ``/``): by their storage levels may always differ.
    """
    ours, theirs = effective(one), effective(other)
    return [
        (name, _told(ours, name), _told(theirs, name))
        for name in dict.fromkeys((*ours, *theirs))
        if not _equal(ours.get(name, ""), theirs.get(name, ""))
    ]


MOST_FOUND = 20
"""Of the same fault; a file that has more is another file."""


def _bounded(messages: list[str]) -> Iterator[Problem]:
    """Yield the first of many problems of one kind, and how many there are besides."""
    yield from (Problem("warning", message) for message in messages[:MOST_FOUND])
    if len(messages) > MOST_FOUND:
        yield Problem("warning", f"and {len(messages) - MOST_FOUND} more of the same")


def _equal(one: str | None, other: str | None) -> bool:
    return same("ON" if one is None else one, "ON" if other is None else other)


def _told(values: Values, name: str) -> str:
    return "not set" if name not in values else (values[name] or "ON")


# ---------------------------------------------------------------- asked for and observed


NO_VARIABLES = ("plugin_load", "early_plugin_load", "user", "console", "symbolic_links", "optimizer_switch")
"""Options without a variable of that name, or with one that tells more than was asked for."""


@check(
    "took-effect",
    reason="A server that runs with another value than the option file's is another experiment.",
    remedy="see the server's log for what it made of the option, and publish what SHOW VARIABLES answers",
    source="the option file beside what the running server answered",
)
def took_effect(configuration: Configuration) -> Iterator[Said]:
    """Find options that do not read back as requested."""
    asked, observed = configuration.settings, configuration.observed
    if asked.observed:
        yield Apart("what a server answered, with no option file beside it")
        return
    if observed is None:
        yield Untold("what the server answered to SHOW VARIABLES")
        return
    other: list[str] = []
    untold: list[str] = []
    for name, value in _plainly(asked.values).items():
        if name.startswith((*NO_VARIABLES, "disable_")) or name.removeprefix("skip_") in SKIPPED - {name}:
            continue
        if name not in observed.values:
            untold.append(f"`{name}`")
        elif not _holds(name, value, observed.values[name] or ""):
            read = observed.values[name]
            other.append(f"`{name}` reads back as {read}, but {_asked(value)} was asked for")
    yield from _bounded(other)
    if untold:
        more = f" and {len(untold) - MOST_FOUND} more" if len(untold) > MOST_FOUND else ""
        yield Untold(f"what the server answered for {', '.join(untold[:MOST_FOUND])}{more}")


def _holds(name: str, asked: str | None, observed: str) -> bool:
    if name == "log_bin" and asked is not None and not same(asked, "OFF"):
        return same("ON", observed)  # its value is a path, the variable's is whether there is one
    if asked is None:
        return same("ON", observed)
    if "/" in asked and not asked.startswith("/"):
        return True  # a relative path reads back as a whole one
    return same(asked, observed)


def _asked(value: str | None) -> str:
    return "ON" if value is None else value


# ---------------------------------------------------------------- memory


PER_CONNECTION = (
    "sort_buffer_size",
    "join_buffer_size",
    "read_buffer_size",
    "read_rnd_buffer_size",
    "binlog_cache_size",
    "thread_stack",
)
"""What each connection may take besides (MySQL Reference Manual, How MySQL Uses Memory)."""


@check(
    "memory",
    reason="A server that is given more memory than the machine has swaps, or is killed: what is measured is "
    "the swap.",
    remedy="a smaller buffer pool, fewer connections, or smaller buffers for each",
    source="MySQL Reference Manual, How MySQL Uses Memory; PostgreSQL documentation, Resource Consumption",
)
def memory(configuration: Configuration) -> Iterator[Said]:
    """Find buffers that are larger than the machine's memory, alone or with all connections at work."""
    values, server = effective(configuration), server_of(configuration)
    names = ("shared_buffers",) if server.is_postgresql else ("innodb_buffer_pool_size", "key_buffer_size")
    shared = {name: size for name in names if (size := as_bytes(values.get(name) or "")) is not None}
    if not shared:
        yield Apart("settings without a size of the buffer pool")
        return
    if configuration.memory_bytes is None:
        yield Untold("the machine's memory")
        return
    pool = sum(shared.values())
    machine = format_bytes(configuration.memory_bytes)
    if pool > configuration.memory_bytes:
        yield Problem(
            "warning", f"{' and '.join(shared)} take {format_bytes(pool)} of the machine's {machine}"
        )
        return
    each = (
        0 if server.is_postgresql else sum(as_bytes(values.get(name) or "") or 0 for name in PER_CONNECTION)
    )
    if server.is_postgresql:
        each = as_bytes(values.get("work_mem") or "") or 0
    connections = as_bytes(values.get("max_connections") or "") or 0
    whole = pool + each * connections
    if whole > configuration.memory_bytes:
        yield Problem(
            "note",
            f"with all {connections:.0f} connections at work the buffers may take {format_bytes(pool)} + "
            f"{connections:.0f} x {format_bytes(each)} = {format_bytes(whole)} of the machine's {machine}",
        )
