"""What is kept of a cut that failed, so that anybody can examine and repeat it. Other cuts leave nothing."""

import csv
from collections import Counter
from collections.abc import Iterable, Sequence
from itertools import zip_longest
from pathlib import Path

from diskproof.crash.clients import ACKNOWLEDGEMENTS
from diskproof.crash.ids import Ids
from diskproof.crash.ledger import Acknowledgement, Ledger, lost_of
from diskproof.crash.loads import Held
from diskproof.crash.marks import Marks
from diskproof.results.crash import Says
from diskproof.results.cut import CutTrial, StateSeen
from diskproof.results.plan import Cuts
from diskproof.results.record import Record, Role
from diskproof.storage.virtual import ServedDisk
from diskproof.wording import numbers

MOST_KEPT = 10
"""Cuts of one cell in one way whose evidence is kept. Further ones show the same, and each log is as large as
all that was written."""

MOST_EXPECTED = 2
"""The same if the documentation says that the failure may happen."""

READ_ME = "READ-ME.txt"
REPLAY = "replay.json"
IMAGE, PART = ".image", ".part"
"""Of the file of a disk's bytes before its cuts, and of one that is not complete."""
RECORD = "cut.json"

HOLDS = {
    ACKNOWLEDGEMENTS: (
        "CLIENT NUMBER MICROSECONDS of each acknowledged transaction (with the place",
        "and number of an order, or the session and the moment in the log, before the",
        "last); those after the cut do not count: the database had no power. With !CODE",
        "before the time: it failed. Of a program: begin or ack, ID, MICROSECONDS",
    ),
    "ids.csv": ("the ids that the check found after recovery",),
    "lost.csv": ("transactions that were acknowledged before the cut and are missing",),
    "entries.csv": ("the transactions after recovery",),
    "accounts.csv": ("the accounts after recovery",),
    "orders.csv": ("the orders after recovery, of those since the tables were loaded",),
    "commits.csv": ("the transactions of the replay that are there after recovery",),
    "tables.json": ("TPC-C's rows and consistency conditions after recovery",),
    RECORD: ("the record of the cut, as in cuts.jsonl",),
    "load.log": ("messages of the clients' program",),
    "server/*": ("configuration and log until the cut",),
    "recovery/*": ("the same, from the start after the cut on",),
    "requests-*.log": ("every request to each disk with its bytes, from ../disks/*/*.image on",),
}
"""The possible files in the folder of a cut, and what each holds."""


def request_log(folder: Path, disk: ServedDisk) -> Path:
    """Return the file of a cut's folder that a disk logs its requests to."""
    return folder / f"requests-{_file_name(disk.facts.name)}.log"


def disk_image(folder: Path, data_set: str, disk: ServedDisk) -> Path:
    """Return the file of a disk's bytes before a cut: its log of requests begins with them."""
    return folder / f"{_file_name(data_set)}-{_file_name(disk.facts.name)}{IMAGE}"


def failure(cut: CutTrial, plan: Cuts) -> str | None:
    """Return why the evidence of a cut is worth keeping; None if the cut did only what it may."""
    if not cut.finished:
        return None
    if cut.states is not None:
        return "it is the smallest counterexample" if cut.states.counterexample else None
    if cut.recovery is not None and cut.recovery.refused:
        return "the database did not come up again"
    if cut.is_damaged:
        return "the database is damaged, or contradicts itself"
    if cut.trouble is not None and cut.is_unnoticed:
        return "something is lost or wrong, and neither server nor checks have said so"
    if cut.lost and cut.trouble is not None:
        return f"{cut.lost} acknowledged transactions are lost after a fault"
    if cut.lost and plan.load == "replay":
        return f"{cut.lost} acknowledged transactions of the log are lost"
    if cut.lost and _must_be_kept(cut, plan):
        return f"{cut.lost} acknowledged transactions are lost, and none may be"
    return None


class DiskToReplay(Record):
    """A disk that a replay brings to its state after the cut."""

    log: str
    """File of its requests, and file of its bytes before them, from the cut's folder."""
    image: str


class ToReplay(Record):
    """What a replay needs besides the record of a cut."""

    cut_us: int
    folders: dict[Role, str]
    """Where the roles lay: a server writes such paths into its files."""
    disks: list[DiskToReplay]
    """In the layout's order."""
    state: StateSeen | None = None
    """The state of the only disk, if it is not that at the end of the log."""


class Shelf:
    """Counts the evidence of each cell and way."""

    def __init__(self, plan: Cuts, recorded: Iterable[CutTrial]) -> None:
        self._plan = plan
        self._kept = Counter((cut.cell, cut.way) for cut in recorded if cut.evidence)

    def takes(self, cut: CutTrial) -> str | None:
        """Return why evidence of a cut is to be kept; None if it is not, or if there is enough."""
        why = failure(cut, self._plan)
        most = MOST_EXPECTED if _says(cut, self._plan) == "may corrupt" else MOST_KEPT
        if why is None or self._kept[cut.cell, cut.way] >= most:
            return None
        self._kept[cut.cell, cut.way] += 1
        return why


def keep(
    folder: Path, cut: CutTrial, told: Sequence[Acknowledgement], ledger: Held | None, cut_us: int
) -> None:
    """Write what was found beside the logs and the acknowledgements."""
    if isinstance(ledger, Ledger):
        _write_rows(
            folder / "entries.csv", ("client", "number", "source", "target", "amount"), ledger.entries
        )
        _write_rows(folder / "accounts.csv", ("id", "balance", "transfers"), ledger.accounts)
    elif isinstance(ledger, Ids):
        _write_rows(folder / "ids.csv", ("id", "times"), ledger.found.items())
    elif isinstance(ledger, Marks):
        _write_rows(folder / "commits.csv", ("client", "number"), ledger.rows)
    elif ledger is not None:
        _write_rows(folder / "orders.csv", ("order", "district", "warehouse"), ledger.rows)
        tables = ledger.checked.model_dump_json(indent=1) + "\n"
        (folder / "tables.json").write_text(tables, encoding="utf-8")
    if ledger is not None:
        lost = lost_of(told, ledger.there, cut_us)
        if isinstance(ledger, Ids):
            _write_rows(
                folder / "lost.csv", ("id", "acknowledged_at_us"), ((*one.key, one.at_us) for one in lost)
            )
        else:
            names = ("client", "number", "acknowledged_at_us")
            log = ("session", "at_us_of_log") if isinstance(ledger, Marks) else ()
            rows = ((one.client, one.number, one.at_us, *(one.recorded or ())) for one in lost)
            _write_rows(folder / "lost.csv", (*names, *log), rows)
    (folder / RECORD).write_text(cut.model_dump_json(indent=1) + "\n", encoding="utf-8")


def explain(folder: Path, cut: CutTrial, why: str, cut_us: int) -> None:
    """Write, last of all, what lies in the folder of a cut and how to repeat the cut."""
    lines = [
        f"Cut {cut.id} of {cut.cell}, {cut.way}, seed {cut.seed}: {why}.",
        "",
        f"The cut was at {cut_us} µs of CLOCK_MONOTONIC, the clock of all files here.",
        "",
    ]
    for name, said in HOLDS.items():
        if any(folder.glob(name)):
            lines += [f"{head:<20}{text}" for head, text in zip_longest([name], said, fillvalue="")]
    if cut.trouble is not None and cut.trouble.struck:
        hits = numbers.count(cut.trouble.hits or 0, "request")
        lines += ["", f"The fault hit {hits}; the first, by the files just before the death:", ""]
        lines += [f"    {one}" for one in cut.trouble.struck]
    if (folder / REPLAY).exists():
        lines += [
            "",
            "This command, run by root in the folder of the run or in a copy of that whole folder, repeats",
            "the cut byte for byte from those logs; add the study file if it names files by relative paths:",
            "",
            f"    diskproof crash --replay cuts/{cut.id}",
        ]
    elif not cut.disks:
        lines += ["", "A killed process leaves nothing to be replayed; the seed only sets its moment."]
    (folder / READ_ME).write_text("\n".join([*lines, ""]), encoding="utf-8")


def _must_be_kept(cut: CutTrial, plan: Cuts) -> bool:
    cell = plan.cell(cut.cell)
    if any(control.covers(cell, cut.way) and control.must == "keep" for control in plan.controls):
        return True
    return _says(cut, plan) == "kept"


def _says(cut: CutTrial, plan: Cuts) -> Says | None:
    """Return what is documented of a cut's cell: the first entry that covers it counts."""
    cell = plan.cell(cut.cell)
    return next((one.says for one in plan.documented if one.covers(cell, cut.way)), None)


def _write_rows(path: Path, names: Sequence[str], rows: Iterable[Sequence[object]]) -> None:
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(names)
        writer.writerows(rows)


def _file_name(text: str) -> str:
    """Return a disk's or a data set's name fit for a file: a device may be named by a path."""
    return text.replace("/", "-")
