"""What runs on a host, in a worker of Ray: it starts a part of a run, and hands over its files in pieces.

It is silent while the part measures: one call begins a step, and its answer comes when the step is done.
"""

import errno
import json
import os
import pickle
import re
import shutil
import sys
import time
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import suppress
from hashlib import sha256
from pathlib import Path
from typing import Any, Literal

from diskproof import load
from diskproof.crash.evidence import PART
from diskproof.hosts.membership import MARK, OUT, versions
from diskproof.hosts.part import LENGTH_BYTES
from diskproof.hosts.remote import Roles
from diskproof.refusal import RefusalError
from diskproof.results.folder import RECORDS
from diskproof.results.plan import Plan
from diskproof.results.record import Record
from diskproof.run.dataset import IMAGES
from diskproof.run.prove import Provable
from diskproof.run.session import PlannedPair, Request
from diskproof.storage import attached
from diskproof.storage.kinds.base import free_bytes, nearest
from diskproof.study.read import StudyFile
from diskproof.system import programs
from diskproof.system.journal import AnotherRunError, clean
from diskproof.system.temporary import remove_left


class HostFacts(Record):
    """What a host says of itself."""

    versions: str
    time_s: float
    """Its clock: seconds since 1970."""
    free_bytes: int
    """Room for its parts of runs."""
    out: str
    why_no_load: str | None = None
    """Why the load generator does not run; None: it does."""


RUN_NAME = re.compile("[0-9a-f]{16}")
"""What hosts call a run."""

AGAIN_S = 1.0

APART = ("setsid", "--fork")
"""No child of ours: Ray ends the children of its workers with them."""

PIECE_BYTES = 2**20
"""Files come in pieces of this size: Ray would hold whole ones in memory, twice."""

MOST_RECORDS_BYTES = 16 * 2**20
"""Records come in so many bytes at once, or in one that is larger."""


class Step(Record):
    """How far a host's part of a run has come."""

    state: Literal["waits", "proves", "asks", "answers", "done", "refused"]
    """`waits`: it is ready for its next block, pair of trials or cut, or for the first question about a load.
    `proves`: it has made its trials, and waits for the limits that they show. `asks`: it needs answers of the
    load's machines. `answers`: it is such a machine, and has one."""
    said: Mapping[str, Any] = {}
    """The questions, by machine; or the answer."""
    machine: str = ""
    """The facts of a machine of the load, when it waits."""
    why: str = ""
    """Why it was refused, and what to do."""
    folder: str = ""
    """Its run folder there, if it waits."""
    pairs: tuple[PlannedPair, ...] = ()
    """The proofs that it will make, before the first of them."""
    notes: tuple[str, ...] = ()


class Found(Record):
    """What a host has made: its run folder there, the file of the record, and the record's line."""

    folder: str
    file: str
    line: str


class HostLab:
    """The lab of one host, as the head calls it."""

    def __init__(self) -> None:
        """Nothing is started before `begin`."""
        self._part: programs.Process | None = None

    def settle(self, wait_s: float) -> str | None:
        """Wait until no run is under way here, and undo what killed ones left; return why it did not.

        A part whose head is gone cleans up first.
        """
        until = time.monotonic() + wait_s
        while True:
            try:
                clean()
            except AnotherRunError as error:
                if time.monotonic() > until:
                    return str(error)
                time.sleep(AGAIN_S)
            else:
                return None

    def go_on(self) -> Step:
        """Make what the part waits for, and return when it is done, or asks the load's machines."""
        return self.say({"go": True})

    def prove(self, limits: Sequence[Provable]) -> Step:
        """Have the part prove these limits; return when it waits for its next step."""
        return self.say({"limits": [one.model_dump(mode="json") for one in limits]})

    def records(self, run: str, known: Collection[str]) -> list[Found]:
        """Return the records of a run whose lines' digests are not known yet, some at a time."""
        found: list[Found] = []
        for one in _records(run):
            if digest(one.line) not in known and sum(len(each.line) for each in found) < MOST_RECORDS_BYTES:
                found.append(one)
        return found

    def machine(self, folder: str) -> str:
        """Return the facts of this machine, as a part has them."""
        return (Path(folder) / "machine.json").read_text()

    def files(self, folder: str, paths: Sequence[str]) -> list[tuple[str, int]]:
        """Return the files at these paths of a run folder, or below them, and their sizes."""
        root = Path(folder)
        found = [each for path in paths for each in (root / path, *(root / path).rglob("*"))]
        files = [path for path in found if path.is_file() and not path.is_symlink() and path.suffix != PART]
        return [(str(path.relative_to(root)), path.stat().st_size) for path in files]

    def piece(self, folder: str, name: str, offset: int) -> tuple[int, bytes]:
        """Return a piece of a file, and where it begins: holes are left out. It is empty at the end."""
        with (Path(folder) / name).open("rb") as file:
            try:
                begin = os.lseek(file.fileno(), offset, os.SEEK_DATA)
            except OSError as error:
                if error.errno != errno.ENXIO:
                    raise
                return offset, b""
            return begin, os.pread(file.fileno(), PIECE_BYTES, begin)

    def forget(self, run: str) -> None:
        """End the part, if it waits for a step, and remove what the run has left here."""
        if self._part is not None:
            assert self._part.stdin is not None
            with suppress(BrokenPipeError):
                self._part.stdin.close()
            self._await()
        shutil.rmtree(_parts(run), ignore_errors=True)

    def begin(self, run: str, file: StudyFile, plan: Plan, pairs: int, roles: Roles | None = None) -> Step:
        """Start a part of a run, and return when it is ready for its first step.

        `pairs` of trials for each proof, 0 for no proofs; `roles` if the machines have any.
        """
        out = _new_part(run)
        self._part = _launched("part", out)
        asked = Request(file=file, plan=plan, out=out, images=_out() / IMAGES, pairs=pairs)
        request = pickle.dumps((asked, roles))
        not_there = f"its part of the run did not start: see {out / 'log'}"
        return self._answer_to(len(request).to_bytes(LENGTH_BYTES) + request, not_there)

    def begin_load(self, run: str, cores_awake: bool) -> Step:
        """Start what makes the load of another machine's trials, and return when it waits for questions.

        `cores_awake` keeps idle cores out of deep sleep, as on the database's machine.
        """
        self._part = _launched("loader", _new_part(run))
        return self.say({"cores_awake": cores_awake})

    def say(self, said: dict[str, Any]) -> Step:
        """Pass on answers that a part has asked for, or a question to the load; return what it says then."""
        return self._answer_to((json.dumps(said) + "\n").encode(), "its part of the run has ended")

    def _answer_to(self, content: bytes, not_there: str) -> Step:
        assert self._part is not None
        assert self._part.stdin is not None
        try:
            self._part.stdin.write(content)
            self._part.stdin.flush()
        except BrokenPipeError:
            return Step(state="refused", why=not_there)
        return self._await()

    def _await(self) -> Step:
        """Read what the part says until it waits or ends."""
        assert self._part is not None
        assert self._part.stdout is not None
        notes: list[str] = []
        for line in self._part.stdout:
            said = json.loads(line)
            if "note" in said:
                notes.append(said["note"])
                continue
            return Step(**said, notes=tuple(notes))
        return Step(state="refused", why="its part of the run was killed", notes=tuple(notes))

    def facts(self) -> HostFacts:
        """Return what the head must know before it begins."""
        try:
            load.version()
            why = None
        except RefusalError as refused:
            why = str(refused)
        out = _out()
        return HostFacts(
            versions=versions(),
            time_s=time.time(),
            free_bytes=free_bytes(nearest(out)),
            out=str(out),
            why_no_load=why,
        )

    def kept(self) -> tuple[str, int]:
        """Return the folder of the parts of runs that were not completed, and their size in bytes."""
        parts = _out() / "parts"
        files = (path for path in parts.rglob("*") if path.is_file() and not path.is_symlink())
        return str(parts), sum(path.stat().st_size for path in files)

    def clean(self) -> list[tuple[str, bool]]:
        """Undo what killed runs left; return what, and whether it is done.

        A part without a record goes, too: its run may have ended while this host was lost.
        """
        try:
            undone = [(item.what, item.done) for item in [*clean(), *attached.clean(), *remove_left()]]
        except AnotherRunError as error:
            return [(str(error), False)]
        for run in sorted((_out() / "parts").glob("*")):
            if RUN_NAME.fullmatch(run.name) and not any(_records(run.name)):
                shutil.rmtree(run, ignore_errors=True)
                undone.append((f"part of a run without anything finished: {run}", not run.exists()))
        return undone


def _out() -> Path:
    """Return the folder of this host's parts: as `host join --out` names it, or one in the user's home."""
    named = os.environ.get(OUT)
    return Path(named) if named else Path.home() / "diskproof-runs"


def _parts(run: str) -> Path:
    """Return the folder of a run's parts; RefusalError if that is no name of a run.

    The folder is removed with all in it, so a name must not lead elsewhere.
    """
    if not RUN_NAME.fullmatch(run):
        raise RefusalError(f"{run!r} is no name of a run: `hosts.id` in its run folder is damaged")
    return _out() / "parts" / run


def _new_part(run: str) -> Path:
    """Make the folder of a further part of a run."""
    parts = _parts(run)
    parts.mkdir(parents=True, exist_ok=True)
    number = 1 + max((int(path.name) for path in parts.glob("*") if path.name.isdecimal()), default=0)
    out = parts / str(number)
    out.mkdir()
    return out


def _launched(module: str, out: Path) -> programs.Process:
    """Start a program of this room, with a line to it; what else it says goes to the log of its part."""
    with (out / "log").open("wb") as log:
        return programs.start(
            [*APART, *_without_ray(), sys.executable, "-m", f"diskproof.hosts.{module}"],
            stdin=programs.PIPE,
            stdout=programs.PIPE,
            stderr=log,
            outlives=True,
            marked=False,
            whole=True,
        )


def digest(line: str) -> str:
    """Return what tells one record from another."""
    return sha256(line.encode()).hexdigest()


def _records(run: str) -> Iterator[Found]:
    """Yield each whole record of a run on this host: those of the oldest part first."""
    parts = _parts(run).glob("*")
    for part in sorted(parts, key=lambda path: int(path.name) if path.name.isdecimal() else 0):
        for path in (found for name in RECORDS for found in sorted(part.glob(f"*/*/{name}"))):
            for line in path.read_bytes().split(b"\n")[:-1]:
                yield Found(folder=str(path.parent), file=path.name, line=line.decode())


def _without_ray() -> list[str]:
    """Return the command that takes from the environment what Ray and the host have added to it."""
    added = (MARK, "RAY_", "OMP_NUM_THREADS")
    return ["env", *(f"--unset={name}" for name in os.environ if name.startswith(added))]
