"""A verification for a terminal: published, model and measured side by side, evidence apart."""

from collections.abc import Sequence

from rich.console import Console
from rich.table import Table as RichTable
from rich.text import Text

from diskproof.report import words
from diskproof.report.profile.device import MEASURES
from diskproof.report.profile.words import probe as named
from diskproof.report.tables import Column, Table
from diskproof.report.terminal import hanging, layout, print_parts, shown
from diskproof.results.verification import Verification, VerifiedFigure, VerifiedProbe

MOST_WAY_SHARE = 0.10
"""Beyond it what was measured is the machine's as well as the device's: as much as an answer may be late."""


def render(verification: Verification, console: Console) -> None:
    """Print the figures that were held out, then those that were fitted, then what must be known."""
    parts: list[Sequence[Text | RichTable]] = [_heading(verification)]
    for fitted, heading in (
        (False, "Held out: figures that no parameter was fitted to"),
        (True, "Fitted: what the parameters were chosen by, and no evidence"),
    ):
        figures = [figure for figure in verification.figures if figure.fitted is fitted]
        if figures:
            parts.append([Text(heading, style="bold"), layout(table(figures), console), _score(figures)])
    parts.append(
        [hanging(Text("!", style="bold yellow"), shown(note), console) for note in notes(verification)]
    )
    print_parts(parts, console)


def table(figures: Sequence[VerifiedFigure]) -> Table:
    """Return a row a figure, with the ratios of model and served disk to what was published."""
    titles = ("published", "model", "ratio", "measured", "ratio", "goal")
    columns = (Column("Probe"), Column("Figure"), *(Column(title, figures=True) for title in titles))
    rows = tuple(
        (
            named(figure.probe),
            MEASURES[figure.measure],
            words.number(figure.published),
            words.number(figure.model),
            _ratio(figure, figure.model),
            words.number(figure.measured),
            _ratio(figure, figure.measured),
            "none" if figure.goal is None else f"{100 * figure.goal:.0f} %",
        )
        for figure in figures
    )
    return Table(columns, rows)


def _ratio(figure: VerifiedFigure, found: float | None) -> str:
    missed = "!" if figure.within(found) is False else ""
    return f"{missed}{words.number(figure.ratio(found))}"


def notes(verification: Verification) -> list[str]:
    """Return what must be said of it, the gravest first."""
    said = [f"{named(one.cell.probe)}: {_late_words(one)}" for one in verification.late]
    said += [
        f"{named(one.cell.probe)}: fio waited {words.milliseconds(one.cell.requests.mean_us)} ms for what "
        f"the disk itself took {words.milliseconds(one.modelled_us)} ms for: the way to it added the rest, "
        "on a machine as busy as this one is now"
        for one in verification.probes
        if one.cell.requests and (one.way_share or 0) > MOST_WAY_SHARE
    ]
    said += [
        f"{named(one.cell.probe)} could not be measured: {one.cell.error}"
        for one in verification.probes
        if one.cell.error
    ]
    return [*said, verification.label] if verification.label else said


def _late_words(one: VerifiedProbe) -> str:
    if one.lateness.late:
        how = (
            f"{words.number(one.lateness.p99_us)} us at the 99th percentile, "
            f"{words.number(100 * (one.lateness.share or 0))} % of its mean latency"
        )
    else:
        assert one.waiting is not None
        how = (
            f"its requests took {words.number(one.waiting.await_us)} us at its block device in the mean, "
            f"{words.number(100 * one.waiting.share)} % more than its model says: they waited in the kernel"
        )
    return f"the disk was late, {how}: what was measured is not the device's (10 % are allowed)"


def _heading(verification: Verification) -> list[Text | RichTable]:
    how = "the model alone, in virtual time"
    if verification.fio_version:
        how = f"the model, and the served disk measured with fio {verification.fio_version}"
        shares = [one.lateness.share for one in verification.probes if one.lateness.share is not None]
        if shares:
            how += f"; latest answers {words.number(100 * max(shares))} % of the mean latency (p99)"
    return [shown(f"{verification.device}: {verification.title}", style="bold"), shown(how, style="dim")]


def _score(figures: Sequence[VerifiedFigure]) -> Text:
    """Say how many figures reach their goals."""
    parts = []
    for what, reached in (
        ("the model", [figure.within(figure.model) for figure in figures]),
        ("the served disk", [figure.within(figure.measured) for figure in figures]),
    ):
        judged = [one for one in reached if one is not None]
        if judged:
            parts.append(f"{what} reaches {sum(judged)} of {len(judged)} goals")
    return Text(f"{'; '.join(parts)} (a ratio beyond its goal is marked !)", style="dim")
