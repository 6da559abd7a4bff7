"""Plans: all combinations, complete random blocks, and the same ones from the same seed."""

import csv
from collections import Counter
from pathlib import Path

import pytest

from diskproof.results.plan import Plan
from diskproof.study.loads.described import options_of
from diskproof.study.loads.sqlbench import SPANS, SqlBench
from diskproof.study.plan import make_plan
from diskproof.study.read import StudyError, StudyFile, parse_study, read_study
from support.studies import plan_of

ROOT = Path(__file__).parents[2]
QUICKSTART = ROOT / "tests" / "support" / "eight_cells.toml"
OPERATIONS = ROOT / "crates" / "load" / "tests" / "facts" / "sql-bench-operations.csv"


def study(old: str = "", new: str = "") -> StudyFile:
    text = QUICKSTART.read_text().replace("at_most_s = 240", "at_most_s = 86_400")
    text = text.replace(old, new) if old else text
    return StudyFile("quickstart", text, parse_study(text, "eight_cells.toml"))


def test_the_quickstart_has_every_combination_once() -> None:
    plan = make_plan(study())
    assert len(plan.cells) == len({cell.id for cell in plan.cells}) == 2 * 2 * 2
    assert plan.cells[0].id == "mariadb/dram/safest/complex/128MiB/1c"


def test_every_block_has_every_cell_once_in_a_fresh_order() -> None:
    plan = make_plan(study())
    orders = [[trial.cell for trial in plan.trials if trial.block == block] for block in plan.blocks()]
    assert all(Counter(order) == Counter(cell.id for cell in plan.cells) for order in orders)
    assert len({tuple(order) for order in orders}) == len(orders)


def test_the_order_comes_from_the_seed() -> None:
    assert make_plan(study()) == make_plan(study())
    assert make_plan(study()).trials != make_plan(study("[design]", "[design]\nseed = 2")).trials


def test_positions_vary_between_blocks() -> None:
    """No cell is always first: over 40 blocks each cell takes most positions."""
    plan = make_plan(study("blocks = 5", "blocks = 40"))
    for cell in plan.cells:
        assert len({trial.position for trial in plan.trials if trial.cell == cell.id}) >= 6


def test_only_keeps_the_named_cells() -> None:
    plan = make_plan(study(), ["dram/safest"])
    assert [cell.id for cell in plan.cells] == [
        "mariadb/dram/safest/complex/128MiB/1c",
        "mariadb/dram/safest/complex/128MiB/8c",
    ]
    with pytest.raises(StudyError, match="no cell matches `tape`; the cells are:\n  mariadb/dram"):
        make_plan(study(), ["tape"])


def test_main_memory_wears_nothing_out() -> None:
    on_disk, in_memory = (make_plan(study(), [name]).estimated_bytes for name in ("disk", "dram"))
    assert in_memory == 0 < on_disk


@pytest.mark.parametrize(
    ("place", "copies"),
    [
        ('directory = "/mnt"', 5 * 4),
        ('virtual = "null"', 0),
        ('composed = { how = "block-cache", front = "null", back = "null" }', 0),
        ('zpool = { data = [{ virtual = "null" }] }', 0),
        ('zpool = { data = [{ file = "/mnt/disk", size = "1 GiB" }] }', 1),
    ],
)
def test_a_data_set_is_copied_once_where_the_place_keeps_it(place: str, copies: int) -> None:
    """The same trials of a small and a large data set: what differs is what is copied."""

    def planned(rows: int) -> Plan:
        place_in = study('directory = ".diskproof/disk"', place).text
        text = place_in.replace("rows = 10_000", f"rows = {rows}")
        return plan_of(text, ["/disk/"])

    small, large = planned(10_000), planned(1_000_000)
    assert len(small.trials) == 5 * 4
    more = parse_study(study().text.replace("rows = 10_000", "rows = 1_000_000"), "more.toml")
    bytes_more = more.workloads["complex"].data_bytes - study().study.workloads["complex"].data_bytes
    assert large.estimated_bytes - small.estimated_bytes == copies * bytes_more
    in_memory_too = max(copies, 1)  # what is put on a virtual disk takes time, but wears nothing
    assert large.estimated_s - small.estimated_s == pytest.approx(in_memory_too * bytes_more / 250e6)


def expected_s(**keys: object) -> float:
    return SqlBench.model_validate({"kind": "sqlbench", **keys}).expected_s


def test_a_plan_of_sql_bench_counts_the_chosen_tests_within_the_limit() -> None:
    choices = options_of("sqlbench")["tests"]["choices"]
    assert list(SPANS) == [choice["name"] for choice in choices]
    assert expected_s(tests=["wisconsin"]) < expected_s(tests=["wisconsin", "create"]) < expected_s()
    assert expected_s(tests=["wisconsin"]) < 60
    assert expected_s(tests=["create"], limit_s=2) == 5 * 2
    assert expected_s(scale=0.01) < 0.05 * expected_s()


def test_the_table_of_sql_bench_knows_how_many_operations_a_test_has() -> None:
    with OPERATIONS.open() as lines:
        rows = list(csv.DictReader(line for line in lines if not line.startswith("#")))
    assert {test: span.operations for test, span in SPANS.items()} == Counter(row["test"] for row in rows)


def test_every_shipped_study_can_be_planned() -> None:
    for path in QUICKSTART.parent.glob("*.toml"):
        plan = make_plan(read_study(path))
        assert plan.trials or plan.crash


def test_levels_have_an_order_of_their_own_whatever_the_files() -> None:
    levels = "[tunings.fast]\n[tunings.mine]\nbase = 'fast'\n[tunings.safest]"
    plan = make_plan(study("[tunings.safest]\n[tunings.fast]", levels))
    assert list(dict.fromkeys(cell.tuning for cell in plan.cells)) == ["safest", "fast", "mine"]
