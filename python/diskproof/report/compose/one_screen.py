"""The answer of a run on one screen: what is compared, what holds it back, what to do, what to beware of."""

from collections.abc import Collection, Iterator, Sequence

from diskproof.analysis.answers import Analysis
from diskproof.analysis.safety.ranking import whole_losses_by_chance
from diskproof.analysis.safety.shapes import Safety
from diskproof.report.compose import cut_words, money, names, rows, to_do
from diskproof.report.compose.answer import answer, held_back, is_of_limits
from diskproof.report.compose.head import left_out, progress
from diskproof.report.compose.warnings import Caution, cautions
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


MOST_WORDS = 92
"""On a page's first screen, with more, the last things to do are left out, then the limit: all is below."""


def lines(analysis: Analysis, mark: str = "") -> tuple[tuple[str, str], ...]:
    """Return what to know, the same in all forms; `mark`: of the warning that rows have a mark for."""
    said = f"{analysis.plan.question} {answer(analysis)}".split()
    every = list(_lines(analysis, mark))
    spared = [at for at, (lead, _) in enumerate(every) if not lead or lead == "Held back by"]
    while spared and sum(len(f"{lead} {text}".split()) for lead, text in every) + len(said) > MOST_WORDS:
        del every[spared.pop()]
    return tuple(every)


def _lines(analysis: Analysis, mark: str) -> Iterator[tuple[str, str]]:
    """Yield each kind of line; a thing to do after the first has no word before."""
    if alarm := _alarm(analysis.safety):
        yield "ALARM", alarm
    is_of_cuts = analysis.safety is not None and analysis.safety.made
    if not is_of_limits(analysis) and not is_of_cuts and (held := held_back(analysis)):
        yield "Held back by", held
    if prices := analysis.prices:
        storages = [f"{row.storage} {money.money(row.amount)}" for row in prices.storages]
        yield "Price", f"in {money.priced(prices)}: {'; '.join(storages)}"
    for at, one in enumerate(to_do.actions(analysis)[: to_do.MOST_SHOWN]):
        yield "" if at else "To do", one
    if beware := _beware(analysis.safety, cautions(analysis), mark):
        yield "Beware", beware


def facts(analysis: Analysis) -> str:
    """Return what was tested, how much of it there is, and what its storages are."""
    state = "" if analysis.complete else "INCOMPLETE. "
    tested = names.tested(analysis)
    storages = "; ".join(f"{name} = {what}" for name, what in names.storages(analysis).items())
    loads = list(names.workloads(analysis))
    load = loads[0].partition(" = ")[2] if len(loads) == 1 else ""
    parts = [f"{state}{tested}", f"{progress(analysis)}{left_out(analysis.plan)}", storages]
    parts.append(numbers.sentence_case(load))
    return ". ".join(part for part in parts if part)


def _weak(analysis: Analysis, warned: Sequence[Caution]) -> Collection[str]:
    """Return the cells that the warning on the screen is about; empty if it is about all of them."""
    cells = set(warned[0].cells) if warned else set()
    return cells if len(cells) < len(analysis.cells) else ()


RARE, CUTS_FOR_RARE = 0.05, 59
"""So many cuts without a loss show that at most that share loses something: 1 - 0.05**(1/n)."""


def _chance(safety: Safety | None) -> str:
    """Return that a level may have lost whole databases by chance; empty if the cuts tell."""
    chance = list(whole_losses_by_chance(safety.answers if safety and not safety.faults else []))
    return cut_words.by_chance(chance) if chance else ""


def _rarest(safety: Safety | None) -> str:
    """Return how rare a loss may be that the cuts do not show; empty if they show a rare one."""
    answers = safety.answers if safety else []
    bounds_of = [one.loss_share for one in answers if one.is_whole and one.loss_share and not one.states]
    if not bounds_of or (worst := max(bounds_of, key=lambda one: one.high)).high <= RARE:
        return ""
    return (
        f"{worst.n} cuts would miss a loss that strikes fewer than {cut_words.points(worst.high)} of cuts; "
        f"`--cuts {CUTS_FOR_RARE}` brings that to {numbers.percent(RARE)} (95% bounds)"
    )


def _alarm(safety: Safety | None) -> str:
    """Return which controls failed: then the cuts prove nothing."""
    if safety is None:
        return ""
    return "; ".join(cut_words.control(safety, one) for one in safety.controls if one.outcome == "failed")


def _beware(safety: Safety | None, warned: Sequence[Caution], mark: str) -> str:
    """Return the gravest warning, and how many others there are."""
    if (chance := _chance(safety)) and not (warned and warned[0].finding.severity == "invalid"):
        return f"{chance}{_more(len(warned))}"
    return f"{mark}{warned[0].text}{warned[0].where}{_more(len(warned) - 1)}" if warned else _rarest(safety)


def _more(others: int) -> str:
    return f"; {numbers.count(others, 'more warning')}" if others else ""
