"""Verdicts on safety: what each level gains, and what it loses where it dies the worst way tried."""

from collections.abc import Iterator, Sequence

from diskproof.analysis import words as speed_words
from diskproof.analysis.answers import Verdict
from diskproof.analysis.safety import words
from diskproof.analysis.safety.shapes import CutAnswer, SafetyOutcome, SafetyVerdict, SpeedBeside
from diskproof.analysis.safety.speed import typical
from diskproof.analysis.safety.worst import worst_way
from diskproof.analysis.verdicts import say
from diskproof.results.crash_plan import CrashCell
from diskproof.results.factor import Factor
from diskproof.results.plan import Plan

MOST_LETTERS = 160
"""Of a line of a server's log in a verdict; the record has all of it."""


def make_safety_verdicts(
    plan: Plan, answers: Sequence[CutAnswer], speeds: Sequence[SpeedBeside], verdicts: Sequence[Verdict]
) -> list[SafetyVerdict]:
    """Return a verdict on every level against the first of its server on its storage.

    Each speaks of the worst way in which its cell died; the tables have all ways. A first level that is
    alone, or that did not keep its word, has a verdict of its own.
    """
    made = []
    for levels in _by_storage(plan, answers):
        first, *others = levels
        if not others or not first.is_whole:
            made.append(_verdict(plan, first, None, "", answers))
        made += [
            _verdict(
                plan,
                answer,
                _same_way(first, answer, answers),
                _speed(plan, answer, speeds, verdicts),
                answers,
            )
            for answer in others
        ]
    return made


def _by_storage(plan: Plan, answers: Sequence[CutAnswer]) -> Iterator[list[CutAnswer]]:
    """Yield the way that took most from each level of a server on a storage, in order of levels.

    Levels that have not been cut yet are left out.
    """
    order = list(dict.fromkeys(cell.tuning for cell in plan.cells))
    of_cells: dict[str, list[CutAnswer]] = {}
    for answer in answers:
        if answer.made:
            of_cells.setdefault(answer.cell.id, []).append(answer)
    groups: dict[tuple[str, str], list[CutAnswer]] = {}
    for of_cell in of_cells.values():
        cell = of_cell[0].cell
        groups.setdefault((cell.server, cell.storage), []).append(worst_way(of_cell))
    for levels in groups.values():
        yield sorted(
            levels,
            key=lambda one: order.index(one.cell.tuning) if one.cell.tuning in order else len(order),
        )


def _same_way(first: CutAnswer, answer: CutAnswer, answers: Sequence[CutAnswer]) -> CutAnswer:
    """Return the first level's cuts in the way in which another died; in its own where it has none so."""
    alike = (one for one in answers if one.key == (first.cell.id, answer.way) and one.telling)
    return next(alike, first)


def _verdict(
    plan: Plan, answer: CutAnswer, first: CutAnswer | None, speed: str, answers: Sequence[CutAnswer]
) -> SafetyVerdict:
    cause = words.CAUSES[answer.way]
    subject = name(plan, answer.cell)
    said = f"{speed} and to {cause} it" if speed else f"{subject}: to {cause} it"
    sentence = f"{said} {words.outcome(answer)}"
    if not answer.telling:
        sentence = f"{subject}: no cut tells what {cause} takes"
    elif first is not None:
        by = "" if first.way == answer.way else f", to {words.CAUSES[first.way]},"
        sentence += f"; {first.cell.tuning}{by} {words.outcome(first)}"
    return SafetyVerdict(
        cell=answer.cell.id,
        way=answer.way,
        cuts=answer.telling,
        outcome=safety_outcome(answer),
        sentence=sentence,
        reasons=list(_reasons(answer, answers)),
    )


def name(plan: Plan, cell: CrashCell) -> str:
    """Return a cell as the subject of a sentence: ``fast on ssd``, its server where several are cut."""
    servers = {one.server for one in plan.crash.cells} if plan.crash else set()
    return f"{cell.tuning} on {cell.storage}" + (f" in {cell.server}" if len(servers) > 1 else "")


def _speed(plan: Plan, answer: CutAnswer, speeds: Sequence[SpeedBeside], verdicts: Sequence[Verdict]) -> str:
    """Say how fast a level is against the first; nothing where that was not found out."""
    beside = typical(speeds, answer.cell)
    if beside is None or beside.ratio is None or beside.baseline is None:
        return ""
    verdict = next(one for one in verdicts if one.factor == "tuning" and one.cell == beside.cell.id)
    subject, ratio = name(plan, answer.cell), beside.ratio
    said = say(verdict.outcome, subject, beside.baseline, ratio, plan.same_within)
    told: tuple[Factor, ...] = ("workload", "memory", "clients")
    held = {factor: level for factor, level in verdict.held.items() if factor in told}
    return f"{said}{speed_words.conditions(held)},"


def safety_outcome(answer: CutAnswer) -> SafetyOutcome:
    """Return the gravest of what the cuts of a cell showed."""
    if not answer.telling:
        return "not known"
    if answer.damaged:
        return "damaged"
    if answer.with_loss:
        return "lost"
    return "kept" if answer.way == "power" else "unverified"


def _reasons(answer: CutAnswer, answers: Sequence[CutAnswer]) -> Iterator[str]:
    if answer.way != "power":
        yield _of_the_power_cut(answer, answers)
    if answer.damage_told:
        more = len(answer.damage_told) - 1
        yield f"{_short(answer.damage_told[0])}{f' (and {more} more)' if more else ''}"
    if answer.silent:
        yield f"{words.cuts(sum(answer.silent.values()))} told nothing: {words.reasons(answer.silent)}"
    if answer.unfinished:
        yield f"{words.cuts(sum(answer.unfinished.values()))} broke off: {words.reasons(answer.unfinished)}"
    if answer.binlog and answer.binlog.cuts_binlog_only:
        yield (
            f"in {answer.binlog.cuts_binlog_only} of {words.cuts(answer.binlog.asked)} the binary log held "
            f"up to {words.transactions(answer.binlog.worst_binlog_only)} that the tables had not: a replica "
            "has more than its source"
        )
    if answer.binlog and answer.binlog.cuts_engine_only:
        yield (
            f"in {answer.binlog.cuts_engine_only} of {words.cuts(answer.binlog.asked)} the tables held "
            f"up to {words.transactions(answer.binlog.worst_engine_only)} that the binary log had not: a "
            "replica never gets them"
        )
    if answer.gravest and answer.gravest.evidence:
        yield f"the worst cut is {answer.gravest.id}, its evidence lies in {answer.gravest.evidence}"


def _of_the_power_cut(answer: CutAnswer, answers: Sequence[CutAnswer]) -> str:
    """Say what is known of the power cut where another way to die took most."""
    power = next((one for one in answers if one.key == (answer.cell.id, "power") and one.made), None)
    if power is None:
        return words.UNVERIFIED[answer.way]
    if not power.telling:
        return "power-cut safety is unverified: no power cut tells anything"
    return (
        f"to {words.CAUSES['power']} it {words.outcome(power)}: by chance, for that takes at least what "
        f"{words.CAUSES[answer.way]} takes"
    )


def _short(text: str) -> str:
    """Return the beginning of a line of a log, which may be of any length."""
    line = " ".join(text.split())
    return line if len(line) <= MOST_LETTERS else f"{line[:MOST_LETTERS]}…"
