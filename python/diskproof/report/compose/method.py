"""How it was measured, and the load by hand."""

from collections.abc import Iterator

from diskproof.analysis.answers import Analysis
from diskproof.report.compose import cut_words, head
from diskproof.report.compose.machine import facts_table
from diskproof.report.compose.names import is_given
from diskproof.report.document import Section
from diskproof.report.intervals import confidence
from diskproof.wording.numbers import count, duration, percent


def section(analysis: Analysis) -> Section:
    """Return the facts of the method."""
    content = facts_table(tuple(facts(analysis)), "How it was measured")
    return Section("How it was measured", (content,), anchor="method", contents="Method")


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
        yield from cut_words.method(plan.crash)
    if plan.dilation > 1:
        yield (
            "Slow time",
            f"the clocks of server and load ran {plan.dilation} times slower; figures are by them",
        )
    if scale := head.scale(plan):
        yield "Scale", scale


def _begun(analysis: Analysis) -> str:
    return "there already, and kept running" if is_given(analysis) else "restarted"
