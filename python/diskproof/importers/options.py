"""Option files of servers: my.cnf and its kin, postgresql.conf, a pasted piece of either, ``--option=value``.

The reader returns the file's values and does not interpret them. A later line wins, as with the server.
"""

import re
import shlex
from collections import Counter
from collections.abc import Iterator
from dataclasses import asdict, dataclass, replace

from diskproof.importers.base import Format, Found, Text, check_number
from diskproof.importers.numbers import broken
from diskproof.results.imported import SeriesOption, Settings

SECTION = re.compile(r"\s*\[([\w.-]{1,60})\]\s*(?:[#;].*)?")

SERVER_SECTION = re.compile(
    r"(?:mysqld|mariadbd?|server|embedded|galera)(?:-(\d{1,3}(?:\.\d{1,3}){0,2}))?", re.IGNORECASE
)
"""The groups that a server of the MySQL family reads; ``[mysqld-5.7]`` only one of that series."""

_OPTION = re.compile(r"(?P<name>[A-Za-z][A-Za-z0-9_.-]{0,80})(?:\s*(?P<equals>=)|(?=[\s#])|$)(?P<value>.*)")
_POSTGRESQL_OPTION = re.compile(r"(?P<name>[A-Za-z]\w{0,80}(?:\.\w{1,80})?)(?:\s*=|\s)(?P<value>.*)")
"""Both of a line without the space around it."""

_INCLUDE = re.compile(r"\s*!include(?:dir)?\s")

MYSQL_WORDS = re.compile(
    r"(?:loose_)?(?:innodb_\w+|sync_binlog|log_bin\w*|skip_log_bin|max_connections|key_buffer_size|query_cache_\w+"
    r"|binlog_\w+|thread_pool_\w+|thread_cache_size|table_open_cache|tmp_table_size|max_heap_table_size"
    r"|join_buffer_size|sort_buffer_size|read_buffer_size|datadir|skip_name_resolve|server_id"
    r"|max_allowed_packet|performance_schema|default_storage_engine|expire_logs_days|tmpdir)"
)
"""Options of servers of the MySQL family alone: by these a piece without a section is
known for what it is."""

POSTGRESQL_WORDS = re.compile(
    r"shared_buffers|effective_cache_size|work_mem|maintenance_work_mem|wal_\w+|max_wal_size|min_wal_size"
    r"|synchronous_commit|full_page_writes|checkpoint_\w+|fsync|random_page_cost|effective_io_concurrency"
    r"|autovacuum\w*|listen_addresses|commit_delay|commit_siblings"
)

ESCAPES = {"b": "\b", "t": "\t", "n": "\n", "r": "\r", "\\": "\\", "s": " "}
"""What a backslash means in an option file of the MySQL family (manual: Using Option Files)."""


@dataclass(frozen=True)
class _Option:
    line: int
    name: str
    value: str | None
    loose: bool = False
    series: str | None = None
    """That of its group, ``8.0`` of ``[mysqld-8.0]``; None of a group that all servers read."""


# ---------------------------------------------------------------- the MySQL family


def _is_mysql(text: Text) -> bool:
    lines = text.lines
    if any((head := SECTION.fullmatch(line)) and SERVER_SECTION.fullmatch(head[1]) for line in lines):
        return True
    return _is_a_piece(lines, MYSQL_WORDS, _OPTION)


def _is_a_piece(lines: list[str], words: re.Pattern[str], option: re.Pattern[str]) -> bool:
    """Tell whether lines without a section are options of one family: all of their shape, one well known."""
    known = False
    for line in map(str.strip, lines):
        if not line or line.startswith(("#", ";", "!")):
            continue
        found = option.fullmatch(line.removeprefix("--"))
        if found is None or (option is _OPTION and " " in line.partition("=")[0].strip()):
            return False
        known = known or words.fullmatch(_name(found["name"])) is not None
    return known


def _read_mysql(text: Text) -> Iterator[Found]:
    found = list(_mysql_options(text))
    if not found:
        raise broken(text, 1, "no option of a server stands in this file (groups like [mysqld] or [server])")
    yield _settings(text, "my.cnf", found)


def _mysql_options(text: Text) -> Iterator[_Option]:
    """Yield the server's options; those of other programs' groups are left out."""
    sections = any(SECTION.fullmatch(line) for line in text.lines)
    ours = not sections
    series: str | None = None
    for line, said in enumerate(text.lines, start=1):
        plain = said.strip()
        if head := SECTION.fullmatch(said):
            group = SERVER_SECTION.fullmatch(head[1])
            ours, series = group is not None, group[1] if group else None
        elif plain.startswith("```"):
            ours = not sections and ours  # the end of what was pasted into a page
        elif not ours or not plain or plain.startswith(("#", ";")) or _INCLUDE.match(said):
            continue
        elif plain.startswith("--"):
            yield from (replace(one, series=series) for one in _arguments(text, line, plain))
        else:
            yield replace(_option(text, line, said), series=series)


def _arguments(text: Text, line: int, said: str) -> Iterator[_Option]:
    """Yield each ``--option=value``; a line may hold several."""
    try:
        words = shlex.split(said.rstrip("\\"))
    except ValueError:
        words = said.rstrip("\\").split()
    for word in words:
        if word.startswith("--") and len(word) > 2:
            yield _option(text, line, word[2:])


def _option(text: Text, line: int, said: str) -> _Option:
    found = _OPTION.fullmatch(said.strip())
    value = found["value"].strip() if found else ""
    if found is None or (value and not found["equals"] and not value.startswith("#")):
        raise broken(text, line, f"{said.strip()[:60]!r} is no option")
    name = found["name"]
    if name == "set-variable" and found["equals"]:
        return _option(text, line, value)  # the form of MySQL 3 and 4
    loose = name.lower().startswith(("loose-", "loose_"))
    return _Option(line, _name(name), _mysql_value(value) if found["equals"] else None, loose)


def _name(told: str) -> str:
    """Return an option's own name: ``loose-`` only says that a server may not know it."""
    return told.lower().replace("-", "_").removeprefix("loose_")


def _mysql_value(told: str) -> str:
    """Return a value without quotes and comment."""
    if told[:1] in {"'", '"'} and (end := told.find(told[0], 1)) > 0:
        told = told[1:end]
    else:
        told = told.partition("#")[0].rstrip()
    return re.sub(r"\\(.)", lambda found: ESCAPES.get(found[1], found[0]), told)


# ---------------------------------------------------------------- PostgreSQL


def _is_postgresql(text: Text) -> bool:
    return _is_a_piece(text.lines, POSTGRESQL_WORDS, _POSTGRESQL_OPTION)


def _read_postgresql(text: Text) -> Iterator[Found]:
    found = []
    for line, said in enumerate(text.lines, start=1):
        option = _POSTGRESQL_OPTION.fullmatch(said.strip())
        if option and not option["name"].startswith("include"):
            found.append(_Option(line, option["name"].lower(), _postgresql_value(option["value"].strip())))
    yield _settings(text, "postgresql.conf", found)


def _postgresql_value(told: str) -> str:
    if told.startswith("'") and (quoted := re.match(r"'((?:[^'\\]|''|\\.)*)'", told)):
        return quoted[1].replace("''", "'")
    return told.partition("#")[0].rstrip()


def _settings(text: Text, kind: str, found: list[_Option]) -> Settings:
    check_number(text, {(option.series, option.name) for option in found})
    of_all = [option for option in found if option.series is None]
    times = Counter(option.name for option in of_all)
    return Settings(
        source=text.source(found[0].line if found else 1, kind),
        observed=False,
        values={option.name: option.value for option in of_all},
        lines={option.name: option.line for option in of_all},
        loose=sorted({option.name for option in of_all if option.loose}),
        of_series=[SeriesOption(**asdict(option)) for option in found if option.series is not None],
        repeated=[name for name, count in times.items() if count > 1],
    )


MY_CNF = Format("my.cnf", _is_mysql, _read_mysql)
POSTGRESQL_CONF = Format("postgresql.conf", _is_postgresql, _read_postgresql)
