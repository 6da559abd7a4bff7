"""`diskproof compare`: the same cells of two runs."""

from pathlib import Path
from typing import Literal

from diskproof.analysis.compare import compare as compare_analyses
from diskproof.analysis.folder import analyse_folder
from diskproof.cli.screen import put, results
from diskproof.report import comparison
from diskproof.results.folder import RunFolder


def compare(first: Path, second: Path, /, *, format: Literal["text", "markdown"] = "text") -> None:  # noqa: A002
    """Compare the same cells of two runs: ratio, interval, verdict.

    Parameters
    ----------
    first
        Run folder to compare with.
    second
        Run folder whose figures are divided by the first one's.
    format
        Format of the output.

    """
    runs = [RunFolder.open(path) for path in (first, second)]
    names = (str(first), str(second)) if first != second else ("itself", str(second))
    made = compare_analyses(analyse_folder(runs[0]), analyse_folder(runs[1]), names)
    if format == "markdown":
        put(comparison.markdown(made))
    else:
        comparison.render(made, results)
