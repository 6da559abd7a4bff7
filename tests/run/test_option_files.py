"""Option files of tunings: what is read, what is left out, and that a run keeps the file."""

import os
from pathlib import Path

import pytest

from diskproof.importers.base import ImportRefusedError
from diskproof.results.folder import RunFolder
from diskproof.results.record import Family
from diskproof.run.option_files import KEYS, LAB, Asked, read_options, server_variables, with_option_files
from diskproof.server.base import ServerError
from diskproof.server.registry import find
from diskproof.study.plan import make_plan
from diskproof.study.read import StudyError, read_study
from support.command import diskproof_here

STUDY = """question = "How fast are our settings?"
[design]
repeat_disturbed = false
blocks = 1
warm_up_s = 0
measure_s = 0.5
clients = [1]
memory = ["64 MiB"]
[servers.db]
family = "mysql"
[storages.dram]
ram = "1 GiB"
[tunings.ours]
base = "safest"
my_cnf = "our files/my.cnf"
variables.sort-buffer-size = "1M"
[workloads.load]
kind = "oltp"
tables = 1
rows = 100
"""

MY_CNF = """[client]
socket = /run/mysqld/mysqld.sock
[mysqld]
datadir = /var/lib/mysql
innodb_buffer_pool_size = 12G
max_connections = 500
log-bin = /var/log/mysql/bin
slow_query_log_file = /var/log/mysql/slow.log
innodb-flush-log-at-trx-commit = 2
skip-innodb-doublewrite
skip-name-resolve
loose_group_replication_start_on_boot = off
sort_buffer_size = 4M
low-priority-updates
binlog_ignore_db = a
binlog-ignore-db = b
[mysqld-5.7]
query_cache_type = 1
"""


def written(folder: Path, study: str = STUDY, name: str = "my.cnf", options: str = MY_CNF) -> Path:
    (folder / "our files").mkdir(exist_ok=True)
    (folder / "our files" / name).write_text(options)
    (folder / "study.toml").write_text(study)
    return folder / "study.toml"


def asked(folder: Path, study: str = STUDY, name: str = "my.cnf", options: str = MY_CNF) -> Asked:
    """Return what the file asks of the installed server."""
    file = with_option_files(read_study(written(folder, study, name, options)), read_options)
    choice = file.study.servers["db"]
    return server_variables(file.study, "ours", find(choice.family))


def test_a_my_cnf_becomes_variables(tmp_path: Path) -> None:
    found = asked(tmp_path)
    assert found.variables == {
        "log_bin": "ON",
        "innodb_flush_log_at_trx_commit": "2",
        "innodb_doublewrite": "OFF",
        "skip_name_resolve": "ON",
        "binlog_ignore_db": "a\nb",
        "low_priority_updates": "ON",
        "sort_buffer_size": "1M",  # the study's own variables win
    }
    assert found.places["innodb_doublewrite"] == "my.cnf, line 10"
    assert "sort_buffer_size" not in found.places
    (lab, loose, group) = found.left_out.items()
    assert lab == (LAB, ["datadir", "innodb_buffer_pool_size", "max_connections", "slow_query_log_file"])
    assert loose[1] == ["group_replication_start_on_boot"]
    assert "does not read its group [mysqld-5.7]" in group[0]
    assert group[1] == ["query_cache_type"]


def test_a_postgresql_conf_becomes_variables(tmp_path: Path) -> None:
    study = STUDY.replace('"mysql"', '"postgresql"').replace("sort-buffer-size", "work_mem")
    study = study.replace('my_cnf = "our files/my.cnf"', 'conf = "our files/postgresql.conf"')
    options = "port = 5433\nssl = on\nshared_buffers = 4GB\nfsync off # !\n"
    options += "work_mem = '4MB'\nlog_timezone = 'Etc/UTC'\nsynchronous_standby_names = '*'\n"
    found = asked(tmp_path, study, "postgresql.conf", options)
    assert found.variables == {"fsync": "off", "work_mem": "1M", "log_timezone": "Etc/UTC"}
    assert found.left_out == {LAB: ["port", "ssl", "shared_buffers", "synchronous_standby_names"]}


REAL = Path(__file__).parent / "option_files"

REFUSED = {
    "MariaDB": {
        "mysql-9.cnf": "gtid_mode enforce_gtid_consistency replica_parallel_workers innodb_redo_log_capacity "
        "innodb_dedicated_server",
        "other-version.cnf": "join_buffer_size sql_mode innodb_dedicated_server sort_buffer_siez",
    },
    "MySQL 5.6": {
        "mysql-9.cnf": "replica_parallel_workers binlog_expire_logs_seconds innodb_redo_log_capacity "
        "innodb_dedicated_server",
        "other-version.cnf": "join_buffer_size sql_mode innodb_dedicated_server sort_buffer_siez",
    },
    "MySQL 9": {
        "debian.cnf": "expire_logs_days",
        "docker-8.cnf": "skip_host_cache default_authentication_plugin",
        "mysqltuner.cnf": "query_cache_limit query_cache_size query_cache_type innodb_log_file_size",
        "other-version.cnf": "join_buffer_size sql_mode thread_concurrency sort_buffer_siez",
        "rhel.cnf": "character_set_server collation_server skip_character_set_client_handshake",
        "ubuntu-5.7.cnf": "query_cache_limit query_cache_size expire_logs_days",
        "wizard.cnf": "myisam_recover innodb expire_logs_days query_cache_type query_cache_size "
        "innodb_log_files_in_group innodb_log_file_size",
        "xampp.cnf": "key_buffer innodb_log_file_size",
    },
    "PostgreSQL": {"rds.conf": "server_version shared_preload_libraries"},
}
"""What installed servers do not take of option files as distributions, images and guides have them."""

BASEDIRS = {"MySQL 5.6": "DISKPROOF_TEST_MYSQL56_BASEDIR", "MySQL 9": "DISKPROOF_TEST_MYSQL9_BASEDIR"}


@pytest.mark.parametrize("server", REFUSED)
def test_option_files_as_people_have_them(tmp_path: Path, server: str) -> None:
    family: Family = "postgresql" if server == "PostgreSQL" else "mysql"
    basedir = os.environ.get(BASEDIRS.get(server, ""))
    if server in BASEDIRS and not basedir:
        pytest.skip(f"{BASEDIRS[server]} is not set; tests/servers/fetch.sh brings that server")
    kind = find(family, Path(basedir) if basedir else None)
    for file in sorted(REAL.glob("*.conf" if family == "postgresql" else "*.cnf")):
        study = STUDY.replace('my_cnf = "our files/my.cnf"', f'{KEYS[family]} = "{file}"')
        study = study.replace('"mysql"', f'"{family}"').replace("variables.sort-buffer-size", "#")
        found = server_variables(
            with_option_files(read_study(written(tmp_path, study)), read_options).study, "ours", kind
        )
        refused = ""
        try:
            kind.check_variables(found.variables, found.places)
        except ServerError as error:
            refused = str(error)
        names = {
            line.split(" refuses ")[1].split(" =")[0] for line in refused.split("\n") if "refuses" in line
        }
        assert names == set(REFUSED[server].get(file.name, "").split()), (file.name, refused)
        assert all(f"{file.name}, line " in line or "50-server.cnf, line " in line
                   for line in refused.split("\n") if "refuses" in line)  # fmt: skip


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("our files/my.cnf", "none.cnf", r"`tunings.ours.my_cnf`: there is no file .*none.cnf"),
        ('"our files/my.cnf"', "1", r"`tunings.ours.my_cnf`: give the path of a server's option file"),
        ('my_cnf = "our', 'conf = "our files/my.cnf"\nmy_cnf = "our', "are of different servers: make two"),
        (
            'family = "mysql"',
            'family = "sqlite"',
            "server `db` reads no such file: name the others in `servers`",
        ),
    ],
)
def test_a_file_that_does_not_fit_is_refused(tmp_path: Path, old: str, new: str, said: str) -> None:
    with pytest.raises(StudyError, match=said):
        read_study(written(tmp_path, STUDY.replace(old, new)))


def test_a_file_without_options_of_a_server_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ImportRefusedError, match=r"my\.cnf sets nothing: no option stands there"):
        with_option_files(read_study(written(tmp_path, options="[client]\nport = 1\n")), read_options)


def test_all_that_is_wrong_is_said_at_once(tmp_path: Path) -> None:
    options = "[mysqld]\nsort_buffer_siez = 1M\nno_such = 2\nport = 1\n[mysqld-5.7]\nquery_cache_type = 1\n"
    study = STUDY + '[tunings.other]\nbase = "safest"\nvariables = { sync_binlogg = 1 }\n'
    ran = diskproof_here(tmp_path, "plan", str(written(tmp_path, study, options=options)))
    assert ran.returncode == 2
    said = " ".join(ran.stderr.split())
    for part in (
        "my.cnf, line 2: MariaDB", "did you mean `sort_buffer_size`?", "my.cnf, line 3: MariaDB",
        "remove the line, or write `loose_no_such`", "sync_binlogg = 1",
        "port: left out, because the lab decides it",
        "query_cache_type: left out, because MariaDB", "does not read its group [mysqld-5.7]",
    ):  # fmt: skip
        assert part in said, (part, said)


def test_a_file_of_another_family_is_refused(tmp_path: Path) -> None:
    with pytest.raises(StudyError, match=r"is a postgresql.conf, and `my_cnf` is for a my.cnf"):
        with_option_files(
            read_study(written(tmp_path, options="shared_buffers = 1GB\nwork_mem = '4MB'\n")), read_options
        )


def test_includes_are_followed_and_kept(tmp_path: Path) -> None:
    parts = tmp_path / "our files" / "conf.d"
    parts.mkdir(parents=True)
    (parts / "a.cnf").write_text("[mysqld]\ninnodb_flush_log_at_trx_commit = 2\n")
    (parts / "b.cnf").write_text(f"[client]\nport = 1\n!include {tmp_path}/our files/my.cnf\n")
    (parts / "c.txt").write_text("[mysqld]\nsync_binlog = 7\n")
    options = "[mysqld]\nsync_binlog = 1\n!includedir conf.d\n!include /none.cnf\nsort_buffer_size = 3M\n"
    file = with_option_files(read_study(written(tmp_path, options=options)), read_options)
    assert "b.cnf, line 3 (" in file.notes[0]
    assert "my.cnf includes itself" in file.notes[0]
    assert "not read: `!include /none.cnf` in line 4 (there is no file" in file.notes[1]
    found = server_variables(file.study, "ours", find("mysql"))
    assert (found.variables["innodb_flush_log_at_trx_commit"], found.variables["sync_binlog"]) == ("2", "1")
    kept = file.study.files_to_keep["tuning-ours"]["my.cnf"]
    (tmp_path / "copy").mkdir()
    again = with_option_files(read_study(written(tmp_path / "copy", options=kept.decode())), read_options)
    assert server_variables(again.study, "ours", find("mysql")).variables == found.variables


def test_a_run_works_with_the_file_and_keeps_it(tmp_path: Path) -> None:
    ran = diskproof_here(tmp_path, "run", str(written(tmp_path)))
    assert ran.returncode == 0, ran.stderr
    (run,) = (tmp_path / "runs" / "study").iterdir()
    (trial,) = RunFolder.open(run).trials()
    holds = {one.name: (one.requested, one.holds) for one in trial.settings if one.level}
    assert holds["innodb_doublewrite"] == ("OFF", True)
    assert holds["sort_buffer_size"] == ("1M", True)
    assert (run / "scripts" / "tuning-ours" / "my.cnf").read_text() == MY_CNF
    again = make_plan(read_study(run / "study.toml"))
    assert again.scripts == RunFolder.open(run).plan().scripts
    (tmp_path / "our files" / "my.cnf").write_text(MY_CNF + "\n")
    assert make_plan(read_study(tmp_path / "study.toml")).scripts != again.scripts
