"""The places of a run: each is checked, prepared once, and given back."""

from diskproof.storage.kinds import block, composed, directory, ram, virtual, zpool
from diskproof.storage.kinds.base import NO_LIMITS, Kind, KindWithDisks, MemoryLimits, Prepared
from diskproof.study.places import PlaceChoice, PlaceKind
from diskproof.system.journal import Journal

KINDS: dict[PlaceKind, Kind] = {
    "directory": directory,
    "ram": ram,
    "virtual": virtual,
    "composed": composed,
    "block": block,
    "zpool": zpool,
}

WITH_DISKS: dict[PlaceKind, KindWithDisks] = {"virtual": virtual, "composed": composed, "zpool": zpool}


def check(name: str, choice: PlaceChoice, need_bytes: int) -> None:
    """Refuse a place that cannot serve, before anything is written. `need_bytes` is the data set's size."""
    KINDS[choice.kind].check(name, choice, need_bytes)


class Places:
    """Every place of one run; storages that name the same place share it, since they run one at a time."""

    def __init__(
        self,
        journal: Journal,
        limits: MemoryLimits = NO_LIMITS,
        dilation: int = 1,
        beside: MemoryLimits = NO_LIMITS,
    ) -> None:
        """Make places for the run of `journal`; `limits` are its virtual disks' memory limits.

        Their time passes `dilation` times slower than the machine's. `beside` are the limits of the places
        that are made beside these.
        """
        self._journal = journal
        self._limits, self._beside = limits, beside
        self._dilation = dilation
        self._ready: dict[str, Prepared] = {}

    def ready(self, choice: PlaceChoice) -> Prepared:
        """Return the place, prepared at the first call."""
        if choice.key not in self._ready:
            self._ready[choice.key] = (
                WITH_DISKS[choice.kind].prepare(choice, self._journal, self._limits, self._dilation)
                if choice.has_virtual_disks
                else KINDS[choice.kind].prepare(choice, self._journal)
            )
        return self._ready[choice.key]

    def beside(self) -> "Places":
        """Return places of the same run, made anew where they are asked for."""
        return Places(self._journal, self._beside, self._dilation)

    def close(self) -> None:
        """Give all back, the last first."""
        for prepared in reversed(self._ready.values()):
            prepared.close()
