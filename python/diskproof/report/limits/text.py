"""What holds the cells back on a terminal: under each verdict, then troubles, sweeps and proofs."""

from collections.abc import Iterator, Sequence

from rich.console import Console
from rich.text import Text

from diskproof.analysis.answers import Analysis, Verdict
from diskproof.analysis.limits.shapes import CellLimit, Limits, ProofAnswer
from diskproof.report import words as common
from diskproof.report.limits import words
from diskproof.report.terminal import hanging, shown

MOST_LINES = 2
"""Lines under a verdict: what does not fit stands without its evidence, and that in the other reports."""

MOST_SENTENCES = 4
MOST_TROUBLES = 4
MOST_SWEEPS = 4
MOST_PROOFS = 6
"""What a screen holds; the rest is counted, and stands in the other reports."""

FEWEST_CLIENTS = 3
"""Numbers of clients that are told of as a sweep: two are a verdict's matter."""

_ELSEWHERE = "see report.html in the run folder, or --format markdown"

_OUTCOME_STYLES = {"as predicted": "bold green", "not as predicted": "bold red", "open": "bold"}


def under_verdict(analysis: Analysis, verdict: Verdict, console: Console) -> str:
    """Return what holds the two cells back, with its evidence where two lines hold it."""
    width = max(console.width - 2, 1)
    shorter: tuple[words.Evidence, ...] = ("all", "of limits", "none")
    sentences = [words.in_short(analysis, verdict, evidence) for evidence in shorter]
    fitting = (one for one in sentences if len(shown(one).wrap(console, width)) <= MOST_LINES)
    return next(fitting, sentences[-1])


def part(analysis: Analysis, limits: Limits, console: Console) -> list[Text]:
    """Return the part of the report about limits; sentences of cells where no verdict has said them."""
    if not limits.cells:
        return []
    unsaid = words.unsaid(analysis, limits)
    untold = len(words.open_cells(limits)) > len([one for one in unsaid if one.limit is None])
    why = " (report.html says why)" if untold else ""
    return [
        Text.assemble((f"{words.TITLE}: ", "bold"), f"{words.summary(limits)}{why}"),
        *_sentences(analysis, unsaid, console),
        *_troubles(analysis, limits, console),
        *_sweeps(analysis, limits, console),
        *_proofs(analysis, limits, console),
    ]


def _sentences(analysis: Analysis, cells: Sequence[CellLimit], console: Console) -> list[Text]:
    lines = [
        hanging(
            Text("=" if one.limit else "?", style="bold"),
            shown(f"{words.name(analysis, one)}: {one.sentence}"),
            console,
        )
        for one in cells[:MOST_SENTENCES]
    ]
    return [*lines, *_rest(len(cells) - MOST_SENTENCES, "cell")]


def _troubles(analysis: Analysis, limits: Limits, console: Console) -> Iterator[Text]:
    found = words.troubles(analysis, limits)
    for one in found[:MOST_TROUBLES]:
        body = Text.assemble(
            shown(one.trouble.name, style="bold yellow"),
            shown(f": {one.seen[0][1]} "),
            shown(f"({words.where(one)})", style="dim"),
            shown(f"\nRemedy: {one.trouble.remedy}", style="dim"),
        )
        yield hanging(Text("!", style="bold yellow"), body, console)
    yield from _rest(len(found) - MOST_TROUBLES, "trouble")


def _sweeps(analysis: Analysis, limits: Limits, console: Console) -> Iterator[Text]:
    told = [one for one in limits.sweeps if len(one.clients) >= FEWEST_CLIENTS]
    for one in told[:MOST_SWEEPS]:
        body = shown(f"{words.sweep_name(analysis, one)}: {one.sentence}")
        yield hanging(Text("~", style="bold"), body, console)
    yield from _rest(len(told) - MOST_SWEEPS, "sweep")


def _proofs(analysis: Analysis, limits: Limits, console: Console) -> Iterator[Text]:
    for one in limits.proofs[:MOST_PROOFS]:
        yield _proof(analysis, one, console)
    yield from _rest(len(limits.proofs) - MOST_PROOFS, "proof")


def _proof(analysis: Analysis, proof: ProofAnswer, console: Console) -> Text:
    utf = console.encoding.lower().startswith("utf")
    sign = (words.OUTCOME_MARKS if utf else words.PLAIN_OUTCOME_MARKS)[proof.outcome]
    style = _OUTCOME_STYLES[proof.outcome]
    body = Text.assemble(
        (proof.outcome, style), shown(f" {words.proof_name(analysis, proof)}: {proof.sentence}")
    )
    return hanging(Text(sign, style=style), body, console)


def _rest(left_out: int, noun: str) -> Iterator[Text]:
    if left_out > 0:
        yield Text(f"  {common.count(left_out, f'more {noun}')}: {_ELSEWHERE}", style="dim")
