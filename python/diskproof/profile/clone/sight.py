"""What the fitted figures show at a glance: the first guesses of each kind's parameters start from it."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace

from diskproof.profile.clone.cells import Observation
from diskproof.results.profile import Pattern

SMALL_BLOCK = 4 * 2**10
LARGE_BLOCK = 16 * 2**10

DEEP = 8
"""A queue so deep shows what a disk gains by one."""

MOST_OF_IT = 0.5
"""Reads over more than this share of a disk move its arm as far as it goes."""


@dataclass(frozen=True)
class Sight:
    """The figures that a clone is made from, and what the kernel reports of the disk."""

    observations: Sequence[Observation]
    capacity_bytes: int
    capacity_source: str
    sector_bytes: int = 512

    def only(self, patterns: Iterable[Pattern]) -> "Sight":
        """Return the same with the figures of some patterns alone."""
        wanted = frozenset(patterns)
        return replace(self, observations=[one for one in self.observations if one.probe.pattern in wanted])

    def latency_us(
        self, pattern: Pattern, block_bytes: int = SMALL_BLOCK, *, wide: bool = False
    ) -> float | None:
        """Return the median time of one request at a time, or else the mean; None if nothing shows it.

        Without a figure of that size, or of one at a time, the nearest stand in.
        """
        found = [
            one
            for one in self._some(lambda one: one.probe.pattern == pattern)
            if not wide or self._share(one) > MOST_OF_IT
        ]
        if not found:
            return None
        best = min(
            found,
            key=lambda one: (one.probe.depth, abs(one.probe.block_bytes - block_bytes), self._share(one)),
        )
        for measure in ("median_us", "mean_us"):
            if measure in best.figures and best.probe.depth == 1:
                return best.figures[measure]
        return 1e6 / best.figures["iops"] if best.figures.get("iops") else None

    def top_iops(self, pattern: Pattern, block_bytes: int | None = None, depth: int = 1) -> float | None:
        """Return the highest rate of requests from a depth on."""
        return max(
            (
                one.figures["iops"]
                for one in self._some(lambda one: one.probe.pattern == pattern and one.probe.depth >= depth)
                if block_bytes in (None, one.probe.block_bytes) and "iops" in one.figures
            ),
            default=None,
        )

    def top_mb_per_s(self, *patterns: Pattern) -> float | None:
        """Return the highest rate of bytes, in 10^6 a second."""
        found = self._some(lambda one: one.probe.pattern in patterns)
        rates = [one.figures["megabytes_per_s"] for one in found if "megabytes_per_s" in one.figures]
        rates += [one.figures["iops"] * one.probe.block_bytes / 1e6 for one in found if "iops" in one.figures]
        return max(rates, default=None)

    def gain_by_depth(self, pattern: Pattern) -> float | None:
        """Return how many times more requests a deep queue gets answered than one at a time."""
        small = self._some(
            lambda one: (
                (one.probe.pattern, one.probe.block_bytes) == (pattern, SMALL_BLOCK) and "iops" in one.figures
            )
        )
        span = min((self._share(one) for one in small), default=None)
        rates = {one.probe.depth: one.figures["iops"] for one in small if self._share(one) == span}
        deep = max((rate for depth, rate in rates.items() if depth >= DEEP), default=None)
        return deep / rates[1] if deep and 1 in rates else None

    def _share(self, one: Observation) -> float:
        return one.probe.span_of(self.capacity_bytes) / self.capacity_bytes

    def _some(self, wanted: Callable[[Observation], bool]) -> list[Observation]:
        return [one for one in self.observations if wanted(one)]
