"""The page of the workloads: options and statements from the programs, the way from other tools by hand."""

import csv
import re
import sqlite3
import subprocess
import tempfile
from itertools import groupby
from pathlib import Path
from typing import Any, Literal, get_args, get_type_hints

from pydantic import ByteSize

from diskproof import load
from diskproof.results.record import format_bytes
from diskproof.study.loads import KINDS
from diskproof.study.loads.base import Load, Option

DOCS = Path(__file__).parent
PAGE = DOCS / "workloads.md"
OPERATIONS = DOCS.parent / "crates" / "load" / "tests" / "facts" / "sql-bench-operations.csv"

BY_HAND = "<!-- from here on written by hand; every command of ours is run by a test -->"

MOST_SQL = 150
"""Characters of a statement that are shown."""

INTRODUCTION = """What can be asked of a database. Every workload runs from a study file, as \
`[workloads.NAME]` with its `kind` and keys, and by hand, as `diskproof-load run KIND` with the same names \
as options; [commands](commands.md) has the options that all share. A key without a default is left to the \
program, whose own default stands under "by hand". `oltp`, `conditions`, `script` and `ledger` are measured \
for a time; `slap` and `sqlbench` are jobs, which end by themselves and are judged by their seconds. \
`fileio` asks no database: it works on bare files of a storage."""


def page() -> str:
    """Return the generated part, then what the page holds by hand."""
    parts = ["# Workloads", "<!-- made by `make docs`; do not edit above the part written by hand -->"]
    parts.append(INTRODUCTION)
    for kind, model in KINDS.items():
        parts += [f"## {kind}", model.__doc__ or "", _options(model), *STATEMENTS[kind]()]
    _, mark, by_hand = PAGE.read_text().partition(BY_HAND) if PAGE.is_file() else ("", "", "\n")
    return "\n\n".join([*parts, (mark or BY_HAND) + by_hand.rstrip()]) + "\n"


def _options(model: type[Load]) -> str:
    """Return a row a key: what it is called and defaults to in a study and by hand, and its meaning."""
    kind = get_args(model.model_fields["kind"].annotation)[0]
    helps = {verb: _help(verb, kind) for verb in ("prepare", "run") if model.needs_server}
    rows = [
        "| in a study | default there | by hand | default there | prepare, run | meaning |",
        "|---|---|---|---|---|---|",
    ]
    for name, field in model.model_fields.items():
        key = field.alias or name
        default = _default(field.get_default(call_default_factory=True), field.is_required())
        marks = [mark for mark in field.metadata if isinstance(mark, Option)]
        for mark in marks:
            option = f"--{mark.name or key.replace('_', '-')}"
            by_hand = _default_by_hand(helps[mark.verbs[-1]], option)
            words = ", ".join(mark.verbs)
            rows.append(f"| `{key}` | {default} | `{option}` | {by_hand} | {words} | {field.description} |")
        if not marks and name != "kind":
            rows.append(f"| `{key}` | {default} | | | | {field.description} |")
    return "\n".join(rows)


def _default(value: object, required: bool) -> str:
    if required:
        return "required"
    if value is None or value is False or value in ([], {}):
        return ""
    return f"`{format_bytes(value) if isinstance(value, ByteSize) else value}`"


def _help(verb: str, kind: str) -> str:
    """Return what the program says of a verb, on one line; nothing where it has no such verb."""
    argv = [str(load.program()), verb, kind, "--help"]
    said = subprocess.run(argv, capture_output=True, text=True, check=False)
    return " ".join(said.stdout.split())


def _default_by_hand(said: str, option: str) -> str:
    """Return an option's default in the program's own words."""
    usage, _, options = said.partition(" Options: ")
    if f"{option} <" in usage:
        return "required"
    _, _, about = options.partition(f" {option} ")
    about = re.split(r" (?:-\w, )?--[a-z-]+ (?:<|[A-Z])", about)[0]
    found = re.search(r"\[default: (.+?)\]", about)
    return found[1].replace("|", "\\|") if found else ""


# ---------------------------------------------------------------- statements


def _oltp() -> list[str]:
    mixes = get_args(get_type_hints(KINDS["oltp"])["mix"])
    of_mix = {mix: _statements("oltp", ["--mix", mix]) for mix in mixes}
    rows = ["| mix | statements of a transaction, in their order |", "|---|---|"]
    rows += [f"| `{mix}` | {', '.join(one['name'] for one in found)} |" for mix, found in of_mix.items()]
    # The mix `insert` lets the database number its rows; the transactions put a deleted row back.
    every = {(one["name"], one["sql"]): one for found in of_mix.values() for one in found}
    old = _statements("oltp", ["--schema", "sbtest", "--mix", "complex"])
    return [
        "\n".join(rows),
        "With `sbtestN` tables:",
        _table(list(every.values())),
        "With the `sbtest` table of sysbench 0.4, `complex`:",
        _table(old),
    ]


def _slap() -> list[str]:
    types = get_args(get_type_hints(KINDS["slap"])["load_type"])
    parts = []
    for load_type in types:
        key = ["--auto-increment"] if load_type == "key" else []
        found = _statements("slap", ["--queries", "10", "--seed", "1", "--load-type", load_type, *key])
        parts += [f"`{load_type}`:", _table(found)]
    return parts


def _sqlbench() -> list[str]:
    """Return a row an operation, with its count at scale 1 from the table that the program is held to."""
    with OPERATIONS.open() as lines:
        known = list(csv.DictReader(line for line in lines if not line.startswith("#")))
    with tempfile.TemporaryDirectory() as folder:
        database = Path(folder) / "any.db"
        sqlite3.connect(database).close()
        rows = ["| test | operation | at scale 1 | one statement (on SQLite, of a small table) |"]
        rows.append("|---|---|---:|---|")
        for test, operations in groupby(known, key=lambda row: row["test"]):
            # Operations of several tests share a name; each test has statements of its own.
            asked = ["--scale", "0.001", "--tests", test]
            ready = load.rehearse("sqlbench", asked, f"sqlite:{database}")
            statements = {one["name"]: one["sql"] for one in ready["statements"]}
            for row in operations:
                sql = _sql(statements.get(row["operation"], ""))
                rows.append(f"| {test} | {row['operation']} | {int(row['count']):,} | {sql} |")
    return ["\n".join(rows)]


def _conditions() -> list[str]:
    return [_table(_statements("conditions", ["--tables", "1", "--tables-per-visit", "1"]))]


LEDGER = """\
Two tables, `ledger_accounts` (`id`, `balance`, `transfers`, `filler`) and `ledger_entries` (`client`, \
`number`, `source`, `target`, `amount`, `filler`; no unique key, so that an entry that a recovery brings \
twice is seen and not refused). Every account begins with a balance of 1,000,000. A transaction takes an \
amount of 1 to 1,000 from one account, adds it to another, the lower id first, and inserts the client's next \
entry; accounts and amount are a pure function of the seed, the client and the number. At any moment, \
whatever is under way:

- the balances add up to what they began with;
- each account's balance and `transfers` are what the entries that name it make of them;
- a client's entries are numbered from 1, without a gap and none twice: a transaction that the server rolls \
back (deadlock, lock wait, serialization, a busy file) runs again under its number.

The last holds for the first run on tables that were just made, and while no transaction is given up: the \
numbers of a second run begin at 1 again, and a number whose transaction was given up is passed over.

With `--acknowledgements FILE` a client writes each commit that was acknowledged to it into a new file, as \
the line `CLIENT NUMBER MONOTONIC_US`, before it does anything else: \
[protocol](protocol.md#acknowledgements). What the database holds after a crash is held against that file."""


def _ledger() -> list[str]:
    return [LEDGER, _table(_statements("ledger", []))]


def _script() -> list[str]:
    return ["Statements are those of the files: [scripts](scripts.md) has the language."]


FILEIO = """\
A storage's own file I/O, to lay beside a database's on the same disk: sysbench's `fileio`, made by fio, \
in the same blocks and with the same proofs as the trials of a server. There is no server, so its cells \
have no tuning and no `memory`, and their names are short: `ssd/rndrd/64c`.

| mode | what each client does, one request after the other |
|---|---|
| `rndrd` | reads blocks anywhere in the files |
| `rndwr` | writes them; after every 100 requests of all clients every file is synced |
| `rndrw` | reads while (reads + 1) / (writes + 1) < 1.5, else writes: three reads to two writes; syncs \
as `rndwr` |
| `seqrd` | reads the files from the first block to the last; several clients share one way through them |
| `seqwr` | writes them in the same way, over what is there: what sysbench calls `seqrewr` |

- Each client is a thread with one synchronous request under way. A sync keeps waiting the client that \
came to make it; the syncs of a round are shared among the clients like any other requests.
- The verdict is about requests a second: reads and writes. Syncs take their time and are counted beside \
them (a statement of kind `other`); latencies are of reads and writes. MB are 10^6 bytes.
- The files are written whole before the first trial (no holes, nothing merely set aside) and are cold in \
every trial. On virtual disks and in memory they hold zeroes, which a virtual disk keeps for nothing; on \
real disks, and where a file system compresses, they hold what cannot be compressed.
- `direct = false` goes through the page cache. `seqrd` and `seqwr` are then one pass without warm-up, at \
most `measure_s` long; at the end of `seqwr` what is still in the cache is synced, and that counts in its \
time. With one file and blocks of 1 MiB that is `dd bs=1M conv=fsync`.
- fio has no pattern for syncs of all files and for threads that share a way: there it replays a log of \
requests, one for each client, which is made for twice the pace of the warm-up and removed afterwards. \
fio's job files and its answers stay in the run's folder, `servers/TRIAL/`."""


def _fileio() -> list[str]:
    return [FILEIO]


STATEMENTS = {
    "oltp": _oltp,
    "slap": _slap,
    "sqlbench": _sqlbench,
    "conditions": _conditions,
    "script": _script,
    "ledger": _ledger,
    "fileio": _fileio,
}


def _statements(
    kind: Literal["oltp", "slap", "conditions", "ledger"], arguments: list[str]
) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = load.rehearse(kind, arguments)["statements"]
    return found


def _table(statements: list[dict[str, Any]]) -> str:
    rows = ["| statement | kind | SQL |", "|---|---|---|"]
    rows += [f"| {one['name']} | {one['kind']} | {_sql(one['sql'])} |" for one in statements]
    return "\n".join(rows)


def _sql(text: str) -> str:
    one_line = " ".join(text.split()).replace("|", "\\|")
    shown = one_line if len(one_line) <= MOST_SQL else f"{one_line[:MOST_SQL]}…"
    return f"`{shown}`" if shown else ""
