"""Option files of tunings: what is read, what is left out, and that a run keeps the file."""

from pathlib import Path

import pytest

from diskproof.importers.base import ImportRefusedError
from diskproof.results.folder import RunFolder
from diskproof.run.option_files import with_option_files
from diskproof.study.plan import make_plan
from diskproof.study.read import StudyError, read_study
from support.command import diskproof_here

STUDY = """question = "How fast are our settings?"
[design]
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
[mysqld-5.7]
query_cache_type = 1
"""


def written(folder: Path, study: str = STUDY, name: str = "my.cnf", options: str = MY_CNF) -> Path:
    (folder / "our files").mkdir(exist_ok=True)
    (folder / "our files" / name).write_text(options)
    (folder / "study.toml").write_text(study)
    return folder / "study.toml"


def test_a_my_cnf_becomes_variables(tmp_path: Path) -> None:
    file = with_option_files(read_study(written(tmp_path)))
    assert file.study.tunings["ours"].variables_as_text() == {
        "log_bin": "ON",
        "innodb_flush_log_at_trx_commit": "2",
        "innodb_doublewrite": "OFF",
        "low_priority_updates": "ON",
        "sort_buffer_size": "1M",  # the study's own variables win
    }
    assert file.notes == (
        "tuning `ours`: left out of my.cnf, because the lab decides it: query_cache_type, datadir, "
        "innodb_buffer_pool_size, max_connections, slow_query_log_file, skip_name_resolve, "
        "group_replication_start_on_boot",
    )


def test_a_postgresql_conf_becomes_variables(tmp_path: Path) -> None:
    study = STUDY.replace('"mysql"', '"postgresql"').replace("sort-buffer-size", "work_mem")
    study = study.replace('my_cnf = "our files/my.cnf"', 'conf = "our files/postgresql.conf"')
    options = "port = 5433\nssl = on\nshared_buffers = 4GB\nfsync off # !\n"
    options += "work_mem = '4MB'\nlog_timezone = 'Etc/UTC'\n"
    file = with_option_files(read_study(written(tmp_path, study, "postgresql.conf", options)))
    assert file.study.tunings["ours"].variables_as_text() == {"fsync": "off", "work_mem": "1M"}
    assert file.notes[0].endswith("decides it: port, ssl, shared_buffers, log_timezone")


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
    with pytest.raises(ImportRefusedError, match=r"my\.cnf.*no option of a server stands in this file"):
        with_option_files(read_study(written(tmp_path, options="!includedir /etc/mysql/conf.d\n")))


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
