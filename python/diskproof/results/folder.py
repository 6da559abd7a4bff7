"""The run folder: the only code that knows its files and their formats."""

import os
import secrets
import shutil
from collections.abc import Iterable, Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, TypeVar

from pydantic import ValidationError

from diskproof.reading import MIB, UnreadableError, opened, read_bytes
from diskproof.refusal import RefusalError, why_refused
from diskproof.results.cut import CutTrial
from diskproof.results.dial import Dials
from diskproof.results.durable import append_line, make_folder, write_pieces, write_whole, writing
from diskproof.results.limit import ProofPair
from diskproof.results.live import Course, hold
from diskproof.results.machine import Machine
from diskproof.results.plan import Plan
from diskproof.results.record import Record
from diskproof.results.series import Row, SeriesWriter, read_series
from diskproof.results.summary import SUMMARY, Summary
from diskproof.results.trial import Trial

if TYPE_CHECKING:
    import pyarrow as pa

MOST_BYTES = 256 * MIB
"""A trial's record takes some 20 KB: more than ten thousand trials."""

TRIALS, PROOFS, CUTS = "trials.jsonl", "proofs.jsonl", "cuts.jsonl"

DIALS = "dial.json"

Made = Trial | ProofPair | CutTrial

RECORDS: dict[str, type[Made]] = {TRIALS: Trial, PROOFS: ProofPair, CUTS: CutTrial}
"""What each of the files that are the truth has a line of."""

FILES: dict[type[Record], str] = {Plan: "plan.json", Machine: "machine.json", Dials: DIALS, Summary: SUMMARY}

Kept = TypeVar("Kept", Trial, CutTrial, ProofPair)
Read = TypeVar("Read", bound=Record)


def paths_of(record: Made) -> list[str]:
    """Return where the files of a record lie in its run folder: files, or folders with all in them."""
    match record:
        case Trial():
            return [f"series/{record.id}.parquet", f"servers/{record.id}"]
        case ProofPair():
            return [*paths_of(record.as_it_was), *paths_of(record.changed)]
        case CutTrial():
            return [f"cuts/{record.id}", "cuts/disks"] if record.evidence else []


class RunFolderError(RefusalError):
    """A folder that is not a run, or one that cannot be written."""


class RunFolder:
    """One execution of a study on one machine: ``runs/<study>/<timestamp>/``."""

    def __init__(self, path: Path, within: Path | None = None) -> None:
        """Name a run folder; nothing is read or written yet. No link leads a reader out of `within`."""
        self.path = path
        self._within = within
        self._images: dict[int, Path] = {}
        self._kept: dict[str, tuple[bytes, Record]] = {}
        """Single records by their files, each with its text."""
        self._held = ExitStack()

    @classmethod
    def create(cls, path: Path, study_text: str, plan: Plan) -> "RunFolder":
        """Make a new run folder and write the study and its plan to it; FileExistsError if it exists."""
        with writing(path):
            make_folder(path)
            (path / "series").mkdir()
            (path / "servers").mkdir()
            write_whole(path / "study.toml", study_text)
        folder = cls(path)
        folder.write(plan)
        return folder

    @classmethod
    def open(cls, path: Path, within: Path | None = None) -> "RunFolder":
        """Open an existing run; RunFolderError says what is missing."""
        plan = path / "plan.json"
        try:
            is_there = plan.is_symlink() or plan.exists()
        except OSError as error:  # a folder of another user's, or a name that is too long
            raise RunFolderError(f"{path} cannot be read: {why_refused(error)}") from None
        if not is_there:
            raise RunFolderError(f"{path} is not a run folder: {_why_no_run(path)}")
        return cls(path, within)

    def hold(self) -> None:
        """Show those who watch that this process makes the run, until `release` or its own end."""
        self._held = hold(self.path)

    def release(self) -> None:
        """Show that the run has come to its end."""
        self._held.close()

    # ------------------------------------------------------------ writing

    def write(self, record: Plan | Machine | Summary | Dials) -> None:
        """Write the plan, the machine's facts, what the disks' models say of curves, or what the run came to.

        A plan may be written again: a run may have more cuts than it was planned with.
        """
        write_whole(self.path / FILES[type(record)], record.model_dump_json(indent=1))

    def scripts(self, workload: str) -> Path:
        """Return the folder of a workload's script files."""
        return self.path.absolute() / "scripts" / workload

    def keep_scripts(self, of: str, contents: Mapping[str, bytes]) -> None:
        """Keep the files of a workload or tuning, by their names: the run works with these copies."""
        for name, content in contents.items():
            with writing(self.scripts(of) / name):
                self.scripts(of).mkdir(parents=True, exist_ok=True)
                (self.scripts(of) / name).write_bytes(content)

    def append(self, record: Made) -> None:
        """Append what is finished, and flush it to the disk: from then on no kill can take it."""
        name = next(name for name, kind in RECORDS.items() if isinstance(record, kind))
        self.append_record(name, record.model_dump_json())

    def drop(self) -> None:
        """Remove a new run's folder: nothing of it has begun."""
        with writing(self.path):
            shutil.rmtree(self.path)

    def append_record(self, file: str, line: str) -> None:
        """Append a record as another machine wrote it; the files that belong to it must be here already."""
        with writing(self.path / file):
            self._drop_torn_line(file)
            append_line(self.path / file, line)

    def record_lines(self, file: str) -> list[str]:
        """Return the whole lines of a file of records, also of what was run again."""
        return [line.decode() for line in self._lines(file)]

    def has_file(self, name: str) -> bool:
        """Tell whether the folder has a file of this name, relative to it."""
        return (self.path / name).is_file()

    def take_file(self, name: str, pieces: Iterable[tuple[int, bytes]], size_bytes: int) -> None:
        """Write a file that another machine has made, from pieces with offsets: all of it, or nothing."""
        path = self.path / name
        with writing(path):
            path.parent.mkdir(parents=True, exist_ok=True)
            write_pieces(path, pieces, size_bytes)

    def new_cut_folder(self, cut_id: str) -> Path:
        """Make the empty folder of a cut: configuration, logs, ledger, log of requests."""
        path = self.cut_folder(cut_id)
        self.drop_cut_folder(cut_id)
        with writing(path):
            path.mkdir(parents=True)
        return path

    def cut_folder(self, cut_id: str) -> Path:
        """Return the folder of a cut, which exists if its evidence was kept."""
        return self.path / "cuts" / cut_id

    def drop_cut_folder(self, cut_id: str) -> None:
        """Keep nothing of a cut but its record."""
        path = self.cut_folder(cut_id)
        with writing(path), suppress(FileNotFoundError):
            shutil.rmtree(path)

    def images_folder(self, lane: int = 1) -> Path:
        """Return the folder of the disks' bytes from which logs of requests begin, made if need be.

        Each opening of the run has its own, on any machine: a resumed session formats its disks again. So has
        each lane of cuts that are made at once.
        """
        if lane not in self._images:
            path = self.path / "cuts" / "disks" / secrets.token_hex(4)
            with writing(path):
                path.mkdir(parents=True)
            self._images[lane] = path
        return self._images[lane]

    def series_writer(self, trial_id: str) -> SeriesWriter:
        """Begin the time series of the trial under way; it is there once the writer is closed."""
        return SeriesWriter(self._series_path(trial_id), Course(self.path, trial_id))

    def write_series(self, trial_id: str, rows: Iterable[Row]) -> None:
        """Write one trial's time series at once: rows of (t_s, source, metric, value)."""
        writer = SeriesWriter(self._series_path(trial_id))
        writer.add(rows)
        writer.close()

    def server_folder(self, trial_id: str) -> Path:
        """Return the folder for a trial's generated configuration, error log and variables."""
        path = self.path / "servers" / trial_id
        with writing(path):
            path.mkdir(parents=True, exist_ok=True)
        return path

    # ------------------------------------------------------------ reading

    def plan(self) -> Plan:
        """Read the plan."""
        return self._single(Plan)

    def text_of(self, name: str) -> str:
        """Read a file of the folder as it is, which must be UTF-8."""
        try:
            return self._read(name).decode()
        except UnicodeDecodeError as error:
            raise RunFolderError(f"{self.path / name} cannot be read: it is no UTF-8: {error}") from None

    def study_text(self) -> str:
        """Read the study file as it was when the run began; RunFolderError if it is gone."""
        return self.text_of("study.toml")

    def machine(self) -> Machine | None:
        """Read the machine's facts; None if the run ended before they were gathered."""
        return self._single(Machine) if self._has(FILES[Machine]) else None

    def dials(self) -> Dials:
        """Read what the disks' models say of the run's curves; nothing before its end."""
        return self._single(Dials) if self._has(DIALS) else Dials()

    def trials(self) -> list[Trial]:
        """Read the finished trials in the order they were run.

        Of a trial that was run again (``--resume`` after an invalid one) the last record counts, unless it
        broke off and an earlier one did not.
        """
        return self._latest(TRIALS, Trial)

    def trials_s(self) -> float:
        """Return the seconds of all trials: also of those that broke off, and of those run again."""
        return sum(one.took_s for one in self._every(TRIALS, Trial))

    def cuts(self) -> list[CutTrial]:
        """Read the cuts in the order they were made; of one that was made again the last record."""
        return self._latest(CUTS, CutTrial)

    def proofs(self) -> list[ProofPair]:
        """Read the pairs of the proofs in the order they were run; of one that was run again the last."""
        return self._latest(PROOFS, ProofPair)

    def series(
        self, trial_id: str, *, source: str | None = None, metric: str | None = None
    ) -> "pa.Table | None":
        """Read one trial's time series (columns of `series_schema`), or one source's or metric's part of it.

        None if there is none that can be read.
        """
        return read_series(self._series_path(trial_id), source, metric, self._within)

    def _series_path(self, trial_id: str) -> Path:
        return self.path / "series" / f"{trial_id}.parquet"

    # ------------------------------------------------------------ the append-only files

    def _latest(self, name: str, record: type[Kept]) -> list[Kept]:
        """Read a file's records in order; of those with one id the last that finished, or else the last."""
        latest: dict[str, Kept] = {}
        for one in self._every(name, record):
            before = latest.get(one.id)
            if before is None or one.finished or not before.finished:
                latest.pop(one.id, None)
                latest[one.id] = one
        return list(latest.values())

    def _every(self, name: str, record: type[Kept]) -> Iterator[Kept]:
        known: _Known | None = None
        shared: dict[object, Any] = {}
        for number, line in enumerate(self._lines(name), start=1):
            one = self._parsed(record, f"{name}, line {number},", line)
            _share(one, shared)
            if known is None:
                known = _Known.of(self.plan(), record, name)
            if strange := known.strange(one):
                raise RunFolderError(
                    f"{self.path / name}, line {number}, is of a {strange} that {self.path / 'plan.json'} "
                    "does not have; one of the two comes from another run"
                )
            yield one

    def _single(self, record: type[Read]) -> Read:
        """Read the file of one record; as long as its text is the same, it is taken apart once."""
        name = FILES[record]
        content = self._read(name)
        if name not in self._kept or self._kept[name][0] != content:
            self._kept[name] = content, self._parsed(record, name, content)
        found = self._kept[name][1]
        assert isinstance(found, record)
        return found

    def _parsed(self, record: type[Read], name: str, content: bytes) -> Read:
        """Read one record; RunFolderError names the file and its first mistake."""
        try:
            return record.model_validate_json(content)
        except ValidationError as error:
            raise RunFolderError(
                f"{self.path / name} cannot be read: {_first_mistake(error)}; it was damaged, or written by "
                "another version of diskproof: take it from a copy, or read it with that version"
            ) from None

    def _lines(self, name: str) -> Iterator[bytes]:
        """Yield the whole lines: one without its end was cut off by a kill, and is no record.

        A line ends with a newline and nothing else. Text inside JSON may hold what Unicode calls a
        line's end, such as U+2028.
        """
        if not self._has(name):
            return
        with self._opened(name) as file:
            yield from (line[:-1] for line in file if line.endswith(b"\n"))

    def _has(self, name: str) -> bool:
        """Tell whether a file is there; one that is no file, or a link that leads nowhere, is for `_read`."""
        return os.path.lexists(self.path / name)

    @contextmanager
    def _opened(self, name: str) -> Iterator[BinaryIO]:
        """Open a file to be read piece by piece: one of records may have hundreds of megabytes."""
        try:
            with opened(self.path / name, MOST_BYTES, self._within) as file:
                yield file
        except UnreadableError as unreadable:
            raise RunFolderError(str(unreadable)) from None
        except OSError as error:
            raise RunFolderError(f"{self.path / name} cannot be read: {why_refused(error)}") from None

    def _read(self, name: str) -> bytes:
        try:
            return read_bytes(self.path / name, MOST_BYTES, self._within)
        except UnreadableError as unreadable:
            raise RunFolderError(str(unreadable)) from None

    def _drop_torn_line(self, name: str) -> None:
        if not self._has(name):
            return
        with self._opened(name) as file:
            end = file.seek(0, os.SEEK_END)
            file.seek(max(end - 1, 0))
            is_whole = file.read() in (b"", b"\n")
        if not is_whole:
            os.truncate(self.path / name, self._read(name).rfind(b"\n") + 1)


WHOLE = {"settings", "places"}
"""Lists that most trials of a cell have alike: with `open_files`, of which most parts are alike, they are two
thirds of a record."""


def _share(record: Record, known: dict[object, Any]) -> None:
    """Let a record have the parts of an earlier one where they are equal: thousands need far less memory."""
    alike = known.setdefault(record.model_dump_json(include=WHOLE), record)
    for name in WHOLE & record.model_fields_set:
        getattr(record, name)[:] = getattr(alike, name)
    files = getattr(record, "open_files", [])
    files[:] = [known.setdefault(tuple(vars(one).values()), one) for one in files]


@dataclass(frozen=True)
class _Known:
    """What records of a kind may be of: cuts have cells of their own; proofs are not planned."""

    cells: set[str]
    steps: dict[str, str] | None
    """The cell of each planned trial or cut, by its id."""

    @classmethod
    def of(cls, plan: Plan, record: type[Kept], name: str) -> "_Known":
        part = plan.crash if issubclass(record, CutTrial) else plan
        cells = {cell.id for cell in part.cells} if part else set()
        is_planned = name in (TRIALS, CUTS)
        return cls(cells, {one.id: one.cell for one in part.trials} if part and is_planned else None)

    def strange(self, one: Made) -> str | None:
        """Return what the plan does not have of a record's: its cell, or a trial of that id and cell."""
        if one.cell not in self.cells:
            return f"cell ({one.cell})"
        if self.steps is not None and self.steps.get(one.id) != one.cell:
            return f"{'cut' if isinstance(one, CutTrial) else 'trial'} ({one.id} of {one.cell})"
        return None


def _first_mistake(error: ValidationError) -> str:
    """Say what is wrong with a record's text, and where in it."""
    first = error.errors(include_url=False)[0]
    at = ".".join(map(str, first["loc"]))
    match first["type"]:
        case "json_invalid":
            return f"it is no JSON ({first['ctx']['error'].replace(' at line 1 column', ' at character')})"
        case "missing":
            return f"`{at}` is missing"
    given = "" if isinstance(first["input"], dict | list) else f", and is {first['input']!r:.60}"
    return f"`{at or 'it'}`: {first['msg'][:1].lower()}{first['msg'][1:]}{given}"


def _why_no_run(path: Path) -> str:
    """Say why a path is not a run; if it is the folder of a study's runs, name the newest."""
    if not path.is_dir():
        return "it is a file" if path.exists() else "there is no such folder"
    runs = sorted(plan.parent for plan in path.glob("*/plan.json"))
    return f"it has no plan.json; it holds runs, the newest is {runs[-1]}" if runs else "it has no plan.json"
