"""What documentation says, beside what was observed."""

from collections.abc import Iterator, Sequence

from diskproof.analysis.safety import words
from diskproof.analysis.safety.shapes import Agreement, CutAnswer, DocumentedAnswer
from diskproof.results.crash_plan import CrashPlan, Documented

LATE_SHARE = 0.1
"""What a timer may be late by, of its period: it sleeps a period after it has done its work, on cores that
the clients keep busy."""

LATE_S = 0.25
"""What a window may be longer than a timer's period: what is committed right after a flush began is safe at
the end of the next, so that a window spans two flushes beside the period, and a busy spinning disk takes
about a tenth of a second for each."""


def allowed_s(within_s: float) -> float:
    """Return the longest window that does not contradict a documented one of `within_s` seconds."""
    return within_s * (1 + LATE_SHARE) + LATE_S


def beside_documentation(plan: CrashPlan, answers: Sequence[CutAnswer]) -> list[DocumentedAnswer]:
    """Return every cell and way of which documentation says something; the first that fits counts."""
    return [
        _answer(answer, documented)
        for answer in answers
        if (documented := next((one for one in plan.documented if one.covers(answer.cell, answer.way)), None))
    ]


def _answer(answer: CutAnswer, documented: Documented) -> DocumentedAnswer:
    outcome = decide(answer, documented)
    return DocumentedAnswer(
        cell=answer.cell,
        way=answer.way,
        documented=documented,
        outcome=outcome,
        observed="; ".join(_observed(answer, documented)),
    )


def decide(answer: CutAnswer, documented: Documented) -> Agreement:
    """Return how what was observed stands to what is documented.

    What may be lost and was not seen to be lost is neither agreement nor contradiction: the bound that
    stands beside it says how rare it can be.
    """
    if not answer.telling:
        return "not tried"
    seen = bool(answer.with_loss or answer.damaged)
    match documented.says:
        case "kept":
            return "contradicts" if seen else "agrees"
        case "may lose":
            if answer.damaged or _over(answer, documented):
                return "contradicts"
            return "agrees" if seen else "not seen"
        case "may corrupt":
            return "agrees" if seen else "not seen"


def _over(answer: CutAnswer, documented: Documented) -> bool:
    window = answer.window_s.worst if answer.window_s else 0.0
    return documented.within_s is not None and window > allowed_s(documented.within_s)


def _observed(answer: CutAnswer, documented: Documented) -> Iterator[str]:
    yield words.outcome(answer)
    within, window = documented.within_s, answer.window_s.worst if answer.window_s else 0.0
    if within is not None and window > within:
        over = f"{words.seconds(window - within)} longer than the {within:g} s that are documented"
        allowed = f"up to {allowed_s(within):.3g} s a timer and two flushes may take"
        yield f"{over}, more than {allowed}" if _over(answer, documented) else f"{over}, and {allowed}"
    if documented.says == "may corrupt" and answer.telling and not answer.damaged and answer.damage_share:
        yield f"no damage seen ({words.at_most(answer.damage_share)})"
