"""A fault of a disk while clients commit, and what it did."""

from typing import Literal

from diskproof.results.crash import WAYS, Way
from diskproof.results.record import Record, Role

FaultKind = Literal[
    "stall",
    "slow",
    "error",
    "read-only",
    "full",
    "thin-full",
    "flip",
    "lost-write",
    "torn-write",
    "lying-flush",
]

NO_FAULT = "none"
"""Level of a cell without a fault, in a study that has some: the control."""

OnRequest = Literal["read", "write", "flush"]


class Fault(Record):
    """A fault, as the study declares it. Times are seconds of the trial, from the first answer on."""

    kind: FaultKind
    role: Role | None = None
    """Whose disk; None: all of them."""
    ways: list[Way] = list(WAYS)
    """The deaths before which it comes."""
    on: OnRequest | None = None
    after_s: float = 1.0
    for_s: float | None = None
    every_s: float | None = None
    repeat: int = 1
    after_requests: int = 0
    times: int | None = None
    chance: float = 1.0
    factor: float | None = None
    add_ms: float | None = None
    leave_bytes: int = 0

    @property
    def windows_s(self) -> list[tuple[float, float | None]]:
        """From when until when it lasts, each time; None: until the server has died."""
        starts = [self.after_s + (self.every_s or 0.0) * number for number in range(self.repeat)]
        return [(start, None if self.for_s is None else start + self.for_s) for start in starts]


class Trouble(Record):
    """What clients and server met until the death. Seconds are counted from the first answer."""

    lasted_s: float
    hits: int | None
    """Requests that the fault hit; None: it is none of a disk's."""
    struck: list[str] = []
    """The first of them, in words, if the try did harm; times are counted from the first answer."""
    errors: dict[str, int] = {}
    """Transactions that failed, by the error code that the client got; `lost`: a lost connection."""
    bin_s: float
    course: list[int]
    """Acknowledged commits in each bin of time."""
    silent_s: float
    """The longest time without an acknowledged commit since the fault began."""
    serves_again_s: float | None
    """From the fault's beginning to the first commit after that time; None: none came until the death."""
    stopped: bool = False
    """Whether the server had ended by itself."""
    gave_up: bool = False
    """Whether the clients had given up, because no connection could be made any more."""
    read_only: bool = False
    """Whether a file system let nothing be written any more."""
    complaints: list[str] = []
    """Lines of the server's log that report damage, until it died."""

    @property
    def is_reported(self) -> bool:
        """Whether the server reported it: it ended, or wrote of it into its log, or its disk is read-only.

        An error message to a client does not count: it speaks of that client's transaction alone.
        """
        return bool(self.stopped or self.gave_up or self.read_only or self.complaints)
