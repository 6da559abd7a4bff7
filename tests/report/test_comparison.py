"""The comparison of two runs, on a terminal and as Markdown."""

import io
from pathlib import Path

from diskproof.analysis.compare import compare
from diskproof.analysis.folder import analyse_folder
from diskproof.cli.screen import Screen
from diskproof.report import comparison
from support.runs import write_run
from support.snapshots import assert_matches_snapshot
from support.trials import make_machine, make_plan, make_trials, typical_rate

SNAPSHOTS = Path(__file__).parent / "snapshots"


def test_two_runs_on_different_kernels(tmp_path: Path) -> None:
    before, after = make_plan(), make_plan(storages=("dram", "disk", "nvme"))
    first = write_run(tmp_path / "a", before, make_trials(before), make_machine(before))
    faster = make_trials(
        after, lambda cell: typical_rate(cell) * (1.3 if cell.storage == "disk" else 1), seed=2
    )
    second = write_run(tmp_path / "b", after, faster, make_machine(after, kernel="6.12.0-1-amd64"))
    made = compare(analyse_folder(first), analyse_folder(second), ("march", "april"))

    file = io.StringIO()
    comparison.render(made, Screen(file=file, width=80))
    printed = file.getvalue()
    assert max(map(len, printed.splitlines())) <= 80
    assert "6.12.0-1-amd64" in printed
    assert "only in april" in printed
    assert "30% faster" in printed
    assert_matches_snapshot(printed, SNAPSHOTS / "comparison.txt")
    assert_matches_snapshot(comparison.markdown(made), SNAPSHOTS / "comparison.md")
