"""[crash]: which cells are cut in which ways, in what order; and what is refused."""

from collections import Counter

import pytest

from diskproof.refusal import RefusalError
from diskproof.results.plan import Cuts
from diskproof.study.costs import COPY_BYTES_PER_S, WRITE_BYTES_PER_S
from diskproof.study.loads.base import FIXED_BYTES
from diskproof.study.loads.ledger import ROW_BYTES
from diskproof.study.plan import make_plan
from diskproof.study.read import StudyError, StudyFile, parse_study
from support.studies import plan_of

STUDY = """
question = "What does a power cut take?"
[servers.mariadb]
family = "mysql"
[servers.lite]
family = "sqlite"
[storages.ssd]
virtual = "laptop-ssd-2012"
size = "1 GiB"
[storages.liar]
virtual = "laptop-ssd-2012"
size = "1 GiB"
flushes = "ignored"
[storages.ram]
ram = "1 GiB"
[tunings.safest]
[tunings.lazy]
base = "safest"
servers = ["mariadb"]
[tunings.lazy.variables]
innodb_flush_log_at_trx_commit = 2
[crash]
cuts = 4
ways = ["kill", "power"]
"""

WORKLOAD = '[workloads.load]\nmix = "read-only"\n'

WITHIN = '[[crash.documented]]\ntunings = ["lazy"]\nsays = "may lose"\nwithin_s = 1'


def study(old: str = "", new: str = "") -> StudyFile:
    assert old in STUDY
    text = STUDY.replace(old, new) if old else STUDY + new
    return StudyFile("s", text, parse_study(text, "s.toml"))


def cuts_of(file: StudyFile) -> Cuts:
    plan = make_plan(file)
    assert plan.crash is not None
    return plan.crash


def test_every_cell_dies_once_a_block_in_each_way_that_its_storage_allows() -> None:
    plan = cuts_of(study())
    assert [cell.id for cell in plan.cells] == [
        f"{server}/{storage}/{tuning}"
        for server, tunings in (("mariadb", ("safest", "lazy")), ("lite", ("safest",)))
        for storage in ("ssd", "liar", "ram")
        for tuning in tunings
    ]
    assert plan.ways == {"ssd": ["kill", "power"], "liar": ["kill", "power"], "ram": ["kill"]}
    assert plan.unverified.keys() == {"ram"}
    assert "not verified" in plan.unverified["ram"]
    whole = Counter((cell.id, way) for cell, way in plan.deaths)
    for block in range(1, 5):
        assert Counter((one.cell, one.way) for one in plan.trials if one.block == block) == whole
    assert len({one.seed for one in plan.trials}) == len({one.id for one in plan.trials}) == len(plan.trials)
    assert cuts_of(study()) == plan
    other = cuts_of(study("[crash]", "[design]\nseed = 2\n[crash]"))
    assert [one.cell for one in other.trials] != [one.cell for one in plan.trials]


def test_a_plan_records_what_rows_held_and_when_cuts_fall() -> None:
    plan = cuts_of(study("cuts = 4", "cuts = 4\nfiller_bytes = 7\ncut_after_s = 1\ncut_before_s = 3"))
    assert (plan.filler_bytes, plan.cut_after_s, plan.cut_before_s) == (7, 1.0, 3.0)


def test_a_plan_can_be_for_some_cells_only() -> None:
    plan = make_plan(study(), ["ssd/lazy"])
    assert plan.cells == []
    assert plan.crash is not None
    assert [cell.id for cell in plan.crash.cells] == ["mariadb/ssd/lazy"]
    with pytest.raises(StudyError, match="mariadb/liar/lazy"):
        make_plan(study(), ["nothing"])


def test_documentation_is_of_all_levels_that_it_does_not_name() -> None:
    plan = cuts_of(study(new='[[crash.documented]]\ntunings = ["lazy"]\nsays = "may lose"\nwithin_s = 1'))
    [documented] = plan.documented
    covered = {(cell.id, way) for cell, way in plan.deaths if documented.covers(cell, way)}
    assert covered == {
        ("mariadb/ssd/lazy", "kill"),
        ("mariadb/ssd/lazy", "power"),
        ("mariadb/liar/lazy", "kill"),
        ("mariadb/liar/lazy", "power"),
        ("mariadb/ram/lazy", "kill"),
    }


def test_a_way_may_be_tried_on_some_storages_only() -> None:
    table = 'ways = { kill = ["ssd", "ram"], power = ["ssd", "liar"] }'
    plan = cuts_of(study('ways = ["kill", "power"]', table))
    assert plan.ways == {"ssd": ["kill", "power"], "liar": ["power"], "ram": ["kill"]}
    refused = table.replace('"liar"', '"disk"')
    with pytest.raises(StudyError, match="not `disk`"):
        study('ways = ["kill", "power"]', refused)


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ("cuts = 4", "cuts = 0", "crash.cuts"),
        ('["kill", "power"]', '["drown"]', "crash.ways"),
        ('["kill", "power"]', '["kill", "kill"]', "is here twice"),
        ("cuts = 4", "cut_after_s = 3.0", "must not be later than"),
        ('["kill", "power"]', '["pull-plug", "power"]', "`crash.ways number 1`: give 'restart'"),
        ('["kill", "power"]', "[]", "`crash.ways`: it is empty: give at least 1"),
        ('["kill", "power"]', "{}", "`crash.ways`: it is empty: give at least 1"),
        ('["kill", "power"]', '"power"', "`crash.ways`: give a list, in brackets"),
        ('["kill", "power"]', '{ drown = ["ssd"] }', "`crash.ways.drown`: give 'restart'"),
        (
            '["kill", "power"]',
            '{ power = ["ssd", "ram"] }',
            "`crash.ways.power`: `ram`: its data is on a place that is `ram`, and only a virtual",
        ),
        ("cuts = 4", 'storages = ["disk"]', "this study has ssd, liar, ram, not `disk`"),
        ("[[x]]", '[[crash.controls]]\nmust = "lose"\ntunings = ["fast"]', "safest, lazy, not `fast`"),
        ("[[x]]", '[[crash.controls]]\nmust = "maybe"', "crash.controls number 1.must"),
        ("cuts = 4", 'keep = "some"', "crash.keep"),
        ("cuts = 4", "accounts = 1", "crash.accounts"),
        ("cuts = 4", "at_once = 0", "crash.at_once"),
        ("cuts = 4", "at_once = 1000", "crash.at_once"),
        ('servers = ["mariadb"]', 'servers = ["oracle"]', "this study has mariadb, lite, not `oracle`"),
        ('flushes = "ignored"', 'flushes = "honest"', "flushes"),
        ('flushes = "ignored"', 'flushes = "ignored"\npower_loss = "protected"', "leave one out"),
        ('ram = "1 GiB"', 'ram = "1 GiB"\nflushes = "ignored"', "does not belong to a place that is `ram`"),
        ("[crash]\n", "[crashes]\n", "unknown key `crashes`"),
        ("[[x]]", '[[crash.documented]]\nsays = "kept"\nwithin_s = 1', "bounds a loss"),
        ("[[x]]", '[[crash.documented]]\nsays = "kept"\ntunings = ["fast"]', "not `fast`"),
    ],
)
def test_what_cannot_be_is_named(old: str, new: str, words: str) -> None:
    with pytest.raises(StudyError) as refused:
        study(new=new) if old == "[[x]]" else study(old, new)
    assert words in str(refused.value)
    assert "\n" not in str(refused.value)  # one mistake, one line


@pytest.mark.parametrize(
    ("place", "copies", "wears"),
    [
        ('directory = "/mnt"', 4 * 2, True),  # four kills of two levels
        ('ram = "1 GiB"', 4 * 2, False),
        ('virtual = "null"', 1, False),
    ],
)
def test_a_plan_counts_what_cuts_copy_and_write(place: str, copies: int, *, wears: bool) -> None:
    def planned(accounts: int) -> Cuts:
        text = STUDY.replace('ram = "1 GiB"', place).replace("cuts = 4", f"cuts = 4\naccounts = {accounts}")
        plan = plan_of(text, ["mariadb/ram/"])
        assert plan.crash is not None
        return plan.crash

    small, large = planned(10_000), planned(1_000_000)
    more = 990_000 * (ROW_BYTES + 100)
    assert large.estimated_bytes - small.estimated_bytes == (copies * more if wears else 0)
    assert large.estimated_s - small.estimated_s == pytest.approx(copies * more / COPY_BYTES_PER_S)
    load_bytes = len(small.trials) * 1.25 * WRITE_BYTES_PER_S
    copied = copies * (10_000 * (ROW_BYTES + 100) + FIXED_BYTES)
    assert small.estimated_bytes == pytest.approx(load_bytes + copied if wears else 0)


@pytest.mark.parametrize(
    ("old", "new", "cpus", "expected"),
    [
        ("", "", 2, 3),
        ("", "", 1, 1),
        ("cuts = 4", "cuts = 4\nat_once = 5", 1, 5),
        ("cuts = 4", "cuts = 4\nat_once = 5\nstates = 9", 2, 1),
        ('ram = "1 GiB"', 'directory = "/mnt"', 2, 1),
        ("[crash]", "[design]\ndilation = 2\n[crash]", 2, 1),
        ("[crash]", f"{WORKLOAD}[crash]", 2, 2),
        ("[crash]\n", f"{WORKLOAD}[crash]\nat_once = 5\n", 2, 5),
        ('["kill", "power"]', f'["power"]\n{WITHIN}', 2, 1),
        ('["kill", "power"]', f'["power"]\nat_once = 5\n{WITHIN}', 2, 5),
        ('["kill", "power"]', f'["power"]\n{WITHIN.replace("within_s = 1", "")}', 2, 3),
    ],
)
def test_cuts_are_made_at_once_if_each_can_have_its_own_disks_and_fewer_if_they_are_timed(
    old: str, new: str, cpus: int, expected: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("os.sched_getaffinity", lambda _: set(range(cpus)))
    alone = cuts_of(study(old, new.replace("at_once = 5", "at_once = 1")))
    plan = cuts_of(study(old, new))
    assert plan.at_once == expected
    assert plan.trials == alone.trials
    assert (plan.estimated_s < alone.estimated_s) == (expected > alone.at_once)


@pytest.mark.parametrize(("chosen", "expected"), [("", 1), ("at_once = 2", 2)])
def test_a_program_may_use_what_is_there_only_once(chosen: str, expected: int) -> None:
    program = f"""
question = "?"
[program]
load = "load {{directory}}"
check = "check {{directory}}"
[storages.ssd]
virtual = "laptop-ssd-2012"
size = "1 GiB"
[tunings.as-is]
[crash]
{chosen}
"""
    plan = plan_of(program)
    assert plan.crash is not None
    assert plan.crash.at_once == expected


def test_cuts_at_once_need_storages_that_can_be_made_several_times() -> None:
    text = study('ram = "1 GiB"', 'directory = "/mnt"').text.replace("cuts = 4", "cuts = 4\nat_once = 2")
    with pytest.raises(RefusalError, match="`ram` has a place that is there only once: leave"):
        plan_of(text)


def test_states_are_of_one_disk() -> None:
    apart = "[storages.ssd.data]\nvirtual='laptop-ssd-2012'\n[storages.ssd.redo]\nvirtual='desktop-7200'\n"
    text = study('[storages.ssd]\nvirtual = "laptop-ssd-2012"\nsize = "1 GiB"\n', apart).text
    assert plan_of(text).crash is not None
    states = text.replace("cuts = 4", "cuts = 1\nstates = 9")
    with pytest.raises(RefusalError, match="`ssd` has 2 virtual disks, and states are tried of one"):
        plan_of(states)
    assert plan_of(states, ["/liar/"]).crash is not None


def test_a_study_of_bare_files_has_nothing_to_lose() -> None:
    text = 'question = "?"\n[storages.ram]\nram = "1 GiB"\n[crash]\n'
    with pytest.raises(StudyError, match="cuts need a database"):
        parse_study(text, "s.toml")
    with pytest.raises(StudyError, match="at least one load"):
        parse_study(text.replace("[crash]\n", ""), "s.toml")
