"""What to do after a run, the most urgent first: about the measurement, and about the database."""

import re
from collections.abc import Iterator, Sequence
from typing import Literal, NamedTuple

from diskproof.analysis.answers import Analysis, Verdict
from diskproof.analysis.decisions import Durability, LevelChoice, durability, levers
from diskproof.analysis.prices.buy import best_buy
from diskproof.analysis.safety.ranking import whole_losses_by_chance
from diskproof.analysis.thresholds import failed_controls
from diskproof.audit.host import host_busy
from diskproof.audit.run import repeats
from diskproof.families import of
from diskproof.report.compose import cut_words, verdict_words
from diskproof.report.compose.findings import Caution, cautions
from diskproof.report.compose.prices import money, priced
from diskproof.results.limit import IN_WORDS
from diskproof.results.plan import Plan
from diskproof.stats.boxes import boxes
from diskproof.stats.grouping import grouped
from diskproof.wording import numbers, say

CUT_BY_ITSELF = "`diskproof init cut.toml --storage desktop-7200 && diskproof crash cut.toml`"
"""Cuts the power of a model of a hard disk: two levels, 20 times each."""

PROFILE = "`diskproof disk profile . --quick`"

CUTS, SIZE = re.compile(r" --cuts \d+"), re.compile(r" --resume| --(?:cuts|scale) \S+")

RARE, CUTS_FOR_RARE = 0.05, 59
"""So many cuts without a loss show that at most that share loses something: 1 - 0.05**(1/n)."""

MOST_TIMES_MORE = 10
"""Nobody measures more times as many blocks to decide a verdict."""


class Action(NamedTuple):
    """One thing to do, a command first if there is one."""

    of: Literal["measurement", "database", ""]
    text: str


def actions(analysis: Analysis) -> list[Action]:
    """Return what to do: what makes the run trustworthy and decides it, settings, what makes it surer."""
    if not analysis.complete:
        return [Action("measurement", f"{analysis.plan.resumed_by} continues it: the run is incomplete.")]
    # What settings lose without a fault is another question.
    has_faults = analysis.safety is not None and bool(analysis.safety.faults)
    advice = () if has_faults else _for_the_database(analysis)
    found = [
        *(Action("measurement", text) for text in (*_urgent(analysis), *_repair(analysis))),
        *(Action("database", text) for text in advice),
        *(Action("measurement", text) for text in _surer(analysis)),
    ]
    return [one for one in dict.fromkeys(found) if one.text] or [
        Action("", "Nothing: the study has its answer.")
    ]


def first(analysis: Analysis) -> list[tuple[str, str]]:
    """Return the most urgent thing of each kind: for the database first, unless the cuts prove nothing."""
    found = [some[0] for some in grouped(actions(analysis), lambda one: one.of).values()]
    if failed_controls(analysis):
        return [("To do", found[0].text)]
    ordered = sorted(found, key=lambda one: one.of != "database")
    return [("To be surer" if at else "To do", one.text) for at, one in enumerate(ordered)]


# ---------------------------------------------------------------- the measurement


def _urgent(analysis: Analysis) -> Iterator[str]:
    again = analysis.plan.resume.removesuffix(" --resume")
    for busy in [_remedy(one) for one in cautions(analysis) if one.finding.check == host_busy.name]:
        yield f"`{again}` on a quieter machine." if again and busy else busy
    if failed_controls(analysis):
        yield "find out why an outcome known beforehand came out wrong: until then the cuts prove nothing."
    if analysis.trials_valid < analysis.trials_run:
        invalid = (one for one in cautions(analysis) if one.finding.severity == "invalid")
        remedy = next((one.finding.remedy.text.rstrip(".") for one in invalid if one.finding.remedy), "")
        if analysis.plan.imported:
            yield f"{remedy or 'repeat the invalid trials'}."
        else:
            before = f"; before: {remedy}" if remedy else ""
            yield f"{analysis.plan.resumed_by} repeats the invalid trials{before}."


def _repair(analysis: Analysis) -> Iterator[str]:
    """Yield how to decide what is open."""
    if open_ones := [one for one in analysis.verdicts if one.outcome == "inconclusive"]:
        yield f"{_what_decides(open_ones, analysis.plan)}."
    else:
        yield from (_remedy(one) for one in cautions(analysis) if one.finding.check == repeats.name)


def _remedy(one: Caution) -> str:
    """Return the remedy of a warning; that of invalid trials is said with their measuring."""
    known = one.finding.remedy and one.finding.severity != "invalid"
    return f"{one.finding.remedy.text.rstrip('.')}." if known else ""


def _what_decides(verdicts: Sequence[Verdict], plan: Plan) -> str:
    """Return what would decide inconclusive verdicts."""
    needed = sorted(one.blocks_needed for one in verdicts if one.blocks_needed)
    soon = [one for one in needed if one <= MOST_TIMES_MORE * len(plan.blocks())]
    what = (
        "what is open" if len(soon) == len(verdicts) else f"{len(soon)} of {len(verdicts)} open comparisons"
    )
    if plan.imported:
        return "add more runs of each: they would narrow the intervals"
    if plan.at_most_s is not None and plan.resume:
        return f"{plan.resumed_by} with a longer `--at-most` goes on"
    if soon and plan.resume:
        return f"`{plan.resume} --until-decided` decides {what}, by {soon[-1]} blocks"
    if soon:
        return f"`blocks = {soon[-1]}` in `[design]` would decide {what}"
    return "set a longer `measure_s` in `[design]` of the study, on a quieter machine"


def _surer(analysis: Analysis) -> Iterator[str]:
    yield from (_remedy(one) for one in cautions(analysis) if one.finding.check != host_busy.name)
    crash, safety, limits = analysis.plan.crash, analysis.safety, analysis.limits
    if safety and not safety.faults:
        spared = [one.loss_share.high for one in safety.answers if one.is_whole and one.loss_share]
        if not any(one.way == "power" for one in safety.answers):
            yield f"{CUT_BY_ITSELF} cuts power: only a virtual disk can lose it."
        elif any(share > RARE for share in spared) and not any(one.states for one in safety.answers):
            command = f"{CUTS.sub('', analysis.plan.resume)} --cuts {CUTS_FOR_RARE}".strip()
            by_chance = whole_losses_by_chance(safety.answers)
            lost = numbers.listed(list(dict.fromkeys(cut_words.level(one.b.cell) for one in by_chance)), 2)
            yield f"`{command}`"
            if lost:
                yield f"more cuts: that only {lost} lost databases may be chance."
    if safety and not safety.controls and not any(one.harmed for one in safety.answers):
        yield "name `controls` in `[crash]`: nothing shows yet that the cuts would reveal a loss."
    if analysis.whole_by is not None and not (crash and crash.states):
        command = f"{SIZE.sub('', analysis.plan.resume)} {analysis.whole_by}".strip()
        yield f"`{command}`" if command else ""
    is_asked = analysis.plan.asks == "limits" and limits
    if is_asked and limits and not limits.proofs and any(one.what_if for one in limits.cells):
        command = f"{analysis.plan.resume} --prove".strip()
        yield f"`{command}` tests what is said to hold it back."


# ---------------------------------------------------------------- the database


def _for_the_database(analysis: Analysis) -> Iterator[str]:
    servers = list(durability(analysis))
    settings = [one for each in servers for one in _settings(each, len(servers) > 1)]
    # A study of cuts asks what is lost, one of limits what makes it faster.
    speed = [*_speed(analysis)] if analysis.plan.crash is None else []
    if lying := _lying(analysis, servers):
        first, *settings = settings
        yield f"{first.rstrip('.')}; test your disk's flushes: {PROFILE}"
        yield f"use no {numbers.listed(lying)}: on it no setting helps."
    if (best := best_buy(analysis)) and analysis.prices and best.times <= 1:
        both = f"{priced(analysis.prices)} {money(best.amount)} instead of {money(best.amount_of_slower)}"
        price = f", {both}" if best.times < 1 else " and as cheap"
        yield f"buy {best.storage}: faster{price}{', but dearer per GB' * (best.times_per_gb > 1)}."
    if analysis.plan.asks == "limits":
        yield from (*speed, *settings)
    else:
        yield from (*settings[:1], *speed, *settings[1:])
    yield from _replicas(servers)
    yield from _uncounted(servers)


def _settings(one: Durability, several: bool) -> Iterator[str]:
    """Yield which level keeps every commit, then what each other gains and may lose."""
    where = f" in {one.server}" if several else ""
    alike = [other for other in one.others if other.keeps_all]
    names = " or ".join(f"`{level.tuning}`" for level in (one.safe, *alike))
    lucky = [f"`{other.tuning}`" for other in one.others if other not in alike and _is_whole(other)]
    yield (
        f"use {names}{where} for durable commits{_variables(one, one.safe) if not alike else ''}"
        f"{f'; that {numbers.listed(lucky)} lost none here proves little' if lucky else ''}."
    )
    for other in one.others:
        if not other.cuts:  # else the rows have what it lost
            yield _trade(other, where)


def _is_whole(choice: LevelChoice) -> bool:
    return bool(choice.cuts) and all(one.is_whole for one in choice.cuts)


def _trade(other: LevelChoice, where: str) -> str:
    """Return what a level gains for what it may lose; nothing is a gain that no verdict decided."""
    name, gain = f"`{other.tuning}`{where}", _gain(other)
    if other.may_ruin:
        return f"{name} never for data you need: a crash of the machine may destroy the database."
    if other.losses == []:
        return f"{name}{gain}: by its settings a power cut takes no commit."
    if other.outcomes and set(other.outcomes) <= {"the same", "slower"}:
        return f"{name} is not worth its risk: it is no faster."
    if other.losses:
        return f"{name}{gain}: {say('after a power cut {losses:/; }', losses=other.losses).text}."
    return f"{name}{gain}, if a crash may take the last commits."


def _variables(one: Durability, choice: LevelChoice) -> str:
    """Return what makes a level safe: ``: `sync_binlog=1` (my.cnf)``; empty if that was not read.

    Another level's own file may differ in much that no commit depends on.
    """
    facts = of(one.family) if one.family else None
    needed = {name: value for name, value in choice.settings.items() if not facts or name in facts.known}
    found = [f"{name}={value}" for name, value in needed.items() if value != "not set"]
    where = f" ({facts.option_file})" if facts and facts.option_file else ""
    return f": `{', '.join(found)}`{where}" if found else ""


def _gain(choice: LevelChoice) -> str:
    """Return how much faster a level is, where verdicts decided it: `` is 27% to 82% faster on disk``."""
    ratios = [ratio.estimate for found in choice.gains.values() for ratio in found]
    if ratios:
        return f" is {verdict_words.amount(*ratios)} on {numbers.listed(list(choice.gains))}"
    return ": whether it is faster is open" if choice.outcomes else ": its speed was not measured"


def _replicas(servers: Sequence[Durability]) -> Iterator[str]:
    """Yield at which levels a cut left the binary log, which replicas read, and the tables different."""
    levels = [level for one in servers for level in (one.safe, *one.others)]
    found = {level.tuning: [cut.binlog for cut in level.cuts if cut.binlog] for level in levels}
    apart = [
        f"`{tuning}`"
        for tuning, logs in found.items()
        if any(log.cuts_binlog_only + log.cuts_engine_only for log in logs)
    ]
    if apart:
        yield f"make replicas anew after a cut at {numbers.listed(apart)}: log and tables differed."


def _lying(analysis: Analysis, servers: Sequence[Durability]) -> list[str]:
    """Return the disks that only say that they flush, on which levels lost what they keep elsewhere."""
    lost = dict.fromkeys(cut.cell.storage for one in servers for cut in one.lost_on)
    return [one for one in lost if one in analysis.ignoring_flushes]


def _uncounted(servers: Sequence[Durability]) -> Iterator[str]:
    """Yield how to count what a level loses."""
    others = (level for one in servers for level in one.others)
    uncounted = (one for one in others if not one.cuts and not one.losses and not one.may_ruin)
    yield from (f"{CUT_BY_ITSELF} counts what `{one.tuning}` loses." for one in [*uncounted][:1])


def _speed(analysis: Analysis) -> Iterator[str]:
    """Yield what makes it faster, and in a study of limits the remedies of known problems."""
    every = [{factor: cell.level(factor) for factor in analysis.varying} for cell in analysis.plan.cells]
    asks = analysis.plan.asks == "limits"
    useful = [one for one in levers(analysis) if asks or one.limit != "CPU"]
    for one in sorted(useful, key=lambda lever: -lever.what_if.ratio):
        best = {factor: one.best.level(factor) for factor in analysis.varying}
        where = verdict_words.where(boxes([best], every))
        sized = f"; `{one.memory_variable}` decides it" if one.memory_variable else ""
        yield f"against {IN_WORDS[one.limit]}{where}: {one.what_if.says.text} (predicted){sized}."
    cells = analysis.limits.cells if asks and analysis.limits else []
    found = grouped(
        (trouble for one in cells for trouble in one.troubles), lambda one: (one.name, one.remedy)
    )
    for alike in sorted(found.values(), key=len, reverse=True):
        yield f"against {alike[0].name}: {alike[0].remedy.text.rstrip('.')}."
