"""The power fails under a replayed log: which of its transactions are lost."""

import csv
from collections.abc import Sequence
from pathlib import Path

import pytest

from diskproof.results.cut import CutTrial
from diskproof.results.findings import UNMARKED
from diskproof.results.folder import RunFolder
from support.command import diskproof_here, open_for_others
from support.virtual import needs_virtual_disks

STUDY = """
question = "What does a cut take of our own load?"
[design]
memory = ["64 MiB"]
[servers.own]
family = "{family}"
[storages.ssd]
virtual = "laptop-ssd-2012"
size = "1 GiB"
below_floor = true
[tunings.safest]
[tunings.unsafe]
[workloads.own]
kind = "replay"
file = "own.load"
prepare = "tables.sql"
database = "shop"
[crash]
load = "replay"
cuts = 1
keep = "nothing"
cut_after_s = 0.5
cut_before_s = 1.0
"""

SAID = ("UPDATE goods SET stock = stock + 1 WHERE id = {0}", "SELECT stock FROM goods WHERE id = {0}")
WITHIN = ("BEGIN", "INSERT INTO sales VALUES ({0})", "SELECT COUNT(*) FROM goods", "COMMIT")


def log_of(family: str) -> str:
    """Return six seconds of two sessions: every 20 ms one changes a row, the other has a transaction."""
    lines = []
    for number in range(300):
        for session, texts in ((7, SAID), (8, WITHIN)):
            for place, text in enumerate(texts):
                at, sql = f"{number * 0.02 + place * 0.001:09.6f}", text.format(session)
                if family == "mysql":
                    lines.append(
                        f"# Time: 2026-11-28T10:15:{at}Z\n# User@Host: a[a] @ localhost []  Id: {session}\n"
                        f"# Query_time: 0.0002  Lock_time: 0.0 Rows_sent: 0\nuse shop;\n{sql};\n"
                    )
                else:
                    lines.append(
                        f"2026-11-28 10:15:{at[:6]} UTC [{session}] a@shop LOG:  duration: 0.200 ms  "
                        f"statement: {sql}\n"
                    )
    return "".join(lines)


@pytest.fixture
def folder(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    family = request.param
    (tmp_path / "own.log").write_text(log_of(family))
    tables = "CREATE TABLE goods (id INT PRIMARY KEY, stock INT);\nCREATE TABLE sales (session INT);\n"
    (tmp_path / "tables.sql").write_text(tables + "INSERT INTO goods VALUES (7, 0), (8, 0);\n")
    (tmp_path / "study.toml").write_text(STUDY.format(family=family))
    made = diskproof_here(tmp_path, "load", "import", "own.log", "--output", "own.load")
    assert not made.returncode, made.stderr
    open_for_others(tmp_path)
    return tmp_path


def held_to_safest(cuts: Sequence[CutTrial]) -> CutTrial:
    """Return the cut at `unsafe`, which lost something; the other at `safest` lost nothing."""
    [safest, unsafe] = sorted(cuts, key=lambda cut: cut.cell)
    assert not safest.lost
    assert safest.recovery is not None
    if safest.recovery.engine_only is not None:  # MariaDB's binary log has the same rows
        assert safest.recovery.engine_only == safest.recovery.binlog_only == 0
    assert unsafe.lost, "nothing was flushed"
    return unsafe


@needs_virtual_disks
@pytest.mark.timeout(300)
@pytest.mark.parametrize("folder", ["mysql", "postgresql"], indirect=True)
def test_acknowledged_transactions_of_the_log_are_looked_up(folder: Path) -> None:
    done = diskproof_here(folder, "crash", "study.toml")
    assert done.returncode in (0, 12), done.stdout + done.stderr
    [path] = (folder / "runs" / "study").glob("*")
    cuts = RunFolder.open(path).cuts()
    for cut in cuts:
        assert cut.finished, cut.findings
        assert cut.ledger is not None
        # About half a second of two sessions at least, and no more than the log has until the cut.
        assert 20 < cut.ledger.acknowledged < 200
        assert cut.ledger.never_sent == cut.ledger.duplicated == 0
    unsafe = held_to_safest(cuts)
    with (path / "cuts" / unsafe.id / "lost.csv").open() as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == unsafe.lost
    # The latest are lost: each by its session, and by when it began in the log.
    assert {row["session"] for row in rows} == {"0", "1"}
    assert all(int(row["at_us_of_log"]) % 20_000 < 2_000 for row in rows)
    assert "each that wrote is looked up" in (path / "report.md").read_text()
    # The load is not copied into the run, so its study is named, too.
    again = diskproof_here(folder, "crash", "--replay", str(path / str(unsafe.evidence)), "study.toml")
    assert again.returncode == 0, again.stdout + again.stderr


@pytest.mark.parametrize("folder", ["mysql"], indirect=True)
def test_what_cannot_be_cut_is_refused_before_anything_starts(folder: Path) -> None:
    text = (folder / "study.toml").read_text()
    for wrong, words in (
        (text.replace("cut_before_s = 1.0", "cut_before_s = 9"), "the replay lasts 5.98 s"),
        (text.replace('file = "own.load"', 'file = "own.load"\nonly_reads = true'), "no commit to lose"),
        (
            text.replace("[crash]", '[workloads.other]\nkind = "replay"\nfile = "own.load"\n[crash]'),
            "there are 2",
        ),
        (text + "accounts = 5\n", "no key of"),
        (text + "clients = 5\n", "no key of"),
    ):
        (folder / "study.toml").write_text(wrong)
        done = diskproof_here(folder, "crash", "study.toml")
        assert done.returncode == 2, done.stdout
        assert words in " ".join(done.stderr.split())
    assert not (folder / "runs").exists()


@needs_virtual_disks
@pytest.mark.timeout(300)
@pytest.mark.parametrize("folder", ["mysql"], indirect=True)
def test_writes_that_no_row_tells_of_are_said(folder: Path) -> None:
    lines = ["CREATE TABLE more (a INT)", *["INSERT INTO counters VALUES (1)"] * 290]
    log = "".join(
        f"# Time: 2026-11-28T10:15:{place * 0.02:09.6f}Z\n# User@Host: a[a] @ localhost []  Id: 9\n"
        f"# Query_time: 0.0002  Lock_time: 0.0 Rows_sent: 0\nuse shop;\n{sql};\n"
        for place, sql in enumerate(lines)
    )
    (folder / "own.log").write_text(log)
    (folder / "tables.sql").write_text("CREATE TABLE counters (a INT) ENGINE=MyISAM;\n")
    assert not diskproof_here(folder, "load", "import", "own.log", "--output", "own.load").returncode
    (folder / "study.toml").write_text(STUDY.format(family="mysql").replace("[tunings.unsafe]\n", ""))
    done = diskproof_here(folder, "crash", "study.toml")
    assert done.returncode in (0, 12), done.stdout + done.stderr
    [path] = (folder / "runs" / "study").glob("*")
    for cut in RunFolder.open(path).cuts():
        said = [one.message.text for one in cut.findings if one.check == UNMARKED]
        assert len(said) == 1, cut.findings
        assert "of tables without transactions" in said[0]
        assert "DDL" in said[0]
    assert "could not be looked up" in " ".join((path / "report.md").read_text().split())


@needs_virtual_disks
@pytest.mark.timeout(300)
@pytest.mark.parametrize("folder", ["mysql"], indirect=True)
def test_transactions_under_locks_are_looked_up(folder: Path) -> None:
    said = ("LOCK TABLES goods WRITE", "UPDATE goods SET stock = stock + 1", "UNLOCK TABLES")
    log = "".join(
        f"# Time: 2026-11-28T10:15:{number * 0.02 + place * 0.001:09.6f}Z\n"
        "# User@Host: a[a] @ localhost []  Id: 9\n"
        f"# Query_time: 0.0002  Lock_time: 0.0 Rows_sent: 0\nuse shop;\n{sql};\n"
        for number in range(300)
        for place, sql in enumerate(said)
    )
    (folder / "own.log").write_text(log)
    assert not diskproof_here(folder, "load", "import", "own.log", "--output", "own.load").returncode
    done = diskproof_here(folder, "crash", "study.toml")
    assert done.returncode in (0, 12), done.stdout + done.stderr
    [path] = (folder / "runs" / "study").glob("*")
    cuts = RunFolder.open(path).cuts()
    for cut in cuts:
        assert cut.finished, cut.findings
        assert not [one for one in cut.findings if one.check == UNMARKED]
        assert cut.ledger is not None
        assert 10 < cut.ledger.acknowledged < 200
        assert cut.ledger.never_sent == cut.ledger.duplicated == 0
    held_to_safest(cuts)
