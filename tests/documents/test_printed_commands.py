"""Every command that a message or a page prints is one that the command lines take."""

import ast
import re
import shlex
import subprocess
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest
from cyclopts import App, CycloptsError

from diskproof.cli import app
from diskproof.system.programs import find_program

ROOT = Path(__file__).parents[2]

PRINTED = re.compile(r"`(diskproof(?:-load|-disk)? [^`]+)`")
IN_A_BLOCK = re.compile(r"(?:^|&& |\$ )(diskproof(?:-load|-disk)? .*?)(?=$|  |\s#|&|`)")
_VERB = (
    r"diskproof(?:-load|-disk)? +(?:run|crash|plan|report|compare|predict|advise|audit|init|schema|clean"
    r"|disk|prepare|check|cleanup|sysbench|serve|show|list)\b(?! of\b)"
)
ALONE = re.compile(rf"(?:^|\n|: ) *({_VERB}[^`\n>]*)", re.MULTILINE)
"""A command that begins a text or a line, or follows a colon, without signs around it."""
LITERAL = re.compile(rf"\"({_VERB}[^`\"]*)\"|^  ({_VERB}.*)", re.MULTILINE)
FILLED_IN = "7"
WORKLOAD = "{workload}"
"""In the place of a value: a number, a name and a path at once."""

NO_COMMAND = ("VERB", "ARGUMENTS", "WORKLOAD")
ANY_OPTION = {"lua", "sysbench", "control"}
"""A script declares its own options, and each request of `control` has others."""


def in_python() -> Iterator[tuple[str, str]]:
    for path in sorted((ROOT / "python").rglob("*.py")):
        tree = ast.parse(path.read_text())
        prose = {id(expression.value) for expression in ast.walk(tree) if isinstance(expression, ast.Expr)}
        inside = {id(part) for one in ast.walk(tree) if isinstance(one, ast.JoinedStr) for part in one.values}
        for one in ast.walk(tree):
            if id(one) not in prose | inside and isinstance(one, ast.Constant | ast.JoinedStr):
                for line in PRINTED.findall(_text(one)) + ALONE.findall(_text(one)):
                    yield from ((path.name, command) for command in line.split(" && "))


def _text(one: ast.Constant | ast.JoinedStr) -> str:
    if isinstance(one, ast.Constant):
        return one.value if isinstance(one.value, str) else ""
    return "".join(_text(part) if isinstance(part, ast.Constant) else FILLED_IN for part in one.values)


def in_rust() -> Iterator[tuple[str, str]]:
    for path in sorted((ROOT / "crates").rglob("src/**/*.rs")):
        lines = [line for line in path.read_text().splitlines() if not line.lstrip().startswith("//")]
        text = re.sub(r"\\\n\s*", "", "\n".join(lines))
        alone = [quoted or line for quoted, line in LITERAL.findall(text)]
        yield from ((path.name, command) for command in PRINTED.findall(text) + alone)


def on_pages() -> Iterator[tuple[str, str]]:
    for path in [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]:
        for block in re.findall(r"```\w*\n(.*?)```", path.read_text(), re.DOTALL):
            text = block.replace("\\\n", " ")
            yield from (
                (path.name, found) for line in text.splitlines() for found in IN_A_BLOCK.findall(line)
            )


def words_of(command: str) -> list[str]:
    """Return the words up to an ellipsis, gaps filled in."""
    command = command.replace(WORKLOAD, "oltp").replace("cleanup {}", "cleanup oltp").replace("{made_by}", "")
    filled = re.sub(r"\{[^}]*\}", FILLED_IN, command.partition("…")[0])
    return shlex.split(filled)


def why_not(command: str) -> str:
    """Say why a command line is none; empty if it is one, or names a verb alone."""
    program, *words = words_of(command)
    if any(word in NO_COMMAND for word in words):
        return ""
    if program != "diskproof":
        return why_not_of_program(program, words)
    verbs, rest = 0, app
    while verbs < len(words) and isinstance(rest, App) and words[verbs] in rest:
        rest, verbs = rest[words[verbs]], verbs + 1
    if verbs == 0 and not words[0].startswith("-"):
        return f"no verb `{words[0]}`"
    if verbs == len(words):
        return ""
    try:
        app.parse_args(words, exit_on_error=False, print_error=False)
    except CycloptsError as error:
        return str(error) or type(error).__name__
    return ""


@cache
def help_of(program: str, verbs: tuple[str, ...]) -> str | None:
    """Return the help of a verb; None if there is no such verb."""
    found = find_program(program)
    shown = subprocess.run(
        [str(found), *verbs, "--help"], capture_output=True, text=True, check=False, timeout=60
    )
    return shown.stdout if shown.returncode == 0 else None


def why_not_of_program(program: str, words: list[str]) -> str:
    verbs = words[: 2 if program == "diskproof-load" and words[0] != "sysbench" else 1]
    verbs = [word for word in verbs if not word.startswith("-")]
    shown = help_of(program, tuple(verbs))
    if shown is None:
        return f"no verb `{' '.join(verbs)}`"
    options = [word.partition("=")[0] for word in words[len(verbs) :] if word.startswith("--")]
    unknown = [one for one in options if not re.search(rf"{one}\b", shown)]
    return "" if ANY_OPTION & set(verbs) else ", ".join(f"no option `{one}`" for one in unknown)


@pytest.mark.parametrize(
    ("command", "said"),
    [
        ("diskproof fly", "no verb"),
        ("diskproof run study.toml --faster", "--faster"),
        ("diskproof run --resume", "STUDY"),
        ("diskproof-load run fileio", "no verb"),
        ("diskproof-load run oltp --no-such-option", "no option"),
    ],
)
def test_a_wrong_command_is_told(command: str, said: str) -> None:
    if not find_program("diskproof-load"):
        pytest.skip("diskproof-load is not installed")
    assert said in why_not(command)


def test_every_printed_command_is_one() -> None:
    if not (find_program("diskproof-load") and find_program("diskproof-disk")):
        pytest.skip("diskproof-load or diskproof-disk is not installed")
    commands = sorted({*in_python(), *in_rust(), *on_pages()})
    assert len(commands) > 100
    assert {"README.md", "mod.rs", "workloads.md"} <= {where for where, _ in commands}
    wrong = [f"{where}: {command}: {why}" for where, command in commands if (why := why_not(command))]
    assert not wrong, "\n".join(wrong)
