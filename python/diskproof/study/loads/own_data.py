"""Data of the user's own: a dump, other SQL that makes tables, or those of a server, stopped or running."""

import hashlib
import os
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Self

from pydantic import BeforeValidator, ByteSize, Field, ValidationInfo

from diskproof.families import Family, of
from diskproof.families.address import Address, parse
from diskproof.reading import UnreadableError, opened
from diskproof.results.size import Size
from diskproof.study.loads.base import Option, Timed
from diskproof.study.part import PATH, KeptFile, kept_file, located

MAX_SQL_BYTES = 64 * 2**20
"""It is kept in memory and copied into every run's folder."""

MAX_DUMP_BYTES = 2**63

SLOW_LOG = re.compile(rb"^# User@Host: |^# Query_time: |, Version: .* started with:$", re.MULTILINE)
"""Lines of the slow log and of the general log of the MySQL family."""

HEAD_BYTES = 4096
"""Where one of them stands."""

CONTENTS = "toc.dat"
"""The table of contents in a folder that pg_dump has made."""

DATA_OF: Mapping[str, Family] = {"global/pg_control": "postgresql", "ibdata1": "mysql"}
"""A file that a server's data directory has, and whose it is."""

NOT_KEPT = b"-- diskproof has kept no copy of "


@dataclass(frozen=True)
class SqlFile(KeptFile):
    """A file of SQL, and how often it is chosen beside the others."""

    weight: str
    data_of: Family | None = None
    """Whose data directory it is; None: it is a dump, or a script."""
    source: Address | None = None
    """The server that a dump is yet to be taken of; None: it is there."""

    @property
    def is_kept(self) -> bool:
        """Whether the content is that of the file; a large dump is read where it lies."""
        return not self.content.startswith(NOT_KEPT)

    @property
    def size_bytes(self) -> int:
        """The size of the file; instead of a large one, what was kept says it."""
        said = None if self.is_kept else re.search(rb"\((\d{1,20}) bytes", self.content)
        return int(said[1]) if said else len(self.content)

    def __str__(self) -> str:
        return f"{self.path}@{self.weight}" if self.weight else str(self.path)


def _sql_file(value: object, info: ValidationInfo) -> object:
    """Find a file from the study file's own folder; refuse what is not there."""
    name, at, weight = value.rpartition("@") if isinstance(value, str) else (value, "", "")
    if not (at and weight.isdigit()):
        name, weight = value, ""
    file = kept_file(name, info, MAX_SQL_BYTES, "a file of SQL, such as `hot.sql`")
    if SLOW_LOG.search(file.content[:HEAD_BYTES]):
        raise ValueError(
            f"{file.path} is a log of a server, not a script: take the statements that matter out of it"
        )
    return SqlFile(file.path, file.content, weight)


LOGS = ("pg_wal", "pg_xlog")
"""The only links that a data directory may have: PostgreSQL's log on a place of its own."""


def _dump(value: object, info: ValidationInfo) -> object:
    """Find what is run once; of a large file or a folder only the digest is kept."""
    if isinstance(value, str) and "://" in value:
        source, name = parse(value), hashlib.sha256(value.encode()).hexdigest()[:10]
        said = NOT_KEPT + f"the data of {value}\n".encode()
        return SqlFile(Path(f"dump-{name}.sql"), said, "", source=source)
    if isinstance(value, str):
        path = located(value, info)
        size, digest = 0, hashlib.sha256()
        try:
            data_of = next((whose for mark, whose in DATA_OF.items() if (path / mark).is_file()), None)
            is_folder = data_of is not None or (path / CONTENTS).is_file()
            path = path.resolve() if data_of else path
            for each in _files(path, owned=data_of is not None) if is_folder else [path]:
                found = each.lstat()
                size += found.st_size
                if data_of:
                    digest.update(f"{each} {found.st_size} {found.st_mtime_ns}\n".encode(errors="replace"))
                elif is_folder or size > MAX_SQL_BYTES:
                    _digest(each, digest)
            if is_folder or size > MAX_SQL_BYTES:
                said = NOT_KEPT + f"a dump ({size} bytes, SHA-256 {digest.hexdigest()})\n".encode()
                return SqlFile(path, said, "", data_of)
        except PermissionError as error:
            if os.path.isdir(path):  # noqa: PTH112 - it says no where it may not look
                raise ValueError(f"{error.filename} may not be read") from None
        except (UnreadableError, OSError):
            pass  # the next one says it, or finds a copy
    return _sql_file(value, info)


def _files(folder: Path, *, owned: bool) -> Iterator[Path]:
    """Yield the files below a folder; ValueError if a copy of a server's data would share some."""
    for each in sorted(folder.rglob("*")):
        is_log = each.parent == folder and each.name in LOGS
        if owned and (each.suffix == ".isl" or (each.is_symlink() and not is_log)):
            raise ValueError(
                f"{each} leads out of the data directory, and a copy would share that: make a dump"
            )
        if each.is_symlink() and is_log:
            yield from _files(each.resolve(), owned=True)
        elif not each.is_dir():
            yield each


def _digest(path: Path, digest: "hashlib._Hash") -> None:
    with opened(path, MAX_DUMP_BYTES) as file:
        while chunk := file.read(2**20):
            digest.update(chunk)


Dump = Annotated[SqlFile, BeforeValidator(_dump), PATH]
Sql = Annotated[SqlFile, BeforeValidator(_sql_file), PATH]


class OwnData(Timed):
    """A load on tables that the user brings."""

    prepare: Annotated[Dump | None, Option(("prepare",), "file")] = Field(
        None,
        description="A dump, an archive of pg_dump or other SQL that makes the tables; a stopped server's "
        "data directory, which is copied; or the URL of a running server's database, which is dumped once. "
        "Default: the database is empty",
    )
    database: str | None = Field(
        None,
        min_length=1,
        description="The database that the statements are for: one of that data directory, or one that the "
        "dump names; default: one of its own",
    )
    size: Size = Field(
        ByteSize(256 * 2**20),
        description="About the largest size of the tables on disk: so much must be free",
    )

    def _check_whole(self) -> None:
        super()._check_whole()
        if self.prepare and self.prepare.weight:
            raise ValueError("`prepare` runs once and takes no weight")
        if self.own_data is not None and self.database is None:
            raise ValueError("`prepare` is a server's data directory: say which `database` of it")

    @property
    def uses_database(self) -> str | None:
        """The database that its statements are for: of a server's own data, or one that a dump names."""
        return self.database

    @property
    def own_data(self) -> Path | None:
        """The data directory that `prepare` names; None: it names none."""
        return self.prepare.path if self.prepare and self.prepare.data_of else None

    @property
    def source(self) -> Address | None:
        """The running server that `prepare` names; None: it names none."""
        return self.prepare.source if self.prepare else None

    def from_file(self, path: Path) -> Self:
        """Return it with a dump in the place of that server."""
        made = SqlFile(path, self.prepare.content if self.prepare else b"", "")
        return self.model_copy(update={"prepare": made})

    def refusal(self, family: Family) -> str | None:
        """Return why it cannot run on a family of servers; None if it can."""
        if self.source and self.source.protocol != of(family).protocol:
            return f"{self.source} is a server of another family"
        whose = self.prepare.data_of if self.prepare else None
        if whose not in (None, family):
            return f"{self.own_data} is a data directory of {of(whose).title}"
        if self.database and of(family).embedded:
            return f"`database` is for servers that have several, and {of(family).title} has one in its file"
        return super().refusal(family)

    @property
    def prepares(self) -> bool:
        """Whether there is a file that makes the tables."""
        return self.prepare is not None

    @property
    def data_bytes(self) -> int:
        """Room for what the user's files make, or for a copy of the user's data."""
        own = self.prepare.size_bytes if self.prepare and self.own_data else 0
        return max(self.size, own) + super().data_bytes

    @property
    def row_bytes(self) -> int:
        """As much as is said, or else as the file has, which may make more rows than it holds."""
        if self.prepare is None or self.source or "size" in self.model_fields_set:
            return self.size if self.prepares else 0
        return self.prepare.size_bytes

    @property
    def files_to_keep(self) -> Mapping[str, bytes]:
        """What makes the tables: a report must be repeatable."""
        return {self.prepare.path.name: self.prepare.content} if self.prepare else {}

    @property
    def why_it_writes(self) -> str:
        """Return whether it makes tables: what its files write, the server refuses."""
        return "`prepare` makes tables" if self.prepare else ""

    @property
    def data_identity(self) -> list[str]:
        """The content of the file that makes the tables."""
        named = [self.database] if self.database and not self.own_data else []
        return [hashlib.sha256(self.prepare.content).hexdigest(), *named] if self.prepare else []
