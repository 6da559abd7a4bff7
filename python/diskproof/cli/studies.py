"""`diskproof studies`: what comes with diskproof and can be run by name."""

import shutil
import tomllib
from pathlib import Path

from rich.table import Table

from diskproof.cli.screen import put, results
from diskproof.reading import read_text
from diskproof.refusal import RefusalError
from diskproof.study.mistakes import similar
from diskproof.study.read import MAX_STUDY_BYTES
from diskproof.study.shipped import shipped


def studies(name: str | None = None, /, *, to: Path | None = None) -> None:
    """List the studies that come with diskproof; each runs by its name.

    Parameters
    ----------
    name
        Print this one.
    to
        Copy it into this folder, with the scripts that it names, to make one of your own of it.

    """
    known = shipped()
    if name is not None:
        if name not in known:
            raise RefusalError(
                f"no study that comes with diskproof is called `{name}`{similar(name, list(known))}"
            )
        if to is None:
            put(_text(known[name]))
        else:
            _copy(known[name], to)
        return
    if to is not None:
        raise RefusalError("--to needs the name of a study: `diskproof studies` lists them")
    table = Table(box=None, show_header=False, pad_edge=False)
    for called, path in known.items():
        table.add_row(called, tomllib.loads(_text(path)).get("question", ""))
    results.print(table)
    results.print("`diskproof run NAME` runs one, `diskproof studies NAME --to DIR` copies it")


def _copy(study: Path, to: Path) -> None:
    text, beside = _text(study), study.parent
    scripts = [path for path in beside.rglob("*") if path.suffix != ".toml" and path.is_file()]
    names = [study.name, *(name for path in scripts if (name := str(path.relative_to(beside))) in text)]
    if there := [to / name for name in names if (to / name).exists()]:
        raise RefusalError(f"{there[0]} exists and is not overwritten: name another folder")
    for name in names:
        (to / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(beside / name, to / name)
    results.print(f"copied to {to}: {', '.join(names)}")


def _text(path: Path) -> str:
    return read_text(path, MAX_STUDY_BYTES)
