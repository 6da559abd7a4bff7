"""Studies over machines: their cells, who runs which block, and what is refused."""

from pathlib import Path

import pytest

from diskproof.results.plan import Plan
from diskproof.study.loads.replay import MARKS
from diskproof.study.plan import make_plan
from diskproof.study.read import StudyError, StudyFile, parse_study

STUDY = """
question = "Which machine?"
[hosts]
{hosts}
[design]
blocks = 4
clients = [3]
[servers.db]
family = "{family}"
[storages.memory]
ram = "1 GiB"
[tunings.fast]
[tunings.unsafe]
[workloads.complex]
tables = 1
rows = 1000
"""
EACH = 'how = "compare"\nnames = ["a", "b", "c"]'
TEXT = STUDY.format(hosts=EACH, family="sqlite")
SPREAD = TEXT.replace("compare", "spread")
ROLES = STUDY.format(hosts='database = "db"\nload = ["load-1", "load-2"]', family="mysql")
CRASH = "\n[storages.second]\nram = '400 MiB'\n[crash]\ncuts = 2\n"
GIVEN = '\n[servers.theirs]\nurl = "mysql://app@db.example/test"\n'
THRESHOLD = 'thresholds = ["ratio of host b to a >= 1"]\n'


def plan(text: str, at_most_s: float | None = None, *, cuts_alone: bool = False) -> Plan:
    file = StudyFile("machines", text, parse_study(text, str(Path("machines.toml"))))
    return make_plan(file, at_most_s=at_most_s, over_hosts=True, cuts_alone=cuts_alone)


def test_compared_machines_are_a_factor() -> None:
    made = plan(TEXT)
    assert len(made.cells) == 2 * 3
    assert {(cell.host, cell.id.rpartition("/")[2]) for cell in made.cells} == {(one, one) for one in "abc"}
    for block in made.blocks():
        of_block = [trial for trial in made.trials if trial.block == block]
        assert sorted(trial.cell for trial in of_block) == sorted(cell.id for cell in made.cells)
        assert all(trial.host == made.cell(trial.cell).host for trial in of_block)


def test_a_block_is_never_shared() -> None:
    made = plan(SPREAD)
    assert len(made.cells) == 2
    assert {trial.block: trial.host for trial in made.trials} == {1: "a", 2: "b", 3: "c", 4: "a"}
    alone = make_plan(StudyFile("machines", TEXT, parse_study(TEXT, "machines.toml")))
    assert alone.hosts == []
    assert [trial.cell for trial in alone.trials] == [trial.cell for trial in made.trials]
    assert made.estimated_s == pytest.approx(alone.estimated_s / 3)


@pytest.mark.parametrize(
    ("text", "at_most_s", "why"),
    [
        (TEXT.replace("[hosts]", "[hosts_]"), None, "unknown key `hosts_`"),
        (TEXT.replace('"a", "b", "c"', ""), None, "hosts.names"),
        (TEXT.replace('"b"', '"a"'), None, "hosts.names"),
        (SPREAD.replace("blocks = 4", "blocks = 2"), None, "raise `blocks`"),
        (TEXT + GIVEN, None, "hosts would load it at once"),
        (TEXT, 600.0, "a fixed number of `blocks`"),
        (TEXT.replace(f"[hosts]\n{EACH}", ""), None, "--hosts needs \\[hosts\\]"),
        (THRESHOLD + SPREAD, None, "no machines are compared"),
    ],
)
def test_what_cannot_be_is_refused(text: str, at_most_s: float | None, why: str) -> None:
    with pytest.raises(StudyError, match=why):
        plan(text, at_most_s)


def test_a_machine_with_the_database_runs_all_trials() -> None:
    made = plan(ROLES)
    assert made.hosts == ["db"]
    assert {trial.host for trial in made.trials} == {"db"}
    assert made.load_hosts == ["load-1", "load-2"]
    assert {cell.host for cell in made.cells} == {"-"}
    assert not made.shares_blocks


@pytest.mark.parametrize(
    ("old", "new", "why"),
    [
        ('database = "db"', 'database = "load-1"', "has the database: name other machines"),
        ('load = ["load-1", "load-2"]', "", "`load` is missing"),
        ('database = "db"', "", "`how` and `names`, or `database` and `load`"),
        ('database = "db"', 'database = "db"\nhow = "spread"', "compared, or have roles"),
        ('family = "mysql"', 'family = "sqlite"', "is SQLite, which runs inside the load generator"),
        ('family = "mysql"', 'image = "mariadb:11"', "in a container, which has no network"),
        ("blocks = 4", "blocks = 4\ncpus = 1", "have machines of their own"),
        ("rows = 1000", "rows = 1000\n[workloads.job]\nkind = 'slap'\nqueries = 10", "ends by itself"),
        ("rows = 1000", "rows = 1000\n[workloads.kept]\nkind = 'ledger'", "name one machine in `load`"),
        ("rows = 1000", "rows = 1000\nrate = 10\narrivals = 'even'", "at even intervals"),
        ("rows = 1000", "rows = 1000\n[workloads.raw]\nkind = 'fileio'\nmode = 'rndrd'", "is of bare files"),
    ],
)
def test_what_needs_one_machine_is_refused(old: str, new: str, why: str) -> None:
    assert old in ROLES
    with pytest.raises(StudyError, match=why):
        plan(ROLES.replace(old, new))


def test_the_cuts_of_a_storage_are_of_one_machine() -> None:
    crash = plan(TEXT + CRASH).crash
    assert crash is not None
    assert len(crash.trials) == 8
    assert {(crash.cell(cut.cell).storage, cut.host) for cut in crash.trials} == {
        ("memory", "a"),
        ("second", "b"),
    }


@pytest.mark.parametrize(
    "text",
    [SPREAD.replace("blocks = 4", "blocks = 2"), ROLES.replace('family = "mysql"', 'family = "sqlite"')],
)
def test_cuts_alone_need_no_blocks_and_no_load_elsewhere(text: str) -> None:
    with pytest.raises(StudyError, match="--hosts: "):
        plan(text + CRASH)
    alone = plan(text + CRASH, cuts_alone=True)
    assert (alone.trials, alone.cells) == ([], [])
    assert alone.crash is not None


def test_hosts_take_no_dumps_of_a_server(tmp_path: Path) -> None:
    (tmp_path / "look.sql").write_text("SELECT 1;\n")
    own = f'prepare = "mysql://app@db.example/shop"\nfiles = ["{tmp_path}/look.sql"]\n'
    with pytest.raises(StudyError, match="each would take a dump of its own"):
        plan(STUDY.format(hosts=EACH, family="mysql") + f'[workloads.own]\nkind = "script"\n{own}')


def test_a_log_is_not_replayed_from_other_machines(tmp_path: Path) -> None:
    contents = b'{"most_at_once": 1, "dialect": "mysql", "length_us": 1000000}'
    (tmp_path / "own.load").write_bytes(contents + len(contents).to_bytes(8, "little") + MARKS[0])
    own = f'[workloads.own]\nkind = "replay"\nfile = "{tmp_path}/own.load"\n'
    with pytest.raises(StudyError, match="`own` replays a log, which only this machine can"):
        plan(ROLES + own)
