"""What is kept of a cut that failed, so that anybody can look at it and make it again; of others nothing."""

import csv
import shlex
from collections import Counter
from collections.abc import Iterable, Sequence
from itertools import zip_longest
from pathlib import Path

from diskproof.crash.clients import ACKNOWLEDGEMENTS
from diskproof.crash.ledger import Acknowledgement, Ledger, lost_of
from diskproof.results.crash_plan import CrashPlan, Says
from diskproof.results.cut import CutTrial
from diskproof.results.record import Record, Role
from diskproof.storage.virtual import ServedDisk

MOST_KEPT = 10
"""Cuts of one cell in one way of which evidence is kept: the next ones show the same, and each log is as
large as all that was written."""

MOST_EXPECTED = 2
"""So many where documentation says that this may happen: to be looked at, not to be explained."""

READ_ME = "READ-ME.txt"
REPLAY = "replay.json"
RECORD = "cut.json"

HOLDS = {
    ACKNOWLEDGEMENTS: (
        "CLIENT NUMBER MICROSECONDS of each acknowledged transaction; some may come",
        "after the cut: no promise of a database that has power",
    ),
    "lost.csv": ("those that were acknowledged before the cut, and are not there",),
    "entries.csv": ("the transactions that are there after recovery",),
    "accounts.csv": ("the accounts as they are after recovery",),
    RECORD: ("the record of the cut, as it stands in cuts.jsonl",),
    "load.log": ("what the clients' program said",),
    "server/*": ("configuration and log until the cut",),
    "recovery/*": ("the same from the start after it on",),
    "requests-*.log": ("every request to each disk with its bytes, from ../disks/*/*.image on",),
}
"""What the folder of a cut may hold, and what each is."""


def request_log(folder: Path, disk: ServedDisk) -> Path:
    """Return the file of a cut's folder to which a disk writes its requests."""
    return folder / f"requests-{_file_name(disk.facts.name)}.log"


def disk_image(folder: Path, data_set: str, disk: ServedDisk) -> Path:
    """Return the file of a disk's bytes before a cut: what its log of requests begins with."""
    return folder / f"{_file_name(data_set)}-{_file_name(disk.facts.name)}.image"


def failure(cut: CutTrial, plan: CrashPlan) -> str | None:
    """Say why a cut is worth keeping evidence of; None where it did what it may do."""
    if not cut.finished:
        return None
    if cut.recovery is not None and cut.recovery.refused:
        return "there is no database any more"
    if cut.is_damaged:
        return "what is there is damaged, or contradicts itself"
    if cut.lost and _must_be_kept(cut, plan):
        return f"{cut.lost} acknowledged transactions are lost, and all must be kept"
    return None


def is_expected(cut: CutTrial, plan: CrashPlan) -> bool:
    """Tell whether documentation says that such a failure may be."""
    return _says(cut, plan) == "may corrupt"


class DiskToReplay(Record):
    """A disk that can be brought to what a cut left of it."""

    log: str
    """File of its requests, and that of its bytes before them, from the cut's folder."""
    image: str


class ToReplay(Record):
    """What a replay must know besides the record of a cut."""

    cut_us: int
    folders: dict[Role, str]
    """Where the roles lay: a server writes such paths into its files."""
    disks: list[DiskToReplay]
    """In the layout's order."""


class Shelf:
    """How much evidence there is of each cell and way already."""

    def __init__(self, plan: CrashPlan, recorded: Iterable[CutTrial]) -> None:
        """Count what earlier cuts of a run have left."""
        self._plan = plan
        self._kept = Counter((cut.cell, cut.way) for cut in recorded if cut.evidence)

    def takes(self, cut: CutTrial) -> str | None:
        """Return why evidence of a cut is to be kept; None where it is not, or there is enough."""
        why = failure(cut, self._plan)
        most = MOST_EXPECTED if is_expected(cut, self._plan) else MOST_KEPT
        if why is None or self._kept[cut.cell, cut.way] >= most:
            return None
        self._kept[cut.cell, cut.way] += 1
        return why


def keep(
    folder: Path, cut: CutTrial, told: Sequence[Acknowledgement], ledger: Ledger | None, cut_us: int
) -> None:
    """Write down beside logs and acknowledgements what was found."""
    if ledger is not None:
        _write_rows(
            folder / "entries.csv", ("client", "number", "source", "target", "amount"), ledger.entries
        )
        _write_rows(folder / "accounts.csv", ("id", "balance", "transfers"), ledger.accounts)
        lost = [(one.client, one.number, one.at_us) for one in lost_of(told, ledger, cut_us)]
        _write_rows(folder / "lost.csv", ("client", "number", "acknowledged_at_us"), lost)
    (folder / RECORD).write_text(cut.model_dump_json(indent=1) + "\n", encoding="utf-8")


def explain(folder: Path, cut: CutTrial, why: str, cut_us: int) -> None:
    """Write down, last of all, what lies in the folder of a cut and how to make it again."""
    (folder / READ_ME).write_text(_read_me(folder, cut, why, cut_us), encoding="utf-8")


def replay_command(folder: Path) -> str:
    """Return the command that makes a cut again from its evidence."""
    return shlex.join(["diskproof", "crash", "--replay", str(folder)])


def _read_me(folder: Path, cut: CutTrial, why: str, cut_us: int) -> str:
    lines = [
        f"Cut {cut.id} of {cut.cell}, {cut.way}, seed {cut.seed}: {why}.",
        "",
        f"The cut was at {cut_us} us of CLOCK_MONOTONIC, the clock of all files here.",
        "",
    ]
    for name, said in HOLDS.items():
        if any(folder.glob(name)):
            lines += [f"{head:<20}{text}" for head, text in zip_longest([name], said, fillvalue="")]
    if (folder / REPLAY).exists():
        lines += [
            "",
            "Made again by root, byte for byte, from those logs:",
            "",
            f"    {replay_command(folder)}",
            "",
            "It needs the whole folder of the run: to make it elsewhere, copy all of that, and name this",
            "folder within the copy.",
        ]
    elif not cut.disks:
        lines += [
            "",
            "The death of a process leaves nothing to be replayed; the seed draws its moment alone.",
        ]
    return "\n".join([*lines, ""])


def _must_be_kept(cut: CutTrial, plan: CrashPlan) -> bool:
    cell = plan.cell(cut.cell)
    if any(control.covers(cell, cut.way) and control.must == "keep" for control in plan.controls):
        return True
    return _says(cut, plan) == "kept"


def _says(cut: CutTrial, plan: CrashPlan) -> Says | None:
    """Return what is documented of a cut's cell: the first that speaks of it counts."""
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
