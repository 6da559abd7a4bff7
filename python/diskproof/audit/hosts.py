"""Whether machines that share the blocks of a run are equal."""

import math
from collections.abc import Iterator
from statistics import fmean

from diskproof.audit.check import NothingToCheckError, Run, Said, Untold, check, note, warning
from diskproof.results.plan import NO_LEVEL
from diskproof.stats.intervals import RatioTest, independent_ratio
from diskproof.stats.multiple import holm

LEVEL = 0.05


@check(
    "equal-hosts",
    reason="If machines share the blocks, a cell's figure is a mean over machines. A ratio is not: both its "
    "sides are of one block, so of one machine. It holds even if the machines differ.",
    remedy='more `blocks` show whether they are equal; if they are not, use `how = "compare"`, or leave the '
    "one that differs out of `names`",
    source="Fisher, The Design of Experiments, 1935 (blocks); Welch, Biometrika 34, 1947; Holm, Scandinavian "
    "Journal of Statistics 6, 1979",
)
def equal_hosts(run: Run) -> Iterator[Said]:
    """Compare the same cells between the machines that share the blocks: an A/A test."""
    hosts = run.plan.hosts
    if not hosts or any(cell.host != NO_LEVEL for cell in run.plan.cells):
        raise NothingToCheckError("no machines share its blocks")
    by_host = _speeds(run)
    baseline, *others = hosts
    if any(len(by_host.get(host, [])) < 2 for host in hosts):
        yield Untold("two blocks or more on each host")
        return
    ratios = {host: independent_ratio(by_host[host], by_host[baseline]) for host in others}
    adjusted = dict(zip(ratios, holm([_p(ratio) for ratio in ratios.values()]), strict=True))
    for host, ratio in ratios.items():
        low, high = ratio.interval.low, ratio.interval.high
        assert low is not None
        assert high is not None
        if max(abs(math.log(low)), abs(math.log(high))) <= math.log1p(run.plan.same_within):
            continue
        found = warning if adjusted[host] < LEVEL else note
        form = "host `{host}` is {ratio:.3f} times as fast as `{baseline}` ({low:.3f} to {high:.3f}, 95%)"
        if found is note:
            form += ", so it is not known whether they are equal"
        yield found(form, host=host, ratio=ratio.interval.estimate, baseline=baseline, low=low, high=high)


def _p(ratio: RatioTest) -> float:
    return 1.0 if ratio.p is None else ratio.p


def _speeds(run: Run) -> dict[str, list[float]]:
    """Return the speed of each block, by host: the mean over its cells, each in shares of its own mean."""
    logs: dict[int, list[float]] = {}
    for cell in run.plan.cells:
        speeds = {
            trial.block: math.log(speed)
            for trial in run.trials_of(cell)
            if trial.load and (speed := trial.load.speed(run.plan.metric(cell)))
        }
        for block, speed in speeds.items():
            logs.setdefault(block, []).append(speed - fmean(speeds.values()))
    host_of = {planned.block: planned.host for planned in run.plan.trials}
    by_host: dict[str, list[float]] = {}
    for block, relative in logs.items():
        by_host.setdefault(host_of[block] or "", []).append(math.exp(fmean(relative)))
    return by_host
