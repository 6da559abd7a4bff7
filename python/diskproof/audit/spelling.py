"""Options and values that no server takes: a letter too many, a word where a number belongs."""

import re
from collections.abc import Collection, Iterator, Mapping

from diskproof.audit import option_names
from diskproof.audit.check import Apart, Configuration, Problem, Said, Untold, check
from diskproof.audit.configuration import is_whole, server_of
from diskproof.audit.option_facts import LIVES
from diskproof.results.imported import Settings
from diskproof.results.trial import Severity

SHORTEST = 5
"""Letters of a name that is compared: of shorter ones too many differ in one. A judgement."""

TWO_FROM = 10
"""Letters from which two mistakes are taken for one misspelling, and not for another name. A judgement: of
the options of MySQL 5.5, 5.7 and 8.0 none that MariaDB lacks is so near to one that it has."""

MOST_NAMED = 10

PREFIXES = ("skip_", "disable_", "enable_", "maximum_")
"""What servers of the MySQL family take before a name (MySQL Reference Manual, Program Option Modifiers)."""


# ---------------------------------------------------------------- names


@check(
    "misspelt-option",
    reason="A server does not start with an option that it does not know, and an option file that no server "
    "started with tells nothing of the figures beside it.",
    remedy="spell it as the server does, and say what the server answers to SHOW VARIABLES",
    source="the server's own answer, or the names that the servers' help and manuals list; "
    "Damerau, A technique for computer detection and correction of spelling errors, 1964",
)
def misspelt_option(configuration: Configuration) -> Iterator[Said]:
    """Find options that no server has, by a name that one has."""
    settings, observed = configuration.settings, configuration.observed
    if settings.observed:
        yield Apart("a server's answer, which holds only what it knows")
        return
    postgresql = server_of(configuration).is_postgresql
    known = _known(postgresql=postgresql)
    answered = observed.values if observed is not None and is_whole(observed) else {}
    strange = [name for name in settings.values if not _is_known(name, known, answered)]
    untold = []
    for name in strange[:MOST_LOOKED_AT]:
        near = nearest(_plain(name), answered or known) or nearest(_plain(name), known)
        if not near and not answered:
            untold.append(f"`{name}`")
            continue
        if answered:
            said = f"the server's {len(answered)} variables do not include it"
        else:
            said = "no server known here has it"
        said += f"; did you mean `{near}`?" if near else ", and no server known here has it"
        yield Problem(_severity(settings, name), f"`{name}` in {_where(settings, name)}: {said}")
    if untold:
        more = f" and {len(untold) - MOST_NAMED} more" if len(untold) > MOST_NAMED else ""
        yield Untold(f"which server has {', '.join(untold[:MOST_NAMED])}{more}: none that is known here")


MOST_LOOKED_AT = 30
"""Strange names of one file: what has more is another file."""


def _known(*, postgresql: bool) -> frozenset[str]:
    ours = {life.name for life in LIVES if (life.flavour == "PostgreSQL") is postgresql}
    return (option_names.POSTGRESQL if postgresql else option_names.FAMILY) | ours


def _is_known(name: str, known: frozenset[str], answered: Mapping[str, str | None]) -> bool:
    """Tell whether a name is one that some server has, maybe behind a prefix, or shortened.

    A server of the MySQL family takes the beginning of a name where it is no other's (`key_buffer`);
    PostgreSQL takes any name with a point, as an extension's.
    """
    plain = _plain(name)
    if "." in name or any(one in known or one in answered for one in (name, plain)):
        return True
    return any(one.startswith(plain) for one in (*known, *answered))


def _plain(name: str) -> str:
    return next((name.removeprefix(one) for one in PREFIXES if name.startswith(one)), name)


def nearest(name: str, known: Collection[str]) -> str | None:
    """Return the known name that `name` is most probably a misspelling of; None where none is near."""
    if len(name) < SHORTEST:
        return None
    most = 2 if len(name) >= TWO_FROM else 1
    near = [(distance, one) for one in known if (distance := _distance(name, one, most)) <= most]
    return min(near)[1] if near else None


def _distance(one: str, other: str, most: int) -> int:
    """Return how many letters are put in, left out, replaced or exchanged with the next; `most` + 1 if more.

    Damerau 1964, as optimal string alignment: no part is changed twice.
    """
    if abs(len(one) - len(other)) > most or len({*one} ^ {*other}) > 2 * most:
        return most + 1  # a change brings in one letter and takes out one, at the most
    before: list[int] = []
    row = list(range(len(other) + 1))
    for at, letter in enumerate(one, start=1):
        last, row = row, [at]
        for there, its in enumerate(other, start=1):
            steps = min(last[there] + 1, row[-1] + 1, last[there - 1] + (letter != its))
            if at > 1 and there > 1 and (letter, one[at - 2]) == (other[there - 2], its):
                steps = min(steps, before[there - 2] + 1)
            row.append(steps)
        if min(row) > most:
            return most + 1
        before = last
    return row[-1]


# ---------------------------------------------------------------- values


@check(
    "option-value",
    reason="With a value that it cannot read a server does not start, or takes another value than the "
    "file's.",
    remedy="give a value that the server takes, and say what it answers to SHOW VARIABLES",
    source="mariadbd --verbose --help and postgres --describe-config for the kind of value; the reference "
    "manuals for the choices",
)
def option_value(configuration: Configuration) -> Iterator[Said]:
    """Find words where a number belongs, and values that are none of an option's choices."""
    settings = configuration.settings
    if settings.observed:
        yield Apart("a server's answer, which holds only what it took")
        return
    takes = _postgresql_takes if server_of(configuration).is_postgresql else _family_takes
    for name, value in settings.values.items():
        wanted = takes(name, value) if value else None
        if wanted:
            where = _where(settings, name)
            yield Problem(_severity(settings, name), f"`{name} = {value}` in {where}: it takes {wanted}")


def _severity(settings: Settings, name: str) -> Severity:
    return "note" if name in settings.loose else "warning"


def _where(settings: Settings, name: str) -> str:
    return f"line {settings.lines[name]}" if name in settings.lines else "the settings"


SWITCH = ("ON", "OFF", "TRUE", "FALSE", "1", "0")
POSTGRESQL_SWITCH = (*SWITCH, "YES", "NO")

CHOICES: dict[str, tuple[str, ...]] = {
    "binlog_format": ("ROW", "STATEMENT", "MIXED", "0", "1", "2"),
    "innodb_change_buffering": ("none", "inserts", "deletes", "changes", "purges", "all", *"012345"),
    "innodb_checksum_algorithm": (
        "crc32", "strict_crc32", "innodb", "strict_innodb", "none", "strict_none", "full_crc32",
        "strict_full_crc32", *"01234567",
    ),
    "innodb_doublewrite": (*SWITCH, "DETECT_AND_RECOVER", "DETECT_ONLY", "fast", "2", "3"),
    "innodb_fast_shutdown": tuple("0123"),
    "innodb_flush_log_at_trx_commit": tuple("0123"),
    "innodb_flush_method": (
        "fsync", "fdatasync", "O_DSYNC", "littlesync", "nosync", "O_DIRECT", "O_DIRECT_NO_FSYNC",
        "ALL_O_DIRECT", "unbuffered", "async_unbuffered", "normal", *"01234567",
    ),
    "innodb_flush_neighbors": ("0", "1", "2"),
    "query_cache_type": ("OFF", "ON", "DEMAND", "0", "1", "2"),
    "thread_handling": (
        "one-thread-per-connection", "no-threads", "pool-of-threads", "loaded-dynamically", *"0123",
    ),
    "transaction_isolation": (
        "READ-UNCOMMITTED", "READ-COMMITTED", "REPEATABLE-READ", "SERIALIZABLE", *"0123",
    ),
}  # fmt: skip
"""Of the MySQL family, what some options that bear on measurements take on any of its versions: MySQL and
MariaDB reference manuals; Percona's adds ALL_O_DIRECT."""

POSTGRESQL_CHOICES: dict[str, tuple[str, ...]] = {
    "huge_pages": (*POSTGRESQL_SWITCH, "try"),
    "synchronous_commit": (*POSTGRESQL_SWITCH, "local", "remote_write", "remote_apply"),
    "wal_compression": (*POSTGRESQL_SWITCH, "pglz", "lz4", "zstd"),
    "wal_level": ("minimal", "replica", "logical", "archive", "hot_standby"),
    "wal_sync_method": (
        "fsync", "fdatasync", "open_sync", "open_datasync", "fsync_writethrough", "fsync_writethrough_only",
    ),
}  # fmt: skip
"""PostgreSQL documentation, WAL and Resource Consumption, of all versions."""

_FAMILY_NUMBER = re.compile(r"[-+]?(?:\d+(?:\.\d*)?|\.\d+)(?:e[-+]?\d+)?\s*(?:[kmgtpe].*)?", re.IGNORECASE)
"""A server of the family reads the first letter behind a number, and not the next: ``64MB`` is ``64M``."""

_POSTGRESQL_NUMBER = re.compile(
    r"[-+]?(?:0x[0-9a-fA-F]+|(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][-+]?\d+)?)\s*(?:B|kB|MB|GB|TB|us|ms|s|min|h|d)?"
)


def _family_takes(name: str, value: str) -> str | None:
    """Return what an option takes, where `value` is not it; None where it is, or nothing is known."""
    if (choices := CHOICES.get(name)) and not _is_one_of(value, choices):
        return _one_of(choices)
    if (
        name in option_names.MYSQL_NUMBERS
        and name not in CHOICES
        and not _FAMILY_NUMBER.fullmatch(value.strip())
    ):
        return "a number, maybe with K, M or G"
    return None


def _postgresql_takes(name: str, value: str) -> str | None:
    if choices := POSTGRESQL_CHOICES.get(name):
        return None if _is_one_of(value, choices) else _one_of(choices)
    if name in option_names.POSTGRESQL_SWITCHES and not _is_one_of(value, POSTGRESQL_SWITCH):
        return _one_of(POSTGRESQL_SWITCH)
    if name in option_names.POSTGRESQL_NUMBERS and not _POSTGRESQL_NUMBER.fullmatch(value.strip()):
        return "a number, maybe with a unit as kB, MB, ms or s (capitals count)"
    return None


def _is_one_of(value: str, choices: Collection[str]) -> bool:
    """Tell whether a server takes a value for one of its choices; their beginnings are taken too."""
    told = value.strip().casefold()
    return any(one.casefold().startswith(told) for one in choices)


def _one_of(choices: Collection[str]) -> str:
    words = [one for one in choices if not one.isdecimal()] or list(choices)
    return f"{', '.join(words[:-1])} or {words[-1]}"
