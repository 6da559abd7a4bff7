"""What a running server answered: SHOW VARIABLES, SHOW ALL and pg_settings.

As tables with borders, with tabs, or as CSV. SHOW GLOBAL STATUS, in the same forms, is passed over.
"""

import csv
import re
from collections.abc import Iterator
from dataclasses import dataclass

from diskproof.importers.base import Format, Found, Text, check_number
from diskproof.importers.numbers import broken
from diskproof.results.imported import Settings

NAMES = {"variable_name", "name"}
VALUES = {"value", "variable_value", "setting"}

_NAME = re.compile(r"[A-Za-z_][\w.]{0,80}")
_RULE = re.compile(r"\s*[+-]{3,}\s*")
_OF_EITHER = re.compile(r"wsrep_|validate_password[._]|group_replication_|mysqlx_")
"""Prefixes in small letters of settings and of counters too: such a name is passed over."""

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


def _read(text: Text) -> Iterator[Found]:
    heads = [head for line in text.lines if (head := _header(line))]
    rows = list(_tabular(text) if heads else _bare(text))
    of_postgresql = any(head.of_postgresql for head in heads)
    in_capitals = any(row.name in OF_SETTINGS for row in rows)
    settings = [row for row in rows if of_postgresql or _is_setting(row.name, in_capitals=in_capitals)]
    if not settings:
        raise broken(text, 1, "it has no variable of a server; counters (SHOW GLOBAL STATUS) are not read")
    check_number(text, {row.name for row in settings})
    yield _settings(text, settings, of_postgresql=of_postgresql)


def _is_setting(name: str, *, in_capitals: bool) -> bool:
    """Tell a setting from a counter, whose name begins with a capital; one table may be all in capitals."""
    if _OF_EITHER.match(name):
        return False
    return in_capitals if name.isupper() else name[0].islower()


def _bare(text: Text) -> Iterator[_Row]:
    """Yield the rows of a text without heads."""
    return (_Row(number, *_two(line)) for number, line in enumerate(text.lines, start=1) if line.strip())


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


def _tabular(text: Text) -> Iterator[_Row]:
    """Yield the rows below each head; a line of another shape (a prompt, a count of rows) is passed over."""
    head: _Head | None = None
    for number, line in enumerate(text.lines, start=1):
        if found := _header(line):
            head = found
        elif head and (row := _row(number, line, head)):
            yield row


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
