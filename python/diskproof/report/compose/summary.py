"""A report in a few lines, for a chat or a pull request: the answer, how sure it is, what to do."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from diskproof.analysis.answers import Analysis, Verdict
from diskproof.analysis.decisions import Decisions, decide
from diskproof.analysis.safety.ranking import Unranked, unranked, whole_losses_by_chance
from diskproof.analysis.safety.shapes import Safety
from diskproof.analysis.thresholds import failed_controls
from diskproof.audit.host import host_busy
from diskproof.audit.run import ENOUGH_BLOCKS
from diskproof.report.compose import (
    answer,
    cut_words,
    decision_words,
    held_back,
    limits_words,
    scope,
    verdict_words,
    verdicts,
)
from diskproof.report.compose.outcome_words import UNDECIDED
from diskproof.report.document import Item, Items, Line
from diskproof.results.trial import Finding
from diskproof.stats.groups import grouped
from diskproof.stats.intervals import Interval
from diskproof.wording import first_of, numbers

MOST_CAUTIONS = 1
MOST_NAMED = 3
MOST_ACTIONS = 2

GLOSSES = {"lateness": "a virtual disk answered later than its model"}
"""Names of checks that do not explain themselves, in a few words."""

ROUGH_FROM = 0.1
"""Other work beside this share of the trials makes the sizes of all differences rough."""

FACTOR_FROM = 0.2
"""Beyond this share the ends of an interval say more than their distance."""


def items(lines: dict[str, str]) -> Items:
    """Return lines by their lead as a list; a line without a text is left out."""
    made = ((lead, " ".join(text.split())) for lead, text in lines.items())
    return Items(tuple(Item(text, "-", lead) for lead, text in made if text))


def run(analysis: Analysis) -> Items:
    """Return a run in a few lines, the answer to its question first."""
    decisions = decide(analysis)
    limits = analysis.limits.cells if analysis.limits else []
    is_of_limits = analysis.plan.asks == "limits" and bool(limits)
    speed = list(answer.speed(analysis))
    if answer.has_one_speed_each(analysis):
        speed = []  # said beside what the cuts took
    answered: list[str | Line] = [*answer.opening(analysis), *speed]
    if is_of_limits:
        answered = [held_back.in_short(analysis, limits)]
    if analysis.safety:
        answered += answer.cuts(analysis, analysis.safety)
    held = list(held_back.by_side(analysis, limits))
    missing = scope.not_measured(analysis)
    entries: dict[str, Sequence[str | Line]] = {
        "Answer": [*answered, *([missing] if missing else [])],
        "How sure": list(_how_sure(analysis)),
        limits_words.TITLE: held if held and isinstance(held[0], str) else ["", *held],
        "How fast": speed if is_of_limits else [],
        "What to do": ["", *_what_to_do(analysis, decisions)],
    }
    return Items(tuple(made for lead, lines in entries.items() if (made := _entry(lead, lines))))


def _entry(lead: str, lines: Sequence[str | Line]) -> Item | None:
    """Return sentences as an item, those after the first on lines of their own; None of none."""
    said = [Line(" ".join(one.split()), style="plain") if isinstance(one, str) else one for one in lines]
    if not any(one.text for one in said):
        return None
    return Item(said[0].text, "-", lead, lines=tuple(said[1:]))


def precision(ratios: Sequence[Interval]) -> str:
    """Return how well ratios are known: ``The ratio is known to within 5% (95% interval).``; may be empty."""
    known = [one.uncertainty for one in ratios]
    wide = [one for one in known if one is not None]
    if not ratios or len(wide) < len(known):
        return ""
    which = "The ratio is" if len(ratios) == 1 else f"The {len(ratios)} ratios are"
    interval = f"{numbers.percent(ratios[0].confidence)} interval"
    if len(ratios) > 1 and max(wide) > 1:  # "within 190%" says nothing of the lower end
        return f"{which} known to within a factor of {numbers.significant(1 + max(wide), 2)} ({interval})."
    if len(ratios) == 1 and max(wide) > FACTOR_FROM and ratios[0].low and ratios[0].high:
        ends = [numbers.significant(one, 2) for one in (ratios[0].low, ratios[0].high)]
        return f"The ratio lies between {ends[0]} and {ends[1]} ({interval})."
    return f"{which} known to within {numbers.significant(max(100 * max(wide), 0.1), 2)}% ({interval})."


# ---------------------------------------------------------------- how sure


@dataclass(frozen=True)
class Caution:
    """A warning, and the trials or cuts that it concerns."""

    finding: Finding
    share: float
    where: str
    """In brackets; empty if it is of the whole run."""


def cautions(analysis: Analysis) -> list[Caution]:
    """Return the warnings, one a check: those that concern most trials or cuts first."""
    run, safety = analysis.trials_run, analysis.safety
    found = [_caution(one.finding, len(one.trials), run, "trial") for one in analysis.findings]
    if safety:
        found += [_caution(one.finding, len(one.cuts), safety.made, "cut") for one in safety.findings]
    warnings = [one for one in found if one.finding.severity == "warning"]
    first = grouped(sorted(warnings, key=lambda one: -one.share), lambda one: one.finding.check)
    # What took CPU time from the trials may be the cause of all the others.
    return sorted((one[0] for one in first.values()), key=lambda one: one.finding.check != host_busy.name)


def _caution(finding: Finding, concerned: int, of: int, noun: str) -> Caution:
    if not concerned:
        return Caution(finding, 1.0, "")
    return Caution(finding, concerned / of, f" ({concerned} of {numbers.count(of, noun)})")


def _how_sure(analysis: Analysis) -> Iterator[str]:
    """Yield how sure the limits, the speeds and the losses are: a line each, a word on the whole first."""
    found, limits = cautions(analysis), list(_of_limits(analysis))
    has_verdict = bool(analysis.verdicts) and verdicts.has_verdict(analysis)
    speed = list(_of_speed(analysis, found)) if has_verdict else []
    safety = analysis.safety if analysis.safety and analysis.safety.made else None
    if speed and (safety or limits):
        speed[0] = f"Speed: {speed[0][:1].lower()}{speed[0][1:]}"
    if invalid := analysis.trials_run - analysis.trials_valid:
        checks = dict.fromkeys(
            one.finding.check for one in analysis.findings if one.finding.severity == "invalid" and one.trials
        )
        glossed = [f"{name}: {GLOSSES[name]}" if name in GLOSSES else name for name in checks]
        why = f" ({', '.join(glossed)})" if glossed else ""
        trials = numbers.count(analysis.trials_run, "trial")
        speed.append(f"{invalid} of {trials} {_is(invalid)} invalid{why}.")
    if found and not (has_verdict and _makes_rough(found)):  # else it is the reason for the word
        speed.append(f"Caution: {_said(found[0])}.")
    if (more := len(found) - MOST_CAUTIONS) > 0:
        speed.append(f"{numbers.count(more, 'more warning')}: see the findings.")
    for said in (limits, speed, list(_of_cuts(analysis, safety)) if safety else []):
        if said:
            yield " ".join(said)


def _makes_rough(found: Sequence[Caution]) -> bool:
    """Tell whether the gravest warning is of other work on the machine, beside more than a few trials."""
    return bool(found) and found[0].finding.check == host_busy.name and found[0].share >= ROUGH_FROM


def _said(one: Caution) -> str:
    return f"{first_of(one.finding.message).text.rstrip('.')}{one.where}"


def _of_speed(analysis: Analysis, found: Sequence[Caution]) -> Iterator[str]:
    """Yield a word on the comparisons, and which have no result."""
    decided = [one.ratio for one in analysis.verdicts if one.outcome not in UNDECIDED and one.ratio]
    open_ones = [one for one in analysis.verdicts if one.outcome in UNDECIDED]
    widest = max((one.uncertainty or 0.0 for one in decided), default=0.0)
    rough = ""
    if _makes_rough(found):
        rough = f": {_said(found[0])}"
    elif widest > FACTOR_FROM:
        rough = f": the widest interval spans a factor of {numbers.significant((1 + widest) ** 2, 2)}"
    few = _few_blocks(analysis, decided)
    if len(decided) < len(open_ones):
        yield f"Weak{rough}."
    elif few:
        yield f"Likely, not sure: {few}."
        if rough:
            yield f"The sizes are rough{rough}."
    else:
        yield f"The direction is sure, the sizes are rough{rough}." if rough else "Sure."
    of = len(analysis.verdicts)
    if of > 1 or not decided:
        yield f"{_with_a_result(len(decided), of)}{_named(open_ones) if decided else ''}."
    if decided and answer.is_listed(analysis):
        yield f"Brackets hold {numbers.percent(decided[0].confidence)} intervals."
    elif decided:
        yield precision(decided)


def _few_blocks(analysis: Analysis, decided: Sequence[Interval]) -> str:
    """Return that most decided ratios rest on few blocks; empty if they do not.

    Their intervals hold if the logarithms scatter normally, which so few blocks cannot show. Without that
    assumption two blocks say nothing of a direction: chance has both agree in half of all cases.
    """
    few = [one.n for one in decided if one.n < ENOUGH_BLOCKS]
    if len(few) * 2 <= len(decided):
        return ""
    noun = "repeat" if analysis.plan.imported else "block"
    if len(set(few)) == 1 and len(few) == len(decided):
        each = "the comparison rests" if len(decided) == 1 else "the comparisons rest"
        return f"{each} on {numbers.count(few[0], noun)} alone"
    return f"most comparisons rest on fewer than {numbers.count(ENOUGH_BLOCKS, noun)}"


def _with_a_result(number: int, of: int) -> str:
    if of == 1:
        return "The comparison has no result"
    if number == of:
        return f"{'Both' if of == 2 else f'All {of}'} comparisons have a result"
    return f"{number or 'None'} of {of} comparisons {'has' if number == 1 else 'have'} a result"


def _named(open_ones: Sequence[Verdict]) -> str:
    """Name the comparisons without a result, if they are few."""
    if not 0 < len(open_ones) <= MOST_NAMED:
        return ""
    named = [f"{verdict_words.against(one)}{verdict_words.conditions(one.held)}" for one in open_ones]
    return f"; without one: {numbers.listed(named)}"


def _of_limits(analysis: Analysis) -> Iterator[str]:
    if analysis.limits and analysis.plan.asks == "limits":
        named = sum(one.limit is not None for one in analysis.limits.cells)
        cells = numbers.count(len(analysis.limits.cells), "cell")
        word = "Sure" if named * 2 >= len(analysis.limits.cells) else "Weak"
        yield f"{word}: in {named} of {cells} two independent measurements agree on the limit."


def _of_cuts(analysis: Analysis, safety: Safety) -> Iterator[str]:
    if failed_controls(analysis):
        yield "Losses: weak, because a control failed."
    elif any(one.harmed for one in safety.answers):
        yield "Losses: sure, because they were seen."
    if safety.telling < safety.made:
        yield f"{safety.telling:,} of {numbers.count(safety.made, 'cut')} are valid."
    whole = [one for one in safety.answers if one.is_whole and one.loss_share]
    if whole:
        could = cut_words.points(max(one.loss_share.high for one in whole if one.loss_share))
        yield f"Where none was lost, up to {could} of cuts could still lose (95% bound)."
    if chance := list(whole_losses_by_chance(safety.answers)):
        yield cut_words.by_chance(chance)
    yield from _not_ranked(unranked(safety.answers))


def _not_ranked(found: Iterable[Unranked]) -> Iterator[str]:
    """Name two settings that may differ by chance alone, and say how many cuts would tell."""
    one = max(
        (pair for pair in found if pair.cuts_needed),
        key=lambda pair: pair.b.harmed / pair.b.telling - pair.a.harmed / pair.a.telling,
        default=None,
    )
    if one is None:
        return
    sides = [f"{cut_words.level(side.cell)} ({side.harmed} of {side.telling})" for side in (one.b, one.a)]
    needed = numbers.significant(one.cuts_needed or 0, 2)
    more_often = f"{sides[0]} lost more often than {sides[1]}"
    yield f"It may be chance that {more_often}: {needed} cuts of each would tell."


def _is(number: int) -> str:
    return "is" if number == 1 else "are"


# ---------------------------------------------------------------- what to do


def _what_to_do(analysis: Analysis, decisions: Decisions) -> Iterator[Line]:
    """Yield what to do: first what makes the run trustworthy at all, then the database, then the rest."""
    if not analysis.complete:
        yield _advice(f"Continue with {analysis.plan.resumed_by}: the run is incomplete.")
        return
    if failed_controls(analysis):
        yield _advice("Find out why a control failed: until then the cuts prove nothing.")
    yield from decision_words.lines(analysis, decisions)
    if surer := list(_to_be_surer(analysis))[:MOST_ACTIONS]:
        yield Line(" ".join(surer), lead="To be surer", style="plain")
    elif not any((decisions.durability, decisions.headroom, decisions.levers)):
        yield _advice("Nothing: the study has its answer.")


def _advice(text: str) -> Line:
    return Line(text, style="plain")


def _to_be_surer(analysis: Analysis) -> Iterator[str]:
    for one in cautions(analysis)[:1]:
        if one.finding.remedy:
            yield f"{numbers.sentence_case(one.finding.remedy.text.rstrip('.'))}."
    if analysis.trials_valid < analysis.trials_run:
        yield f"Mend what made trials invalid (see the findings), then {analysis.plan.resumed_by}."
    if open_ones := [one for one in analysis.verdicts if one.outcome == "inconclusive"]:
        yield f"For what has no result: {verdicts.what_decides(open_ones, analysis.plan)}."
    if analysis.plan.scale:
        yield "Run the study at a larger scale (`--scale`): this run is a small one."
    safety, limits = analysis.safety, analysis.limits
    if safety and not safety.controls and not any(one.harmed for one in safety.answers):
        yield "Name `controls` in `[crash]`: nothing shows yet that the cuts would reveal a loss."
    is_asked = analysis.plan.asks == "limits"
    if is_asked and limits and not limits.proofs and any(one.what_if for one in limits.cells):
        command = f"{analysis.plan.resume} --prove" if analysis.plan.resume else ""
        how = f"`{command}`" if command else "The study, run with `--prove`,"
        yield f"{how} tests what is said to hold it back."
