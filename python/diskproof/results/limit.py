"""What can hold a cell back, and what is changed to prove that it does."""

from typing import Literal

from diskproof.results.record import Record, StepId
from diskproof.results.trial import Trial
from diskproof.wording import Message

Limit = Literal[
    "log flush",
    "data reads",
    "page writes",
    "CPU",
    "locks",
    "load generator",
    "network",
    "arrivals",
    "disk",
]
"""``log flush``: commits wait until a log (redo, WAL, binary log) is on the disk. ``data reads``: statements
wait for pages that are not in memory. ``page writes``: statements wait until pages are written, to make room
or for a checkpoint. ``CPU``: the CPUs that server, load and virtual disks share are busy. ``arrivals``: the
study sets a rate that leaves capacity idle. ``network``: clients on other machines wait for round trips, or
for bytes. ``disk``: the disk below a load on bare files."""

IN_WORDS: dict[Limit, str] = {
    "log flush": "log flushes",
    "data reads": "reads from the disk",
    "page writes": "page writes",
    "CPU": "the CPUs",
    "locks": "locks",
    "load generator": "the load generator",
    "network": "the network",
    "arrivals": "the rate of arrivals",
    "disk": "the disk",
}
"""Each limit as it stands in a sentence."""

Change = Literal["half the CPUs", "slower flushes", "flushes relaxed", "slower reads", "twice the memory"]


class Intervention(Record):
    """One thing that is changed about a cell, to test whether its throughput changes as predicted."""

    change: Change
    says: Message
    """What exactly: ``every flush of `disk` takes 8.3 ms longer``."""
    factor: float
    """By how much: of CPUs and memory exactly; of slower flushes and reads about how many times as long they
    take, for words alone, since the prediction uses `added_us`."""
    added_us: dict[str, float] = {}
    """What each flush or read takes longer, by virtual disk; empty for other changes and in older records."""

    def same_change(self, other: "Intervention") -> bool:
        """Return whether both change the same thing by the same amount, however each was worded."""
        return (self.change, self.factor, self.added_us) == (other.change, other.factor, other.added_us)


class Prediction(Record):
    """What a change to a cell was predicted to do, before it was made."""

    limit: Limit
    intervention: Intervention
    predicted_ratio: float
    """Throughput with the intervention over throughput without."""
    predicted_low: float
    predicted_high: float
    basis: Message
    """The figures behind the prediction."""


class ProofPair(Prediction):
    """A line of proofs.jsonl: a trial of the unchanged cell and one with the intervention, back to back.

    Their positions say which came first, which is drawn. The prediction was made before either was run.
    """

    id: StepId
    """``proof-01-2``: the second pair of the first proof."""
    cell: str
    host: str | None = None
    """The machine that made it, in a study over many hosts."""
    as_it_was: Trial
    changed: Trial

    @property
    def finished(self) -> bool:
        """Whether neither trial broke off."""
        return self.as_it_was.finished and self.changed.finished
