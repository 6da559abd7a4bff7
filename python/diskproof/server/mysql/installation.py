"""Finding a server program of the MySQL family, and what its own binary reports."""

import os
import re
import shutil
from dataclasses import dataclass
from pathlib import Path

from diskproof.results.record import Flavour
from diskproof.server.base import ServerNotFoundError
from diskproof.server.lifecycle import answer_of, answer_once
from diskproof.server.mysql.release import Release
from diskproof.system.containers import Image

PROGRAMS = ("mariadbd", "mysqld")
POOL = "innodb_buffer_pool_size"
LEAST_POOL_BYTES = 5 * 2**20
"""InnoDB's own minimum of a buffer pool; some servers have a higher one."""

BINLOG_READERS = ("mariadb-binlog", "mysqlbinlog")
FOLDERS = ("bin", "sbin", "libexec")
"""Where the distributions of fifteen years put the server inside their basedir."""

SYSTEM_FOLDERS = ("/usr/sbin", "/usr/local/sbin", "/usr/libexec")
"""Searched after PATH, because an ordinary user's PATH has no sbin."""


@dataclass(frozen=True)
class Installation(Release):
    """A server program and what it reported."""

    binary: Path
    basedir: Path | None
    """As the user named it; None for the system's server, whose compiled-in paths are right."""
    known: dict[str, str]
    """Every option that the binary lists, with its default; dashes as underscores. Of the buffer pool its
    least size."""
    names: frozenset[str] = frozenset()
    """All options that it lists, also those without a value."""
    image: Image | None = None
    """What has the program, if this machine has it not."""

    @property
    def least_pool_bytes(self) -> int:
        """The least buffer pool: a server enlarges a smaller one. Percona Server 5.1 has one of 32 MiB."""
        return int(self.known.get(POOL) or LEAST_POOL_BYTES)

    @property
    def resizes_redo_log(self) -> bool:
        """Whether it makes a clean redo log of another size anew, as from MySQL 5.6.8 and MariaDB 10.0 on."""
        return self.version >= (5, 6, 8)

    def share_folder(self) -> Path | None:
        """Return the folder with the error messages and the system tables' SQL."""
        share = (self.basedir or self.binary.parent.parent) / "share"
        candidates = [share, share / "mysql", share / "mariadb"]
        errors = "english/errmsg.sys"
        return next((path for path in candidates if self.text_of(path / errors) is not None), None)

    def text_of(self, file: Path) -> str | None:
        """Return the text of a file of the installation; None if it has no such file."""
        if self.image is not None:
            return self.image.text_of(file)
        return file.read_text(errors="replace") if file.is_file() else None

    def plugin_folder(self) -> Path | None:
        """Return the folder of a named basedir's plugins, if it has one."""
        if self.basedir is None:
            return None
        candidates = [self.basedir / "lib" / name for name in ("plugin", "mysql/plugin", "mariadb/plugin")]
        return next((path for path in candidates if path.is_dir()), None)

    def binlog_reader(self) -> Path | None:
        """Return the program that prints this server's binary log; None if there is none.

        A basedir without one, and an image, get the system's, if the server is older than MySQL 8. Events of
        rows are the same since 5.6; MySQL 8 began to compress and tag some.
        """
        if self.image is not None and self.mysql_since(8):
            return None
        places = [self.binary.parent] if self.basedir is None and self.image is None else []
        places += [self.basedir / folder for folder in FOLDERS] if self.basedir else []
        readable = self.basedir is None or not self.mysql_since(8)
        path = os.pathsep.join([*map(str, places), *([os.environ.get("PATH", "")] if readable else [])])
        found = (shutil.which(program, path=path) for program in BINLOG_READERS)
        return next((Path(file) for file in found if file), None)


HELP = (
    "--no-defaults",
    "--user=root",
    f"--{POOL.replace('_', '-')}={LEAST_POOL_BYTES}",
    "--verbose",
    "--help",
)
"""Of the smallest pool a server lists what it would make of it."""

VERSION = re.compile(r"\bVer (\d+\.\d+\.\d+\S*).*")


def find_mysql(
    basedir: Path | None = None, wanted: Flavour | None = None, image: Image | None = None
) -> Installation:
    """Find the system's server, or that of a basedir or an image.

    ServerNotFoundError says where it looked. If a system has two, the first one of the flavour that is
    `wanted` is taken.
    """
    others = []
    for binary in _binaries(basedir, image):
        # Its help has the version, too; a program that gives none says why with its version.
        said = answer_once(binary, *HELP, may_fail=True, image=image)
        if not VERSION.search(said):
            said = answer_of(binary, "--no-defaults", "--version", image=image)
        flavour, version_text = parse_version(said)
        if wanted in (None, flavour):
            return _installation(binary, basedir, image, flavour, version_text)
        others.append(f"{binary} is {flavour} {version_text}")
    raise ServerNotFoundError(f"{' and '.join(others)}, not {wanted}; name the basedir of a {wanted}")


def _binaries(basedir: Path | None, image: Image | None) -> list[Path]:
    if image is None:
        return _system_binaries() if basedir is None else [_binary_in(basedir)]
    binary = image.program(*PROGRAMS)
    if binary is None:
        raise ServerNotFoundError(f"image {image.name} has no {' or '.join(PROGRAMS)} on its PATH")
    return [binary]


def _installation(
    binary: Path, basedir: Path | None, image: Image | None, flavour: str, version_text: str
) -> Installation:
    numbers = [int(number) for number in re.findall(r"\d+", version_text)[:3]]
    said = answer_once(binary, *HELP, may_fail=True, image=image)
    known = parse_options(said)
    if "datadir" not in known:
        raise ServerNotFoundError(
            f"{binary} --verbose --help lists no options: the installation is incomplete"
        )
    return Installation(
        binary=binary,
        basedir=basedir.resolve() if basedir else None,
        flavour=flavour,
        version=(numbers[0], numbers[1], numbers[2]),
        version_text=version_text,
        known=known,
        names=frozenset(known) | parse_names(said),
        image=image,
    )


def parse_version(line: str) -> tuple[str, str]:
    """Return (flavour, version) from what ``mysqld --version`` prints; ServerNotFoundError if it is none."""
    found = VERSION.search(line)
    if not found:
        raise ServerNotFoundError(f"not a server of the MySQL family: its --version printed {line.strip()!r}")
    text, words = found[1], found[0].lower()  # the program's path stands before
    if "mariadb" in words:
        return "MariaDB", text.partition("-")[0]
    return ("Percona Server" if "percona" in words else "MySQL"), text


def parse_options(help_text: str) -> dict[str, str]:
    """Return the options and defaults from the table that ends ``mysqld --verbose --help``."""
    _, _, table = help_text.partition("\n---")
    options = {}
    for line in table.splitlines()[1:]:
        if not line.strip():
            break
        name, _, default = line.partition(" ")
        options[name.replace("-", "_")] = default.strip()
    return options


def parse_names(help_text: str) -> frozenset[str]:
    """Return the names of the options that ``mysqld --verbose --help`` describes."""
    found = re.findall(r"^  (?:-.[,]? )?--([\w-]+)", help_text, re.MULTILINE)
    return frozenset(name.replace("-", "_") for name in found)


def _system_binaries() -> list[Path]:
    """Return the system's servers: one, or one of each name if these are different programs."""
    path = os.pathsep.join([os.environ.get("PATH", ""), *SYSTEM_FOLDERS])
    found = [Path(file) for program in PROGRAMS if (file := shutil.which(program, path=path))]
    if found:
        return list({file.resolve(): file for file in reversed(found)}.values())[::-1]
    raise ServerNotFoundError(
        f"no {' or '.join(PROGRAMS)} on PATH or in {', '.join(SYSTEM_FOLDERS)}; install one "
        "(apt-get install mariadb-server) or name a basedir"
    )


def _binary_in(basedir: Path) -> Path:
    candidates = [basedir / folder / program for folder in FOLDERS for program in PROGRAMS]
    for candidate in candidates:
        if os.access(candidate, os.X_OK) and candidate.is_file():
            return candidate.absolute()
    if not basedir.is_dir():
        raise ServerNotFoundError(
            f"basedir {basedir} is not a directory; name the folder of an unpacked server"
        )
    looked = ", ".join(str(candidate.relative_to(basedir)) for candidate in candidates)
    raise ServerNotFoundError(
        f"basedir {basedir} holds no server: looked for {looked}; "
        "name the folder of an unpacked MySQL, Percona Server or MariaDB"
    )
