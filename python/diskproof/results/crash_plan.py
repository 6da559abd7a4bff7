"""The plan of the cuts: what dies, in which ways, how often and in what order; and what is documented."""

from typing import Literal, get_args

from diskproof.results.factor import Factor
from diskproof.results.record import Record, StepId
from diskproof.wording import numbers

Way = Literal["kill", "stop", "power"]
"""How it dies: the server's processes are killed; the operating system stops, so that what only its page
cache held is lost; the power fails, so that what only a disk's volatile cache held is lost as well."""

WAYS: tuple[Way, ...] = get_args(Way)

CutLoad = Literal["ledger", "tpcc"]
"""What runs until a cut: transfers between accounts, or TPC-C's transactions."""

Keep = Literal["random", "nothing", "all", "subset", "prefix"]
"""What of the writes that were not yet safe is on the disk after a power cut; `random` draws one of the
others for each cut."""

Says = Literal["kept", "may lose", "may corrupt"]
"""What a server's documentation promises: every acknowledged commit is there; acknowledged commits may be
missing, and what is there is consistent; anything may have happened."""


Must = Literal["keep", "lose", "break"]
"""What a control's cells must do: keep every acknowledged commit in each cut; lose some, or break, in at
least one of the campaign; break in at least one: be damaged, not merely incomplete."""


class CrashCell(Record):
    """What is cut: one server on one storage at one tuning level."""

    id: str
    server: str
    storage: str
    tuning: str
    memory_bytes: int
    clients: int
    load: CutLoad = "ledger"
    ways: list[Way]
    """The ways that its storage allows: a power cut asks for virtual disks."""
    unverified: str | None = None
    """Why the other ways cannot be tried there."""

    def level(self, factor: Factor) -> str:
        """Return the level of one factor, as a person reads it; all cuts have the same workload."""
        if factor == "memory":
            return numbers.size(self.memory_bytes)
        if factor == "host":  # cuts are not compared between machines
            return "-"
        return self.load if factor == "workload" else str(getattr(self, factor))


class PlannedCut(Record):
    """One cut to be made."""

    id: StepId
    block: int
    position: int
    cell: str
    way: Way
    seed: int
    """Of the moment of the cut, of what survives it and of the clients' draws."""
    host: str | None = None
    """The machine that makes it, in a study over many hosts."""


class OfCells(Record):
    """Something that is said of some cells dying in some ways."""

    ways: list[Way]
    servers: list[str]
    storages: list[str]
    tunings: list[str]

    def covers(self, cell: CrashCell, way: Way) -> bool:
        """Tell whether it speaks of a cell dying in a way."""
        return (
            way in self.ways
            and cell.server in self.servers
            and cell.storage in self.storages
            and cell.tuning in self.tunings
        )


class Documented(OfCells):
    """What documentation says of some cells."""

    says: Says
    within_s: float | None = None
    """The longest window of loss that is documented; None: no bound is."""
    source: str = ""
    note: str = ""


class Control(OfCells):
    """What must come out, or the campaign or the disk is not to be trusted."""

    must: Must


class CrashPlan(Record):
    """The cuts of a study, in their random order, fixed before the first one."""

    cells: list[CrashCell]
    cuts: int
    """Of each cell in each way."""
    keep: Keep
    unreadable: bool = False
    """Whether the sector under a spinning head may come to be unreadable."""
    load: CutLoad = "ledger"
    warehouses: int = 1
    """Of `tpcc`."""
    accounts: int
    filler_bytes: int
    """Beside the figures in each row."""
    cut_after_s: float
    """From the first answer to the earliest moment of a cut; `cut_before_s` to the latest."""
    cut_before_s: float
    controls: list[Control] = []
    documented: list[Documented] = []
    trials: list[PlannedCut]
    estimated_s: float
    estimated_bytes: int = 0
    """Written to storage that wears: data sets that are copied before cuts, and what the loads write."""

    def cell(self, cell_id: str) -> CrashCell:
        """Return the cell of that id; KeyError if the plan has none."""
        for cell in self.cells:
            if cell.id == cell_id:
                return cell
        raise KeyError(cell_id)
