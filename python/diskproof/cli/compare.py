"""`diskproof compare`: the same cells of two runs."""

from pathlib import Path
from typing import Literal

from diskproof.analysis.compare import compare as compare_analyses
from diskproof.analysis.folder import analyse_folder
from diskproof.cli.screen import put, put_json, results
from diskproof.refusal import RefusalError
from diskproof.report import comparison
from diskproof.results.folder import RunFolder


def compare(
    first: Path,
    second: Path,
    /,
    *,
    label: list[str] | None = None,
    format: Literal["text", "markdown", "json"] = "text",  # noqa: A002
) -> None:
    """Compare the same cells of two runs: ratio, interval, verdict.

    Parameters
    ----------
    first
        Run folder to compare with.
    second
        Run folder whose figures are divided by the first one's.
    label
        Name of a run in the report: give it twice, first run first. Default: study, machine or time.
    format
        Format of the output; Markdown begins with a summary of five lines.

    """
    labels = None
    if label:
        if len(label) != 2 or label[0] == label[1]:
            raise RefusalError("--label is given twice, with two different names: one for each run")
        labels = (label[0], label[1])
    runs = [RunFolder.open(path) for path in (first, second)]
    made = compare_analyses(analyse_folder(runs[0]), analyse_folder(runs[1]), labels)
    match format:
        case "text":
            comparison.render(made, results)
        case "markdown":
            put(comparison.markdown(made))
        case "json":
            put_json(comparison.json(made))
