"""Verbs that read what others made run in the fence: the process outside passes on what they say and make."""

import os
from collections.abc import Sequence
from pathlib import Path

from diskproof.cli.screen import SEEN, messages, pass_on, results, say
from diskproof.refusal import RefusalError
from diskproof.results.durable import write_whole
from diskproof.system.fence import give, inside, run_inside

APART = {"audit": "--out", "compare": None, "publish": "--to", "report": "--html"}
"""The verbs, and their option for what they make."""

KEPT = {"audit": "run", "publish": "site", "report": "page"}
"""What a verb makes."""

OF_COLOURS = ("NO_COLOR", "FORCE_COLOR", "COLORTERM")


def is_apart(arguments: Sequence[str]) -> bool:
    """Return whether a command line runs in the fence."""
    return bool(arguments) and arguments[0] in APART and "--help" not in arguments and not inside()


def obey(arguments: Sequence[str]) -> int:
    """Run a command line in the fence, which may read the files that it names; return its exit code."""
    shown = {SEEN: "".join(str(at) for at, one in ((1, results), (2, messages)) if one.is_terminal)}
    shown["PYTHONIOENCODING"] = "utf-8" if results.encoding.startswith("utf") else "ascii"
    shown |= {"COLUMNS": str(results.width)} | {
        name: value for name in OF_COLOURS if (value := os.environ.get(name))
    }
    path = _value(arguments, APART[arguments[0]])
    named = filter(os.path.exists, [*arguments, *([path] if path else [])])
    ended, made = run_inside("diskproof", arguments, named, shown)
    pass_on(ended.out, results, paged="--full" in arguments)
    pass_on(ended.err, messages)
    if made and path:
        keep(arguments[0], Path(path), made)
    return ended.code


def _value(arguments: Sequence[str], option: str | None) -> str | None:
    for word, following in zip(arguments, [*arguments[1:], None], strict=True):
        if option and (word == option or word.startswith(f"{option}=")):
            return following if word == option else word.partition("=")[2]
    return None


def keep(verb: str, path: Path, made: str) -> None:
    """Write what a verb has made; inside of the fence, hand it to the process outside."""
    if inside():
        give(made)
        return
    if verb == "audit":
        from diskproof.cli.audit import keep_run  # noqa: PLC0415 - it loads slowly

        keep_run(path, made)
    elif verb == "publish":
        from diskproof.site.publish import write  # noqa: PLC0415 - it loads slowly

        write(path, made)
    else:
        write_whole(path, made)
    say(f"{KEPT[verb]}: {path}")


def value_of(kind: str, words: Sequence[str | Path], named: Sequence[Path], hand: bytes = b"") -> str:
    """Return values of the foreign files `named`, read in the fence as the JSON of a kind in `cli.values`."""
    ended, _ = run_inside(f"diskproof.cli.values.{kind}", [str(word) for word in words], named, hand=hand)
    if ended.code != 0:
        raise RefusalError(ended.complaint)
    return ended.out
