"""TPC-C on real servers: loaded, checked, run, checked again, reported; and faults that the check finds."""

import json
import shutil
import sqlite3
import subprocess
from pathlib import Path

import pytest

from diskproof import load
from diskproof.analysis.folder import analyse_folder
from diskproof.results.folder import RunFolder
from support.command import diskproof_here, open_for_others
from support.shared import once
from support.tpcc_inputs import UNLIKELY, Drawn, smallest_p, wrong_shares

pytestmark = pytest.mark.timeout(300)

STUDY = """
question = "Does TPC-C run?"
[design]
repeat_disturbed = false
blocks = 1
warm_up_s = 0.2
measure_s = 1
clients = [4]
memory = ["128 MiB"]
[servers.db]
family = "{family}"
[storages.disk]
directory = "place"
[tunings.unsafe]
[workloads.tpcc]
kind = "tpcc"
"""

needs_mariadb = pytest.mark.skipif(
    not (shutil.which("mariadbd") or Path("/usr/sbin/mariadbd").exists()), reason="no MariaDB here"
)
needs_postgresql = pytest.mark.skipif(
    not list(Path("/usr/lib/postgresql").glob("*/bin/postgres")), reason="no PostgreSQL here"
)


@pytest.fixture
def one_warehouse() -> Path:
    """An SQLite database of one warehouse, to be copied."""

    def make(folder: Path) -> None:
        prepared = program("prepare", "tpcc", "--url", f"sqlite:{folder / 'tpcc.db'}?synchronous=off")
        assert prepared.returncode == 0, prepared.stderr

    return once("one-warehouse", make) / "tpcc.db"


def program(*words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([load.program(), *words], capture_output=True, text=True, check=False)


@pytest.mark.parametrize(
    "family",
    [
        pytest.param("mysql", marks=needs_mariadb),
        pytest.param("postgresql", marks=needs_postgresql),
    ],
)
def test_a_study_runs_and_proves_tpcc(tmp_path: Path, family: str) -> None:
    open_for_others(tmp_path)
    (tmp_path / "study.toml").write_text(STUDY.format(family=family))
    done = diskproof_here(tmp_path, "run", "study.toml")
    assert done.returncode in (0, 12), done.stdout + done.stderr
    [path] = (tmp_path / "runs" / "study").iterdir()
    folder = RunFolder.open(path)
    [trial] = folder.trials()
    assert trial.finished, trial.findings
    assert trial.tables is not None
    assert trial.tables.holds, trial.tables.complaints
    assert [one.number for one in trial.tables.conditions] == list(range(1, 13))
    assert trial.load is not None
    kinds = {kind.name: kind.count for kind in trial.load.transaction_types}
    assert kinds["new_order"] > 0
    assert kinds["delivery"] > 0
    assert sum(kinds.values()) == trial.load.transactions
    assert trial.load.failed_transactions == 0, trial.load.errors
    assert trial.load.tpcc is not None
    drawn = Drawn.model_validate(trial.load.tpcc.model_dump())
    assert not wrong_shares(drawn)
    assert (smallest_p(drawn) or 1) > UNLIKELY
    [answer] = analyse_folder(folder).tpcc
    assert answer.consistent == answer.checked == 1
    assert answer.new_orders_per_min is not None
    assert "new orders/min" in done.stdout
    assert "TPC-C-like, no think time" in (path / "report.md").read_text()
    page = (path / "report.html").read_text()
    assert "TPC-C, new orders/min" in page


def test_the_check_finds_what_is_planted(tmp_path: Path, one_warehouse: Path) -> None:
    """Each planted fault breaks the conditions that speak of it, and no other."""
    database = Path(shutil.copy(one_warehouse, tmp_path))
    url = f"sqlite:{database}?synchronous=off"

    def broken() -> dict[int, int]:
        checked = program("check", "tpcc", "--url", url, "--json")
        assert checked.returncode == 0, checked.stderr
        conditions = json.loads(checked.stdout)["conditions"]
        return {one["number"]: one["broken"] for one in conditions if one["broken"]}

    assert broken() == {}
    for fault, expected in (
        ("UPDATE tpcc_warehouse SET w_ytd = w_ytd + 0.01", {1: 1, 8: 1}),
        ("UPDATE tpcc_district SET d_next_o_id = d_next_o_id + 1 WHERE d_id = 3", {2: 1}),
        ("DELETE FROM tpcc_new_order WHERE no_d_id = 4 AND no_o_id = 2500", {3: 1, 5: 1, 11: 1}),
        ("DELETE FROM tpcc_order_line WHERE ol_d_id = 1 AND ol_o_id = 7 AND ol_number = 1", {4: 1, 6: 1}),
        ("UPDATE tpcc_orders SET o_carrier_id = NULL WHERE o_d_id = 1 AND o_id = 9", {5: 1, 7: 5}),
        ("UPDATE tpcc_customer SET c_balance = c_balance + 1 WHERE c_d_id = 2 AND c_id = 8", {10: 1, 12: 1}),
        ("UPDATE tpcc_district SET d_ytd = d_ytd - 1 WHERE d_id = 1", {1: 1, 9: 1}),
    ):
        with sqlite3.connect(database) as connection:
            connection.execute(fault)
        found = broken()
        assert set(found) == set(expected), fault
        if 7 not in expected:  # an order has 5 to 15 lines
            assert found == expected, fault
        undo = {
            "UPDATE tpcc_warehouse": "UPDATE tpcc_warehouse SET w_ytd = 300000",
            "UPDATE tpcc_district SET d_next": "UPDATE tpcc_district SET d_next_o_id = 3001",
            "DELETE FROM tpcc_new_order": "INSERT INTO tpcc_new_order VALUES (2500, 4, 1)",
            "UPDATE tpcc_orders": "UPDATE tpcc_orders SET o_carrier_id = 1 WHERE o_id = 9 AND o_d_id = 1",
            "UPDATE tpcc_customer": "UPDATE tpcc_customer SET c_balance = -10",
            "UPDATE tpcc_district SET d_ytd": "UPDATE tpcc_district SET d_ytd = 30000",
        }
        with sqlite3.connect(database) as connection:
            if "order_line" in fault:
                connection.execute(
                    "UPDATE tpcc_orders SET o_ol_cnt = o_ol_cnt - 1 WHERE o_d_id = 1 AND o_id = 7"
                )
            else:
                [repair] = [sql for start, sql in undo.items() if fault.startswith(start)]
                connection.execute(repair)
    assert broken() == {}, "what was repaired is sound; a fault that stayed would be found with the next, too"
    by_hand = program("check", "tpcc", "--url", url, "--warehouses", "2")
    assert by_hand.returncode == 1
    assert "WRONG" in by_hand.stdout
