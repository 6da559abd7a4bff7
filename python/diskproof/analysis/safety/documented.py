"""What documentation says, beside what was observed."""

from collections.abc import Sequence

from diskproof.analysis.safety.shapes import Agreement, CutAnswer, DocumentedAnswer
from diskproof.results.plan import Cuts, Documented

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


def beside_documentation(plan: Cuts, answers: Sequence[CutAnswer]) -> list[DocumentedAnswer]:
    """Return every cell and way of which documentation says something; the first that fits counts."""
    return [
        _answer(answer, documented)
        for answer in answers
        if (documented := next((one for one in plan.documented if one.covers(answer.cell, answer.way)), None))
    ]


def _answer(answer: CutAnswer, documented: Documented) -> DocumentedAnswer:
    within_s = documented.within_s
    return DocumentedAnswer(
        cell=answer.cell,
        way=answer.way,
        documented=documented,
        outcome=decide(answer, documented),
        allowed_s=allowed_s(within_s) if within_s is not None else None,
    )


def decide(answer: CutAnswer, documented: Documented) -> Agreement:
    """Compare what was observed with what is documented.

    A documented loss that was not seen is neither agreement nor contradiction: the bound beside it says how
    rare it can be.
    """
    if not answer.telling:
        return "not tried"
    seen = bool(answer.with_loss or answer.damaged)
    match documented.says:
        case "kept":
            return "contradicts" if seen else "agrees"
        case "may lose":
            longest_s = answer.window_s.worst if answer.window_s else 0.0
            within_s = documented.within_s
            if answer.damaged or (within_s is not None and longest_s > allowed_s(within_s)):
                return "contradicts"
            return "agrees" if seen else "not seen"
        case "may corrupt":
            return "agrees" if seen else "not seen"
