"""The answer of a run on one screen: what is compared, what holds it back, what to do, what to beware of."""

from collections.abc import Mapping, Sequence

from diskproof.analysis.answers import Analysis
from diskproof.analysis.safety.shapes import Safety
from diskproof.audit.host import host_busy
from diskproof.report.compose import cut_words, names, prices, rows, to_do
from diskproof.report.compose.answer import answer, held_back, how_sure, is_of_limits, open_limits
from diskproof.report.compose.findings import Caution, cautions
from diskproof.report.compose.head import left_out, progress
from diskproof.report.one_screen import OneScreen
from diskproof.wording import numbers


def run(analysis: Analysis) -> OneScreen:
    """Return a run on one screen."""
    warned = cautions(analysis)
    weak = set(warned[0].cells) if warned else set()
    # A mark on all rows tells nothing apart.
    blocks = rows.blocks(analysis, weak if len(weak) < len(analysis.cells) else ())
    is_weak = any(row.is_weak for one in blocks for row in one.rows)
    return OneScreen(
        question=analysis.plan.question,
        facts=facts(analysis),
        answer=answer(analysis),
        blocks=tuple(blocks),
        lines=lines(analysis, "! " if is_weak else ""),
        whole="--full",
    )


MOST_WORDS = 60
"""Beside the picture of a page; what loses words for that is whole in the page below."""

LEAST = ("Price", "To be surer", "Beware", "Not answered", "How sure", "Held back by")
"""What loses clauses, one after the other, but for the first; two can be left out, then a warning."""


def beside(analysis: Analysis) -> tuple[tuple[str, str], ...]:
    """Return what to know beside the picture of a page; what is too long loses its last clauses."""
    found = dict(lines(analysis))
    for least in [one for one in LEAST if one in found]:
        while _is_long(found) and "; " in found[least]:
            found[least] = found[least].rpartition("; ")[0]
        if _is_long(found) and least in LEAST[:2]:
            found.pop(least)
    if _is_long(found):
        found.pop("Beware", "")
    return tuple(found.items())


def _is_long(found: Mapping[str, str]) -> bool:
    return len(" ".join(found.values()).split()) > MOST_WORDS


def lines(analysis: Analysis, mark: str = "") -> tuple[tuple[str, str], ...]:
    """Return what to know, the same in all forms; `mark`: of the warning that rows have a mark for."""
    warned = [
        (f"{'' if at else mark}{one.in_short}{one.where}", one) for at, one in enumerate(cautions(analysis))
    ]
    busy = next((one.in_short for _, one in warned if one.finding.check == host_busy.name), "")
    first, *rest = how_sure(analysis).split("; ")  # what took CPU time is lost after the others
    limits, known = ("Not answered", open_limits) if is_of_limits(analysis) else ("Held back by", held_back)
    found = (
        ("ALARM", _alarm(analysis.safety)),
        ("How sure", "; ".join(filter(None, (first, busy, *rest)))),
        (limits, known(analysis)),
        ("Price", prices.in_short(analysis)),
        *to_do.first(analysis),
        ("Beware", _beware(analysis, [one for one in warned if one[1].finding.check != host_busy.name])),
    )
    return tuple((lead, text) for lead, text in found if text)


def facts(analysis: Analysis) -> str:
    """Return what the levels, loads and storages are, what was tested, and how much there is."""
    state = "" if analysis.complete else "INCOMPLETE. "
    levels = "; ".join(names.tunings(analysis))
    storages = "; ".join(f"{name} = {what}" for name, what in names.storages(analysis).items())
    known = (levels, names.loads(analysis), storages, names.tested(analysis))
    parts = (*known, names.slow_time(analysis), progress(analysis))
    return f"{state}{'. '.join(filter(None, parts))}"


def _alarm(safety: Safety | None) -> str:
    """Return which controls failed: then the cuts prove nothing."""
    if safety is None:
        return ""
    return "; ".join(cut_words.control(safety, one) for one in safety.controls if one.outcome == "failed")


def _beware(analysis: Analysis, warned: Sequence[tuple[str, Caution]]) -> str:
    """Return what was left out or the gravest warning, both if trials are invalid; count the others."""
    left = left_out(analysis.plan)
    first = [text for text, one in warned[:1] if not left or one.finding.severity == "invalid"]
    others = len(warned) - len(first)
    return "; ".join(filter(None, [*first, left, numbers.count(others, "more warning") if others else ""]))
