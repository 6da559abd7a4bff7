"""Writes the reference pages that are made from the code itself; `--check` only compares them.

A page that a person keeps up to date by hand is wrong sooner or later; a test runs `--check`.
"""

import json
import os
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import audits
import devices
import examples
import options
import shown
import workloads
from diskproof import load
from diskproof.audit.check import Check
from diskproof.audit.registry import (
    ARTICLE_CHECKS,
    CONFIGURATION_CHECKS,
    RESULT_CHECKS,
    RUN_CHECKS,
    SWEEP_CHECKS,
    TRIAL_CHECKS,
)
from diskproof.cli import screen
from diskproof.cli.disk import VERBS as DISK_VERBS
from diskproof.importers.article_form import ArticleForm
from diskproof.server.tuning import TUNING
from diskproof.study.loads import KINDS
from diskproof.study.model import Study

DOCS = Path(__file__).parent
NOTE = "<!-- made by `make docs`; do not edit -->"


def study_page() -> str:
    """Return the reference of the study file from its JSON Schema: a table for each part."""
    parts = ["# The study file", NOTE, "TOML. A key that is not listed here is refused."]
    return "\n\n".join(parts + _parts("Study", Study.model_json_schema())) + "\n"


ARTICLE = """\
TOML, for a published experiment that is to be audited: what it prints, how that was made, what it \
concludes. `[article]` is the mark by which it is known; nearly all else may be left out, and is then \
taken as not told. A key that is not listed here is refused. The five in `studies/published/` are examples.

Write claims in your own words, with the place where each stands. A claim is about every pair of results \
that `at`, `of` and `than` select and that differs in nothing else; where it was said of all and holds for \
some, the audit names those for which it does not. `about` is for what was said to be rough, and \
`printed = false` for what was told without figures, which no audit can judge."""


def article_page() -> str:
    """Return the reference of an article's form, made as that of the study file."""
    parts = ["# An article", NOTE, ARTICLE]
    return "\n\n".join(parts + _parts("Article", ArticleForm.model_json_schema())) + "\n"


def _parts(name: str, schema: dict[str, Any]) -> list[str]:
    parts = _part(name, schema)
    for inner, definition in schema["$defs"].items():
        if "properties" in definition:
            parts += _part(_title(inner), definition)
    return parts


def _title(declared: str) -> str:
    """Return what a page calls a part: no page has the suffix that tells a form from its record."""
    return declared.removesuffix("Form")


def _part(name: str, schema: dict[str, Any]) -> list[str]:
    required = schema.get("required", [])
    rows = ["| key | value | default | meaning |", "|---|---|---|---|"]
    for key, field in schema["properties"].items():
        default = "required" if key in required else _default(field.get("default"))
        rows.append(f"| `{key}` | {_value(field)} | {default} | {field.get('description', '')} |")
    return [f"## {name}", schema.get("description", ""), "\n".join(rows)]


def _value(field: dict[str, Any]) -> str:
    """Say what a key takes, from its JSON Schema."""
    if "$ref" in field:
        name = _title(field["$ref"].rpartition("/")[2])
        return f"[{name}](#{name.lower()})"
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
        "`safest` loses no acknowledged commit (but see `innodb_doublewrite`); `fast` may lose the last "
        "moments in a crash of the operating system or a power cut; `unsafe` may not come up again. Every "
        "variable is read back in every trial.",
    ]
    for family, variables in TUNING.items():
        rows = ["| variable | safest | fast | unsafe | why |", "|---|---|---|---|---|"]
        for tuned in variables:
            values = " | ".join(value or "-" for value in (tuned.safest, tuned.fast, tuned.unsafe))
            rows.append(f"| `{tuned.name}` | {values} | {tuned.reason} |")
        parts += [f"## {family}", "\n".join(rows)]
    return "\n\n".join(parts) + "\n"


SUBJECTS: tuple[tuple[str, str, Sequence[Check[Any]]], ...] = (
    ("A trial", "What every trial of a run is held against.", TRIAL_CHECKS),
    (
        "Any one result",
        "What `diskproof audit` asks besides, and what a report of imported results asks too.",
        RESULT_CHECKS,
    ),
    ("A run", "What all trials of a run are held against together.", RUN_CHECKS),
    ("Results that are compared", "What `diskproof audit` asks of them besides.", SWEEP_CHECKS),
    ("A server's settings", "Of option files, and of what servers answered.", CONFIGURATION_CHECKS),
    ("An article", "Of what was published: its claims, its procedure, its figures.", ARTICLE_CHECKS),
)


def checks_page() -> str:
    """Return every check of the audit, by what it is about, with its reason and remedy."""
    parts = [
        "# Checks",
        NOTE,
        "A failed gate prints a reason, never a ranking. Each check passes, fails, or says what was not "
        "recorded that it needs; [audit.md](audit.md) says how they are read.",
    ]
    for title, intro, checks in SUBJECTS:
        rows = ["| check | why | remedy | source |", "|---|---|---|---|"]
        rows += [f"| `{one.name}` | {one.reason} | {one.remedy} | {one.source} |" for one in checks]
        if checks:
            parts += [f"## {title}", intro, "\n".join(rows)]
    return "\n\n".join(parts) + "\n"


def commands_page() -> str:
    """Return the help of every command, as the programs print it."""
    parts = ["# Commands", NOTE]
    verbs = (
        "",
        "run",
        "crash",
        "plan",
        "report",
        "compare",
        "audit",
        "doctor",
        "clean",
        "schema",
        "completion",
    )
    for verb in (*verbs, "disk", *(f"disk {verb}" for verb in DISK_VERBS)):
        parts += [f"## diskproof {verb}".rstrip(), _listing(shown.by_the_lab(*verb.split(), "--help"))]
    program = str(load.program())
    kinds = [kind for kind, model in KINDS.items() if model.needs_server]
    for words in (f"{verb} {kind}" for kind in kinds for verb in ("prepare", "run", "cleanup")):
        if words == "prepare sqlbench":
            continue  # it makes its own tables
        parts += [f"## diskproof-load {words}", _listing(_said_by([program, *words.split(), "--help"]))]
    return "\n\n".join(parts) + "\n"


def _said_by(argv: list[str]) -> list[str]:
    environment = {**os.environ, **shown.PLAIN}
    said = subprocess.run(argv, capture_output=True, text=True, check=True, env=environment)
    return shown.lines_of(said.stdout)


def _listing(lines: list[str]) -> str:
    return "\n".join(["```", *lines, "```"])


PAGES: dict[str, Callable[[], str]] = {
    "study.md": study_page,
    "article.md": article_page,
    "tuning.md": tuning_page,
    "checks.md": checks_page,
    "commands.md": commands_page,
    "workloads.md": workloads.page,
    "devices.md": devices.page,
    "experiments.md": audits.page,
    "audit.md": examples.page,
    "options.md": lambda: options.page(NOTE),
}


def main() -> int:
    """Write the pages, or tell which differ."""
    screen.results.width = shown.COLUMNS  # it would keep that of a terminal, as it was at the start
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
