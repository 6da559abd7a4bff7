"""What to do with a database after a run: its conclusions as lines below "What to do"."""

from collections.abc import Iterator, Sequence

from diskproof.analysis.answers import Analysis
from diskproof.analysis.decisions import (
    Decisions,
    Durability,
    FasterStorage,
    Headroom,
    LevelChoice,
    Lever,
    OwnDisk,
)
from diskproof.analysis.safety.shapes import CutAnswer
from diskproof.families import of
from diskproof.report.compose import cut_words, verdict_words
from diskproof.report.document import Line
from diskproof.results.limit import IN_WORDS
from diskproof.stats.boxes import boxes
from diskproof.stats.groups import grouped
from diskproof.wording import numbers, say, us

CUT_BY_ITSELF = "`diskproof init cut.toml --storage desktop-7200 && diskproof crash cut.toml`"
"""Cuts the power of a model of a hard disk: two levels, 20 times each."""

CUT_MINUTES = 3
"""What that takes on a machine with two CPUs."""

PROFILE = "`diskproof disk profile DIRECTORY --quick`"

NOT_MEASURED = ": how fast it is was not measured"
NO_GAIN = ": whether it is faster is not decided"

MOST_DISKS = 2
MOST_LEVERS = 2
MOST_TROUBLES = 1
MOST_HEADROOM = 1
MOST_FASTER = 2


def lines(analysis: Analysis, decisions: Decisions) -> Iterator[Line]:
    """Yield what to do for the database, the settings first."""
    several = len(decisions.durability) > 1
    for one in decisions.durability:
        yield from durability(one, f" in {one.server}" if several else "")
    yield from _replicas(decisions)
    yield from _own_disk(analysis, decisions)
    if analysis.plan.crash is None:  # else the question is what is lost
        yield from map(_faster, decisions.faster_storages[:MOST_FASTER])
        yield from _levers(analysis, decisions.levers, tested=bool(decisions.durability))
        if analysis.plan.asks == "limits":
            yield from _troubles(analysis)
        else:
            yield from map(_headroom, decisions.headroom[:MOST_HEADROOM])


# ---------------------------------------------------------------- settings


def durability(one: Durability, where: str) -> Iterator[Line]:
    """Yield which level of a server keeps every commit, and what each other gains and may lose."""
    safe = one.safe
    proved = f": it lost none in {_cuts(safe.cuts)}" if safe.cuts else ""
    proved += "".join(
        f"; on {answer.cell.storage} {_harmed(answer)}, so not even this is safe there"
        for answer in one.lost_on
    )
    yield Line(
        f"`{safe.tuning}`{where}{_settings(one, safe, named=True)}{proved}.{_relies_on(one.own_disks)}",
        lead="If no commit may be lost",
        style="plain",
    )
    for other in one.others:
        yield from _trade(one, other, where)


def _relies_on(disks: Sequence[OwnDisk]) -> str:
    """Say whether the disks that commits rely on keep them, as far as the run can tell."""
    return "".join(f" {_kept_by(one)}" for one in disks[:MOST_DISKS])


def _kept_by(disk: OwnDisk) -> str:
    if disk.unsent:
        return f"But no flush reaches {disk.name}: it is mounted with `{disk.unsent}`."
    if disk.has_no_cache:
        return f"{disk.name} says that it has no cache to flush; only a power cut proves that."
    if disk.flush_us is None:
        return f"Whether {disk.name} flushes was not seen: {PROFILE} times it."
    took = say("A flush of {disk} took {time}", disk=disk.name, time=us(disk.flush_us)).text
    if disk.is_too_fast_for_a_platter:
        return (
            f"{took}. No platter can do that; a protected cache, or one that ignores flushes, can. Ask its "
            "maker which it is."
        )
    return f"{took}, long enough to reach the medium; only a power cut proves that it does."


def _trade(one: Durability, other: LevelChoice, where: str) -> Iterator[Line]:
    """Yield what a level gains for what it may lose; nothing is called a gain that no verdict decided."""
    name, gain = f"`{other.tuning}`{where}{_settings(one, other, named=False)}", _gain(other)
    no_gain = NO_GAIN if other.outcomes else NOT_MEASURED
    is_no_faster = bool(other.outcomes) and set(other.outcomes) <= {"the same", "slower"}
    if other.ruins:
        said = f"{name}: {_harmed(other.ruins)}."
        yield Line(said, lead="Not for data you need", style="plain")
    elif other.may_ruin:
        seen = f", though none of {_cuts(other.cuts)} did" if other.cuts else ""
        said = f"{name}: a crash of the machine may destroy the database{seen}."
        yield Line(said, lead="Not for data you need", style="plain")
    elif other.losses == [] and not other.cuts:
        faster = " is no faster" if is_no_faster else no_gain
        kept = "by its settings a power cut takes no commit"
        yield Line(f"{name}{f' is {gain}' if gain else faster}; {kept}.", lead="Or", style="plain")
    elif is_no_faster:
        yield Line(f"{name} is no faster.", lead="Not worth its risk", style="plain")
    elif other.window_s:
        worst = f"the worst of {_cuts(other.cuts)}"
        lead = f"If {cut_words.seconds(other.window_s)} of commits ({worst}), and perhaps more, may be lost"
        yield Line(f"{name}{f' is {gain}' if gain else no_gain}.", lead=lead, style="plain")
    elif other.cuts:
        lost = f"lost none in {_cuts(other.cuts)}"
        yield Line(f"{name} {f'is {gain}, and {lost}' if gain else lost}.", lead="Or", style="plain")
    elif other.losses:
        lost = say("after a power cut {losses:/; }", losses=other.losses).text
        yield Line(f"{name}{f' is {gain}' if gain else no_gain}; {lost}.", lead="At a risk", style="plain")
    else:
        yield Line(
            f"{name}{f' is {gain}' if gain else no_gain}. {CUT_BY_ITSELF} tests what it loses, on a model "
            f"of a hard disk (as root, {CUT_MINUTES} min).",
            lead="If a crash may take the last commits",
            style="plain",
        )


def _settings(one: Durability, choice: LevelChoice, *, named: bool) -> str:
    """Return the settings of a level: `` (`sync_binlog = 1` in my.cnf)``; empty if they were not read."""
    found = [f"`{name} = {value}`" for name, value in choice.settings.items() if value != "not set"]
    file = of(one.family).option_file if one.family else ""
    where = f" in {file}" if named and file else ""
    return f" ({numbers.listed(found, len(found))}{where})" if found else ""


def _gain(choice: LevelChoice) -> str:
    """Return how much faster a level is, where verdicts decided it: ``27% to 82% faster on disk``."""
    ratios = [ratio.estimate for found in choice.gains.values() for ratio in found]
    if not ratios:
        return ""
    return f"{verdict_words.amount(*ratios)} on {numbers.listed(list(choice.gains))}"


def _harmed(answer: CutAnswer) -> str:
    if answer.gone:
        return f"the whole database was lost in {answer.gone} of {cut_words.cuts(answer.telling)}"
    if answer.damaged:
        return f"the database was damaged in {answer.damaged} of {cut_words.cuts(answer.telling)}"
    return f"it lost commits in {answer.with_loss} of {cut_words.cuts(answer.telling)}"


def _cuts(answers: Sequence[CutAnswer]) -> str:
    """Return how many cuts these are, and of which storages: ``15 cuts on honest``."""
    on = numbers.listed(list(dict.fromkeys(answer.cell.storage for answer in answers)))
    return f"{cut_words.cuts(sum(answer.telling for answer in answers))} on {on}"


def _replicas(decisions: Decisions) -> Iterator[Line]:
    """Yield at which levels a cut left the binary log, which replicas read, and the tables different."""
    levels = [level for one in decisions.durability for level in (one.safe, *one.others)]
    found = {level.tuning: [cut for cut in level.cuts if cut.binlog] for level in levels}
    apart = [
        f"`{tuning}` ({number} of {_cuts(cuts)})"
        for tuning, cuts in found.items()
        if (number := sum(log.cuts_binlog_only + log.cuts_engine_only for cut in cuts if (log := cut.binlog)))
    ]
    if apart:
        said = f"rebuild them after a power cut at {numbers.listed(apart)}: binary log and tables differed."
        yield Line(said, lead="Replicas", style="plain")


def _own_disk(analysis: Analysis, decisions: Decisions) -> Iterator[Line]:
    """Yield what shows whether another disk flushes, if it was seen to decide what is kept."""
    places = analysis.machine.places if analysis.machine else []
    virtual = {one.storage: one.virtual for one in places if one.role == "data" and one.virtual}
    lost_on = [answer.cell.storage for one in decisions.durability for answer in one.lost_on]
    if not any(storage in virtual and virtual[storage].flushes_ignored for storage in lost_on):
        return
    turns = sorted({turn for disk in virtual.values() for turn in disk.turns_us})
    turn = f"A hard disk needs about a turn, {turns[0] / 1000:.1f} ms; a" if turns else "A"
    yield Line(
        f"{PROFILE} (half a minute) times its flush (append + fdatasync). {turn} much shorter one goes to a "
        "cache: ask the maker whether that survives a power cut.",
        lead="Your own disk",
        style="plain",
    )


# ---------------------------------------------------------------- storage, limits


def _headroom(one: Headroom) -> Line:
    gains = [
        f"{verdict_words.amount(max(ratio, 1.0))}{f' at {tuning}' if len(one.most) > 1 else ''}"
        for tuning, ratio in one.most.items()
    ]
    return Line(
        f"gains at most what main memory gains over {one.storage}: {numbers.listed(gains)} (95% bound).",
        lead="A better disk",
        style="plain",
    )


def _faster(one: FasterStorage) -> Line:
    said = f"{verdict_words.by_how_much(*one.ratios)} {one.than} (measured)."
    return Line(said, lead=one.storage, style="plain")


def _troubles(analysis: Analysis) -> Iterator[Line]:
    """Yield the remedy of the known problem that most cells have."""
    cells = analysis.limits.cells if analysis.limits else []
    found = [trouble for one in cells for trouble in one.troubles]
    groups = sorted(grouped(found, lambda one: (one.name, one.remedy)).values(), key=len, reverse=True)
    for alike in groups[:MOST_TROUBLES]:
        yield Line(f"{alike[0].remedy.text.rstrip('.')}.", lead=f"Against {alike[0].name}", style="plain")


def _by_settings(one: Lever, *, tested: bool) -> str:
    """Return which settings help as well; `tested`: other lines say what levels without a flush do."""
    if one.memory_variable and one.data_bytes:
        return f"; `{one.memory_variable}` of {numbers.size(one.data_bytes)} or more would hold all data"
    if one.relaxed and not tested:
        named = [f"`{name} = {value}`" for name, value in one.relaxed.items()]
        return f"; with {numbers.listed(named)} no commit waits, and a crash may take the last ones"
    return ""


def _levers(analysis: Analysis, levers: list[Lever], *, tested: bool) -> Iterator[Line]:
    every = [{factor: cell.level(factor) for factor in analysis.varying} for cell in analysis.plan.cells]
    is_asked = analysis.plan.asks == "limits"
    shown = MOST_LEVERS if is_asked else 1
    useful = [one for one in levers if is_asked or one.limit != "CPU"]
    for one in sorted(useful, key=lambda lever: -lever.what_if.ratio)[:shown]:
        best = {factor: one.best.level(factor) for factor in analysis.varying}
        where = verdict_words.where(boxes([best], every))
        yield Line(
            f"{one.what_if.says.text} (predicted){_by_settings(one, tested=tested)}.",
            lead=f"Against {IN_WORDS[one.limit]}{where}",
            style="plain",
        )
