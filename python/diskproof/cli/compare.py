"""`diskproof compare`: the same cells of two runs."""

import math
from pathlib import Path
from typing import Literal, get_args

from diskproof.analysis.compare import compare as compare_analyses
from diskproof.analysis.folder import analyse_folder
from diskproof.analysis.regression import Condition
from diskproof.cli.exits import DONE, THRESHOLD_FAILED
from diskproof.cli.forms import Form, put_in_form
from diskproof.cli.screen import complain
from diskproof.refusal import RefusalError
from diskproof.report.compose.comparison import compose, failed, screen
from diskproof.results.folder import RunFolder
from diskproof.study.threshold import ThresholdFigure


def compare(
    first: Path,
    second: Path,
    /,
    *,
    label: list[str] | None = None,
    fail_if: list[str] | None = None,
    at_least: list[str] | None = None,
    at_most: list[str] | None = None,
    format: Form = "text",  # noqa: A002
) -> int:
    """Compare the same cells of two runs: ratio, interval, verdict.

    Parameters
    ----------
    first
        Run folder to compare with.
    second
        Run folder to judge: its figures are divided by those of the first.
    label
        Name of a run in the report: give it twice, first run first. Default: study, machine or time.
    fail_if
        Exit code 10 if a cell is shown to be `slower`, `slower=5%` or `losing-more`; can be repeated.
    at_least
        Exit code 10 unless all cells prove it: `ratio=0.95`, `throughput_per_s=900`; can be repeated.
    at_most
        The same with an upper bound: `p99_ms=20`, `lost=0`; can be repeated.
    format
        Format of the output; Markdown begins with a summary of five lines.

    """
    labels = None
    if label:
        if len({name for name in label if name.strip()}) != 2 or len(label) != 2:
            raise RefusalError("--label is given twice, with two different names: one for each run")
        labels = (label[0], label[1])
    conditions = [
        *(_regression(text) for text in fail_if or []),
        *(_bound("--at-least", text) for text in at_least or []),
        *(_bound("--at-most", text) for text in at_most or []),
    ]
    runs = [RunFolder.open(path) for path in (first, second)]
    if first.resolve() == second.resolve():
        raise RefusalError(f"{first} is named twice: name the two runs to compare")
    made = compare_analyses(analyse_folder(runs[0]), analyse_folder(runs[1]), labels, conditions)
    for one in made.failed:
        complain(failed(one))
    put_in_form(format, compose(made), made, screen(made))
    return THRESHOLD_FAILED if made.failed else DONE


def _regression(text: str) -> Condition:
    """Read a condition such as ``slower=5%``."""
    words = f"--fail-if {text}"
    if text in ("slower", "losing-more"):
        return Condition(words, "slower" if text == "slower" else "losing-more")
    name, _, share = text.partition("=")
    percent = _number(share.removesuffix("%")) if share.endswith("%") else None
    if name != "slower" or percent is None or not 0 <= percent < 100:
        raise RefusalError(f"--fail-if takes `slower`, `slower=5%` or `losing-more`, not `{text}`")
    return Condition(words, "slower", at_least=1 - percent / 100)


def _bound(option: Literal["--at-least", "--at-most"], text: str) -> Condition:
    """Read a condition such as ``p99_ms=20``."""
    name, _, value = text.partition("=")
    figure = next((one for one in get_args(ThresholdFigure) if one == name), None)
    bound = _number(value)
    if figure is None or bound is None or bound < 0 or (bound == 0 and figure != "lost"):
        raise RefusalError(
            f"{option} takes FIGURE=NUMBER, such as `ratio=0.95` or `p99_ms=20`, not `{text}`; the figures: "
            f"{', '.join(get_args(ThresholdFigure))}"
        )
    words = f"{option} {text}"
    if option == "--at-least":
        return Condition(words, figure, at_least=bound)
    return Condition(words, figure, at_most=bound)


def _number(text: str) -> float | None:
    try:
        number = float(text)
    except ValueError:
        return None
    return number if math.isfinite(number) else None
