"""`diskproof load import`: diskproof-load reads the log, and says what was in it."""

import sys
from pathlib import Path
from typing import Annotated, Literal

from cyclopts import Parameter

from diskproof.cli.exits import DONE
from diskproof.cli.screen import put
from diskproof.load import import_log

Log = Literal["slow", "general", "audit", "audit-xml", "audit-json", "stderr", "csvlog", "jsonlog"]
Capture = Literal["mysql-packets", "postgres-packets"]


def importing(
    *logs: Path,
    output: Annotated[Path, Parameter(name=("--output", "-o"))],
    binlog: Annotated[list[Path] | None, Parameter(consume_multiple=True)] = None,
    format: Log | Capture | None = None,  # noqa: A002 - as it is called
    prefix: str | None = None,
    anonymise: bool = False,
) -> int:
    """Read a server's log of statements as a load that a study can replay.

    Parameters
    ----------
    logs
        The log's files, or captures of packets, plain or packed by gzip or zstd, in any order.
    output
        Where to write the load.
    binlog
        Binary logs of the same server and time, the oldest first: commits get their order (MySQL, MariaDB).
    format
        What kind of log it is; default: recognised by its beginning.
    prefix
        PostgreSQL's log_line_prefix; default: the usual ones are tried.
    anonymise
        Replace the values in statements by others of the same form, equal ones by equal ones.
    """
    arguments = [str(log) for log in logs]
    arguments += ["--binlog", *map(str, binlog)] if binlog else []
    arguments += ["--format", format] if format else []
    arguments += ["--prefix", prefix] if prefix else []
    arguments += ["--anonymise"] if anonymise else []
    put(import_log(arguments, output, shows_progress=sys.stderr.isatty()))
    return DONE
