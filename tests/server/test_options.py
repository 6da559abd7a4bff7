"""Which options a server gets, by what its binary lists; and which the user may not set."""

import struct
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import pytest

from diskproof.families.facts import Level
from diskproof.server.base import Dirs, ServerError, ServerKind, Settings
from diskproof.server.mysql import MysqlServer
from diskproof.server.mysql import options as mysql
from diskproof.server.mysql.installation import Installation
from diskproof.server.postgresql import PostgresqlServer
from diskproof.server.postgresql import options as postgresql
from diskproof.server.postgresql import server as postgresql_server
from diskproof.server.postgresql.installation import Installation as PostgresqlInstallation
from diskproof.server.sqlite import SqliteServer
from diskproof.server.unprivileged import check_reach
from diskproof.system.kernel import has_quick_clock
from support.servers import make_dirs

GIB = 2**30
MIB = 2**20

OLD = {"innodb_log_file_size": "", "innodb_log_files_in_group": "", "binlog_format": "STATEMENT"}
MYSQL_5_6 = OLD | {"innodb_buffer_pool_instances": "0"}
MYSQL_9 = {
    "innodb_redo_log_capacity": "",
    "innodb_buffer_pool_instances": "0",
    "innodb_buffer_pool_chunk_size": "",
    "mysqlx": "ON",
    "binlog_format": "ROW",
}
MARIADB = {"innodb_log_file_size": "", "aria_log_dir_path": "", "binlog_format": "MIXED"}
ALL = dict.fromkeys(
    [
        "datadir",
        "socket",
        "innodb_buffer_pool_size",
        "innodb_fast_shutdown",
        "innodb_flush_method",
        "innodb_log_group_home_dir",
        "tmpdir",
    ],
    "",
)


def installation(flavour: str, version: tuple[int, int, int], known: Mapping[str, str]) -> Installation:
    return Installation(flavour, version, "x", Path("/x/bin/mysqld"), None, {**ALL, **known})


SERVERS = {
    "5.1": installation("MySQL", (5, 1, 73), OLD),
    "5.6": installation("MySQL", (5, 6, 24), MYSQL_5_6),
    "9": installation("MySQL", (9, 7, 4), MYSQL_9),
    "mariadb": installation("MariaDB", (10, 11, 19), MARIADB),
}


def mysql_settings(
    server: Installation, dirs: Dirs, *, level: Level = "safest", memory: int = GIB, **variables: str
) -> Settings:
    return MysqlServer(server, "x").settings(
        dirs, level=level, memory_bytes=memory, max_clients=8, variables=variables
    )


@pytest.fixture
def dirs(tmp_path: Path) -> Dirs:
    return make_dirs(tmp_path)


@pytest.mark.parametrize(
    ("server", "redo"),
    [
        ("5.1", {"innodb_log_file_size": str(48 * MIB), "innodb_log_files_in_group": "2"}),
        ("9", {"innodb_redo_log_capacity": str(96 * MIB)}),
        ("mariadb", {"innodb_log_file_size": str(96 * MIB)}),
    ],
)
def test_every_server_has_the_same_redo_log_in_its_own_words(
    server: str, redo: dict[str, str], dirs: Dirs
) -> None:
    common = mysql_settings(SERVERS[server], dirs).common
    assert {name: value for name, value in common.items() if "log_file" in name or "redo" in name} == redo


@pytest.mark.parametrize(
    ("server", "redo"),
    [
        ("5.6", {"innodb_log_file_size": str(5 * MIB), "innodb_log_files_in_group": "2"}),
        ("9", {"innodb_redo_log_capacity": str(10 * MIB)}),
        ("mariadb", {"innodb_log_file_size": str(10 * MIB)}),
    ],
)
def test_a_trial_may_have_another_redo_log(server: str, redo: dict[str, str], dirs: Dirs) -> None:
    common = (
        MysqlServer(SERVERS[server], "x")
        .settings(
            dirs,
            level="fast",
            memory_bytes=GIB,
            max_clients=8,
            variables={},
            redo_bytes=10 * MIB,
        )
        .common
    )
    assert {name: value for name, value in common.items() if "log_file" in name or "redo" in name} == redo


def test_a_buffer_pool_has_exactly_the_size_asked_for(dirs: Dirs) -> None:
    large = mysql_settings(SERVERS["9"], dirs, memory=3 * GIB).common
    assert large["innodb_buffer_pool_size"] == str(3 * GIB)
    assert int(large["innodb_buffer_pool_chunk_size"]) * int(large["innodb_buffer_pool_instances"]) == 3 * GIB
    small = mysql_settings(SERVERS["9"], dirs, memory=200 * MIB).common
    assert small["innodb_buffer_pool_chunk_size"] == small["innodb_buffer_pool_size"] == str(200 * MIB)
    with pytest.raises(ServerError, match=r"buffer pool of 1 MiB is too small.*give more memory"):
        mysql_settings(SERVERS["9"], dirs, memory=MIB)


PERCONA_5_1 = installation(
    "Percona Server",
    (5, 1, 65),
    OLD
    | {
        "innodb_buffer_pool_size": str(32 * MIB),
        "innodb_doublewrite": "TRUE",
        "innodb_file_per_table": "FALSE",
        "query_cache_type": "1",
        "event_scheduler": "OFF",
        "character_set_server": "latin1",
    },
)
"""As it lists itself, given a pool of 5 MiB."""


def test_a_server_with_a_larger_least_pool_says_what_it_has(dirs: Dirs) -> None:
    settings = mysql_settings(PERCONA_5_1, dirs, memory=8 * MIB)
    assert settings.common["innodb_buffer_pool_size"] == str(32 * MIB)
    assert "Percona Server x has a buffer pool of 32 MiB, its least, instead of 8 MiB" in settings.notes
    enough = mysql_settings(PERCONA_5_1, dirs, memory=200 * MIB)
    assert enough.common["innodb_buffer_pool_size"] == str(200 * MIB)
    assert not [note for note in enough.notes if "its least" in note]


def test_an_old_server_gets_switches_as_it_reads_them(dirs: Dirs) -> None:
    """MySQL before 5.5 takes ON for the number 0, which turns a switch off."""
    settings = mysql_settings(PERCONA_5_1, dirs)
    lines = mysql.configuration(PERCONA_5_1, dirs, settings.merged()).splitlines()
    assert {
        "innodb_doublewrite = 1",
        "innodb_file_per_table = 1",
        "query_cache_type = 0",
        "event_scheduler = OFF",
        "character_set_server = utf8",
    } <= set(lines)


@pytest.mark.parametrize(("server", "kept"), [("5.1", False), ("5.6", True), ("9", True), ("mariadb", True)])
def test_an_image_has_no_redo_log_for_a_server_that_refuses_another_size(
    server: str, kept: bool, dirs: Dirs
) -> None:
    for name in ("ib_logfile0", "ib_logfile1"):
        (dirs.redo / name).touch()
    MysqlServer(SERVERS[server], "x").place(dirs)
    assert bool(list(dirs.redo.iterdir())) == kept


def test_levels_differ_in_the_level_alone(dirs: Dirs) -> None:
    safest, fast = (mysql_settings(SERVERS["mariadb"], dirs, level=level) for level in ("safest", "fast"))
    assert safest.common == fast.common
    assert safest.level["innodb_flush_log_at_trx_commit"] == "1"
    assert fast.level["innodb_flush_log_at_trx_commit"] == "2"


def test_a_place_without_direct_io_is_told(dirs: Dirs, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(mysql, "takes_direct_io", lambda _directory: False)
    settings = mysql_settings(SERVERS["5.6"], dirs)
    assert settings.common["innodb_flush_method"] == "fsync"
    assert "takes no O_DIRECT" in settings.notes[0]
    old = mysql_settings(SERVERS["5.1"], dirs)
    assert "innodb_flush_method" not in old.common, "5.1 flushes with fsync, but has no word for it"


def test_the_binary_log_goes_to_its_role_and_only_where_it_is_wanted(dirs: Dirs) -> None:
    on = mysql_settings(SERVERS["mariadb"], dirs)
    assert f"log_bin = {dirs.binlog}/binlog\n" in mysql.configuration(SERVERS["mariadb"], dirs, on.merged())
    assert on.common["binlog_format"] == "ROW"
    off = mysql_settings(SERVERS["9"], dirs, log_bin="OFF")
    text = mysql.configuration(SERVERS["9"], dirs, off.merged())
    assert "skip_log_bin\n" in text, "MySQL 8 and later have it on unless told otherwise"
    assert str(dirs.binlog) not in text
    loading = MysqlServer(SERVERS["mariadb"], "x").loading_settings(dirs, memory_bytes=GIB, max_clients=1)
    assert loading.kept
    assert str(dirs.binlog) not in mysql.configuration(SERVERS["mariadb"], dirs, loading.merged())


def test_only_known_options_are_written(dirs: Dirs) -> None:
    for server in SERVERS.values():
        text = mysql.configuration(server, dirs, mysql_settings(server, dirs).common)
        names = {line.split(" = ")[0] for line in text.splitlines()[1:]}
        assert names - {"user", "skip_networking", "skip_name_resolve"} <= set(server.known)


@pytest.mark.parametrize(
    ("name", "value", "words"),
    [
        ("datadir", "/var/lib/mysql", "says where files lie"),
        ("innodb-log-group-home-dir", "/fast", "says where files lie"),
        ("innodb_buffer_pool_size", "1G", "memory factor"),
        ("log_bin", "/fast/binlog", "log_bin is ON or OFF"),
        ("a = 1\nb", "1", "is not the name of a server variable"),
    ],
)
def test_places_and_memory_are_not_tuning(name: str, value: str, words: str, dirs: Dirs) -> None:
    with pytest.raises(ServerError, match=words):
        MysqlServer(SERVERS["mariadb"], "x").settings(
            dirs, level="fast", memory_bytes=GIB, max_clients=1, variables={name: value}
        )


@pytest.mark.parametrize(
    ("name", "words"), [("shared_buffers", "memory factor"), ("Data_Directory", "says where files lie")]
)
def test_postgresql_guards_the_same(name: str, words: str, dirs: Dirs) -> None:
    server = PostgresqlInstallation(Path("/x"), (15, 1), "15.1")
    with pytest.raises(ServerError, match=words):
        PostgresqlServer(server, "x").settings(
            dirs, level="safest", memory_bytes=GIB, max_clients=1, variables={name: "1GB"}
        )


def test_on_zfs_innodb_leaves_asynchronous_io_alone_and_says_why(
    dirs: Dirs, monkeypatch: pytest.MonkeyPatch
) -> None:
    server = installation("MariaDB", (10, 11, 19), MARIADB | {"innodb_use_native_aio": "ON"})
    assert "innodb_use_native_aio" not in mysql_settings(server, dirs).common
    monkeypatch.setattr(mysql, "is_on_zfs", lambda _: True)
    settings = mysql_settings(server, dirs)
    assert settings.common["innodb_use_native_aio"] == "OFF"
    assert any("asynchronous I/O is synchronous" in note for note in settings.notes)


@pytest.mark.parametrize(("version", "asked"), [((11, 22), False), ((12, 1), True), ((17, 2), True)])
def test_on_zfs_postgresql_does_not_write_over_old_wal(
    version: tuple[int, int], asked: bool, dirs: Dirs, monkeypatch: pytest.MonkeyPatch
) -> None:
    def settings() -> Settings:
        server = PostgresqlInstallation(Path("/x"), version, "x")
        return PostgresqlServer(server, "x").settings(
            dirs, level="safest", memory_bytes=GIB, max_clients=1, variables={}
        )

    assert "wal_recycle" not in settings().common
    monkeypatch.setattr(postgresql_server, "is_on_zfs", lambda folder: folder == dirs.redo)
    assert ("wal_recycle" in settings().common) == asked
    assert bool(settings().notes) == asked


def test_a_value_cannot_leave_its_line(dirs: Dirs) -> None:
    text = postgresql.configuration(dirs, {"application_name": "it's\\\nfsync = off"})
    assert text.splitlines()[0] == r"application_name = 'it''s\\\nfsync = off'"
    text = mysql.configuration(SERVERS["5.6"], dirs, {"init_connect": 'SET @a = "#1"\n'})
    assert r'init_connect = "SET @a = \"#1\"\n"' in text.splitlines()


def test_a_client_that_connects_anew_finds_room_before_its_last_session_has_gone(dirs: Dirs) -> None:
    mariadb = installation("MariaDB", (10, 11, 19), MARIADB | {"max_connections": "151"})
    for_eight = [
        mysql_settings(mariadb, dirs),
        PostgresqlServer(PostgresqlInstallation(Path("/x"), (15, 1), "15.1"), "x").settings(
            dirs,
            level="safest",
            memory_bytes=GIB,
            max_clients=8,
            variables={},
        ),
    ]
    assert [int(settings.common["max_connections"]) for settings in for_eight] == [2 * 8 + 10] * 2


def test_sqlite_shares_the_memory_among_its_connections(dirs: Dirs) -> None:
    server = SqliteServer("sqlite", "unknown")
    settings = server.settings(dirs, level="fast", memory_bytes=64 * MIB, max_clients=8, variables={})
    assert settings.common["cache_size_kib"] == str(8 * 1024)


def test_sqlite_has_no_redo_log_of_a_set_size(dirs: Dirs) -> None:
    server = SqliteServer("sqlite", "unknown")
    with pytest.raises(ServerError, match="no set size"):
        server.settings(
            dirs, level="fast", memory_bytes=64 * MIB, max_clients=8, variables={}, redo_bytes=10 * MIB
        )


def test_sqlite_refuses_a_log_elsewhere(tmp_path: Path) -> None:
    memory = Path("/dev/shm")
    if not memory.is_dir() or memory.stat().st_dev == tmp_path.stat().st_dev:
        pytest.skip("this machine has no second file system at /dev/shm")
    dirs = make_dirs(tmp_path)
    elsewhere = Dirs(dirs.data, memory, dirs.binlog, dirs.tmp, dirs.run, dirs.log)
    with pytest.raises(ServerError, match=r"beside the database.*Give both roles one storage"):
        SqliteServer("sqlite", "unknown").check(elsewhere)


def test_a_folder_that_bars_the_way_is_named(tmp_path: Path) -> None:
    closed = tmp_path / "closed"
    dirs = make_dirs(closed / "deep" / "er")
    for parent in [tmp_path, *tmp_path.parents][:-2]:
        parent.chmod(parent.stat().st_mode | 0o001)  # pytest closes its own folders, further up
    closed.chmod(0o700)
    with pytest.raises(ServerError, match=rf"user nobody.*: {closed} is closed\..*chmod o\+x {closed}"):
        check_reach("nobody", dirs.data)


def test_a_socket_folder_must_have_a_short_name(tmp_path: Path) -> None:
    dirs = make_dirs(tmp_path / ("long" * 20))
    with pytest.raises(ServerError, match=r"bytes long.*use a shorter one"):
        MysqlServer(SERVERS["mariadb"], "mariadb").check(dirs)


@pytest.mark.parametrize(
    ("clock", "version", "timed"),
    [
        ("tsc", (15, 0), {"track_io_timing": "on", "track_wal_io_timing": "on"}),
        ("tsc", (13, 0), {"track_io_timing": "on"}),
        ("tsc", (9, 1), {}),
        ("hpet", (15, 0), {}),
        (None, (15, 0), {}),
    ],
)
def test_postgresql_times_its_input_and_output_where_the_clock_is_quick(
    clock: str | None,
    version: tuple[int, int],
    timed: dict[str, str],
    dirs: Dirs,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    source = dirs.log / "current_clocksource"
    if clock:
        source.write_text(f"{clock}\n")
    monkeypatch.setattr(postgresql, "has_quick_clock", lambda: has_quick_clock(source))
    server = PostgresqlInstallation(Path("/x"), version, "x")
    settings = PostgresqlServer(server, "x").settings(
        dirs, level="safest", memory_bytes=GIB, max_clients=8, variables={}
    )
    assert {name: value for name, value in settings.common.items() if name.startswith("track_")} == timed


def test_the_catalogs_version_needs_no_program(tmp_path: Path) -> None:
    (tmp_path / "global").mkdir()
    (tmp_path / "global" / "pg_control").write_bytes(struct.pack("=QII", 7, 1300, 202209061) + bytes(8176))
    for version, folder in (((15, 18), "PG_15_202209061"), ((9, 6, 1), "PG_9.6_202209061")):
        assert PostgresqlInstallation(Path("/x"), version, "x").tablespace_folder(tmp_path) == folder


def test_options_that_add_up_and_those_without_a_value_are_written_as_such(dirs: Dirs) -> None:
    server = replace(SERVERS["mariadb"], names=frozenset({"skip_host_cache"}))
    asked = {"binlog_ignore_db": "a\nb", "sql_mode": "", "skip_host_cache": "ON"}
    lines = mysql.configuration(server, dirs, asked).splitlines()
    assert [line for line in lines if line.split(" ")[0] in asked] == [
        "skip_host_cache", "binlog_ignore_db = a", "binlog_ignore_db = b", "sql_mode = "
    ]  # fmt: skip


MISTAKES = {
    "mysql": [
        (
            {"sync_binlogg": "1"},
            r"refuses sync_binlogg = 1: .*unknown variable.*; did you mean `sync_binlog`\?",
        ),
        ({"sort_buffer_size": "4X"}, r"refuses sort_buffer_size = 4X: .*suffix 'X'.*; correct or remove"),
        ({"Datadir": "/x"}, "variable Datadir says where files lie"),
    ],
    "postgresql": [
        (
            {"work_memm": "4MB"},
            r"refuses work_memm = 4MB: unrecognized .* \"work_memm\"; did you mean `work_mem`",
        ),
        ({"work_mem": "4X"}, 'refuses work_mem = 4X: invalid value for parameter "work_mem": "4X"'),
        ({"port": "1"}, "variable port says where files lie"),
    ],
    "sqlite": [
        (
            {"synchronus": "off"},
            r"SQLite refuses its variables: .*\"synchronus\" is unknown; this driver has: ",
        ),
        ({"synchronous": "offf"}, "synchronous=offf is not known: it takes one of off, normal"),
    ],
}
GOOD = {
    "mysql": {"sort_buffer_size": "1M", "log-bin": "ON"},
    "postgresql": {"zero_damaged_pages": "off"},
    "sqlite": {"journal_mode": "wal"},
}


def test_a_variable_that_no_server_takes_is_refused_before_there_is_data(kind: ServerKind) -> None:
    family = kind.facts.family
    kind.check_variables(GOOD[family])
    kind.check_variables({})
    for variables, said in MISTAKES[family]:
        with pytest.raises(ServerError, match=said):
            kind.check_variables(GOOD[family] | variables)
