"""A report in five lines, for a chat or a pull request: the answer, how sure it is, what to do."""

from collections.abc import Iterator, Sequence

from diskproof.analysis.answers import Analysis, RunFinding
from diskproof.analysis.thresholds import failed_controls
from diskproof.report.compose import answer, cut_words, head, limits_words, verdict_words, verdicts
from diskproof.report.document import Item, Items
from diskproof.stats.intervals import Interval
from diskproof.wording import numbers

MOST_CUT_SETTINGS = 3

FACTOR_FROM = 0.2
"""Beyond this share the ends of an interval say more than their distance."""


def items(lines: dict[str, str]) -> Items:
    """Return lines by their lead as a list; a line without a text is left out."""
    made = ((lead, " ".join(text.split())) for lead, text in lines.items())
    return Items(tuple(Item(text, "-", lead) for lead, text in made if text))


def run(analysis: Analysis) -> Items:
    """Return a run in five lines."""
    made_on = head.made_on(analysis)
    measured = f"`{analysis.plan.study}`: {head.progress(analysis)}; {head.design(analysis.plan)}."
    return items(
        {
            "Answer": " ".join(_answers(analysis)),
            "How sure": " ".join(_how_sure(analysis)),
            "What holds it back": _held_back(analysis),
            "What to do": _what_to_do(analysis),
            "Measured": f"{measured} {made_on}." if made_on else measured,
        }
    )


def precision(ratios: Sequence[Interval]) -> str:
    """Return how well ratios are known: ``The ratio is known to within 5% (95% interval).``; may be empty."""
    known = [one.uncertainty for one in ratios]
    wide = [one for one in known if one is not None]
    if not ratios or len(wide) < len(known):
        return ""
    which = "The ratio is" if len(ratios) == 1 else f"The {len(ratios)} ratios are"
    interval = f"{numbers.percent(ratios[0].confidence)} interval"
    if len(ratios) == 1 and max(wide) > FACTOR_FROM and ratios[0].low and ratios[0].high:
        ends = [numbers.significant(one, 2) for one in (ratios[0].low, ratios[0].high)]
        return f"The ratio lies between {ends[0]} and {ends[1]} ({interval})."
    return f"{which} known to within {numbers.significant(max(100 * max(wide), 0.1), 2)}% ({interval})."


def disturbed(found: Sequence[RunFinding], where: str = "") -> str:
    """Return a warning of what took CPU time from trials; empty if nothing did."""
    said = [f"{one.finding.message.text} ({numbers.count(len(one.trials), 'trial')})" for one in found]
    return f"Caution: {where}{numbers.listed(said)}." if said else ""


# ---------------------------------------------------------------- of a run


def _answers(analysis: Analysis) -> Iterator[str]:
    yield from answer.sentences(analysis)
    if safety := analysis.safety:
        said = [cut_words.verdict(analysis, safety, one) for one in safety.verdicts]
        yield from (f"{one}." for one in said[:MOST_CUT_SETTINGS])
        if len(said) > MOST_CUT_SETTINGS:
            yield f"{len(said) - MOST_CUT_SETTINGS} more settings were cut: see below."
    elif not verdicts.has_verdict(analysis):
        yield verdicts.why_no_verdict(analysis)


def _how_sure(analysis: Analysis) -> Iterator[str]:
    decided = [
        one.ratio
        for one in analysis.verdicts
        if one.ratio and one.outcome in ("faster", "slower", "the same")
    ]
    yield precision(decided)
    if invalid := analysis.trials_run - analysis.trials_valid:
        yield f"{invalid} of {numbers.count(analysis.trials_run, 'trial')} {_is(invalid)} invalid."
    if analysis.plan.scale:
        yield f"Scale `{analysis.plan.scale.name}` is smaller than the whole study."
    yield disturbed(analysis.disturbances)
    if (safety := analysis.safety) and safety.made:
        yield f"{safety.telling:,} of {numbers.count(safety.made, 'cut')} {_count(safety.telling)}."


def _count(number: int) -> str:
    return "counts" if number == 1 else "count"


def _is(number: int) -> str:
    return "is" if number == 1 else "are"


def _held_back(analysis: Analysis) -> str:
    """Return what holds the cells of the first verdict back, and in how many cells what does."""
    if analysis.limits is None:
        return ""
    for one in verdicts.by_importance(analysis.verdicts)[:1]:
        if held := limits_words.held_by(limits_words.of_verdict(analysis, one)):
            under = verdict_words.conditions(one.held).strip()
            scope = f"{numbers.sentence_case(under)}: " if under else ""
            return f"{scope}{held}. In all: {limits_words.summary(analysis.limits)}."
    said = limits_words.summary(analysis.limits)
    return f"{said}." if said else ""


def _what_to_do(analysis: Analysis) -> str:
    open_ones = [one for one in analysis.verdicts if one.outcome == "inconclusive"]
    if analysis.plan.scale and analysis.complete:
        return "Run the study without `--scale`, or at a larger scale: this run is a small one."
    if not analysis.complete:
        return "Continue with `diskproof run --resume`: the run is incomplete."
    if failed_controls(analysis):
        return "Find out why a control failed: until then the cuts prove nothing."
    if analysis.trials_valid < analysis.trials_run:
        return "Mend what made trials invalid (see the findings), then `diskproof run --resume`."
    if analysis.disturbances:
        return "Measure again when the machine is idle."
    if open_ones:
        return f"For the inconclusive verdicts: {verdicts.what_decides(open_ones, analysis.plan)}."
    safety = analysis.safety
    if safety and not safety.controls and not any(one.harmed for one in safety.answers):
        return "Name `controls` in `[crash]`: nothing shows yet that the cuts would reveal a loss."
    limits = analysis.limits
    if limits and not limits.proofs and any(one.what_if for one in limits.cells):
        return "Nothing for this answer; `diskproof run --prove` tests what is said to hold it back."
    return "Nothing: the study has its answer."
