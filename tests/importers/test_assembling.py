"""Imported results as a run: what is one cell, what is a repeat, and that the run can be read again."""

from contextlib import suppress
from pathlib import Path

import pytest

from diskproof.analysis.analyse import analyse
from diskproof.analysis.folder import analyse_folder
from diskproof.importers.assemble import assemble, write_run
from diskproof.importers.base import Found, ImportRefusedError
from diskproof.importers.levels import path_levels
from diskproof.importers.read import read_files
from diskproof.importers.registry import FORMATS
from diskproof.results.folder import RunFolder
from diskproof.results.imported import ImportedResult, Source
from diskproof.results.load import LoadResult
from support.hostile import damaged
from support.samples import SAMPLES, as_text
from support.trials import change


def result(file: str = "ssd.txt", rate_per_s: float = 100.0, **changes: object) -> ImportedResult:
    plain = ImportedResult(
        source=Source(file=file, format="a tool", tool="tool 1.0"),
        name="one",
        load=LoadResult(
            workload="oltp",
            clients=None,
            seconds=None,
            transactions=None,
            transactions_per_s=rate_per_s,
            statements=None,
            reads=None,
            writes=None,
            others=None,
            latency_us=None,
            statement_types=[],
            errors=[],
            failed_transactions=None,
            retries=None,
            reconnects=None,
            client=None,
        ),
    )
    return change(plain, **changes)


def cells_of(*found: Found) -> list[tuple[str, int, int]]:
    """Return storage, clients and number of trials of each cell."""
    plan, trials, _ = assemble(found, "test")
    return [
        (cell.storage, cell.clients, sum(trial.cell == cell.id for trial in trials)) for cell in plan.cells
    ]


def test_files_are_told_apart_by_what_their_paths_do_not_share() -> None:
    told = path_levels(["/home/a/ssd/oltp.txt", "/home/a/hdd/oltp.txt"])
    assert [levels["storage"] for levels in told.values()] == ["ssd", "hdd"]
    assert path_levels(["/home/a/ssd.txt"]) == {"/home/a/ssd.txt": {}}
    told = path_levels(
        ["in/server=mysql-8.0,storage=ssd,tuning=fast.txt", "in/mysql-57.log", "in/mysql-80.log"]
    )
    assert list(told.values()) == [
        {"server": "mysql-8.0", "storage": "ssd", "tuning": "fast"},
        {"storage": "mysql-57"},
        {"storage": "mysql-80"},
    ]


def test_files_that_are_named_as_repeats_are_blocks_of_one_cell() -> None:
    names = ["ssd-run1.txt", "ssd-run2.txt", "hdd/run1.txt", "hdd_run2.log"]
    assert cells_of(*(result(name) for name in names)) == [("ssd", 0, 2), ("hdd", 0, 2)]


def sweep(*told: tuple[str, int]) -> list[tuple[str, int, int]]:
    return cells_of(*(result(name, load__clients=clients) for name, clients in told))


def test_a_sweep_of_clients_in_files_is_no_difference_of_storage() -> None:
    assert sweep(("ssd/oltp-1.txt", 1), ("ssd/oltp-4.txt", 4), ("hdd/oltp-4.txt", 4)) == [
        ("ssd", 1, 1),
        ("ssd", 4, 1),
        ("hdd", 4, 1),
    ]
    assert sweep(("ssd-1.txt", 1), ("ssd-16.txt", 16)) == [("not told", 1, 1), ("not told", 16, 1)]
    assert sweep(("a/ssd/1/x.log", 1), ("a/ssd/08/x.log", 8), ("a/hdd/8/x.log", 8)) == [
        ("ssd", 1, 1),
        ("ssd", 8, 1),
        ("hdd", 8, 1),
    ]
    assert sweep(("ssd_8threads.txt", 8), ("hdd_8threads.txt", 8)) == [("ssd", 8, 1), ("hdd", 8, 1)]
    named = [("mysql-8-1-run1.txt", 1), ("mysql-8-8-run1.txt", 8), ("mysql-8-8-run2.txt", 8)]
    assert sweep(*named) == [("not told", 1, 1), ("not told", 8, 2)]


def test_a_number_that_does_not_follow_the_clients_is_part_of_the_name() -> None:
    assert sweep(("raid-1.txt", 1), ("raid-5.txt", 1)) == [("raid-1", 1, 1), ("raid-5", 1, 1)]
    assert sweep(("raid-1.txt", 1), ("raid-5.txt", 4), ("ssd-4.txt", 4), ("ssd-1.txt", 1)) == [
        ("raid-1", 1, 1),
        ("raid-5", 4, 1),
        ("ssd", 4, 1),
        ("ssd", 1, 1),
    ]
    assert sweep(("ssd-2019.txt", 4), ("ssd-2020.txt", 8))[0][0] == "ssd-2019"


def test_like_results_of_one_file_are_repeats_and_excerpts_are_not() -> None:
    assert cells_of(result(), result()) == [("not told", 0, 2)]
    # Other options are other work, and so are unknown ones; another heading is another place.
    assert cells_of(result(), result(asked={"time": "60"})) == [("not told", 0, 1)] * 2
    first, second = result(source__tool=None), result(source__tool=None, source__line=40)
    assert cells_of(first, second) == [("not told", 0, 1)] * 2
    levels = [result(source__tool=None, load__clients=clients) for clients in (2, 4)]
    plan, _, _ = assemble(levels, "test")
    assert len({cell.workload for cell in plan.cells}) == 1, "they may be levels of clients of one load"
    assert cells_of(result(), result(heading="raid")) == [("output", 0, 1), ("output #2", 0, 1)]
    assert cells_of(result(load__clients=1), result(load__clients=8)) == [
        ("not told", 1, 1),
        ("not told", 8, 1),
    ]


def test_what_is_not_told_is_not_made_up() -> None:
    plan, (trial,), series = assemble([result()], "test")
    (cell,) = plan.cells
    assert (cell.server, cell.storage, cell.tuning) == ("not told", "not told", "not told")
    assert cell.level("clients") == cell.level("memory") == "-"
    assert trial.usage is None
    assert trial.settings == []
    assert trial.started_at == ""
    assert trial.imported is not None
    assert series == {}
    assert plan.imported


def test_levels_that_a_result_tells_hold() -> None:
    told = {"server": "MySQL 5.1", "storage": "EBS", "tuning": "safest", "memory": "512 MiB", "clients": "16"}
    plan, _, _ = assemble([result(levels=told)], "test")
    (cell,) = plan.cells
    assert (cell.server, cell.storage, cell.tuning) == ("MySQL 5.1", "EBS", "safest")
    assert (cell.memory_bytes, cell.clients) == (512 * 2**20, 16)


def test_a_result_without_a_figure_is_named_as_left_out() -> None:
    plan, trials, _ = assemble([result(), result("bad.txt", 0.0)], "test")
    assert len(trials) == 1
    assert plan.left_out == ["one (bad.txt, line 1): it has no figure above 0"]
    with pytest.raises(ImportRefusedError, match=r"bad\.txt, line 1"):
        assemble([result("bad.txt", 0.0)], "test")


def test_interval_lines_become_the_series() -> None:
    found = read_files([SAMPLES / "sysbench-0.4-oltp.txt"])[0]
    _, (trial,), series = assemble(found, "test")
    rates = [(at, value) for at, _, metric, value in series[trial.id] if metric == "transactions_per_s"]
    assert rates == [(1, 681.88), (2, 653.44), (3, 649.59), (4, 477.93)]
    assert {metric for _, _, metric, _ in series[trial.id]} == {"transactions_per_s", "latency_p95_us"}


def test_every_sample_makes_a_run_that_is_read_again(tmp_path: Path) -> None:
    found = [one for one in read_files(sorted(SAMPLES.iterdir()))[0] if isinstance(one, ImportedResult)]
    made = assemble(found, "test")
    folder = write_run(tmp_path / "run", made)
    assert RunFolder.open(folder.path).trials() == made[1]
    analysis = analyse_folder(folder)
    assert len(analysis.cells) == len(made[0].cells) > 20
    with pytest.raises(ImportRefusedError, match="is there already"):
        write_run(tmp_path / "run", made)


@pytest.mark.parametrize("sample", sorted(SAMPLES.iterdir()), ids=lambda path: path.name)
def test_what_is_read_of_damaged_texts_breaks_no_analysis(sample: Path) -> None:
    for text in damaged(sample.read_text(), seed=7, times=12):
        found: list[Found] = []
        for form in FORMATS:
            if form.recognises(as_text(text)):
                with suppress(ImportRefusedError):
                    found += form.read(as_text(text))
        with suppress(ImportRefusedError):
            plan, trials, series = assemble(found, "test")
            rates = {
                trial: [value for _, _, metric, value in rows if metric.endswith("_per_s")]
                for trial, rows in series.items()
            }
            assert len(analyse(plan, None, trials, rates).cells) == len(plan.cells)
