"""`diskproof compare`: the same cells of two runs, or of more."""

from pathlib import Path

from diskproof.analysis.compare import compare as compare_analyses
from diskproof.analysis.compare import trend
from diskproof.analysis.folder import analyse_folder
from diskproof.analysis.regression import Demand
from diskproof.cli.exits import DONE, THRESHOLD_FAILED
from diskproof.cli.forms import Form, put_in_form
from diskproof.cli.screen import complain
from diskproof.refusal import RefusalError
from diskproof.report.compose import comparison
from diskproof.results.folder import RunFolder
from diskproof.study.condition import parse_condition


def compare(
    first: Path,
    second: Path,
    /,
    *more: Path,
    label: list[str] | None = None,
    fail_if: list[str] | None = None,
    threshold: list[str] | None = None,
    format: Form = "text",  # noqa: A002
) -> int:
    """Compare the same cells of runs: ratio, interval, verdict.

    Parameters
    ----------
    first
        Run folder to compare with.
    second
        Run folder to judge: its figures are divided by those of the first.
    more
        Further run folders: then the answer is a trend, each run against the first.
    label
        Name of a run in the report: give one for each run, in their order. Default: study, machine or time.
    fail_if
        Exit code 10 if a cell is shown to be `slower`, `ratio < 0.95` or `losing-more`; can be repeated.
    threshold
        Exit code 10 unless all cells prove it: `ratio >= 0.95`, `p99 <= 20 ms`; can be repeated.
    format
        Format of the output.

    """
    paths = (first, second, *more)
    if label and not len({name for name in label if name.strip()}) == len(label) == len(paths):
        times = "twice, with two" if len(paths) == 2 else f"{len(paths)} times, with"
        raise RefusalError(f"--label is given {times} different names: one for each run")
    conditions = [
        *(_demand("--fail-if", text) for text in fail_if or []),
        *(_demand("--threshold", text) for text in threshold or []),
    ]
    runs = [RunFolder.open(path) for path in paths]
    if len({path.resolve() for path in paths}) < len(paths):
        raise RefusalError(f"{first} is named twice: name the two runs to compare")
    if more:
        if conditions:
            raise RefusalError("a condition is about two runs: name two, or leave it out")
        series = trend([analyse_folder(run) for run in runs], label)
        put_in_form(format, comparison.trend(series), series)
        return DONE
    labels = (label[0], label[1]) if label else None
    made = compare_analyses(analyse_folder(runs[0]), analyse_folder(runs[1]), labels, conditions)
    for one in made.failed:
        complain(comparison.failed(one))
    put_in_form(format, comparison.compose(made), made)
    return THRESHOLD_FAILED if made.failed else DONE


def _demand(option: str, text: str) -> Demand:
    """Read a condition such as ``ratio < 0.95``."""
    words = f"{option} {text}"
    if option == "--fail-if" and text in ("slower", "losing-more"):
        return Demand(words, "slower" if text == "slower" else "losing-more")
    try:
        condition = parse_condition(text)
    except ValueError as error:
        others = "; or `slower`, `losing-more`" if option == "--fail-if" else ""
        raise RefusalError(f"{option}: {error}{others}") from None
    if condition.baseline:
        raise RefusalError(
            f"{option}: `{text}`: a ratio here is of the second run to the first; leave out `to`"
        )
    return Demand(words, condition, must_hold=option == "--threshold")
