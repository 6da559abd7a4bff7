"""Pairs of trials that prove what holds a cell back, as a run records them."""

from typing import Any

from diskproof.results.limit import Change, Intervention, ProofPair
from diskproof.results.plan import Plan, PlannedTrial
from diskproof.results.trial import HeldCpus, Setting, Trial
from diskproof.results.usage import Slowed, Spread, VirtualUse
from support.trials import change, make_trial, typical_rate
from support.virtual import make_use

SAYS: dict[Change, tuple[str, float]] = {
    "slower flushes": ("every flush of `cheetah` takes 4 ms longer", 2.0),
    "slower reads": ("every read of `cheetah` takes 4 ms longer", 2.0),
    "flushes relaxed": ("no commit waits for a flush (innodb_flush_log_at_trx_commit = 2)", 0.0),
    "half the CPUs": ("server and load have 1 CPU instead of 2", 0.5),
    "twice the memory": ("the server has 256 MiB of memory instead of 128 MiB", 2.0),
}


def make_pair(
    plan: Plan,
    number: int = 1,
    *,
    ratio: float = 0.5,
    made: Change = "slower flushes",
    predicted: tuple[float, float, float] = (0.5, 0.45, 0.55),
    cell: int = 0,
    as_it_was: dict[str, Any] | None = None,
    changed: dict[str, Any] | None = None,
) -> ProofPair:
    """Return a sound pair of a plan's cell, in which the change comes to `ratio` of the throughput.

    `predicted` is the ratio and its ends; `as_it_was` and `changed` change the trials' records.
    """
    planned, says = plan.cells[cell], SAYS[made]
    identity = f"proof-{cell + 1:02}-{number}"
    rate = typical_rate(planned)
    trials: list[Trial] = []
    for position, (side, speed) in enumerate((("as-it-was", rate), ("changed", rate * ratio)), start=1):
        block = len(plan.blocks()) + number
        at = PlannedTrial(id=f"{identity}-{side}", block=block, position=position, cell=planned.id)
        trials.append(make_trial(plan, at, speed))
    before, after = trials[0], _with_change(trials[1], made)
    return ProofPair(
        id=identity,
        cell=planned.id,
        limit="log flush",
        intervention=Intervention(change=made, says=says[0], factor=says[1]),
        predicted_ratio=predicted[0],
        predicted_low=predicted[1],
        predicted_high=predicted[2],
        basis="log flush is all of a transaction's time",
        as_it_was=change(before, **(as_it_was or {})),
        changed=change(after, **(changed or {})),
    )


def _with_change(trial: Trial, made: Change) -> Trial:
    """Return a trial in which a change can be seen."""
    match made:
        case "slower flushes":
            return change(trial, virtual_disks=[slowed("flush")])
        case "slower reads":
            return change(trial, virtual_disks=[slowed("read")])
        case "half the CPUs":
            return change(trial, held_cpus=HeldCpus(cpus=[1], server=[1], load=[1]))
        case "flushes relaxed":
            return change(trial, settings=[*trial.settings, *_settings("2")])
        case "twice the memory":
            more = Setting(
                name="innodb_buffer_pool_size", requested="268435456", observed="268435456", holds=True
            )
            return change(trial, settings=[*trial.settings, more])


def slowed(on: str, add_us: float = 4000.0, requests: int = 500, mean_us: float = 8000.0) -> VirtualUse:
    """Return what a disk counted whose requests of one kind took longer than its model says."""
    latency = Spread(mean=mean_us, p50=mean_us, p95=mean_us, p99=mean_us, max=mean_us)
    use = make_use(slowed=Slowed.model_validate({"on": on, "add_us": add_us, "requests": requests}))
    served = change(use.flush, latency_us=latency, requests=500)
    return change(use, **{on: served})


def _settings(flush: str) -> list[Setting]:
    return [
        Setting(
            name="innodb_flush_log_at_trx_commit", requested=flush, observed=flush, holds=True, level=True
        )
    ]
