"""Every kind of workload in a whole run on a real server: what is recorded, judged and reported."""

import re
import shutil
from dataclasses import dataclass
from pathlib import Path

import pytest

from diskproof.analysis.folder import analyse_folder
from diskproof.report.compose import verdict_words
from diskproof.report.compose.cells import cells
from diskproof.results.folder import RunFolder
from diskproof.results.trial import Trial
from support.command import diskproof_here
from support.trials import load_of

needs_mariadb = pytest.mark.skipif(
    not (shutil.which("mariadbd") or Path("/usr/sbin/mariadbd").exists()),
    reason="no MariaDB: apt-get install mariadb-server-core",
)

pytestmark = pytest.mark.timeout(240)

STUDY = """
question = "Does it run?"
[design]
repeat_disturbed = false
blocks = {blocks}
{design}
clients = [{clients}]
memory = ["32 MiB"]
[servers.db]
family = "{family}"
[storages.disk]
directory = "place"
[tunings.unsafe]
{workloads}
"""

TIMED = "warm_up_s = 0.2\nmeasure_s = 0.5"

Outcome = tuple[RunFolder, list[Trial], str]


def run(
    folder: Path, family: str, workloads: str, *, design: str = "", clients: int = 2, blocks: int = 1
) -> Outcome:
    """Run a study; return its folder, its trials and what the terminal shows."""
    text = STUDY.format(family=family, workloads=workloads, design=design, clients=clients, blocks=blocks)
    (folder / "study.toml").write_text(text)
    result = diskproof_here(folder, "run", "study.toml")
    assert result.returncode in (0, 12), result.stdout + result.stderr
    [path] = (folder / "runs" / "study").iterdir()
    found = RunFolder.open(path)
    trials = found.trials()
    assert all(trial.finished for trial in trials), [trial.findings for trial in trials]
    assert all(file.as_declared for trial in trials for file in trial.open_files)
    assert (path / "report.html").stat().st_size > 10_000
    if any(load_of(trial).operations for trial in trials):  # of other loads test_runs shows it
        assert diskproof_here(folder, "report", str(path), "--format", "csv").returncode == 0
    return found, trials, result.stdout


@needs_mariadb
def test_slap(tmp_path: Path) -> None:
    job = '[workloads.slap]\nkind = "slap"\nqueries = 40\niterations = 3\n'
    folder, [trial], shown = run(tmp_path, "mysql", job)
    load = load_of(trial)
    assert load.iterations is not None
    assert (load.iterations.count, load.iterations.queries_per_client) == (3, 20)
    assert load.iterations.min_s <= load.iterations.mean_s <= load.iterations.max_s
    assert load.known_statements >= 3 * 40
    assert trial.data is not None
    assert trial.data.rows is None
    [cell] = analyse_folder(folder).cells
    assert cell.metric == "seconds"
    assert cell.throughput_per_s is None
    assert "Transactions/s" not in shown


@needs_mariadb
def test_sqlbench_reports_every_operation_and_compares_common_ones(tmp_path: Path) -> None:
    jobs = "".join(
        f'[workloads.{engine}]\nkind = "sqlbench"\ntests = ["transactions", "wisconsin"]\n'
        f'scale = 0.001\nengine = "{engine}"\n'
        for engine in ("InnoDB", "MyISAM")
    )
    folder, trials, _ = run(tmp_path, "mysql", jobs, clients=1, blocks=2)
    analysis = analyse_folder(folder)
    known = {row.name: row for row in analysis.operations}
    innodb, myisam = (cell.id for cell in analysis.plan.cells)
    inserts = known["insert_commit"]
    assert inserts.cells[innodb].seconds is not None
    assert (inserts.cells[myisam].seconds, inserts.ratio) == (None, None)
    assert "MyISAM" in (inserts.cells[myisam].skipped or "")
    assert known["wisc_benchmark"].ratio is not None
    for trial in trials:
        parts = load_of(trial).operations
        assert not any(part.errors for part in parts)
        whole = sum(part.seconds for part in parts if part.seconds)
        assert load_of(trial).figure("seconds") == pytest.approx(whole)
    [verdict] = analysis.verdicts
    assert (
        "over the 4 operations that both ran" in verdict_words.verdict(verdict)
        or verdict.outcome == "not comparable"
    )
    assert "skipped" in (folder.path / "report.md").read_text()
    assert "wisc_benchmark" in (folder.path / "report.html").read_text()


SHOP = """
local shop = require("shop_common")
sysbench.cmdline.options = { goods = {"Number of goods", 3} }
function prepare()
  local con = sysbench.sql.driver():connect()
  con:query(shop.table)
  for id = 1, sysbench.opt.goods do
    con:query("INSERT INTO goods VALUES (" .. id .. ")")
  end
end
function thread_init()
  con = sysbench.sql.driver():connect()
end
function event()
  assert(con:query_row("SELECT count(*) FROM goods") == tostring(sysbench.opt.goods))
end
"""

COMMON = 'return { table = "CREATE TABLE goods (id INTEGER PRIMARY KEY)" }\n'

FILES = {
    "sql/tables.sql": "CREATE TABLE goods (id INTEGER PRIMARY KEY);\n",
    "sql/buy.sql": "\\set id random(1, :rows)\nSELECT * FROM goods WHERE id = :id;\n",
    "lua/shop.lua": SHOP,
    "lua/shop_common.lua": COMMON,
}

PGBENCH = '[workloads.bank]\nkind = "pgbench"\nbuiltin = ["tpcb-like@1", "select-only@2"]\n' + TIMED

MANY = f"""
[workloads.c]
kind = "conditions"
tables = 3
rows = 50
stay = true
tables_per_visit = 2
[workloads.ledger]
kind = "ledger"
accounts = 20
filler_bytes = 10
[workloads.script]
kind = "script"
prepare = "sql/tables.sql"
files = ["sql/buy.sql@3"]
variables = {{ rows = 10 }}
[workloads.lua]
kind = "lua"
script = "lua/shop.lua"
options = {{ goods = 20 }}
{PGBENCH}
"""


@dataclass
class Many:
    """A run of several workloads."""

    path: Path
    """Where the study and its files are."""
    folder: RunFolder
    trials: dict[str, Trial]


@pytest.fixture(scope="module")
def many(tmp_path_factory: pytest.TempPathFactory) -> Many:
    """One of all workloads that SQLite shows as well as a server: to begin and to end a run takes longest."""
    path = tmp_path_factory.mktemp("many")
    for name, text in FILES.items():
        (path / name).parent.mkdir(exist_ok=True)
        (path / name).write_text(text)
    folder, trials, _ = run(path, "sqlite", MANY, design=TIMED)
    plan = folder.plan()
    return Many(path, folder, {plan.cell(trial.cell).workload: trial for trial in trials})


def test_conditions(many: Many) -> None:
    trial = many.trials["c"]
    assert load_of(trial).known_transactions > 0
    assert trial.data is not None
    assert trial.data.rows == 150
    assert "--tables-per-visit 2" in trial.load_command


def assert_pgbenchs_transactions(trial: Trial) -> None:
    kinds = {one.name: one.count for one in load_of(trial).statement_types}
    reads = [count for name, count in kinds.items() if "SELECT abalance" in name]
    writes = [count for name, count in kinds.items() if "UPDATE" in name or "INSERT" in name]
    assert len(reads) == 2
    assert len(writes) == 4
    assert all(kinds.values())


def test_pgbenchs_transactions_on_its_own_tables(many: Many) -> None:
    assert_pgbenchs_transactions(many.trials["bank"])


@needs_mariadb
def test_pgbenchs_transactions_on_a_server(tmp_path: Path) -> None:
    _, [trial], shown = run(tmp_path, "mysql", PGBENCH)
    assert_pgbenchs_transactions(trial)
    assert "Pgbench's tpcb-like@1, select-only@2" in shown


def test_a_ledger_is_a_load_like_others(many: Many) -> None:
    trial = many.trials["ledger"]
    measured = load_of(trial)
    assert measured.known_transactions > 0
    assert [one.name for one in measured.statement_types] == [
        "begin", "account_update", "entry_insert", "commit",
    ]  # fmt: skip
    assert trial.data is not None
    assert trial.data.rows == 20
    assert "--accounts 20 --filler-bytes 10" in trial.load_command


def test_a_lua_script_runs_from_the_copy_that_the_run_keeps(many: Many) -> None:
    copies, trial = many.folder.scripts("lua"), many.trials["lua"]
    assert (copies / "shop_common.lua").read_text() == COMMON
    assert f"{copies / 'shop.lua'} --option goods=20" in trial.load_command
    measured = load_of(trial)
    assert measured.known_transactions > 0
    assert [one.name for one in measured.statement_types] == ["select"]


def test_a_script_runs_from_the_copy_that_the_run_keeps(many: Many) -> None:
    copy, trial = many.folder.scripts("script") / "buy.sql", many.trials["script"]
    assert copy.read_text() == FILES["sql/buy.sql"]
    assert f"{copy}@3" in trial.load_command
    assert load_of(trial).known_transactions > 0
    (many.path / "sql" / "buy.sql").write_text("SELECT 1;\n")
    resumed = diskproof_here(many.path, "run", "study.toml", "--resume")
    (many.path / "sql" / "buy.sql").write_text(FILES["sql/buy.sql"])
    assert resumed.returncode == 2
    assert "another version of this study" in resumed.stderr


def test_a_script_with_a_mistake_is_refused_before_anything_is_made(tmp_path: Path) -> None:
    (tmp_path / "buy.sql").write_text("SELECT :nobody_set_this;\n")
    workload = '[workloads.own]\nkind = "script"\nfiles = ["buy.sql"]\n'
    text = STUDY.format(family="sqlite", workloads=workload, design=TIMED, clients=1, blocks=1)
    (tmp_path / "study.toml").write_text(text)
    result = diskproof_here(tmp_path, "run", "study.toml")
    assert result.returncode == 2
    assert "workload `own`: buy.sql:1: nothing has set nobody_set_this" in result.stderr
    assert not (tmp_path / "runs").exists()


def test_a_rate_that_was_not_held_is_an_answer(tmp_path: Path) -> None:
    loads = "".join(
        f'[workloads.{name}]\nmix = "point-select"\nrows = 100\nrate = {rate}\n'
        for name, rate in (("calm", 50), ("flood", 9_000_000))
    )
    folder, trials, _ = run(tmp_path, "sqlite", loads, design=TIMED, clients=1)
    by_workload = {folder.plan().cell(trial.cell).workload: load_of(trial).rate for trial in trials}
    calm, flood = by_workload["calm"], by_workload["flood"]
    assert calm is not None
    assert flood is not None
    assert calm.asked_per_s == 50
    assert (flood.held, flood.waiting > 0) == (False, True)
    analysis = analyse_folder(folder)
    assert {cell.metric for cell in analysis.cells} == {"latency_mean_us"}
    [flooded] = [cell for cell in analysis.cells if cell.cell.workload == "flood"]
    assert (flooded.valid, flooded.rate_held, flooded.rate_asked_per_s) == (1, False, 9_000_000)
    assert flooded.throughput_per_s is not None
    assert flooded.throughput_per_s.estimate == pytest.approx(flood.achieved_per_s)
    assert (flooded.figure, flooded.latency_mean_us) == (None, None)
    assert (flooded.latency_us, flooded.block_speeds) == ({}, {})
    table = cells(analysis)
    at = [column.title for column in table.columns].index("Rate held")
    rates = [str(row[at]) for row in table.rows]
    # Half a second of other work puts even 50 transactions a second behind.
    assert rates[0].startswith("yes: 50/s" if calm.held else "no: ")
    assert re.fullmatch(r"no: [\d,.]+ of 9,000,000/s", rates[1])
    assert any(
        found.finding.check == "rate"
        and found.finding.severity == "warning"
        and flooded.cell.id in found.cells
        and "was not held" in found.finding.message.text
        for found in analysis.findings
    )
