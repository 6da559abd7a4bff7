"""The rows that committed transactions inserted, as the binary log has them."""

import re
from collections.abc import Iterable, Iterator
from pathlib import Path

from diskproof.server.base import CHECK_LIMIT_S, DATABASE, ServerFailedError
from diskproof.system.programs import TimedOut, run

OPTIONS = ("--no-defaults", "--base64-output=DECODE-ROWS", "--verbose", "--verify-binlog-checksum")
"""Rows become comments with a value a line, and reading ends at the first torn event."""

_STATEMENT = re.compile(r"### (INSERT INTO|UPDATE|DELETE FROM) `(.+)`\.`(.+)`")
_VALUE = re.compile(r"###   @(\d+)=(-?\d+)\b")
"""Behind a negative number its unsigned value stands in parentheses."""


def inserted_rows(
    program: Path, folder: Path, table: str, columns: int, database: str = DATABASE
) -> set[tuple[int, ...]] | None:
    """Return the first columns of all rows that were inserted into a table of the workload's database.

    All files in the folder of the log are read, because a power cut may have emptied their index. None if
    there are no files. `program` is the reader; ServerFailedError if it does not work.
    """
    files = sorted(folder.glob("binlog.[0-9]*"))
    if not files:
        return None
    return {row for file in files for row in committed_rows(_read(program, file), table, columns, database)}


def committed_rows(
    lines: Iterable[str], table: str, columns: int, database: str = DATABASE
) -> Iterator[tuple[int, ...]]:
    """Yield the rows of committed transactions, from what the reader prints of one file.

    A transaction that the torn end of a file cuts off has no commit, so its rows are left out.
    """
    pending: list[tuple[str, dict[int, int]]] = []
    inserting = False
    for line in lines:
        if line.startswith("###"):
            if statement := _STATEMENT.match(line):
                *where, name = statement.groups()
                inserting = where == ["INSERT INTO", database] and re.fullmatch(table, name) is not None
                if inserting:
                    pending.append((name, {}))
            elif inserting and (value := _VALUE.match(line)) and int(value[1]) <= columns:
                pending[-1][1][int(value[1])] = int(value[2])
        elif line.startswith("COMMIT"):
            yield from (_whole(row, name, columns) for name, row in pending)
            pending = []
        elif line.startswith("ROLLBACK"):
            pending = []


def _whole(row: dict[int, int], table: str, columns: int) -> tuple[int, ...]:
    if len(row) < columns:
        raise ServerFailedError(
            f"the binary log has a row of {table} without integers in its first {columns} columns: {row}"
        )
    return tuple(row[column] for column in range(1, columns + 1))


def _read(program: Path, file: Path) -> list[str]:
    """Return what the reader prints of a file, as far as the file can be read."""
    try:
        done = run([str(program), *OPTIONS, str(file)], limit_s=CHECK_LIMIT_S)
    except (OSError, TimedOut) as error:
        raise ServerFailedError(f"{program.name} does not read it: {error}") from error
    # It prints its preamble before it opens the file: without that, the program itself failed.
    if not done.out.strip():
        complaint = " ".join(done.complaint.split())
        raise ServerFailedError(f"{program.name} does not read it: {complaint}")
    return done.out.splitlines()
