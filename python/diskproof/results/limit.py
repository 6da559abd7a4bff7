"""What can hold a cell back, and what is changed to prove that it does."""

from typing import Literal

from diskproof.results.record import Record
from diskproof.results.trial import Trial

Limit = Literal[
    "log flush",
    "data reads",
    "page writes",
    "CPU",
    "locks",
    "load generator",
    "arrivals",
    "disk",
]
"""``log flush``: commits wait until a log (redo, WAL, binary log) is on the disk. ``data reads``: statements
wait for pages that are not in memory. ``page writes``: they wait until pages are written, to make room or
for a checkpoint. ``CPU``: the CPUs that server, load and virtual disks share are busy. ``arrivals``: a rate
that the study sets, which leaves everything idle capacity. ``disk``: of a load on bare files, the disk
itself."""

Change = Literal["half the CPUs", "slower flushes", "flushes relaxed", "slower reads", "twice the memory"]


class Intervention(Record):
    """One thing that is changed about a cell, to see whether its throughput answers as predicted."""

    change: Change
    says: str
    """What exactly, in words: ``every flush of `disk` takes 8.3 ms longer``."""
    factor: float
    """By how much; of slower flushes and reads about how many times as long they take: for words, since what
    is foretold goes by `added_us`."""
    added_us: dict[str, float] = {}
    """Of slower flushes and reads what each takes longer, by virtual disk; empty of every other change, and
    of a record from before it was told."""


class ProofPair(Record):
    """A line of proofs.jsonl: a trial of a cell as it is and one with the intervention, one after the other.

    Their positions tell which came first: that is drawn. The prediction was made before either was run.
    """

    id: str
    """``proof-01-2``: the second pair of the first proof."""
    cell: str
    limit: Limit
    intervention: Intervention
    predicted_ratio: float
    """Throughput with the intervention over throughput without."""
    predicted_low: float
    predicted_high: float
    basis: str
    """How it was predicted, with the figures that went in."""
    as_it_was: Trial
    changed: Trial
