"""A trial of safety: the power was cut (or the system stopped, or the server killed), and what was left.

Moments are given in seconds before the cut: 0 is the cut itself, 0.9 is 0.9 s before it.
"""

from diskproof.results.crash import Keep, Way
from diskproof.results.fault import Trouble
from diskproof.results.record import Record
from diskproof.results.trial import Dumped, Execution
from diskproof.wording import Message


class DiskAtCut(Record):
    """What a virtual disk was doing when it was cut."""

    name: str
    """As in the run's other records: its label, or its device's name."""
    device: str
    under_way: int
    """Requests that had no answer yet."""
    at_risk_writes: int
    """Writes, answered or not, of which a part was not yet safe: what the cut chose from."""
    answered_at_risk_writes: int
    """Those among them that had been answered: an honest disk has them until the next flush."""
    kept: Keep
    """Drawn for this disk; never `random`."""
    torn_writes: int
    """Writes of which some sectors were kept and some lost."""
    last_flush_before_s: float | None
    """When its last flush was answered; None: no flush since the load began."""
    after_first_s: float = 0.0
    """How much later it was cut than the first disk of its layout: meanwhile it took what it was sent."""


class LedgerOutcome(Record):
    """The database held to its acknowledgements. A transaction is one numbered transfer of one client."""

    acknowledged: int
    """Transactions whose commit was acknowledged before the cut, since the load began."""
    present: int
    """Transactions that the database holds after recovery."""
    lost: int
    """Acknowledged, and not there."""
    unacknowledged_present: int
    """There, and not acknowledged: their answers were on the way. Nothing is wrong with that."""
    never_sent: int
    """There, and no client can have sent them: a number beyond its client's next."""
    duplicated: int
    """There more than once."""
    half_applied: int
    """Accounts that do not hold what the transactions that are there make of them."""
    invariant_off_by: int
    """By how much the sum over all accounts differs from what it was at the start."""
    out_of_order: int = 0
    """Lost, although something is there that a program began only after their acknowledgement."""
    first_lost_before_s: float | None
    """When the first of the lost was acknowledged; None if none was lost. All from then on is the window
    of loss, though some of it may have been kept."""
    last_kept_before_s: float | None
    """When the last of the kept was acknowledged."""
    last_acknowledged_before_s: float | None

    @property
    def is_broken(self) -> bool:
        """Whether what is there contradicts itself: worse than a loss."""
        return bool(self.never_sent or self.duplicated or self.half_applied or self.invariant_off_by)


class Recovery(Record):
    """How the database came up again."""

    mount_s: float | None
    """Mounting all file systems, their journals replayed; None if nothing had been unmounted, or one could
    not be mounted."""
    server_s: float | None
    """From the server's start until it took connections; None if it did not."""
    refused: Message | None = None
    """Why there is no database: a file system could not be mounted, or the server did not start."""
    complaints: list[str] = []
    """Lines of the server's log that report damage."""
    damaged_tables: list[str] = []
    """What the server's own checks of all tables found."""
    binlog_only: int | None = None
    """Transactions in the binary log but not in the tables: a replica has more than its source. None
    if there is no binary log."""
    engine_only: int | None = None
    """Transactions in the tables but not in the binary log: a replica never gets them."""

    @property
    def tells_of_damage(self) -> bool:
        """Whether there is no database, or server or checks complain."""
        return bool(self.refused or self.complaints or self.damaged_tables)


class StateSeen(Record):
    """A state of the disk that a cut can leave: all that had arrived but these parts of writes."""

    at_us: int
    arrived: int
    """How many writes had arrived."""
    risk: list[int]
    """Those that were at risk, by their place among all."""
    lost: list[tuple[int, int, int]]
    """A write, and the range of its sectors that are missing."""
    named: list[str] = []
    """What is missing, in words: files, or the file system's own blocks."""


class StatesSeen(Record):
    """What came of one run whose log was cut at every flush."""

    moments: int
    """Moments at which writes were at risk: before each flush was answered."""
    checked: int
    """Different states that were recovered and compared."""
    equal: int
    """Further ones that had the same bytes as one of these."""
    all_of_them: bool
    """Whether none of those that would be tried is left."""
    counterexample: StateSeen | None = None
    """The smallest state after which something was lost or damaged; None: there was none."""


class CutTimings(Record):
    """Where the seconds of a trial went."""

    restore_s: float = 0.0
    start_s: float = 0.0
    turn_s: float = 0.0
    """Waiting until the clients of another cut have ended."""
    load_s: float = 0.0
    cut_s: float = 0.0
    """From the cut until the disks are there again, unmounted and with what survived."""
    recover_s: float = 0.0
    """Mounting and the server's own recovery."""
    verify_s: float = 0.0
    stop_s: float = 0.0
    total_s: float = 0.0


class CutTrial(Execution):
    """One cut of one cell; one that broke off is no evidence of anything."""

    way: Way
    seed: int
    dump: Dumped | None = None
    silent_because: Message | None = None
    """Why the cut proves nothing: no commit was acknowledged just before it. None: it proves something."""
    put_off_s: float = 0.0
    """By how much it came later than at the moment that was drawn, in which nobody was being acknowledged."""
    disks: list[DiskAtCut] = []
    """Empty if only the server was killed."""
    unflushed_acknowledgements: int | None = None
    """Transactions acknowledged after the last flush that the disk with the redo log (or WAL) had answered.

    If each commit waits for its flush, they are the commits of that flush, acknowledged a moment later, and
    not at risk. Otherwise an honest disk may lose them. None: no disk knows.
    """
    acknowledged: int | None = None
    """Transactions acknowledged before the cut: known even if there is no ledger."""
    ledger: LedgerOutcome | None = None
    """None if there is no database, it cannot be read, or the trial broke off."""
    recovery: Recovery | None = None
    trouble: Trouble | None = None
    """What clients and server met until then; None in a study without faults."""
    states: StatesSeen | None = None
    """What its log was searched for, if the campaign does that. The outcome is that of the counterexample."""
    timings: CutTimings
    evidence: str | None = None
    """Folder of what was kept of it, from the run folder's own; None: nothing was."""

    @property
    def tells(self) -> bool:
        """Whether it is evidence of what a setting keeps or loses."""
        return self.finished and self.silent_because is None

    @property
    def lost(self) -> int | None:
        """Return the number of lost acknowledged transactions: all of them if none can be read.

        None if the trial broke off.
        """
        if self.ledger is not None:
            return self.ledger.lost
        return self.acknowledged if self.is_gone else None

    @property
    def is_gone(self) -> bool:
        """Whether nothing can be read: no file system, no server, or a server without the ledger."""
        return self.finished and self.ledger is None

    @property
    def has_loss(self) -> bool:
        """Whether acknowledged transactions are gone, be it with the whole database."""
        return self.is_gone or bool(self.lost)

    @property
    def has_harm(self) -> bool:
        """Whether it took acknowledged transactions, or damaged the database."""
        return self.has_loss or self.is_damaged

    @property
    def is_unnoticed(self) -> bool:
        """Whether something is lost or wrong, and neither server nor its checks have said anything."""
        told = self.recovery is not None and self.recovery.tells_of_damage
        return self.has_harm and not told and not (self.trouble and self.trouble.is_reported)

    def had_something_at_risk(self, clients: int) -> bool:
        """Tell whether it could take something from so many clients, as far as known.

        Where the power was cut, writes had reached a disk, answered or not, and were not safe yet (a stop of
        the operating system leaves them); more commits had been acknowledged since the last flush than there
        are clients (one of each may be part of that flush); or it took something, because no disk knows what
        only a page cache held. Other requests under way than writes are no risk.
        """
        cached = self.way == "power" and any(disk.at_risk_writes for disk in self.disks)
        return cached or (self.unflushed_acknowledgements or 0) > clients or self.has_harm

    @property
    def is_damaged(self) -> bool:
        """Whether the database is worse than incomplete: it contradicts itself, complains or is gone."""
        if self.recovery is not None and self.recovery.tells_of_damage:
            return True
        return self.ledger is not None and self.ledger.is_broken
