"""Whose each record of a run is, by its plan; and which files belong to it, so that no other is written."""

from collections.abc import Sequence
from pathlib import PurePosixPath

from pydantic import ValidationError

from diskproof.results.cut import CutTrial
from diskproof.results.folder import CUTS, PROOFS, TRIALS
from diskproof.results.limit import ProofPair
from diskproof.results.plan import NO_LEVEL, Cell, Plan
from diskproof.results.trial import Trial

Made = Trial | ProofPair | CutTrial

KINDS: dict[str, type[Made]] = {TRIALS: Trial, PROOFS: ProofPair, CUTS: CutTrial}
"""What is recorded in which file."""

MOST_FILE_BYTES = 2**40
"""The largest is the log of all that was written to a virtual disk before a cut."""


class WrongError(Exception):
    """A host sends what cannot be."""


class Books:
    """What each host was given to make."""

    def __init__(self, plan: Plan, hosts: Sequence[str]) -> None:
        """`hosts` are those that run trials: each cell's limit is proved by one of them."""
        cuts = plan.crash.trials if plan.crash else []
        self._given = {
            (file, one.id): (one.host, one.cell)
            for file, planned in ((TRIALS, plan.trials), (CUTS, cuts))
            for one in planned
        }
        self._proves = {
            cell.id: hosts[number % len(hosts)] if cell.host == NO_LEVEL else cell.host
            for number, cell in enumerate(plan.cells)
        }

    def proves(self, host: str, cell: Cell) -> bool:
        """Tell whether a host proves what holds a cell back."""
        return self._proves[cell.id] == host

    def host(self, file: str, line: str) -> str | None:
        """Return whose a record of the run folder is."""
        made = KINDS[file].model_validate_json(line)
        return self._proves[made.cell] if file == PROOFS else self._given[file, made.id][0]

    def read(self, file: str, line: str, host: str) -> Made:
        """Read a record that a host has sent; WrongError if it is of nothing that the host was given."""
        kind = KINDS.get(file)
        if kind is None:
            raise WrongError(f"it sent records of no known kind: {file}")
        try:
            made = kind.model_validate_json(line)
        except ValidationError:
            raise WrongError("it sent a record that cannot be read") from None
        if isinstance(made, ProofPair):
            trials = {f"{made.id}-as-it-was", f"{made.id}-changed"}
            is_given = self._proves.get(made.cell) == host and {made.as_it_was.id, made.changed.id} == trials
        else:
            is_given = self._given.get((file, made.id)) == (host, made.cell)
        if not is_given:
            raise WrongError(f"it sent a record of what it was not given: {made.id} of {made.cell}")
        return made


def paths(made: Made) -> list[str]:
    """Return where the files of a record lie in its run folder: files, or folders with all in them."""
    match made:
        case Trial():
            return [f"series/{made.id}.parquet", f"servers/{made.id}"]
        case ProofPair():
            return [*paths(made.as_it_was), *paths(made.changed)]
        case CutTrial():
            return [f"cuts/{made.id}", "cuts/disks"] if made.evidence else []


def check_file(name: str, size_bytes: int, made: Made) -> None:
    """Refuse a file that is none of a record's: it would be written anywhere. WrongError says so."""
    path = PurePosixPath(name)
    own = any(str(parent) in paths(made) for parent in (path, *path.parents))
    if not own or path.is_absolute() or ".." in path.parts or size_bytes > MOST_FILE_BYTES:
        raise WrongError(f"it sent a file that does not belong to {made.id}: {name}")
