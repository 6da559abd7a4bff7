"""Results that are read together: copies, digits, and what does not apply where nothing is compared."""

from pathlib import Path

import pytest

from diskproof.analysis.audited.audit import audit_experiment, pairs
from diskproof.analysis.audited.shapes import CheckAnswer, SubjectAnswer
from diskproof.importers.assemble import assemble
from diskproof.importers.read import read_files
from diskproof.results.imported import ImportedResult
from support.imported import make_result
from support.samples import SAMPLES


def read(*paths: Path) -> list[ImportedResult]:
    return [one for one in read_files(paths)[0] if isinstance(one, ImportedResult)]


def together(results: list[ImportedResult]) -> SubjectAnswer:
    plan, trials, _ = assemble(results, "old")
    told = audit_experiment(plan, trials, results)
    assert told is not None
    return told


def check_of(told: SubjectAnswer, name: str) -> CheckAnswer:
    return next(one for one in told.checks if one.check == name)


def test_one_file_named_twice_counts_once(tmp_path: Path) -> None:
    path = SAMPLES / "sysbench-1.0-oltp.txt"
    (one,) = read(path, path)
    assert one.remarks[-1] == f"the same output stands in {path}, line 1 again, and counts once"
    copy = tmp_path / "ssd.txt"
    copy.write_text("my notes\n" + path.read_text())
    (named,) = read(path, copy)
    assert f"{copy}, line 2 again" in named.remarks[-1]


def test_an_output_pasted_twice_counts_once(tmp_path: Path) -> None:
    whole = (SAMPLES / "sysbench-0.5-oltp.txt").read_text()
    twice = tmp_path / "twice.txt"
    twice.write_text(whole + whole)
    assert len(read(twice)) == 1
    twice.write_text(whole + whole.replace("673.75", "673.76"))
    assert len(read(twice)) == 2, "another last digit is another run"


def test_what_is_compared_with_nothing_is_not_asked_for_repeats() -> None:
    single = make_result(source__file="one.txt", levels={"workload": "reads"})
    other = make_result(source__file="two.txt", levels={"workload": "writes"}, load__clients=20)
    told = together([single, other])
    assert "supports no comparison" in told.verdict.text
    assert check_of(told, "repeats").state == "does not apply"


def test_one_cell_is_one_cell() -> None:
    told = together([make_result(source__line=line) for line in (1, 50)])
    assert told.known_as == "2 results of 1 cell"
    assert told.verdict.text.startswith("These outputs have the same options, so they are read as repeats.")
    assert check_of(told, "repeats").state == "failed", "its scatter is worth a word all the same"


@pytest.mark.timeout(30)
def test_thousands_of_results_find_their_trials_in_a_moment() -> None:
    rates = {line: 200 + line / 100 for line in range(1, 4001)}
    results = [make_result(source__line=line, load__transactions_per_s=rates[line]) for line in rates]
    _, trials, _ = assemble(results, "old")
    assert [(trial.imported, one) for trial, one in pairs(trials, results)] == [
        (one.source, one) for one in results
    ]
