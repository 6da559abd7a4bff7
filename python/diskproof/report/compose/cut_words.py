"""The sentences about cuts: what each setting kept and lost, and how far that can be trusted."""

from collections.abc import Iterator, Sequence

from diskproof.analysis.safety.shapes import Cause, ControlAnswer, CutAnswer, CutComparison, Damage, Safety
from diskproof.report.compose.verdict_words import subjects
from diskproof.results.crash import Keep, Way
from diskproof.results.cut import StatesSeen
from diskproof.results.fault import NO_FAULT
from diskproof.results.plan import NO_LEVEL, Cell, Control, Cuts
from diskproof.stats.proportions import Share
from diskproof.study.program import PROGRAM
from diskproof.wording.numbers import count, listed, percent, significant

CAUSES: dict[Way, str] = {
    "power": "the power cut",
    "stop": "a stop of the operating system",
    "kill": "a kill of the server",
    "restart": "an orderly restart",
}
"""Evidence of one is never evidence of another."""

UNVERIFIED: dict[Way, str] = {
    "stop": "power-cut safety is unverified: these cuts only stopped the operating system",
    "kill": "power-cut safety is unverified: these cuts only killed the server",
    "restart": "power-cut safety is unverified: these cuts stopped the server in good order",
}
"""Said also if power was cut, and no such cut proves anything."""

KINDS: dict[str, str] = {
    "refused": "no database came back",
    "complaints": "the server's log reported damage",
    "damaged_tables": "the server's own checks found damage",
    "half_applied": "transactions were half there",
    "duplicated": "transactions were there twice",
    "never_sent": "transactions were there that nobody had sent",
}
"""Of ``Damage``, by field."""

LEAST_S = 0.001
"""Shorter times before a cut are not given."""

MOST_LETTERS = 160
"""Of a line of a server's log in a verdict; the record has all of it."""


# ---------------------------------------------------------------- verdicts


def reasons(safety: Safety, answer: CutAnswer) -> Iterator[str]:
    """Yield what else the cuts of a level showed, and what they do not prove."""
    if answer.way != "power":
        yield _of_the_power_cut(safety, answer)
    if answer.damage_reports:
        more = len(answer.damage_reports) - 1
        yield f"{_short(answer.damage_reports[0].text)}{f' (and {more} more)' if more else ''}"
    yield from filter(None, map(counterexample, answer.states))
    if answer.gravest and answer.gravest.evidence:
        yield f"the worst cut is {answer.gravest.id}; its evidence is in {answer.gravest.evidence}"


def _of_the_power_cut(safety: Safety, answer: CutAnswer) -> str:
    """Say what is known of the power cut if another way to die took most."""
    power = safety.answer(answer.cell.id, "power")
    if power is None or not power.telling:
        return UNVERIFIED[answer.way]
    return f"by chance, {CAUSES['power']} was milder: it {outcome(power)}"


def _short(text: str) -> str:
    """Return the beginning of a line of a log, which may have any length."""
    line = " ".join(text.split())
    return line if len(line) <= MOST_LETTERS else f"{line[:MOST_LETTERS]}…"


# ---------------------------------------------------------------- controls, documentation, two runs


MUST = {"keep": "keep everything at", "lose": "lose something to", "break": "be damaged by"}
"""What a control must do."""


def control(safety: Safety, one: ControlAnswer) -> str:
    """Return what a control must do, and what it did."""
    answers = [found for way in one.ways if (found := safety.answer(one.cell, way))]
    did = [f"{outcome(answer)} to {CAUSES[answer.way]}" for answer in answers if answer.telling]
    must = f"{one.cell} must {MUST[one.must]} {listed([CAUSES[way] for way in one.ways])}"
    if not did:
        return f"{must}, and no cut proves whether it does"
    said = f"{must}: it {listed(did)}"
    if one.outcome != "too weak":
        return said
    if one.rarer is None:
        return f"{said}; check whether the level relaxes what it should"
    return f"{said}; {cuts(one.rarer.more_cuts)} more would show what {percent(one.rarer.share)} of cuts do"


def unasked(one: Control) -> str:
    """Say that the campaign cuts no cell that a control is about."""
    return (
        f"{listed(one.tunings, 3)} on {listed(one.storages, 3)} must {MUST[one.must]} "
        f"{listed([CAUSES[way] for way in one.ways])}, but this run cuts no such cell"
    )


def comparison(one: CutComparison) -> str:
    """Return what the cuts of a cell showed in two runs."""
    said = one.reasons[0].text if one.reasons else f"before it {outcome(one.a)}; after it {outcome(one.b)}"
    return f"{one.cell.id}, to {CAUSES[one.way]}: {said}"


# ---------------------------------------------------------------- one cell


def outcome(answer: CutAnswer) -> str:
    """Say what the cuts of a cell showed, to follow its name: ``lost none in 50 cuts (at most …)``."""
    if not answer.telling or answer.loss_share is None:
        return f"has {cuts(answer.made)} that prove nothing" if answer.made else "was not cut yet"
    if answer.states:
        return _in_states(answer)
    nothing = "; in none was anything known to be at risk" if answer.at_risk == 0 else ""
    none = f"lost none in {cuts(answer.loss_share.n)} ({at_most(answer.loss_share)}{nothing})"
    said = loss(answer) if answer.with_loss else none
    # A lost database is reported as lost, not as damaged.
    return f"{said} and was damaged in {damage(answer)}" if answer.damaged > answer.gone else said


def _in_states(answer: CutAnswer) -> str:
    """Say what the states of logged runs showed: ``kept everything in 60 states, …``."""
    checked = count(sum(one.checked for one in answer.states), "state")
    moments = f"before {count(sum(one.moments for one in answer.states), 'flush', 'flushes')} of the run"
    if not answer.harmed:
        equal = sum(one.equal for one in answer.states)
        rest = ", which are all" if all(one.all_of_them for one in answer.states) else ""
        return f"kept everything in {checked}{rest} ({moments}; {equal:,} more had the same bytes)"
    worst = "lost the whole database" if answer.gone else "was damaged"
    if answer.with_loss and not answer.gone and answer.most_lost:
        worst = f"lost {_most(answer, answer.most_lost)}" + (" and was damaged" if answer.damaged else "")
    harmful, logs = sum(one.counterexample is not None for one in answer.states), len(answer.states)
    where = "the last of" if logs == 1 else f"{harmful} of {logs} runs, after"
    return f"{worst} in {where} {checked} tried ({moments})"


def counterexample(seen: StatesSeen) -> str:
    """Say which writes the smallest counterexample lacks."""
    found = seen.counterexample
    if found is None:
        return ""
    if not found.lost:
        return "the smallest counterexample lacks no write that had reached the disk"
    risk = count(len(found.risk), "write")
    more = len(found.lost) - len(found.named)
    named = "; ".join([*found.named, *([f"{more} more"] if more > 0 else [])])
    return f"the smallest counterexample lacks {len(found.lost):,} of {risk} at risk: {named}"


def at_most(share: Share) -> str:
    """Return the bound of what was never seen: ``at most 5.8% of cuts, one-sided 95% bound``."""
    return f"at most {points(share.high)} of cuts, one-sided {percent(share.confidence)} bound"


def loss(answer: CutAnswer) -> str:
    """Say in how many cuts all was lost, and the most that one of the others took."""
    if answer.most_lost is None:
        return gone(answer) if answer.gone else ""
    most = _most(answer, answer.most_lost)
    if answer.gone:
        return f"{gone(answer)}, and in others {most}"
    # The windows of these are as long as the load: that is no property of the setting.
    everything = (
        f"; in {answer.open_windows} of them all that was acknowledged" if answer.open_windows else ""
    )
    return f"lost {most} ({answer.with_loss} of {cuts(answer.telling)}{everything})"


def worst(answer: CutAnswer) -> str:
    """Say the most that a cut of a cell took, to follow its name; the rows have how often."""
    if answer.most_lost and not answer.damaged:
        return f"lost {_most(answer, answer.most_lost)}"
    return outcome(answer)


def gone(answer: CutAnswer) -> str:
    """Say in how many cuts the whole database was lost."""
    return f"lost the whole database in {answer.gone} of {cuts(answer.telling)}"


def _most(answer: CutAnswer, most: int) -> str:
    """Return the most transactions and the longest window, which may be of different cuts."""
    noun = taken(answer.cell)
    lost = count(most, "transaction" if noun == "commit" else noun)
    window_s = answer.window_s.worst if answer.window_s else 0.0
    if answer.open_windows:  # the load began too late to lose more
        return f"at least {lost} and {seconds(window_s)} of {noun}s"
    up_to = "" if 0 < window_s < LEAST_S else "up to "
    return f"up to {lost} and {up_to}{seconds(window_s)} of {noun}s"


def window(answer: CutAnswer) -> str:
    """Return the longest time of which a cut took the commits: ``the last 1.0 s or more``."""
    last = f"the last {seconds(answer.window_s.worst if answer.window_s else 0.0)}"
    return f"{last}{' or more' if answer.open_windows else ''}"


def taken(cell: Cell) -> str:
    """Return what a cut takes: ``commit``; of a program ``promise``."""
    return "promise" if cell.server == PROGRAM else "commit"


def level(cell: Cell) -> str:
    """Return a setting that was cut: `` `safest` on honest``."""
    fault = f" with {cell.fault}" if cell.fault not in (NO_LEVEL, NO_FAULT) else ""
    return f"`{cell.tuning}` on {cell.storage}{fault}"


def damage(answer: CutAnswer) -> str:
    """Return how many cuts left a damaged database, and how: ``3 of 50 cuts (…: 2, …: 1)``."""
    return f"{answer.damaged} of {cuts(answer.telling)} ({kinds(answer.damage)})"


def kinds(damage: Damage) -> str:
    """Return the kinds of damage that were seen, the most frequent first."""
    seen = sorted(((getattr(damage, field), said) for field, said in KINDS.items()), key=lambda one: -one[0])
    return "; ".join(f"{said}: {count}" for count, said in seen if count)


def interval(share: Share) -> str:
    """Return a share's interval, or its one-sided bound: ``73 to 94%``, ``at most 5.8%``."""
    if share.kind == "at most":
        return f"at most {points(share.high)}"
    if share.kind == "at least":
        return f"at least {points(share.low)}"
    return f"{points(share.low).removesuffix('%')} to {points(share.high)}"


def points(value: float) -> str:
    """Return a share as a percentage, never rounded to none or all of it: ``5.8%``, ``78%``, ``99.7%``."""
    if value in (0.0, 1.0):
        return f"{value:.0%}"
    if not 0.0001 <= value <= 0.9999:
        return "less than 0.01%" if value < 0.5 else "more than 99.99%"
    small, percents = min(value, 1 - value) * 100, value * 100
    if value < 0.5:
        return f"{percents:.{0 if small >= 9.95 else 1 if small >= 0.95 else 2}f}%"
    return f"{percents:.{0 if small >= 0.95 else 1 if small >= 0.095 else 2}f}%"


def seconds(value: float) -> str:
    """Return a time before a cut with two digits: ``0.94 s``; what is below a millisecond as that."""
    if value == 0:
        return "0 s"
    return f"{significant(value, 2)} s" if value >= LEAST_S else "less than 1 ms"


def cuts(number: int) -> str:
    """Return a number of cuts with its noun."""
    return count(number, "cut")


def causes(found: Sequence[Cause]) -> str:
    """Return causes with how often each came: ``no commit was acknowledged (3)``."""
    return listed([f"{one.why.text} ({one.cuts})" for one in found], 3)


# ---------------------------------------------------------------- the campaign

TITLES: dict[Way, str] = {
    "power": "The power cut",
    "stop": "The operating system stopped",
    "kill": "The server killed",
    "restart": "The server restarted",
}

TAKEN: dict[Way, str] = {
    "power": "Taken: what only the page cache held, and up to all of what only a disk's volatile cache held.",
    "stop": "Taken: what only the page cache held. The disks kept all that had reached them: this is no "
    "power cut.",
    "kill": "Taken: what only the server's own memory held. The page cache and the disks kept all that had "
    "reached them: this is no power cut, and no proof against one.",
    "restart": "Taken: what faults took. The server was stopped in good order, and its disks mounted again.",
}

_KEPT: dict[Keep, str] = {
    "random": "drawn for each disk and cut: nothing, all, a random subset, or a prefix in time",
    "nothing": "nothing",
    "all": "all of it",
    "subset": "a random subset",
    "prefix": "a prefix in time",
}


def method(crash: Cuts) -> Iterator[tuple[str, str]]:
    """Yield the facts of how the cuts were made."""
    clients = subjects("clients", [str(one) for one in sorted({cell.clients for cell in crash.cells})])
    many = f"{clients}, each of which writes down what was acknowledged before it continues"
    if crash.load == "program":
        yield "Load of the cuts", "the program's own; what it prints is read outside the disk, until the cut"
        yield "After recovery", "the ids that its check prints are compared with what it acknowledged"
    elif crash.load == "tpcc":
        yield "Load of the cuts", f"TPC-C on {count(crash.warehouses, 'warehouse')}: {many}"
        yield ("After recovery", "every acknowledged new order is looked up, TPC-C's conditions checked")
    elif crash.load == "replay":
        yield "Load of the cuts", f"the log's own transactions: {many}"
        yield "After recovery", "each that wrote is looked up by its row in `diskproof_commits`"
    else:
        yield "Load of the cuts", f"transfers between {crash.accounts:,} accounts: {many}"
        yield "After recovery", "every account and transfer is compared with what was written down"
    cut = (
        f"{count(len(crash.cells), 'cell')}, by {listed(list(dict.fromkeys(way for _, way in crash.deaths)))}"
    )
    order = f"in {count(crash.cuts, 'block')}, in a random order in each"
    at = "at seeded moments of the load"
    if crash.states is not None:
        at = f"up to {crash.states:,} states of each log, before each of its flushes, until one does harm"
    shared = (
        "" if crash.at_once == 1 else f"; {crash.at_once} at once, so its seconds are of a shared machine"
    )
    yield "Cuts", f"of {cut}, {order}; {at}{shared}"
    if crash.states is None and any(way == "power" for _, way in crash.deaths):
        yield "Left of unsafe writes", _KEPT[crash.keep]
