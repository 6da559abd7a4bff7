"""How it was measured, and the load by hand."""

from collections.abc import Iterator, Sequence

from diskproof.analysis.answers import Analysis
from diskproof.report.compose import head, safety_words
from diskproof.report.compose.machine import facts_table
from diskproof.report.compose.names import is_given
from diskproof.report.compose.verdict_words import cell_words
from diskproof.report.document import Code, Paragraph, Section
from diskproof.report.intervals import confidence
from diskproof.results.trial import Trial
from diskproof.wording.numbers import count, duration, percent

BY_HAND = "With the cell's server running, this command makes the same load."


def section(analysis: Analysis, trials: Sequence[Trial]) -> Section:
    """Return the facts of the method, and the commands of the load."""
    commands = load_commands(analysis, trials)
    return Section(
        "How it was measured",
        (
            facts_table(tuple(facts(analysis)), "How it was measured"),
            Section(
                "The load by hand", (Paragraph(BY_HAND), Code(commands)) if commands else (), folded=True
            ),
        ),
        anchor="method",
        contents="Method",
    )


def facts(analysis: Analysis) -> Iterator[tuple[str, str]]:
    """Yield how the trials and cuts were made, and what the intervals mean."""
    plan = analysis.plan
    if plan.imported:
        yield "Read from", f"{'; '.join(plan.imported_from)}, other tools' output"
        yield "Not known", "whether data and server were put back, the order of the runs, the warm-up"
    elif head.has_speed(plan):
        cells = f"{head.blocks(plan)}, each one pass over all {count(len(plan.cells), 'cell')}"
        yield "Order", f"{cells} in a fresh random order (seed {plan.seed})"
        yield "A trial", f"data restored, server {_begun(analysis)}; {head.measured_for(plan)}"
    if head.has_speed(plan):
        kind = "t-intervals on the logarithms over the blocks"
        if plan.at_most_s is not None:
            kind = "anytime-valid: they hold however often the run looked at them"
            known = "verdict was decided"
            if plan.precision is not None:
                known = f"ratio was known within {percent(plan.precision)}"
            yield "It ended", f"when each {known}, or after {duration(plan.at_most_s)} of trials"
        yield "Intervals", f"{confidence(analysis)}, {kind}"
        yield "Different", "only after Holm's adjustment over all verdicts of the run"
        yield "The same", f"if the whole interval of a ratio lies within ±{percent(plan.same_within)}"
    if plan.crash is not None:
        yield from safety_words.method(plan.crash)
    if plan.dilation > 1:
        yield (
            "Slow time",
            f"the clocks of server and load ran {plan.dilation} times slower; figures are by them",
        )
    if scale := head.scale(plan):
        yield "Scale", scale


def _begun(analysis: Analysis) -> str:
    return "there already, and kept running" if is_given(analysis) else "restarted"


def load_commands(analysis: Analysis, trials: Sequence[Trial]) -> tuple[tuple[str, str], ...]:
    """Return for each cell the command that makes its load by hand; a load on bare files has none left."""
    commands = {trial.cell: trial.load_command for trial in trials if trial.load_command}
    return tuple(
        (cell_words(cell, analysis.varying), commands[cell.id])
        for cell in analysis.plan.cells
        if cell.id in commands and cell.has_server
    )
