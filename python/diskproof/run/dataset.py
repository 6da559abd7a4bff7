"""Data sets as golden images: loaded once per server format and size, copied before every trial."""

import hashlib
import json
import os
import shutil
import time
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from pydantic import ValidationError

from diskproof import load
from diskproof.reading import MIB, UnreadableError, read_text
from diskproof.refusal import RefusalError
from diskproof.results.record import ROLES, Record, Role
from diskproof.results.trial import Dumped
from diskproof.server.base import Dirs, ServerFailedError, ServerKind
from diskproof.server.dumps import dump
from diskproof.storage.copy import apparent_bytes, copy_tree, sync
from diskproof.storage.kinds.base import LESS_DATA
from diskproof.study.loads.base import Load
from diskproof.study.loads.own_data import LOGS, OwnData
from diskproof.study.loads.script import Script
from diskproof.system.journal import Journal
from diskproof.system.own_folder import OwnFolder, renamed_first
from diskproof.system.processes import Starter
from diskproof.system.run_processes import working_in
from diskproof.workload.arguments import check_arguments, prepare_arguments

LOADING_MEMORY_BYTES = 512 * 2**20
"""Buffer pool while loading: enough to sort an index of a small data set in memory."""

LOADING_CLIENTS = 64
IMAGES = ".golden"
"""Folder of the images beside the runs; no study's name begins with a dot."""

FORMAT = 1
"""Raised when images of an older version can no longer be used."""

FULL_BYTES = 4 * 2**20
"""With less free space than this, a table cannot be extended."""

FACTS = "image.json"
"""File of a complete image: its size, its rows, its loading time."""

DUMP = "dump.sql"

KEPT_ROLES: tuple[Role, ...] = ("data", "redo")
"""After a clean stop, binary logs and temporary files hold nothing that is needed."""


class DataSetError(RefusalError):
    """A data set that could not be loaded."""


class ImageFacts(Record):
    """What is on record of a complete image."""

    data_bytes: int
    rows: int | None
    """None if the tables are the user's own, or made by the load itself."""
    load_s: float
    dump: Dumped | None = None


@dataclass(frozen=True)
class GoldenImage:
    """A loaded, cleanly stopped database, ready to be copied."""

    folder: Path
    facts: ImageFacts


def is_loaded(folder: Path, server: ServerKind, workload: Load, seed: int) -> bool:
    """Return whether a folder has the image of a data set. One whose facts are damaged is loaded again."""
    return _is_complete(folder / _key(server, workload, seed))


def is_dumped(folder: Path, workload: OwnData) -> bool:
    """Return whether a folder of images has the dump of the server that a load names."""
    return workload.prepare is not None and _is_complete(folder / workload.prepare.path.stem)


class GoldenImages:
    """The images of one folder; kept between runs until `diskproof clean --images`."""

    def __init__(self, folder: Path, journal: Journal) -> None:
        self.folder = folder
        self._journal = journal

    def get(self, server: ServerKind, workload: Load, seed: int) -> GoldenImage:
        """Return the image of a data set that has been loaded."""
        folder = self.folder / _key(server, workload, seed)
        return GoldenImage(folder, _facts(folder))

    def load(
        self,
        server: ServerKind,
        workload: Load,
        seed: int,
        starter: Starter,
        sockets: Path,
        copies: Path | None = None,
    ) -> GoldenImage:
        """Load a data set; DataSetError says why it failed.

        `sockets` is a short private directory, `copies` the run's folder of the workload's files. The image
        gets its final name only when it is complete, so a kill leaves no partial image.
        """
        sql = self.dumped(workload)
        filled = workload.from_file(sql.folder / DUMP) if sql and isinstance(workload, OwnData) else workload

        def load_into(own: OwnFolder) -> Dumped | None:
            paths = {role: own.path / role for role in ROLES}
            for path in (*paths.values(), own.path / "log"):
                path.mkdir()
            dirs = Dirs(**paths, run=sockets, log=own.path / "log")
            _fill(server, filled, seed, copies, dirs, starter)
            own.clear(set(ROLES) - set(KEPT_ROLES))
            return sql.facts.dump if sql else None

        try:
            self._make(self.folder / _key(server, workload, seed), "data", workload.total_rows, load_into)
        except DataSetError:
            # Its mistakes are corrected in the server that it is of; a full disk is none of them.
            if sql and not _full(self.folder):
                remove_images(self.folder, sql.facts.dump)
            raise
        return self.get(server, workload, seed)

    def dumped(self, workload: Load) -> GoldenImage | None:
        """Return the dump of the server that a load names: one for all images until they are removed."""
        if not (isinstance(workload, OwnData) and workload.source and workload.prepare):
            return None
        folder, source = self.folder / workload.prepare.path.stem, workload.source

        def dump_into(own: OwnFolder) -> Dumped:
            at, sql = datetime.now(UTC).isoformat(timespec="seconds"), own.path / DUMP
            dump(source, sql, watch=lambda: _full(own.path))
            return Dumped(sha256=_digest(sql), at=at)

        if not is_dumped(self.folder, workload):
            self._make(folder, "", None, dump_into)
        return GoldenImage(folder, _facts(folder))

    def _make(
        self, folder: Path, data: str, rows: int | None, fill: Callable[[OwnFolder], Dumped | None]
    ) -> None:
        """Fill a folder, which gets its name when it is complete, with the facts of its part `data`.

        `fill` returns the dump that its content is of.
        """
        building = self.folder / f"diskproof-{self._journal.mark}-{folder.name}"
        self._journal.parents(building)
        own = self._journal.own_folder(building)
        began = time.monotonic()
        dump = fill(own)
        load_s = round(time.monotonic() - began, 3)
        size_bytes = apparent_bytes(building)
        sync(building, size_bytes)
        facts = ImageFacts(data_bytes=apparent_bytes(building / data), rows=rows, load_s=load_s, dump=dump)
        (building / FACTS).write_text(facts.model_dump_json())
        sync(building, size_bytes)
        _give_name(own, folder)


def _digest(dump: Path) -> str:
    """Return the SHA-256 of a dump, without the key that pg_dump draws each time."""
    digest = hashlib.sha256()
    with dump.open("rb") as lines:
        for line in lines:
            digest.update(b"" if line.startswith((b"\\restrict ", b"\\unrestrict ")) else line)
    return digest.hexdigest()


def _give_name(made: OwnFolder, folder: Path) -> None:
    """Move a complete image to its place; remove it if another run, of another user, was faster.

    That run may be copying its image already.
    """
    if not _is_complete(folder):
        if os.path.lexists(folder):
            OwnFolder(folder).remove()
        if renamed_first(made.path, folder):
            return
    made.remove()


def remove_images(folder: Path, dump: Dumped | None = None) -> list[Path]:
    """Remove every image in a folder, or a dump and all that is made of it.

    Only directories with our mark are touched, and none that a run makes. The facts go first: half an image
    is never used.
    """
    paths = (path for path in folder.glob("*") if not path.name.startswith("diskproof-"))
    chosen = (path for path in paths if dump is None or (_is_complete(path) and _facts(path).dump == dump))
    images = [own for own in map(OwnFolder, chosen) if own.is_ours]
    for image in images:
        image.clear([FACTS])
        image.remove()
    if images and not any(folder.iterdir()):
        folder.rmdir()
    return [image.path for image in images]


def _begin(server: ServerKind, workload: Load, dirs: Dirs, starter: Starter) -> None:
    """Make an empty database, or a copy of the user's own."""
    server.check(dirs)
    if workload.own_data is None:
        server.initialise(dirs, starter)
    else:
        _copy_stopped(workload.own_data, dirs)
        server.adopt(dirs, starter)


def _fill(
    server: ServerKind, workload: Load, seed: int, copies: Path | None, dirs: Dirs, starter: Starter
) -> None:
    _begin(server, workload, dirs, starter)
    own = workload.own_data
    if not workload.prepares:
        return
    settings = server.loading_settings(dirs, memory_bytes=LOADING_MEMORY_BYTES, max_clients=LOADING_CLIENTS)
    running = server.start(dirs, settings, starter)
    try:
        if own is not None:
            running.database = workload.uses_database or running.database
        elif workload.uses_database:
            running.make_database(workload.uses_database)
        if isinstance(workload, Script):
            # A mistake in what is measured shows before the tables are filled.
            arguments = check_arguments(workload, copies, only_syntax=own is None)
            load.check_statements(running.url, arguments)
        if own is None:
            load.prepare(
                starter,
                running.url,
                workload.prepared_as or workload.kind,
                prepare_arguments(workload, seed, copies),
                dirs.log / "prepare.log",
                watch=lambda: _full(dirs.data),
            )
            running.settle()
        if workload.checked_by is not None:
            checked = load.check(starter, running.url, workload.kind, workload.checked_by)
            if not checked.holds:
                raise load.LoadFailedError("; ".join(checked.complaints))  # noqa: TRY301 - told below
    except load.StatementError:
        running.kill()
        raise
    except load.LoadFailedError as error:
        tail = running.log_tail()
        running.kill()
        why = _full(dirs.data) or str(error)
        message = f"loading {described(workload)} failed: {why}\n{tail}"
        raise DataSetError(message.strip()) from None
    except BaseException:
        running.kill()
        raise
    if not running.stop():
        raise ServerFailedError("the server did not stop after loading, so its data set cannot be trusted")


def check_stopped(data: Path) -> None:
    """Refuse the data directory of a server that runs (DataSetError)."""
    if using := sorted(set(working_in(data))):
        raise DataSetError(f"{data} is in use by {', '.join(using)}: stop that server, or name a snapshot")


def _copy_stopped(source: Path, dirs: Dirs) -> None:
    """Copy a server's own data directory, with its log; DataSetError if the server runs, before or after."""
    check_stopped(source)
    copy_tree(source, dirs.data)
    for log in (dirs.data / name for name in LOGS):
        if log.is_symlink():
            log.unlink()
            log.mkdir()
            copy_tree((source / log.name).resolve(), log)
    check_stopped(source)
    if shared := next((path for path in dirs.data.rglob("*") if path.is_symlink()), None):
        raise DataSetError(f"{source / shared.relative_to(dirs.data)} has become a link: make a dump")


def _is_complete(image: Path) -> bool:
    try:
        _facts(image)
    except (UnreadableError, ValidationError):
        return False
    return True


def _facts(image: Path) -> ImageFacts:
    return ImageFacts.model_validate_json(read_text(image / FACTS, MIB))


def described(workload: Load) -> str:
    """Return a data set in words: ``40,000 rows``."""
    rows = workload.total_rows
    return f"{workload.kind}'s tables" if rows is None else f"{rows:,} rows"


def _full(folder: Path) -> str | None:
    """Return that the disk below a folder is full; None while there is room."""
    free = shutil.disk_usage(folder).free
    if free >= FULL_BYTES:
        return None
    return f"the disk of {folder} is full ({free / 2**20:.0f} MiB free): free space, or {LESS_DATA}"


def _key(server: ServerKind, workload: Load, seed: int) -> str:
    """Return the image's folder name: readable, and unique for what makes images differ."""
    identity = [FORMAT, server.data_format(), workload.kind if workload.prepares else "empty"]
    if workload.prepares:
        identity += [*workload.data_identity, *prepare_arguments(workload, seed, Path())]
    digest = hashlib.sha256(json.dumps(identity).encode()).hexdigest()[:10]
    flavour = server.facts.flavour.lower().replace(" ", "-")
    return f"{flavour}-{workload.data_name}-{digest}"
