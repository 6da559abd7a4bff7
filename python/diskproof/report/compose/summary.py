"""A report in a few lines, for a chat or a pull request: the answer, how sure it is, what to do."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from diskproof.analysis.answers import Analysis
from diskproof.analysis.decisions import Decisions, decide
from diskproof.analysis.safety.ranking import Unranked, unranked, whole_losses_by_chance
from diskproof.analysis.safety.shapes import Safety
from diskproof.analysis.thresholds import failed_controls
from diskproof.audit.host import host_busy
from diskproof.report.compose import answer, cut_words, decision_words, scope, verdicts
from diskproof.report.document import Item, Items, Line
from diskproof.results.trial import Finding
from diskproof.stats.groups import grouped
from diskproof.stats.intervals import Interval
from diskproof.wording import first_of, numbers

MOST_CAUTIONS = 1
MOST_ACTIONS = 2

GLOSSES = {"lateness": "a virtual disk answered later than its model"}
"""Names of checks that do not explain themselves, in a few words."""

FACTOR_FROM = 0.2
"""Beyond this share the ends of an interval say more than their distance."""


def items(lines: dict[str, str]) -> Items:
    """Return lines by their lead as a list; a line without a text is left out."""
    made = ((lead, " ".join(text.split())) for lead, text in lines.items())
    return Items(tuple(Item(text, "-", lead) for lead, text in made if text))


def run(analysis: Analysis) -> Items:
    """Return a run in a few lines, the answer to its question first."""
    decisions = decide(analysis)
    about = scope.sentence(analysis)
    speed = [*answer.speed(analysis), *(answer.cuts(analysis.safety) if analysis.safety else [])]
    limits = list(answer.limits(analysis, analysis.limits.cells)) if analysis.limits else []
    answered: list[str | Line] = [*([about] if about else []), *speed]
    first: dict[str, Sequence[str | Line]] = {"Answer": answered}
    other: dict[str, Sequence[str | Line]] = {"What holds it back": limits}
    if analysis.plan.asks == "limits" and limits:
        first, other = {"Answer": [scope.of_limits(analysis), *limits]}, {"How fast": speed}
    entries: dict[str, Sequence[str | Line]] = {
        **first,
        "How sure": [" ".join(_how_sure(analysis))],
        **other,
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
    decided = [one.ratio for one in analysis.verdicts if one.outcome not in answer.UNDECIDED and one.ratio]
    if analysis.limits and analysis.plan.asks == "limits":
        named = sum(one.limit is not None for one in analysis.limits.cells)
        cells = numbers.count(len(analysis.limits.cells), "cell")
        yield f"In {named} of {cells} two independent measurements agree on the limit."
    if (of := len(analysis.verdicts)) > 1 and verdicts.has_verdict(analysis):
        yield f"{len(decided)} of {of} comparisons {_is(len(decided))} decided."
    if not answer.is_listed(analysis):
        yield precision(decided)
    if invalid := analysis.trials_run - analysis.trials_valid:
        checks = dict.fromkeys(
            one.finding.check for one in analysis.findings if one.finding.severity == "invalid" and one.trials
        )
        glossed = [f"{name}: {GLOSSES[name]}" if name in GLOSSES else name for name in checks]
        why = f" ({', '.join(glossed)})" if glossed else ""
        yield f"{invalid} of {numbers.count(analysis.trials_run, 'trial')} {_is(invalid)} invalid{why}."
    if (safety := analysis.safety) and safety.made:
        yield from _of_cuts(safety)
    found = cautions(analysis)
    for one in found[:MOST_CAUTIONS]:
        rough = ", so sizes are rough" if one.finding.check == host_busy.name else ""
        yield f"Caution: {first_of(one.finding.message).text.rstrip('.')}{one.where}{rough}."
    if (more := len(found) - MOST_CAUTIONS) > 0:
        yield f"{numbers.count(more, 'more warning')}: see the findings."


def _of_cuts(safety: Safety) -> Iterator[str]:
    if safety.telling < safety.made:
        yield f"{safety.telling:,} of {numbers.count(safety.made, 'cut')} are valid."
    whole = [one for one in safety.answers if one.is_whole and one.loss_share]
    if whole:
        could = cut_words.points(max(one.loss_share.high for one in whole if one.loss_share))
        yield f"Where none was lost, up to {could} of cuts could still lose (95% bound)."
    if not any(whole_losses_by_chance(safety.answers)):  # else the answer says what may be chance
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
        yield _advice("Continue with `diskproof run --resume`: the run is incomplete.")
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
        yield "Mend what made trials invalid (see the findings), then `diskproof run --resume`."
    if open_ones := [one for one in analysis.verdicts if one.outcome == "inconclusive"]:
        yield f"For what is not decided: {verdicts.what_decides(open_ones, analysis.plan)}."
    if analysis.plan.scale:
        yield "Run the study at a larger scale (`--scale`): this run is a small one."
    safety, limits = analysis.safety, analysis.limits
    if safety and not safety.controls and not any(one.harmed for one in safety.answers):
        yield "Name `controls` in `[crash]`: nothing shows yet that the cuts would reveal a loss."
    is_asked = analysis.plan.asks == "limits"
    if is_asked and limits and not limits.proofs and any(one.what_if for one in limits.cells):
        yield "`diskproof run --prove` tests what is said to hold it back."
