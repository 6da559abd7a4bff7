"""A target, what can be bought, and what it is predicted to do."""

from diskproof.analysis.other_disk.records import Predicted
from diskproof.results.limit import Limit
from diskproof.results.record import Record
from diskproof.wording import Message


class Target(Record):
    """What a load must do."""

    per_s: float | None = None
    mean_us: float | None = None
    p95_us: float | None = None


class Configuration(Record):
    """A disk as it can be bought."""

    name: str
    """``AWS EBS gp3, us-east-1, 100 GiB, 4,500 IOPS``; predictions call it so, too."""
    device: str
    """What a study or `predict --on` calls it: ``ebs-gp3?capacity_bytes=107374182400&iops.fixed=4500``."""
    card: str
    """Title of its price card."""
    currency: str
    a_month: float
    outlives_machine: bool = True
    """Whether the data are still there after the machine has stopped."""
    stale_since: str | None = None
    """The day of a price that is older than a year."""
    source: str


class Candidate(Record):
    """A configuration with the load that comes nearest to the target on it."""

    configuration: Configuration
    predicted: Predicted
    durable: bool
    probability: float | None
    """That it meets the target; None: the record cannot tell."""

    @property
    def a_month(self) -> float:
        """Its price."""
        return self.configuration.a_month

    def meets_with(self, least: float) -> bool:
        """Tell whether it meets the target with at least this probability."""
        return self.probability is not None and self.probability >= least


class Advice(Record):
    """Candidates by price, and what follows."""

    target: Target
    durable_only: bool
    candidates: list[Candidate]
    chosen: Candidate | None
    """The cheapest that meets the target with a probability of at least `SURE` (90%)."""
    cheaper: Candidate | None
    """The cheapest that more probably than not meets the target, if it costs less."""
    nearest: Candidate | None
    """If none is chosen: the cheapest that more probably than not meets the target; else the likeliest."""
    step_up: Candidate | None
    """The cheapest of the dearer ones that does clearly more."""
    held_back_by: Limit | None
    """What holds the chosen one back, if no other does clearly more."""
    most_per_s: float | None
    """What main memory is predicted to do: no disk does more."""
    notes: list[Message]
