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
from diskproof.results.records import format_bytes
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
program, whose own default stands under "by hand". `oltp`, `conditions` and `script` are measured for a \
time; `slap` and `sqlbench` are jobs, which end by themselves and are judged by their seconds."""


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
    helps = {verb: _help(verb, kind) for verb in ("prepare", "run")}
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


def _script() -> list[str]:
    return ["Statements are those of the files: [scripts](scripts.md) has the language."]


STATEMENTS = {
    "oltp": _oltp,
    "slap": _slap,
    "sqlbench": _sqlbench,
    "conditions": _conditions,
    "script": _script,
}


def _statements(kind: Literal["oltp", "slap", "conditions"], arguments: list[str]) -> list[dict[str, Any]]:
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
