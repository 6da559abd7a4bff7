"""One installation of the MySQL family: what it needs, made and started."""

import re
from collections.abc import Collection, Mapping
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from diskproof.families.mysql import MYSQL
from diskproof.reading import MIB, read_text
from diskproof.server.base import DATABASE, Dirs, ServerError, Settings
from diskproof.server.endpoint import Endpoint
from diskproof.server.lifecycle import answer_of, complaint_of
from diskproof.server.log import ServerLog
from diskproof.server.mysql import options
from diskproof.server.mysql.installation import Installation, parse_options
from diskproof.server.process import RECOVERY_LIMIT_S, ServerProgram
from diskproof.system.processes import Starter
from diskproof.system.programs import Started
from diskproof.system.temporary import temporary_folder

if TYPE_CHECKING:
    from diskproof.server.mysql.running import MysqlRunning

INITIAL_MEMORY_BYTES = 64 * 2**20
"""Buffer pool of an initialisation, which touches some 30 MiB of pages."""

SYSTEM_TABLES = (
    ("mysql_system_tables.sql", "mariadb_system_tables.sql"),
    ("mysql_performance_tables.sql", "mariadb_performance_tables.sql"),
    ("mysql_system_tables_data.sql", "mariadb_system_tables_data.sql"),
)
"""What a distribution's install script feeds to the server; help and time zones are left out."""

OPTIONAL = "performance_tables"
"""A file of its own since MariaDB 10.1; elsewhere a part of the first file."""


class MysqlServer(ServerProgram):
    """A found server of the MySQL family."""

    logs_progress = True
    refusals = re.compile(
        r"unknown (?:variable|option) '(?:--)?([\w-]+)"
        r"|ambiguous option '(?:--)?([\w-]+)"
        r"|Error while setting value '[^']*' to '([\w-]+)'"
        r"|Unknown suffix '.' used for variable '([\w-]+)'"
        r"|option '(?:--)?([\w-]+)' (?:requires|cannot)",
    )

    def __init__(self, installation: Installation, name: str) -> None:
        """Name an installation as the study does."""
        super().__init__(
            "mysql",
            name,
            installation.flavour,
            installation.version_text,
            installation.binary,
            installation.image,
        )
        self.installation = installation

    def data_format(self) -> str:
        """Return what a golden image depends on."""
        version = ".".join(str(number) for number in self.installation.version)
        inside = f", image {self._image.short_id}" if self._image else ""
        return f"{self.installation.flavour} {version}, redo {options.REDO_BYTES}{inside}"

    def _with_redo_log(self, settings: Settings, size_bytes: int) -> Settings:
        # The start makes a clean log of another size anew; of an old server, `place` has removed it.
        return replace(settings, common=settings.common | options.redo_log(self.installation, size_bytes))

    def _settings(self, dirs: Dirs, tuned: dict[str, str], memory_bytes: int, max_clients: int) -> Settings:
        options.check_binary_log(tuned["log_bin"])
        common, notes = options.common(self.installation, dirs, memory_bytes, max_clients)
        if "query_cache_size" in tuned:  # a size turns MariaDB's cache on
            common.pop("query_cache_type", None)
        # The data are thrown away after a trial: a stop need not write back every dirty page.
        common["innodb_fast_shutdown"] = "2"
        if options.is_on(tuned["log_bin"]) and self.installation.known.get("binlog_format", "ROW") != "ROW":
            # Row images, so that a transaction logs the same whatever its statements looked like.
            common["binlog_format"] = "ROW"
        return Settings(common, tuned, notes=notes)

    def opened(self, settings: Settings, endpoint: Endpoint) -> Settings:
        """Return settings with an endpoint; ServerError if the server has no TLS that clients speak today."""
        server = self.installation
        if not server.is_mariadb and "TLSv1.2" not in server.known.get("tls_version", ""):
            raise ServerError(
                f"{server.flavour} {server.version_text} has no TLS 1.2, with which a load on another "
                "machine connects: name a newer server, or run without --hosts"
            )
        return super().opened(settings, endpoint)

    def keeping(self, settings: Settings) -> Settings:
        """Return settings with which a stop flushes all pages."""
        common = settings.common | {"innodb_fast_shutdown": "1"}
        return replace(settings, common=common, kept=True)

    def loading_settings(self, dirs: Dirs, *, memory_bytes: int, max_clients: int) -> Settings:
        """Return the variables for filling a golden image: the unsafe level without a binary log.

        A binary log's index holds the paths of its files, which would be wrong for a restored image.
        """
        common, notes = options.common(self.installation, dirs, memory_bytes, max_clients)
        common["innodb_fast_shutdown"] = "1"
        return Settings(common, MYSQL.tuned("unsafe") | {"log_bin": "OFF"}, kept=True, notes=notes)

    def _answer_to(self, variables: Mapping[str, str], folder: Path) -> str:
        dirs = Dirs(*[folder] * 6)
        command = self._configured(dirs, Settings({}, dict(variables)))
        validates = self.installation.mysql_since(8, 0, 16)
        reads = ["--validate-config"] if validates else ["--verbose", "--help"]
        said = complaint_of(Path(command[0]), *command[1:], *reads, image=self._image, folders=[folder])
        return said + ServerLog(dirs.error_log).tail()

    @property
    def known(self) -> Collection[str]:
        """The names that the program lists."""
        return self.installation.names

    def _reading(self, variables: Mapping[str, str]) -> dict[str, str]:
        """Return what the program makes of options: it rounds sizes, and limits what this machine limits."""
        with temporary_folder() as folder:
            dirs = Dirs(*[folder] * 6)
            command = self._configured(dirs, Settings({}, dict(variables)))
            asked = [*command[1:], "--verbose", "--help"]
            said = answer_of(Path(command[0]), *asked, may_fail=True, image=self._image, folders=[dirs.data])
        return parse_options(said)

    def initialise(self, dirs: Dirs, starter: Starter) -> None:
        """Make the system tables, a root without a password on the private socket, and an empty database."""
        dirs.run.chmod(0o700)
        settings = self.loading_settings(dirs, memory_bytes=INITIAL_MEMORY_BYTES, max_clients=1)
        command = self._configured(dirs, settings)
        create = f"CREATE DATABASE {DATABASE};\n"
        script = dirs.log / "initialise.sql"
        if self.installation.mysql_since(5, 7, 6):
            script.write_text(create)
            self._make([*command, "--initialize-insecure", f"--init-file={script}"], dirs, starter)
        else:
            script.write_text(_system_tables(self.installation) + create)
            self._make([*command, "--bootstrap"], dirs, starter, stdin=script)
        script.unlink()

    def check_data(self, data: Path) -> None:
        """Refuse data of another series or without its redo log, and servers whose root cannot be changed."""
        server, ours = self.installation, f"{self.facts.flavour} {self.facts.version}"
        if not server.mysql_since(5, 7, 6) and not (server.is_mariadb and server.version >= (10, 4)):
            raise ServerError(f"{ours} takes no data directory: make a dump of it")
        if not (data / "ib_logfile0").is_file() and not (data / "#innodb_redo").is_dir():
            raise ServerError(f"{data} has no redo log, which lies elsewhere: make a dump of it")
        notes = [
            data / name for name in ("mariadb_upgrade_info", "mysql_upgrade_info", "mysql_upgrade_history")
        ]
        noted = next((read_text(note, MIB) for note in notes if note.is_file()), "")
        versions = re.findall(r"\d+\.\d+\.\d+", noted)
        series = ".".join(map(str, server.version[:2]))
        # From 8.4 on there is always a note.
        unknown = not versions and server.mysql_since(8, 4)
        if unknown or (versions and not versions[-1].startswith(f"{series}.")):
            of = f"version {versions[-1]}" if versions else "an older version"
            raise ServerError(
                f"{data} is of {of}, and the server is {ours}: name the `basedir` of that version, or "
                "upgrade a copy"
            )

    def adopt(self, dirs: Dirs, starter: Starter) -> None:
        """Make copied data ours: the log on the redo role, a root without a password, nobody's replica."""
        dirs.run.chmod(0o700)
        for name in ("mysqld-auto.cnf", "auto.cnf"):  # settings are the study's, and its identity another's
            (dirs.data / name).unlink(missing_ok=True)
        for log in (*dirs.data.glob("ib_logfile*"), *dirs.data.glob("#innodb_redo")):
            log.rename(dirs.redo / log.name)
        script = dirs.log / "adopt.sql"
        root, replica = (
            "'root'@'localhost'",
            "REPLICA" if self.installation.mysql_since(8, 0, 22) else "SLAVE",
        )
        script.write_text(
            f"RESET {replica} ALL;\nCREATE DATABASE IF NOT EXISTS {DATABASE};\n"
            f"CREATE USER IF NOT EXISTS {root};\nALTER USER {root} IDENTIFIED BY '' ACCOUNT UNLOCK;\n"
            f"GRANT ALL ON *.* TO {root} WITH GRANT OPTION;\n"
        )
        settings = self.loading_settings(dirs, memory_bytes=INITIAL_MEMORY_BYTES, max_clients=1)
        quiet = next(name for name in ("skip_replica_start", "skip_slave_start") if name in self.known)
        settings = replace(settings, common=settings.common | {"init_file": str(script), quiet: "ON"})
        if not self.start(dirs, settings, starter, deadline_s=RECOVERY_LIMIT_S).stop():
            raise ServerError(f"the server did not stop in {dirs.data}, so its data cannot be trusted")
        script.unlink()

    def place(self, dirs: Dirs) -> None:
        """Remove the image's redo log if the server would refuse it: a study may ask for another size.

        The image was left by a clean stop. From that a server starts without a log, and makes one (MySQL 5.5
        Reference Manual, Changing the Number or Size of InnoDB Redo Log Files).
        """
        if not self.installation.resizes_redo_log:
            for file in dirs.redo.glob("ib_logfile*"):
                file.unlink()

    def _configured(self, dirs: Dirs, settings: Settings) -> list[str]:
        path = dirs.log / "my.cnf"
        path.write_text(options.configuration(self.installation, dirs, settings.merged(), settings.endpoint))
        return [str(self.installation.binary), f"--defaults-file={path}"]

    def _running(self, dirs: Dirs, settings: Settings, process: Started, log: ServerLog) -> "MysqlRunning":
        from diskproof.server.mysql.running import MysqlRunning  # noqa: PLC0415 - it needs the driver

        running = MysqlRunning(self.facts, dirs, settings, process, log)
        running.installation = running.release = self.installation
        running.reading = partial(self._reading, settings.merged())
        return running


def _system_tables(server: Installation) -> str:
    """Return the SQL of the system tables, from the installation's own share folder."""
    share = server.share_folder()
    if share is None:
        raise _incomplete(
            server, "no english/errmsg.sys in share, share/mysql or share/mariadb of its basedir"
        )
    parts = ["CREATE DATABASE mysql;\nUSE mysql;\nSET @auth_root_socket=NULL;\n"]
    for names in SYSTEM_TABLES:
        texts = (server.text_of(share / name) for name in names)
        text = next((one for one in texts if one is not None), None)
        if text is not None:
            # Install scripts leave out the accounts of this machine's name for a foreign machine. With
            # skip_name_resolve the server would complain about them at each start.
            lines = text.splitlines(keepends=True)
            parts += [line for line in lines if "@current_hostname" not in line]
        elif OPTIONAL not in names[0]:
            raise _incomplete(server, f"{share / names[0]} is missing")
    return "".join(parts)


def _incomplete(server: Installation, what: str) -> ServerError:
    return ServerError(f"the installation of {server.binary} is incomplete: {what}; unpack all of it")
