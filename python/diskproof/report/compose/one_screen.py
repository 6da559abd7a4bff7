"""The answer of a run on one screen: what is compared, what holds it back, what to do, what to beware of."""

from collections.abc import Collection, Sequence

from diskproof.analysis.answers import Analysis
from diskproof.analysis.safety.ranking import whole_losses_by_chance
from diskproof.analysis.safety.shapes import Safety
from diskproof.report.compose import cut_words, money, names, rows, to_do
from diskproof.report.compose.answer import answer, held_back, how_sure, is_of_limits
from diskproof.report.compose.findings import Caution, cautions
from diskproof.report.compose.head import left_out, progress
from diskproof.report.one_screen import OneScreen
from diskproof.wording import numbers


def run(analysis: Analysis) -> OneScreen:
    """Return a run on one screen."""
    warned = cautions(analysis)
    blocks = rows.blocks(analysis, _weak(analysis, warned))
    is_weak = any(row.is_weak for one in blocks for row in one.rows)
    return OneScreen(
        question=analysis.plan.question,
        facts=facts(analysis),
        answer=answer(analysis),
        blocks=tuple(blocks),
        lines=lines(analysis, "! " if is_weak else ""),
    )


MOST_WORDS = 60
"""Beside the picture of a page; of more, the last things to do are left to the page below."""


def beside(analysis: Analysis) -> tuple[tuple[str, str], ...]:
    """Return what to know beside the picture of a page."""
    found = list(lines(analysis))
    more = [at for at, (lead, _) in enumerate(found) if not lead]
    while more and sum(len(text.split()) for _, text in found) > MOST_WORDS:
        del found[more.pop()]
    return tuple(found)


def lines(analysis: Analysis, mark: str = "") -> tuple[tuple[str, str], ...]:
    """Return what to know, the same in all forms; `mark`: of the warning that rows have a mark for.

    A thing to do after the first has no word before.
    """
    prices, actions = analysis.prices, to_do.actions(analysis)[: to_do.MOST_SHOWN]
    storages = [f"{row.storage} {money.money(row.amount)}" for row in prices.storages] if prices else []
    found = (
        ("ALARM", _alarm(analysis.safety)),
        ("How sure", how_sure(analysis)),
        ("Held back by", "" if is_of_limits(analysis) else held_back(analysis)),
        ("Price", f"in {money.priced(prices)}: {'; '.join(storages)}" if prices else ""),
        *(("" if at else "To do", one) for at, one in enumerate(actions)),
        ("Beware", _beware(analysis, cautions(analysis), mark)),
    )
    return tuple((lead, text) for lead, text in found if text)


def facts(analysis: Analysis) -> str:
    """Return what was tested, how much of it there is, and what its storages are."""
    state = "" if analysis.complete else "INCOMPLETE. "
    tested = names.tested(analysis)
    storages = "; ".join(f"{name} = {what}" for name, what in names.storages(analysis).items())
    loads = list(names.workloads(analysis))
    load = loads[0].partition(" = ")[2] if len(loads) == 1 else ""
    parts = [f"{state}{tested}", f"{progress(analysis)}", storages]
    parts.append(numbers.sentence_case(load))
    return ". ".join(part for part in parts if part)


def _weak(analysis: Analysis, warned: Sequence[Caution]) -> Collection[str]:
    """Return the cells that the warning on the screen is about; empty if it is about all of them."""
    cells = set(warned[0].cells) if warned else set()
    return cells if len(cells) < len(analysis.cells) else ()


def _chance(safety: Safety | None) -> str:
    """Return that a level may have lost whole databases by chance; empty if the cuts tell."""
    chance = list(whole_losses_by_chance(safety.answers if safety and not safety.faults else []))
    return cut_words.by_chance(chance) if chance else ""


def _alarm(safety: Safety | None) -> str:
    """Return which controls failed: then the cuts prove nothing."""
    if safety is None:
        return ""
    return "; ".join(cut_words.control(safety, one) for one in safety.controls if one.outcome == "failed")


def _beware(analysis: Analysis, warned: Sequence[Caution], mark: str) -> str:
    """Return the gravest warning, and how many others there are."""
    gravest = f"{mark}{warned[0].text}{warned[0].where}" if warned else ""
    if warned and warned[0].finding.severity == "invalid":
        found = [gravest]
    else:
        found = [*filter(None, (left_out(analysis.plan), _chance(analysis.safety), gravest))]
    others = len(warned) - (gravest in found[:1])
    more = f"; {numbers.count(others, 'more warning')}" if others else ""
    return f"{found[0]}{more}" if found else ""
