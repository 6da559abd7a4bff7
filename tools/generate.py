"""Writes the reference pages from the code; `--check` only compares them, and a test runs it."""

import json
import sys
from collections.abc import Callable, Collection, Mapping, Sequence
from functools import partial
from typing import Any

import devices
import examples
import shown
import study_prose
import workloads
from diskproof.audit.check import Check
from diskproof.audit.registry import (
    CONFIGURATION_CHECKS,
    RESULT_CHECKS,
    RUN_CHECKS,
    TRIAL_CHECKS,
)
from diskproof.cli import VERBS, screen
from diskproof.cli.disk import VERBS as DISK_VERBS
from diskproof.cli.history import VERBS as HISTORY_VERBS
from diskproof.cli.host import VERBS as HOST_VERBS
from diskproof.cli.load import VERBS as LOAD_VERBS
from diskproof.families import FAMILIES, of
from diskproof.study.loads import KINDS
from diskproof.study.model import Study
from diskproof.study.part import OfLevels
from experiments import EXPERIMENTS
from paths import DOCS

NOTE = "<!-- made by `make docs`; do not edit -->"


def study_page() -> str:
    """Return the reference of the study file from its JSON Schema: a table for each part."""
    parts = ["# The study file", NOTE, STUDY]
    return "\n\n".join(parts + _parts("Study", Study.model_json_schema())) + "\n"


STUDY = """\
`diskproof init` writes a first study file, [tutorial.md](tutorial.md) walks through one, and the files in \
`studies/` are examples. It is TOML. This page has every key, but for those of loads \
([workloads.md](workloads.md)); an unknown key is refused. `diskproof schema` prints the JSON Schema, with \
which editors complete and check."""

LOADS = {model.__name__: f"[{kind}](workloads.md#{kind})" for kind, model in KINDS.items()}
"""Links to the loads, whose keys are on a page of their own, by the names of their models."""


def _parts(name: str, schema: dict[str, Any]) -> list[str]:
    parts = _part(name, schema)
    place = schema["$defs"]["PlaceChoice"]["properties"]
    for inner, definition in schema["$defs"].items():
        if "properties" in definition and inner not in LOADS:
            parts += _part(inner, definition, place if inner == "StorageChoice" else ())
    return parts


def _part(name: str, schema: dict[str, Any], elsewhere: Collection[str] = ()) -> list[str]:
    """Return a part's section; keys that stand `elsewhere`, in that of a place, are left out."""
    required = schema.get("required", [])
    rows = ["| key | value | default | meaning |", "|---|---|---|---|"]
    fields = {key: field for key, field in schema["properties"].items() if key not in elsewhere}
    if _is_of_levels(fields):
        keys = ", ".join(f"`{key}`" for key in OfLevels.model_fields)
        rows.append(f"| {keys} | list of string |  | Only these levels; default: all |")
        fields = {key: field for key, field in fields.items() if key not in OfLevels.model_fields}
    for key, field in fields.items():
        default = "required" if key in required else _default(field.get("default"))
        rows.append(f"| `{key}` | {_value(field)} | {default} | {field.get('description', '')} |")
    besides = [PLACE] if elsewhere else []
    return [f"## {name}", schema.get("description", ""), *besides, "\n".join(rows)]


PLACE = "Besides these keys, all of [PlaceChoice](#placechoice)."


def _is_of_levels(fields: Mapping[str, dict[str, Any]]) -> bool:
    """Tell whether a part may be for some levels alone, as those that say no more of that are."""
    declared = OfLevels.model_fields.items()
    return all(fields.get(key, {}).get("description") == one.description for key, one in declared)


def _value(field: dict[str, Any]) -> str:
    """Return what a key takes, in words, from its JSON Schema."""
    if "$ref" in field:
        name = field["$ref"].rpartition("/")[2]
        return LOADS.get(name, f"[{name}](#{name.lower()})")
    if field.get("format") in ("path", "size"):
        return str(field["format"])
    if "oneOf" in field:
        return " or ".join(_value(choice) for choice in field["oneOf"])
    if "anyOf" in field:
        return " or ".join(_value(choice) for choice in field["anyOf"] if choice.get("type") != "null")
    if "enum" in field or "const" in field:
        return ", ".join(f"`{choice}`" for choice in field.get("enum", [field.get("const")]))
    match field.get("type"):
        case "array":
            return f"list of {_value(field['items'])}"
        case "object":
            inner: Any = field.get("additionalProperties") or next(
                iter(field.get("patternProperties", {}).values()), {}
            )
            return "table" if inner is True else f"table by name, each {_value(inner)}"
        case "integer" | "number" as kind:
            limits = [f"{words} {field[key]:,g}" for key, words in LIMITS.items() if key in field]
            return f"{kind}{' ' if limits else ''}{', '.join(limits)}"
        case kind:
            return str(kind)


LIMITS = {"minimum": "from", "exclusiveMinimum": "above", "maximum": "to", "exclusiveMaximum": "below"}


def _default(value: object) -> str:
    if value is None or value in ({}, []):
        return ""
    if isinstance(value, dict):
        return ", ".join(f"`{name}`" for name in value)
    return f"`{json.dumps(value)}`"


def tuning_page() -> str:
    """Return what each tuning level sets, per server family, with the reasons."""
    parts = [
        "# Tuning levels",
        NOTE,
        "| level | after a crash of the operating system or a power cut |\n|---|---|\n"
        "| `safest` | no acknowledged commit is lost (but see `innodb_doublewrite`) |\n"
        "| `fast` | the last moments may be lost |\n"
        "| `unsafe` | the database may not start again |",
        "Every variable is read back in every trial. [durability.md](durability.md) has what each setting "
        "really lost.",
    ]
    for family in FAMILIES:
        rows = ["| variable | safest | fast | unsafe | why |", "|---|---|---|---|---|"]
        for tuned in of(family).tuning:
            values = " | ".join(value or "-" for value in (tuned.safest, tuned.fast, tuned.unsafe))
            rows.append(f"| `{tuned.name}` | {values} | {tuned.reason} |")
        parts += [f"## {family}", "\n".join(rows)]
    return "\n\n".join(parts) + "\n"


SUBJECTS: tuple[tuple[str, Sequence[Check[Any]]], ...] = (
    ("a trial", TRIAL_CHECKS),
    ("a result of another tool", RESULT_CHECKS),
    ("a run", RUN_CHECKS),
    ("settings", CONFIGURATION_CHECKS),
)

CHECKS = """\
Each check passes, fails, or names the record that it needs and does not have. A failed check comes with its \
reason and a remedy. Checks of a trial and of a run also judge what `diskproof audit` reads. \
[audit.md](audit.md) says how to read the answers."""


def checks_page() -> str:
    """Return every check of the audit, a table a subject; a finding itself brings its remedy."""
    parts = ["# Checks", NOTE, CHECKS]
    for looks_at, checks in SUBJECTS:
        rows = ["| check | why | source |", "|---|---|---|"]
        rows += [f"| `{one.name}` | {one.reason} | {one.source} |" for one in checks]
        parts += [f"## Checks of {looks_at}", "\n".join(rows)]
    return "\n\n".join(parts) + "\n"


COMMANDS = """\
`diskproof COMMAND --help` has the options of each command. Results go to standard output, progress and \
warnings to standard error. `eval "$(diskproof completion bash)"` completes commands in your shell (`zsh`, \
`fish` alike).

| exit code | means |
|---|---|
| 0 | done |
| 1 | an error of diskproof |
| 2 | the study file, an argument, or something that is missing; finished trials are kept and reported |
| 10 | a threshold was not proved, a condition of `compare` was not kept, a run or a change is slower, a \
control of the cuts failed, a replayed cut differs, no disk meets the target of `advise`, or an audit found \
an error or a threat |
| 12 | a trial was invalid, a cell of a disk was not measured or was late, or a cut broke off |
| 130 | interrupted; finished trials are kept |"""


def commands_page() -> str:
    """Return what each command does, in a line each: their options are in their help."""
    groups = (
        *(("", VERBS), ("history ", HISTORY_VERBS), ("load ", LOAD_VERBS)),
        *(("disk ", DISK_VERBS), ("host ", HOST_VERBS)),
    )
    rows = ["| command | does |", "|---|---|"]
    rows += [
        f"| `diskproof {group}{verb}` | {does[0].lower()}{does[1:-1]} |"
        for group, verbs in groups
        for verb, does in verbs.items()
    ]
    kinds = ", ".join(f"`{kind}`" for kind, model in KINDS.items() if model.needs_server)
    load_verbs = [
        "| `diskproof-load prepare`, `run`, `check`, `cleanup` KIND | makes the tables of a load, runs it, "
        f"checks them, removes them; KIND is one of {kinds} |",
        "| `diskproof-load sysbench` | takes sysbench's command line |",
        "| `diskproof-load import`, `fence`, `describe` | reads a log as a load, says whether this kernel "
        "can hold scripts, prints all workloads with their options as JSON |",
        "| `diskproof-disk list`, `show`, `simulate`, `serve`, `control`, `floor` | virtual disks "
        "without the lab |",
    ]
    return "\n\n".join(["# Commands", NOTE, COMMANDS, "\n".join([*rows, *load_verbs])]) + "\n"


PAGES: dict[str, Callable[[], str]] = {
    "study.md": study_page,
    "tuning.md": tuning_page,
    "checks.md": checks_page,
    "commands.md": commands_page,
    "workloads.md": workloads.page,
    "devices.md": devices.page,
    "audit.md": examples.page,
    **{
        str(path.relative_to(DOCS)): partial(study_prose.renewed, path, study)
        for study in EXPERIMENTS
        for path in [study_prose.summary_of(study)]
    },
}


def main() -> int:
    """Write the pages, or print which differ."""
    screen.results.width = shown.COLUMNS  # set at its start, from a terminal
    stale = [name for name, page in PAGES.items() if not _is_current(name, page())]
    if "--check" in sys.argv:
        print(f"stale: {', '.join(stale)}; run `make docs`" if stale else "the reference pages are current")
        return 1 if stale else 0
    for name in stale:
        (DOCS / name).write_text(PAGES[name]())
    return 0


def _is_current(name: str, text: str) -> bool:
    path = DOCS / name
    return path.is_file() and path.read_text() == text


if __name__ == "__main__":
    sys.exit(main())
