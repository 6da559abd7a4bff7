"""What a running server answered: SHOW VARIABLES, SHOW ALL and pg_settings.

As tables with borders, with tabs, or as CSV. SHOW GLOBAL STATUS, in the same forms, is passed over.
"""

import csv
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Literal

from diskproof.importers.base import Format, Found, Text, check_number
from diskproof.importers.numbers import broken
from diskproof.results.imported import Settings

NAMES = {"variable_name", "name"}
VALUES = {"value", "variable_value", "setting"}

_NAME = re.compile(r"[A-Za-z_][\w.]{0,80}")
_RULE = re.compile(r"\s*[+-]{3,}\s*")
_COMMAND = re.compile(
    r"\bshow\s+(?:(?:global|session|local)\s+)?(?:(?P<settings>variables)|(?P<counters>status))\b"
    r"|\b(?:information|performance)_schema\.(?:global|session)_(?:(?P<variables>variables)|(?P<status>status))\b"
    r"|\bmysqladmin\b.*\s(?:(?P<listed>variables)|(?P<extended>extended-status))\b",
    re.IGNORECASE,
)
"""What was typed to get a table; the last named group says which it was."""

_OF_EITHER = re.compile(r"wsrep_|validate_password[._]|group_replication_|mysqlx_")
"""Prefixes in small letters of settings and of counters too: such a name says nothing about its table."""

OF_COUNTERS = {"wsrep_cluster_size", "wsrep_cluster_status", "wsrep_connected", "wsrep_ready"}
"""Counters in small letters: a table that holds nothing but `_OF_EITHER` is known by these."""

OF_SETTINGS = {"VERSION", "DATADIR", "BASEDIR", "MAX_CONNECTIONS", "INNODB_BUFFER_POOL_SIZE", "SYNC_BINLOG"}
"""information_schema prints settings and counters in capitals: these are settings."""

UNITS = {"8kB": (8, "kB")}
"""Units of pg_settings that are no unit by themselves."""


@dataclass(frozen=True)
class _Row:
    line: int
    name: str
    value: str


def _is_dump(text: Text) -> bool:
    return any(_header(line) for line in text.lines) or _is_bare(text)


def _is_bare(text: Text) -> bool:
    """Tell whether all lines are names and values between tabs, as ``mysql -N -B`` prints them."""
    if "\t" not in text.content:
        return False
    told = [line for line in text.lines if line.strip()]
    shaped = all("\t" in line and _NAME.fullmatch(line.partition("\t")[0]) for line in told)
    known = re.compile(r"(?:innodb_|version\t|max_connections\t|Uptime\t|Com_|Innodb_)")
    return len(told) > 1 and shaped and any(known.match(line) for line in told)


Kind = Literal["settings", "counters"]


@dataclass
class _Table:
    """The rows below one head; a table is of one kind."""

    told: Kind | None = None
    """By the command above it."""
    rows: list[_Row] = field(default_factory=list)

    @property
    def kind(self) -> Kind:
        """Settings or counters: as the command says, else as most of the names that are of one kind."""
        if self.told:
            return self.told
        names = [row.name for row in self.rows]
        if any(name in OF_SETTINGS for name in names):
            return "settings"  # in capitals, as all names of information_schema
        sure = [name for name in names if not _OF_EITHER.match(name)]
        if not sure:
            return "counters" if any(name in OF_COUNTERS for name in names) else "settings"
        return "counters" if 2 * sum(name[0].isupper() for name in sure) > len(sure) else "settings"


def _read(text: Text) -> Iterator[Found]:
    tables = list(_tabular(text) if any(map(_header, text.lines)) else _bare(text))
    settings = [row for table in tables if table.kind == "settings" for row in table.rows]
    if not settings:
        raise broken(text, 1, "it has no variable of a server; counters (SHOW GLOBAL STATUS) are not read")
    check_number(text, {row.name for row in settings})
    heads = (_header(line) for line in text.lines)
    yield _settings(text, settings, of_postgresql=any(head and head.of_postgresql for head in heads))


def _commanded(line: str) -> Kind | None:
    """Return what a line asks a server for; None of one that is no such command."""
    found = _COMMAND.search(line)
    if found is None:
        return None
    return "settings" if found.lastgroup in {"settings", "variables", "listed"} else "counters"


def _bare(text: Text) -> Iterator[_Table]:
    """Yield the rows of a text without heads, in which one kind may follow the other."""
    table = _Table()
    before: str | None = None
    for number, line in enumerate(text.lines, start=1):
        if not line.strip():
            continue
        row = _Row(number, *_two(line))
        if not _OF_EITHER.match(row.name):
            if before is not None and row.name[0].isupper() != before[0].isupper():
                yield table
                table = _Table()
            before = row.name
        table.rows.append(row)
    yield table


def _two(line: str) -> tuple[str, str]:
    name, _, value = line.partition("\t")
    return name, value.strip()


# ---------------------------------------------------------------- tables


@dataclass(frozen=True)
class _Head:
    """The head of a table: how its cells are kept apart, and which are which."""

    separator: str
    name: int
    value: int
    unit: int | None
    of_postgresql: bool
    """PostgreSQL calls a value a setting."""


def _header(line: str) -> _Head | None:
    words = line.lower()
    if "name" not in words or not any(value in words for value in VALUES):
        return None  # nearly every line of a large file
    for separator in ("\t", "|", ","):
        cells = [cell.lower() for cell in _cells(line, separator)]
        if len(cells) < 2:
            continue
        name = next((at for at, cell in enumerate(cells) if cell in NAMES), None)
        value = next((at for at, cell in enumerate(cells) if cell in VALUES), None)
        if name is not None and value is not None:
            unit = cells.index("unit") if "unit" in cells else None
            return _Head(separator, name, value, unit, cells[value] == "setting")
    return None


def _cells(line: str, separator: str) -> list[str]:
    if separator == ",":
        try:
            return [cell.strip() for cell in next(csv.reader([line]), [])]
        except csv.Error:
            return []
    plain = line.strip(" \r\n") if separator == "\t" else line.strip().removeprefix("|").removesuffix("|")
    return [cell.strip() for cell in plain.split(separator)]


def _tabular(text: Text) -> Iterator[_Table]:
    """Yield the table below each head; a line of another shape (a prompt, a count of rows) is passed over."""
    head: _Head | None = None
    table = _Table()
    for number, line in enumerate(text.lines, start=1):
        if found := _header(line):
            head = found
            if table.rows:
                yield table
                table = _Table()
            continue
        row = _row(number, line, head) if head else None
        if row is not None:
            table.rows.append(row)
        elif commanded := _commanded(line):
            yield table
            table = _Table(commanded)
    yield table


def _row(number: int, line: str, head: _Head) -> _Row | None:
    if _RULE.fullmatch(line) or head.separator not in line:
        return None
    cells = _cells(line, head.separator)
    if len(cells) <= max(head.name, head.value) or not _NAME.fullmatch(cells[head.name]):
        return None
    value = cells[head.value]
    if head.unit is not None and head.unit < len(cells):
        value = _with_unit(value, cells[head.unit])
    return _Row(number, cells[head.name], value)


def _with_unit(value: str, unit: str) -> str:
    """Return ``131072kB`` for 16384 of ``8kB``: a value that needs no second column."""
    times, plain = UNITS.get(unit, (1, unit))
    if not unit or not re.fullmatch(r"\d{1,18}", value):
        return value
    return f"{int(value) * times}{plain}"


def _settings(text: Text, rows: list[_Row], *, of_postgresql: bool) -> Settings:
    values: dict[str, str | None] = {row.name.lower(): row.value for row in rows}
    postgresql = of_postgresql or "server_version" in values
    return Settings(
        source=text.source(rows[0].line, "pg_settings" if postgresql else "SHOW VARIABLES"),
        observed=True,
        values=values,
        last_line=rows[-1].line,
        version=_version(values),
    )


def _version(values: dict[str, str | None]) -> str | None:
    if values.get("server_version"):
        return f"PostgreSQL {values['server_version']}"
    version, comment = values.get("version"), values.get("version_comment")
    return f"{version} ({comment})" if version and comment else version or None


VARIABLES = Format("server variables", _is_dump, _read)
