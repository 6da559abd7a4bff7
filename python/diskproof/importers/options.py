"""Option files of servers: my.cnf and its kin, postgresql.conf, a pasted piece of either, ``--option=value``.

The reader returns the file's lines and does not interpret them. A later line wins, as with the server.
"""

import re
import shlex
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from diskproof.families.mysql.option_file import GROUP, is_read
from diskproof.families.options import Server
from diskproof.importers.base import Format, Found, ImportRefusedError, Text, check_number
from diskproof.reading import MIB, UnreadableError, read_bytes
from diskproof.refusal import why_refused
from diskproof.results.imported import AskedOption, Settings
from diskproof.results.record import Family
from diskproof.system.fence import CONFIGURATION

SECTION = re.compile(r"\s*\[([\w.-]{1,60})[ \t]*\]\s*(?:[#;].*)?")

_OPTIONS: dict[Family, re.Pattern[str]] = {
    "mysql": re.compile(
        r"(?:--)?(?P<name>[A-Za-z][A-Za-z0-9_.-]{0,80})(?:\s*(?P<equals>=)|(?=\s*#)|$)(?P<value>.*)"
    ),
    "postgresql": re.compile(
        r"(?P<name>[A-Za-z_]\w{0,80}(?:\.\w{1,80})?)(?:\s*(?P<equals>=)|\s)(?P<value>.*)"
    ),
}
"""Each of a line without the space around it."""

_WORDS: dict[Family, re.Pattern[str]] = {
    "mysql": re.compile(
        r"(?:(?:loose|skip|disable|enable)_)?(?:innodb_\w+|sync_binlog|log_bin\w*|max_connections|\w+_buffer_size"
        r"|query_cache_\w+|binlog_\w+|replicate_\w+|thread_\w+|table_(?:open_|definition_)?cache|tmp_table_size"
        r"|max_heap_table_size|key_buffer\w*|datadir|basedir|tmpdir|name_resolve|server_id|max_allowed_packet"
        r"|performance_schema\w*|default_storage_engine|expire_logs_days|sql_mode|slow_query_\w+|pid_file"
        r"|character_set_server|collation_server|external_locking|symbolic_links|gtid_\w+|open_files_limit)"
    ),
    "postgresql": re.compile(
        r"shared_buffers|effective_\w+|\w*work_mem|\w*wal_\w+|min_wal_size|synchronous_commit|full_page_writes"
        r"|checkpoint_\w+|fsync|random_page_cost|autovacuum\w*|listen_addresses|commit_delay|commit_siblings"
        r"|max_connections|include\w*|log_(?:timezone|line_prefix|destination|min_\w+)|timezone|lc_\w+|datestyle"
        r"|max_(?:worker_processes|parallel_\w+)|default_statistics_target|\w+_mem|archive_\w+|hot_standby\w*"
        r"|shared_preload_libraries|unix_socket_\w+|dynamic_shared_memory_type|logging_collector|jit|huge_pages"
    ),
}
"""Names of options that tell a family's files from other texts, and from each other's."""

_CLEARLY_POSTGRESQL = re.compile(r"[A-Za-z_][\w.]*\s*(?:=\s*'.*'|\s[^=\s].*|=.*\d(?:kB|[MGT]B|ms|min|s|h|d))")
"""A value in single quotes or with such a unit, and one without `=` before it."""

ESCAPES = {"b": "\b", "t": "\t", "n": "\n", "r": "\r", "\\": "\\", "s": " ", "'": "'", '"': '"'}
"""What a backslash means in an option file of the MySQL family (manual: Using Option Files)."""


# ---------------------------------------------------------------- includes

_INCLUDES: dict[Family, re.Pattern[str]] = {
    "mysql": re.compile(r"\s*!\s*(?P<how>include|includedir)\s+(?P<target>\S.*?)\s*"),
    "postgresql": re.compile(
        r"\s*(?P<how>include|include_dir|include_if_exists)(?:\s*=\s*|\s+|(?='))"
        r"(?P<target>'[^']+'|[^'#\s]+)\s*(?:#.*)?",
        re.IGNORECASE,
    ),
}

ENDINGS = {"mysql": ".cnf", "postgresql": ".conf"}
"""Which files of an included folder are read."""

DEEPEST = 10
"""Files in each other; both families' servers stop there."""

MOST_INCLUDED = 200
MOST_BYTES = MIB


@dataclass(frozen=True)
class Line:
    """A line of an option file, or of one that it includes."""

    file: str
    """Empty: the option file itself."""
    number: int
    said: str


@dataclass
class Lines:
    """The lines of an option file, with those of the files that it includes in their places."""

    family: Family
    all: list[Line] = field(default_factory=list)
    missing: list[str] = field(default_factory=list)
    """What could not be read, each with the reason."""
    included: list[str] = field(default_factory=list)

    @property
    def whole(self) -> bytes:
        """The content of one file that says the same."""
        return "".join(f"{line.said}\n" for line in self.all).encode()

    def add(self, name: str, lines: Sequence[str], above: tuple[Path, ...]) -> None:
        """Add the lines of a file; `above` are the files that include each other, and it as the last one.

        Nothing is followed out of a text that is no file of its own.
        """
        group = ""
        for number, said in enumerate(lines, start=1):
            directive = _INCLUDES[self.family].fullmatch(said)
            if directive is None:
                group = said if self.family == "mysql" and SECTION.fullmatch(said) else group
                self.all.append(Line(name, number, said))
                continue
            before = len(self.included)
            for why in self._follow(directive["how"].lower(), directive["target"].strip("'"), above):
                self.missing.append(f"`{said.strip()}` in {_place(name, number)} ({why})")
            if group and len(self.included) > before:  # an included file begins without a group
                self.all.append(Line(name, number, group))

    def _follow(self, how: str, target: str, above: tuple[Path, ...]) -> Iterator[str]:
        """Add what a directive includes, and yield why something of it could not be read."""
        if not above:
            yield "it was not followed"
            return
        wanted = above[-1].parent / target
        if not CONFIGURATION.fullmatch(wanted.resolve().name):
            yield f"{wanted.resolve()} is not read: its name does not end in .cnf, .conf, .ini or .d"
            return
        try:
            files = _in_folder(wanted, ENDINGS[self.family]) if how.endswith("dir") else [wanted]
        except FileNotFoundError:
            yield "there is no such folder"
            return
        except OSError as error:
            yield why_refused(error)
            return
        for file in files:
            if file.resolve() in (one.resolve() for one in above):
                yield f"{file} includes itself"
            elif len(above) >= DEEPEST or len(self.included) >= MOST_INCLUDED:
                yield f"more than {DEEPEST} files in each other, or {MOST_INCLUDED} in all"
            else:
                try:
                    content = read_bytes(file, MOST_BYTES)
                except UnreadableError as error:
                    yield str(error)
                    continue
                self.included.append(str(file))
                if self.family == "mysql":
                    self.all.append(Line(str(file), 0, "[none]"))
                self.add(str(file), content.decode("utf-8-sig", "replace").splitlines(), (*above, file))


def _in_folder(folder: Path, ending: str) -> list[Path]:
    return sorted(one for one in folder.iterdir() if one.suffix == ending and not one.name.startswith("."))


def _place(file: str, line: int) -> str:
    return f"{file}, line {line}" if file else f"line {line}"


def lines_of(text: Text, family: Family) -> Lines:
    """Return a file's lines with those that it includes."""
    found = Lines(family)
    path = Path(text.file)
    found.add("", text.lines, (path,) if path.is_file() else ())
    return found


# ---------------------------------------------------------------- whose file it is


def family_of(text: Text) -> Family | None:
    """Return the family whose option file a text is: by its groups, else by its shape and most names.

    None of a text that is no option file.
    """
    heads = [head[1] for line in text.lines if (head := SECTION.fullmatch(line))]
    if any(GROUP.fullmatch(head) for head in heads):
        return "mysql"
    said = [line.strip() for line in text.lines if line.strip() and not line.lstrip().startswith(("#", ";"))]
    if any(_INCLUDES["mysql"].fullmatch(line) for line in said):
        return "mysql"
    if heads or not said:
        return None
    names: dict[Family, int] = {}
    for family, option in _OPTIONS.items():
        found = [option.fullmatch(line) for line in said]
        if all(found):
            words = _WORDS[family]
            names[family] = sum(1 for one in found if one and words.fullmatch(_name(one["name"])))
    most = max(names.values(), default=0)
    likely = [family for family, count in names.items() if count == most]
    if not most or len(likely) == 1:
        return likely[0] if most else None
    of_postgresql = text.file.endswith(".conf") or any(_CLEARLY_POSTGRESQL.fullmatch(line) for line in said)
    return "postgresql" if of_postgresql else "mysql"


# ---------------------------------------------------------------- the lines


def settings_of(text: Text, family: Family) -> tuple[Settings, Lines]:
    """Return what an option file asks for; ImportRefusedError if nothing of it is a server's."""
    lines = lines_of(text, family)
    bad: list[str] = []
    read = _mysql_options if family == "mysql" else _postgresql_options
    found = list(read(lines.all, bad))
    if bad:
        raise ImportRefusedError(f"{text.file}: {'; '.join(bad[:MOST_BAD])}: correct or remove these lines")
    if not found and not lines.included and not lines.missing:
        where = " in a group that servers read, such as [mysqld]" if family == "mysql" else ""
        raise ImportRefusedError(f"{text.file} sets nothing: no option stands there{where}")
    check_number(text, {(option.group, option.name) for option in found})
    unnamed = Server(None, None)
    return Settings(
        source=text.source(next((one.line for one in found if not one.file), 1), FORMS[family]),
        observed=False,
        values={one.name: one.value for one in found if is_read(one.group, unnamed)},
        options=found,
        included=lines.included,
        missing=lines.missing,
        last_line=max((one.line for one in found if not one.file), default=0),
    ), lines


FORMS: dict[Family, str] = {"mysql": "my.cnf", "postgresql": "postgresql.conf"}


MOST_BAD = 20
"""Lines that are named at once."""


def _mysql_options(lines: Sequence[Line], bad: list[str]) -> Iterator[AskedOption]:
    """Yield the options of all groups that servers read; those of other programs' groups are left out.

    A line that is none is added to the `bad` ones.
    """
    sections = any(SECTION.fullmatch(line.said) for line in lines)
    group = ""
    for line in lines:
        plain = line.said.strip()
        if head := SECTION.fullmatch(line.said):
            group = head[1]
        elif plain.startswith("```"):
            sections, group = True, "none"  # the end of what was pasted into a page
        elif not plain or plain.startswith(("#", ";")) or (sections and not GROUP.fullmatch(group)):
            continue
        elif plain.startswith("--"):
            for word in _words(plain):
                yield from _option(line, word[2:], group, bad) if word[:2] == "--" else ()
        else:
            yield from _option(line, plain, group, bad)


def _words(said: str) -> list[str]:
    """Return the words of a command's line."""
    try:
        return shlex.split(said.rstrip("\\"))
    except ValueError:
        return said.rstrip("\\").split()


def _option(line: Line, said: str, group: str, bad: list[str]) -> Iterator[AskedOption]:
    found = _OPTIONS["mysql"].fullmatch(said.removeprefix("set-variable").lstrip(" ="))  # of MySQL 3 and 4
    if found is None:
        bad.append(_no_option(line))
        return
    name, value = found["name"], found["value"].strip()
    yield AskedOption(
        name=_name(name),
        value=_mysql_value(value) if found["equals"] else None,
        line=line.number,
        file=line.file,
        group=group,
        loose=name.lower().startswith(("loose-", "loose_")),
    )


def _no_option(line: Line) -> str:
    return f"{_place(line.file, line.number)}: {line.said.strip()[:60]!r} is no option"


def _name(told: str) -> str:
    """Return an option's own name: ``loose-`` only says that a server may not know it."""
    return told.lower().replace("-", "_").removeprefix("loose_")


_BEFORE_COMMENT = re.compile(r"""(?:'(?:\\.|[^'\\])*(?:'|\\?$)|"(?:\\.|[^"\\])*(?:"|\\?$)|[^#'"])*""")


def _mysql_value(told: str) -> str:
    """Return a value without quotes and comment, which does not begin between quotes."""
    told = _BEFORE_COMMENT.findall(told)[0].rstrip()
    if told[:1] in {"'", '"'} and told[0] == told[-1]:
        told = told[1:-1]
    return re.sub(r"\\(.)", lambda found: ESCAPES.get(found[1], found[0]), told)


def _postgresql_options(lines: Sequence[Line], bad: list[str]) -> Iterator[AskedOption]:
    for line in lines:
        plain = line.said.strip()
        if not plain or plain.startswith("#") or _INCLUDES["postgresql"].fullmatch(plain):
            continue
        option = _OPTIONS["postgresql"].fullmatch(plain)
        if option is None:
            bad.append(_no_option(line))
            continue
        value = _postgresql_value(option["value"].strip())
        yield AskedOption(name=option["name"].lower(), value=value, line=line.number, file=line.file)


def _postgresql_value(told: str) -> str:
    if told.startswith("'") and (quoted := re.match(r"'((?:[^'\\]|''|\\.)*)'", told)):
        return re.sub(r"''|\\(.)", lambda found: ESCAPES.get(found[1], found[1] or "'"), quoted[1])
    return told.partition("#")[0].rstrip()


def _format(family: Family) -> Format:
    def read(text: Text) -> Iterator[Found]:
        yield settings_of(text, family)[0]

    return Format(FORMS[family], lambda text: family_of(text) == family, read)


MY_CNF = _format("mysql")
POSTGRESQL_CONF = _format("postgresql")
