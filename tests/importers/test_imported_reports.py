"""A report of imported results says where they were read, and claims nothing that nobody told."""

import re
from csv import DictReader
from io import StringIO
from pathlib import Path

import pytest
from rich.console import Console

from diskproof.analysis.answers import Analysis
from diskproof.analysis.compare import compare
from diskproof.analysis.folder import analyse_folder
from diskproof.importers.assemble import assemble, write_run
from diskproof.importers.read import read_files
from diskproof.refusal import RefusalError
from diskproof.report import csv, html, markdown
from diskproof.report.compose.run import compose
from diskproof.report.write import terminal
from diskproof.results.folder import RunFolder

SAMPLES = Path(__file__).parent / "samples"


def output(rate_per_s: float) -> str:
    """Return sysbench's output of four busy threads at another rate: seconds and mean follow from it."""
    changed = (SAMPLES / "sysbench-0.5-oltp.txt").read_text()
    for old, new in {
        "673.75": f"{rate_per_s:.2f}",
        "3.0041s": f"{2024 / rate_per_s:.4f}s",
        "5.93ms": f"{4000 / rate_per_s:.2f}ms",
    }.items():
        assert old in changed
        changed = changed.replace(old, new)
    return changed


@pytest.fixture(name="run")
def five_runs_of_two(tmp_path: Path) -> RunFolder:
    """Return a run of two storages, one half as fast as the other, each measured five times."""
    for repeat in range(1, 6):
        (tmp_path / f"ssd_<b>-run{repeat}.txt").write_text(output(670 + repeat))
        (tmp_path / f"hdd-run{repeat}.txt").write_text(output((670 + repeat) / 2))
    return write_run(tmp_path / "run", assemble(read_files(sorted(tmp_path.glob("*.txt")))[0], "old runs"))


def as_text(analysis: Analysis) -> str:
    console = Console(width=100, force_terminal=False, record=True, file=None, quiet=False)
    with console.capture() as captured:
        terminal.write(compose(analysis), console)
    return " ".join(captured.get().split())


def test_repeats_of_named_files_give_a_verdict(run: RunFolder) -> None:
    analysis = analyse_folder(run)
    (verdict,) = analysis.verdicts
    assert verdict.ratio is not None
    assert verdict.ratio.estimate == pytest.approx(2, rel=0.01) or verdict.ratio.estimate == pytest.approx(
        0.5
    )


def test_no_form_of_the_report_claims_a_run_of_ours(run: RunFolder) -> None:
    analysis = analyse_folder(run)
    forms = [as_text(analysis), markdown.render(analysis), html.render(analysis)]
    for form in forms:
        assert "imported from" in form
        assert "sysbench 0.5" in form
        for claim in (
            "fresh random order",
            "server started anew",
            "no warm-up was asked",
            "facts were gathered",
        ):
            assert claim not in form
    assert "10 results, all valid" in forms[0]
    prose = re.sub(r"`[^`]*`", "", forms[1])  # what stands in code is shown as it is
    assert "<b>" in prose
    assert not re.search(r"(?<!\\)<b>", prose)
    assert "<b>-run" not in forms[2]


def test_figures_that_nobody_told_are_empty_fields(run: RunFolder) -> None:
    told = next(DictReader(StringIO(csv.render(run, analyse_folder(run)))))
    assert told["memory_bytes"] == ""
    assert told["started_at"] == ""
    assert "load.failed_transactions" not in told
    assert told["clients"] == "4"
    assert '"imported":true' in analyse_folder(run).model_dump_json()


def test_two_imported_runs_are_compared(tmp_path: Path) -> None:
    runs = []
    for name, rate in (("before", 600), ("after", 660)):
        (tmp_path / name).mkdir()
        for repeat in range(1, 6):
            changed = output(rate + repeat)
            (tmp_path / name / f"run{repeat}.txt").write_text(changed)
        found = read_files(sorted((tmp_path / name).iterdir()))[0]
        runs.append(analyse_folder(write_run(tmp_path / f"{name}-run", assemble(found, name))))
    comparison = compare(runs[0], runs[1], ("before", "after"))
    (cell,) = comparison.cells
    assert cell.outcome == "faster"
    assert comparison.differences == []  # that the measured seconds are not equal is no other phase


def test_no_remedy_of_an_imported_report_is_a_study_file_s(tmp_path: Path) -> None:
    for name, rate in (("ssd-run1", 670), ("ssd-run2", 671), ("hdd-run1", 335)):
        (tmp_path / f"{name}.txt").write_text(output(rate))
    odd = output(300).replace("Number of threads: 4", "Number of threads: 40")
    (tmp_path / "odd-run1.txt").write_text(odd)
    folder = write_run(tmp_path / "run", assemble(read_files(sorted(tmp_path.glob("*.txt")))[0], "old"))
    analysis = analyse_folder(folder)
    assert analysis.trials_valid < analysis.trials_run
    forms = [as_text(analysis), markdown.render(analysis)]
    verdict = next(one for one in analysis.verdicts if one.level != "odd")
    assert any("measured 1 time, but 2 of each are needed" in reason.text for reason in verdict.reasons)
    for form in forms:
        for impossible in ("--resume", "not run yet", "`blocks", "blocks = ", "`[design]`", "measure_s"):
            assert impossible not in form


def test_runs_without_a_cell_in_common_are_told_how_files_name_them(tmp_path: Path) -> None:
    runs = []
    for name in ("ssd", "hdd"):
        for other in ("", "-b"):
            (tmp_path / f"{name}{other}.txt").write_text(output(600 + len(name + other)))
        found = read_files(sorted(tmp_path.glob(f"{name}*.txt")))[0]
        runs.append(analyse_folder(write_run(tmp_path / f"{name}-run", assemble(found, name))))
    with pytest.raises(RefusalError, match=r"server=mysql-8\.0,storage=ssd\.txt"):
        compare(runs[0], runs[1])
