"""What is submitted: a run of ours, or what other tools printed; read, and without what identifies."""

import hashlib
import json
import os
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from io import BytesIO
from pathlib import Path
from typing import BinaryIO

import pyarrow as pa

from diskproof.analysis.answers import Analysis
from diskproof.analysis.audited.files import audit_found
from diskproof.analysis.audited.shapes import SubjectAnswer
from diskproof.analysis.folder import analyse_folder, audit_folder
from diskproof.importers.assemble import assemble
from diskproof.importers.read import in_order, read_content
from diskproof.importers.text import MOST_BYTES, as_text, decoded
from diskproof.reading import read_bytes
from diskproof.refusal import RefusalError
from diskproof.results.dial import Dials
from diskproof.results.folder import CUTS, DIALS, PROOFS, RECORDS, TRIALS, RunFolder, RunFolderError
from diskproof.results.machine import Machine
from diskproof.results.plan import Plan
from diskproof.results.series import Row, series_schema
from diskproof.site.entry import Entry, make_entry, unit_of
from diskproof.site.identity import Identity
from diskproof.wording import numbers

RAW = "raw"
"""Folder of a published run with what another tool printed."""

LINES, WHOLE, STUDY = (TRIALS, CUTS, PROOFS), ("plan.json", "machine.json", DIALS), "study.toml"
"""The records of a run of ours."""

_HOME = re.compile(r"/(?:home|Users)/([\w.-]+)")
MOST_PRINTED = 5

MOST_PARTS = 4
"""Of the path of what another tool printed, below its folder."""

PLAIN = (".txt", ".log", ".json", ".csv", ".cnf", ".out")
"""Endings of files that a browser shows as text or saves; with another one it could obey what is in them."""

_UNSAFE = re.compile(r"[^A-Za-z0-9._-]+")
_PUBLIC = ("docker.io", "quay.io", "ghcr.io", "public.ecr.aws")


class MemoryFolder(RunFolder):
    """A run folder whose files are texts; it is read as any other, and cannot be written."""

    def __init__(self, name: str, texts: Mapping[str, str], rows: Mapping[str, Sequence[Row]]) -> None:
        """Take the files by their names, and the rows of each trial's series."""
        super().__init__(Path(name))
        self.texts, self.rows = texts, rows

    def series(
        self, trial_id: str, *, source: str | None = None, metric: str | None = None
    ) -> pa.Table | None:
        """Return one trial's time series, or one source's or metric's part of it; None if there is none."""
        rows = [
            row
            for row in self.rows.get(trial_id, ())
            if source in (None, row[1]) and metric in (None, row[2])
        ]
        if not rows:
            return None
        columns = [list(column) for column in zip(*rows, strict=True)]
        return pa.table(columns, schema=series_schema())

    def _has(self, name: str) -> bool:
        return name in self.texts

    @contextmanager
    def _opened(self, name: str) -> Iterator[BinaryIO]:
        yield BytesIO(self._read(name))

    def _read(self, name: str) -> bytes:
        try:
            return self.texts[name].encode()
        except KeyError:
            raise RunFolderError(f"{self.path} has no {name}") from None


@dataclass(frozen=True)
class Submission:
    """A run as it will be published."""

    folder: MemoryFolder
    raw: Mapping[str, str]
    """What other tools printed, by the names of the files; empty of a run of ours."""
    subjects: Sequence[SubjectAnswer]
    """What the audit says."""
    identity: Identity

    @property
    def files(self) -> dict[str, str]:
        """Its files, by their paths in its folder."""
        return {**self.folder.texts, **{f"{RAW}/{name}": text for name, text in self.raw.items()}}

    @property
    def analysis(self) -> Analysis:
        """What its trials say."""
        return analyse_folder(self.folder)

    def entry(self, analysis: Analysis) -> Entry:
        """Return its entry."""
        series = {f"series/{trial}": repr(rows) for trial, rows in self.folder.rows.items()}
        records = self.raw or {**self.folder.texts, **series}
        digest = hashlib.sha256()
        for name in sorted(records):
            digest.update(f"{name}\0{records[name]}\0".encode())
        measured = self._measured()
        study = _UNSAFE.sub("-", analysis.plan.study).strip("-.")[:40] or "run"
        name = "-".join(filter(None, (study, _UNSAFE.sub("", measured[:10].replace("-", "")))))
        machine = analysis.machine
        by = (
            f"diskproof {machine.diskproof_version}"
            if machine and not self.raw
            else "; ".join(analysis.plan.imported_from) or "not told"
        )
        return make_entry(
            name,
            analysis,
            self.subjects,
            sha256=digest.hexdigest(),
            measured=measured,
            by=by,
            printed=self._printed(analysis.plan) if self.raw else "",
        )

    def _printed(self, plan: Plan) -> str:
        """Return the figures that another tool printed, also those that no audit lets pass."""
        said = []
        for trial in self.folder.trials():
            metric = plan.metric(plan.cell(trial.cell))
            if trial.load and (figure := trial.load.figure(metric)):
                in_unit = figure / 1000 if metric == "latency_mean_us" else figure
                said.append(f"{numbers.number(in_unit)} {unit_of(metric)}")
        return numbers.listed(said, MOST_PRINTED)

    def _measured(self) -> str:
        begins = [one.started_at for one in (*self.folder.trials(), *self.folder.cuts()) if one.started_at]
        return min(begins, default="")


def submitted(paths: Sequence[Path], *, keep: bool) -> Iterator[Submission]:
    """Yield each run folder, and all other files together; RefusalError for what cannot be read.

    `keep`: what identifies stays, and is only remembered.
    """
    files = [path for path in paths if not path.is_dir()]
    for path in paths:
        if not path.is_dir():
            continue
        if (path / RAW).is_dir():
            printed = sorted(one for one in (path / RAW).rglob("*") if not one.is_dir())
            if not printed:
                raise RefusalError(f"{path / RAW} is empty: put in it what the tool printed, or remove it")
            yield _of_files(printed, path / RAW, keep, path.resolve())
        else:
            yield _of_run(RunFolder.open(path, path.resolve()), keep=keep)
    if files:
        root = Path(os.path.commonpath([one.absolute().parent for one in files]))
        yield _of_files(sorted(files), root, keep)


def _of_run(folder: RunFolder, *, keep: bool) -> Submission:
    plan, machine, trials = folder.plan(), folder.machine(), folder.trials()
    texts = {name: "".join(f"{line}\n" for line in folder.record_lines(name)) for name in LINES}
    for name in (*WHOLE, STUDY):
        if folder.has_file(name):
            texts[name] = folder.text_of(name)
    every = [*(machine.places if machine else []), *(place for trial in trials for place in trial.places)]
    names, places = _names(plan, machine, texts.values()), {place.path for place in every}
    identity = Identity(names, _levels(plan) | _words(), places, keep=keep)
    try:
        made = {name: _taken_out(name, text, identity) for name, text in texts.items() if text}
    except (ValueError, RecursionError) as error:
        raise RunFolderError(f"{folder.path} cannot be published: a record is no JSON: {error}") from None
    rows = {one.id: _rows(folder, plan, one.id, one.cell) for one in trials}
    kept = MemoryFolder(folder.path.name, made, {trial: some for trial, some in rows.items() if some})
    return Submission(kept, {}, [audit_folder(kept)], identity)


def _taken_out(name: str, text: str, identity: Identity) -> str:
    if name == STUDY:
        return identity.text(text)
    lines = text.split("\n")[:-1] if name in LINES else [text]
    return "".join(f"{identity.json(line)}\n" for line in lines)


def _rows(folder: RunFolder, plan: Plan, trial: str, cell: str) -> list[Row]:
    table = folder.series(trial, source="load", metric=plan.throughput(cell))
    if table is None:
        return []
    return [(row["t_s"], row["source"], row["metric"], row["value"]) for row in table.to_pylist()]


def _of_files(paths: Sequence[Path], root: Path, keep: bool, within: Path | None = None) -> Submission:
    """Return what files hold as one run; their folders below a root may say levels, such as the storage.

    No link leads out of `within`: it is another's folder, in which nobody named each file.
    """
    contents = {_name_of(path, root): read_bytes(path, MOST_BYTES, within) for path in paths}
    if len(contents) < len(paths):
        raise RefusalError(f"two of the files in {root} would get one name: rename them")
    texts = {name: decoded(content, name)[0] for name, content in contents.items()}
    identity = Identity({"user": _homes(texts.values())}, (), keep=keep)
    raw = {name: identity.text(text) for name, text in texts.items()}
    read = [as_text(Path(name), text.encode()) for name, text in raw.items()]
    found = in_order([one for text, remarks in read for one in read_content(text, remarks)])
    name = Path(next(iter(raw))).stem
    plan, trials, rows = assemble(found, name)
    made = {
        "plan.json": f"{plan.model_dump_json()}\n",
        TRIALS: "".join(f"{trial.model_dump_json()}\n" for trial in trials),
    }
    return Submission(MemoryFolder(name, made, rows), raw, audit_found(found), identity)


def _name_of(path: Path, root: Path) -> str:
    """Return the name of a file in its published folder: plain, below it, and of a text."""
    parts = path.absolute().relative_to(root.absolute()).parts
    name = "/".join(_UNSAFE.sub("-", part).strip(".") or "file" for part in parts)
    if len(parts) > MOST_PARTS:
        raise RefusalError(f"{path} lies too deep below {root}: name files of one folder")
    return name if Path(name).suffix.lower() in PLAIN else f"{name}.txt"


def _names(plan: Plan, machine: Machine | None, texts: Collection[str]) -> dict[str, set[str]]:
    """Return the names of hosts, people and servers that a run knows."""
    others = {**machine.others, **machine.loads} if machine else {}
    machines = [machine, *machine.others.values(), *machine.loads.values()] if machine else []
    called = {*others, *plan.load_hosts, *(one.host for one in machines)}
    called |= {one.host for one in plan.every_cell}
    called |= {one.host for one in plan.every_trial.values() if one.host}
    hosts = {name for one in called for name in (one, one.partition(".")[0])}
    servers = [server for one in machines for server in one.servers]
    addresses = {one.address for one in servers if one.address}
    registries = {one.image.partition("/")[0] for one in servers if one.image and "/" in one.image}
    addresses |= {one for one in registries if "." in one and one not in _PUBLIC}
    return {"host": hosts, "address": addresses, "user": _homes(texts)}


def _homes(texts: Collection[str]) -> set[str]:
    return {name for text in texts for name in _HOME.findall(text)}


def _levels(plan: Plan) -> set[str]:
    cells = plan.every_cell
    named = {level for one in cells for level in (one.server, one.storage, one.tuning, one.workload)}
    return named | {one.id for one in cells} | {plan.study}


@cache
def _words() -> frozenset[str]:
    """Return the words of our own records, such as `load`: a host that is called so has told nothing."""
    schemas = [one.model_json_schema() for one in (Plan, Machine, Dials, *RECORDS.values())]
    return frozenset(re.findall(r'"([\w-]+)"', json.dumps(schemas)))
