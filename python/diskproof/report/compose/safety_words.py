"""How cuts are said: how many were made, how, and what each way to die takes."""

from collections.abc import Iterator

from diskproof.analysis.safety.shapes import Safety
from diskproof.results.crash import Keep, Way
from diskproof.results.plan import Cuts
from diskproof.wording.numbers import count, listed

TITLES: dict[Way, str] = {
    "power": "The power cut",
    "stop": "The operating system stopped",
    "kill": "The server killed",
    "restart": "The server restarted",
}

TAKEN: dict[Way, str] = {
    "power": "Taken: what only the page cache or a disk's volatile cache held.",
    "stop": "Taken: what only the page cache held. The disks kept all that had reached them: this is no "
    "power cut.",
    "kill": "Taken: what only the server's own memory held. The page cache and the disks kept all that had "
    "reached them: this is no power cut, and no proof against one.",
    "restart": "Taken: what faults took. The server was stopped in good order, and its disks mounted again.",
}

_KEPT: dict[Keep, str] = {
    "random": "drawn for each disk and cut: nothing, all, a random subset, or a prefix in time",
    "nothing": "nothing",
    "all": "all of it",
    "subset": "a random subset",
    "prefix": "a prefix in time",
}


def progress(safety: Safety) -> str:
    """Return how far a campaign got: ``118 of 120 cuts, 115 valid``."""
    text = f"{safety.made:,} of {count(safety.planned, 'cut')}"
    if not safety.made:
        return f"{text} made"
    return f"{text}, all valid" if safety.telling == safety.made else f"{text}, {safety.telling:,} valid"


def method(crash: Cuts) -> Iterator[tuple[str, str]]:
    """Yield the facts of how the cuts were made."""
    clients = listed([str(one) for one in sorted({cell.clients for cell in crash.cells})])
    many = f"{clients} clients, each of which writes down what was acknowledged before it continues"
    if crash.load == "program":
        yield "Load of the cuts", "the program's own; what it prints is read outside the disk, until the cut"
        yield "After recovery", "the ids that its check prints are compared with what it acknowledged"
    elif crash.load == "tpcc":
        yield "Load of the cuts", f"TPC-C on {count(crash.warehouses, 'warehouse')}: {many}"
        yield ("After recovery", "every acknowledged new order is looked up, TPC-C's conditions checked")
    else:
        yield "Load of the cuts", f"transfers between {crash.accounts:,} accounts: {many}"
        yield "After recovery", "every account and transfer is compared with what was written down"
    cut = (
        f"{count(len(crash.cells), 'cell')}, by {listed(list(dict.fromkeys(way for _, way in crash.deaths)))}"
    )
    order = f"in {count(crash.cuts, 'block')}, in a random order in each"
    at = "at seeded moments of the load"
    if crash.states is not None:
        at = f"up to {crash.states:,} states of each log, before each of its flushes, until one does harm"
    yield "Cuts", f"of {cut}, {order}; {at}"
    if crash.states is None and any(way == "power" for _, way in crash.deaths):
        yield "Left of unsafe writes", _KEPT[crash.keep]
