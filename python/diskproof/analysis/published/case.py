"""A published ratio that was not met: which side is the slower, and by more or by less than was published."""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field

from diskproof.analysis.answers import RunFinding
from diskproof.analysis.evidence import Side
from diskproof.analysis.gather import Gathered
from diskproof.analysis.limits.records import CellLimit
from diskproof.analysis.published.marks import TIE
from diskproof.analysis.published.shapes import Agreement
from diskproof.results.published import PublishedRatio
from diskproof.stats.intervals import Interval


@dataclass(frozen=True)
class Case:
    """A published ratio that was not met, and all that may say why."""

    gathered: Gathered
    published: PublishedRatio
    level: Side
    baseline: Side
    measured: Interval | None = None
    """None: there is no ratio to speak of."""
    order: Agreement | None = None
    size: Agreement | None = None
    """None: neither is asked for."""
    limits: Mapping[str, CellLimit] = field(default_factory=dict)
    """What holds cells back, by their ids."""

    @property
    def sides(self) -> tuple[Side, Side]:
        """The level and its baseline."""
        return self.level, self.baseline

    @property
    def of_published(self) -> Interval | None:
        """The measured ratio over the published one."""
        return self.measured.scaled(1 / self.published.ratio) if self.measured else None

    @property
    def slower(self) -> Side:
        """The side that was measured as the slower; if none was, the one published as the slower."""
        decided = self.measured is not None and self.measured.excludes(1)
        ratio = self.measured.estimate if self.measured and decided else self.published.ratio
        return self.baseline if ratio >= 1 else self.level

    @property
    def differs(self) -> bool:
        """Whether the order or the size is shown to differ; if both are open there is no gap."""
        return "differs" in (self.order, self.size)

    @property
    def reversed(self) -> bool:
        """Whether the other side is the faster one."""
        if self.measured is None or not self.measured.excludes(1):
            return False
        return (self.measured.estimate > 1) != (self.published.ratio > 1)

    @property
    def gap_is_smaller(self) -> bool:
        """Whether the two differ by less than was published, in the same order or none."""
        if self.measured is None or not self.differs or self.reversed:
            return False
        return abs(math.log(self.measured.estimate)) < self.published_gap

    @property
    def gap_is_larger(self) -> bool:
        """Whether they differ by more than was published, in the same order or if none was published."""
        if self.measured is None or not self.differs:
            return False
        return abs(math.log(self.measured.estimate)) > self.published_gap and (
            not self.reversed or self.published_gap <= math.log(TIE)
        )

    @property
    def published_gap(self) -> float:
        """The logarithm of how many times as fast the faster side was published to be."""
        return abs(math.log(self.published.ratio))

    @property
    def of_whole_job(self) -> bool:
        """Whether what was counted is of a whole job, and the ratio of a test or of its iterations alone."""
        iterated = any(one.load.iterations for side in self.sides for one in side.trials)
        return self.published.part is not None or iterated

    @property
    def work(self) -> str:
        """Return what counts are divided by: a job's statements and a disk's requests count as such."""
        metric = self.gathered.plan.metric(self.level.cell)
        return {"seconds": "statement", "requests_per_s": "request"}.get(metric, "transaction")

    @property
    def faster(self) -> Side:
        """The other side."""
        return self.level if self.slower is self.baseline else self.baseline

    def limit(self, side: Side) -> CellLimit | None:
        """Return what holds a side back; None if that is not established."""
        found = self.limits.get(side.cell.id)
        return found if found is not None and found.limit is not None else None

    def name(self, side: Side) -> str:
        """Return the level of a side."""
        return side.cell.level(self.published.factor)

    def findings(self) -> list[RunFinding]:
        """Return what the checks found about either side."""
        ids = {side.cell.id for side in self.sides}
        return [found for found in self.gathered.findings() if ids & set(found.cells)]
