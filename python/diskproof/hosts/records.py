"""Which host each record of a run belongs to, and which files belong to the record: no others are taken."""

from collections.abc import Sequence
from pathlib import PurePosixPath

from pydantic import ValidationError

from diskproof.results.cut import CutTrial
from diskproof.results.folder import RECORDS, Made, paths_of
from diskproof.results.limit import ProofPair
from diskproof.results.plan import NO_LEVEL, Cell, Plan, PlannedCut

MOST_FILE_BYTES = 2**40
"""The largest is the log of all that was written to a virtual disk before a cut."""


class WrongError(Exception):
    """A host sends what cannot be."""


class Books:
    """What each host was given to make."""

    def __init__(self, plan: Plan, hosts: Sequence[str]) -> None:
        """`hosts` are those that run trials: each cell's limit is proved by one of them."""
        self.planned = plan.every_trial
        """The trials and cuts by their ids, in the order in which they are made."""
        self._proves = {
            cell.id: hosts[number % len(hosts)] if cell.host == NO_LEVEL else cell.host
            for number, cell in enumerate(plan.cells)
        }

    def proves(self, host: str, cell: Cell) -> bool:
        """Tell whether a host proves what holds a cell back."""
        return self._proves[cell.id] == host

    def host(self, file: str, line: str) -> str | None:
        """Return whose a record of the run folder is."""
        made = RECORDS[file].model_validate_json(line)
        return made.host if isinstance(made, ProofPair) else self.planned[made.id].host

    def read(self, file: str, line: str, host: str) -> Made:
        """Read a record that a host has sent; WrongError if it is of nothing that the host was given."""
        kind = RECORDS.get(file)
        if kind is None:
            raise WrongError(f"it sent records of no known kind: {file}")
        try:
            made = kind.model_validate_json(line)
        except ValidationError:
            raise WrongError("it sent a record that cannot be read") from None
        if not self._is_given(made, host):
            raise WrongError(f"it sent a record of what it was not given: {made.id} of {made.cell}")
        return made

    def _is_given(self, made: Made, host: str) -> bool:
        if isinstance(made, ProofPair):
            ids = (f"{made.id}-as-it-was", f"{made.id}-changed")
            return (
                self._proves.get(made.cell) == made.host == host
                and (made.as_it_was.id, made.changed.id) == ids
                and made.as_it_was.cell == made.cell
            )
        planned = self.planned.get(made.id)
        if planned is None or (planned.host, planned.cell) != (host, made.cell):
            return False
        if not isinstance(made, CutTrial):
            return not isinstance(planned, PlannedCut)
        alike = isinstance(planned, PlannedCut) and (planned.way, planned.seed) == (made.way, made.seed)
        return alike and (not made.evidence or made.evidence == paths_of(made)[0])


def check_file(name: str, size_bytes: int, made: Made) -> None:
    """Refuse a file that is none of a record's: it would be written anywhere. WrongError says so."""
    path = PurePosixPath(name)
    own = any(str(parent) in paths_of(made) for parent in (path, *path.parents))
    if not own or path.is_absolute() or ".." in path.parts or size_bytes > MOST_FILE_BYTES:
        raise WrongError(f"it sent a file that does not belong to {made.id}: {name}")
