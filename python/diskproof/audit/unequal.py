"""Whether compared results were measured alike: time, tool, options."""

import re
from collections.abc import Iterator, Mapping

from diskproof.audit.check import NothingToCheckError, Run, Said, Untold, check, warning
from diskproof.audit.run import NO_PAIR, NO_TRIALS, compared
from diskproof.results.factor import Factor
from diskproof.results.imported import OF_CLIENTS
from diskproof.results.plan import Cell
from diskproof.results.trial import Trial
from diskproof.wording import Item, Message, say, seconds

OUTCOMES = ("comments", "time", "max-time", "duration", "runtime", "filename", "if", "of")
"""Options that differ between any two runs, as dates do, or that another figure already says."""

OF_WORK = ("number of transactions per client", "events", "max-requests", "loops", "io_size")
"""Options that end a run when so much is done: its time is then what was measured."""

_Side = tuple[Cell, list[Trial]]
"""A cell of a comparison with its trials."""

SAME_WORK = 0.01
"""Share by which counts may differ that were asked for: each thread may add one. A judgement."""

UNEQUAL_TIME = 0.1
"""Share by which one measured time may exceed the other. A judgement: tools end some seconds late."""


@check(
    "unequal-runs",
    reason="A longer time, another version of the tool or other options also make results differ.",
    remedy="measure both again in the same way, or do not compare them",
    source="Fisher, The Design of Experiments, 1935, on confounding",
)
def unequal_runs(run: Run) -> Iterator[Said]:
    """Find compared results of unequal duration, tool or options."""
    found: dict[tuple[str, tuple[Message, ...]], list[tuple[str, Cell, Cell]]] = {}
    for factor, (cell, trials), (other, others) in _pairs(run):
        if not (trials and others):
            yield Untold(NO_TRIALS)
            continue
        sides = (trials[0], others[0])
        options = tuple(_unequal_options(run, *sides, factor))
        unequal = (*_unequal_measuring(run, *sides), *options)
        if unequal == options[:1] and _file(sides[0]) == _file(sides[1]):
            continue  # in one file, the one option that differs is what was varied
        if unequal:
            alike = found.setdefault((cell.level(factor), unequal), [])
            alike.append((other.level(factor), cell, other))
        elif not (_tool(trials[0]) and _tool(others[0])):
            yield Untold("the tool's version")
    for (one, unequal), alike in found.items():
        yield warning(
            "`{one}` and {others} also differ in {facts:/; }",
            cells=tuple(dict.fromkeys(side.id for _, *sides in alike for side in sides)),
            one=one,
            others=[f"`{other}`" for other in dict.fromkeys(other for other, _, _ in alike)],
            facts=unequal,
        )


def _pairs(run: Run) -> Iterator[tuple[Factor, _Side, _Side]]:
    """Yield each two imported cells that differ in one factor alone, each with its trials."""
    if not run.plan.imported:
        raise NothingToCheckError("one study made them all")
    pairs = list(compared(run))
    if not pairs:
        raise NothingToCheckError(NO_PAIR)
    for factor, cell, other in pairs:
        yield factor, (cell, run.trials_of(cell)), (other, run.trials_of(other))


def _unequal_measuring(run: Run, one: Trial, other: Trial) -> Iterator[Message]:
    """Yield what differs in tool and time."""
    tool, tools = _tool(one), _tool(other)
    if tool and tools and _release(tool) != _release(tools):
        yield _differ("the tool", tool, tools)
    a, b = (trial.load.seconds if trial.load else None for trial in (one, other))
    timed = all(_is_timed(trial, _asked(run, trial)) for trial in (one, other))
    if timed and not _same_work(one, other) and a and b and max(a, b) > min(a, b) * (1 + UNEQUAL_TIME):
        yield _differ("the time measured", seconds(a), seconds(b))


def _unequal_options(run: Run, one: Trial, other: Trial, factor: str) -> Iterator[Message]:
    """Yield the options of both that differ; neither outcomes nor what is compared count."""
    asked, others = _asked(run, one), _asked(run, other)
    for name in sorted(asked.keys() & others.keys()):
        if asked[name] == others[name] or name in {factor, *OF_CLIENTS}:
            continue
        if not (name in OUTCOMES or name.startswith("date")):
            yield _differ(f"`{name}`", asked[name], others[name])


def _differ(what: str, ours: Item, theirs: Item) -> Message:
    return say("{what} ({one} against {other})", what=what, one=ours, other=theirs)


def _asked(run: Run, trial: Trial) -> Mapping[str, str]:
    return run.results[trial.id].asked if trial.id in run.results else {}


def _same_work(one: Trial, other: Trial) -> bool:
    """Tell whether both ended after as many transactions: then that was asked for, and no time."""
    done, others = (trial.load.transactions if trial.load else None for trial in (one, other))
    return done is not None and others is not None and abs(done - others) <= SAME_WORK * done


def _release(tool: str) -> str:
    """Return a tool with the number of its release: ``fio 3`` of ``fio 3.36``, ``sysbench 0.5`` whole."""
    found = re.match(r"\D*(?:0\.)?\d+", tool)
    return found[0] if found else tool


def _is_timed(trial: Trial, asked: Mapping[str, str]) -> bool:
    """Tell whether somebody chose how long a result was measured: a job's time is its figure."""
    load = trial.load
    if load is None or "seconds" in load.derived:
        return False
    one_pass = load.file_requests is not None and load.file_requests.one_pass
    return not one_pass and not any(asked.get(name, "0") != "0" for name in OF_WORK)


def _tool(trial: Trial) -> str | None:
    return trial.imported.tool if trial.imported else None


def _file(trial: Trial) -> str | None:
    return trial.imported.file if trial.imported else None
