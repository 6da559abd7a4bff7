"""Reading a study file: every mistake is reported with its line, its key and what would be right."""

import difflib
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ByteSize, TypeAdapter, ValidationError
from pydantic_core import ErrorDetails

from diskproof.reading import MissingFileError, UnreadableError, read_text
from diskproof.refusal import RefusalError
from diskproof.results.size import IN_THOUSANDS
from diskproof.study.crash import LIST, TABLE
from diskproof.study.loads import KINDS
from diskproof.study.mistakes import (
    MOST_MISTAKES,
    in_words,
    one_a_place,
    one_of,
    part_at,
    similar,
    similar_key,
    toml,
    too_long,
)
from diskproof.study.model import Study
from diskproof.study.part import FOLDER
from diskproof.study.scales import scaled, unknown_names
from diskproof.study.shipped import shipped
from diskproof.system.programs import hide
from diskproof.wording import numbers

MAX_STUDY_BYTES = 1_000_000
"""A study file is written by a person; a larger file was named by mistake."""

NO_KEYS = {"[key]", LIST, TABLE}
"""Parts of pydantic's path to a mistake that are not in the file."""


class StudyError(RefusalError):
    """A study file that cannot be used: every mistake on a line."""


@dataclass(frozen=True)
class StudyFile:
    """A study with its source."""

    name: str
    text: str
    study: Study
    """At its scale."""
    scale: str | None = None
    """None: the study as written."""
    left_out: tuple[str, ...] = ()
    """Optional servers that this machine does not have; they are no longer in `study`."""
    notes: tuple[str, ...] = ()
    """What its author should know."""


def read_study(path: Path, scale: str | None = None, *, to_cut: bool = False) -> StudyFile:
    """Read and check a study file at a scale, or at its own default; StudyError lists every mistake.

    `to_cut`: a study without `[crash]` gets one, with its defaults.
    """
    text = _text_of(path)
    notes: list[str] = []
    if to_cut and not CRASH.search(text):
        text += "\n[crash]\n"
        notes.append(
            f"{path.stem} has no [crash] section, so its defaults apply; power cuts if its storage is virtual"
        )
    if path.stem.startswith("."):  # `...toml` would be the folder above all runs
        raise StudyError(f"{path}: a study's name must not begin with a dot; rename the file")
    in_thousands: list[str] = []
    sizes = parse_sizes(text, str(path), in_thousands)
    study = sizes[None]
    notes += [*map(_size_note, in_thousands[:1]), *_half_layouts(study)]
    chosen = study.scale if scale is None else scale
    if chosen not in sizes:
        known = f"it has {', '.join(study.scales)}" if study.scales else "it has none"
        raise StudyError(f"{path} has no scale `{chosen}`; {known}")
    return StudyFile(name=path.stem, text=text, study=sizes[chosen], scale=chosen, notes=tuple(notes))


def _half_layouts(study: Study) -> Iterator[str]:
    """Yield the storages whose redo log has a place of its own, but not the binary log, if there is one."""
    if not any(server.family == "mysql" and not server.is_given for server in study.servers.values()):
        return
    for name, storage in study.storages.items():
        places = storage.places()
        if places["data"].key == places["binlog"].key != places["redo"].key:
            yield (
                f"storage `{name}`: `redo` has a place of its own, but the binary log stays with the data, "
                "and a commit of `safest` waits for both: give `binlog` that place, too, if the question is "
                "about commits"
            )


CRASH = re.compile(r"^\s*\[\s*crash\s*\]|^\s*crash\s*[.=]", re.MULTILINE)
"""A study's own section of cuts, or a key of it."""


def _size_note(written: str) -> str:
    """Say what a size without an `i` is. A server's own variables are not asked: it counts as it does."""
    number, letter = re.match(r"([\d.]+)\s*(\w)", written).groups()  # type: ignore[union-attr]
    size = TypeAdapter(ByteSize).validate_python(written)
    return (
        f"a unit without `i` counts in thousands: `{written}` is {numbers.size(size)}; "
        f"write `{number} {letter.upper()}iB` if that is meant"
    )


def _text_of(path: Path) -> str:
    try:
        return read_text(path, MAX_STUDY_BYTES)
    except MissingFileError as missing:
        raise StudyError(f"{missing}{_similar_files(path)}") from None
    except UnreadableError as unreadable:
        raise StudyError(str(unreadable)) from None


def parse_study(text: str, source: str, scale: str | None = None) -> Study:
    """Check the text of a study at all of its scales, and return it at one of them, or as written.

    `source` names it in errors; paths of scripts are relative to it.
    """
    return parse_sizes(text, source, [])[scale]


def parse_sizes(text: str, source: str, in_thousands: list[str]) -> dict[str | None, Study]:
    """Return a study at each of its scales, and as written (None).

    `in_thousands` gets the sizes whose unit has no `i`.
    """
    try:
        content = toml(text)
    except ValueError as error:
        raise StudyError(f"{source} {error}") from None
    if long := too_long(content):
        keys, wrong = long
        place = f"{source}:{line_of([str(key) for key in keys], text)}"
        raise StudyError(f"{place}: `{_shown(keys)}`: {wrong}")
    study = _checked(content, text, source, None, in_thousands)
    for secret in filter(None, (server.password_env for server in study.servers.values())):
        hide(secret)
    sizes: dict[str | None, Study] = {
        name: _checked(content, text, source, name, in_thousands) for name in study.scales
    }
    return {None: study, **sizes}


def _checked(
    content: dict[str, Any], text: str, source: str, scale: str | None, in_thousands: list[str]
) -> Study:
    changes = content["scales"][scale] if scale else {}
    if unknown := list(unknown_names(content, changes)):
        raise StudyError("\n".join(_unknown_name(scale, *one, text, source) for one in unknown))
    try:
        context = {FOLDER: Path(source).parent, IN_THOUSANDS: in_thousands}
        return Study.model_validate(scaled(content, changes), context=context)
    except ValidationError as error:
        mistakes = list(one_a_place(error.errors()))
        lines = dict.fromkeys(
            _explain(mistake, text, source, scale, changes) for mistake in mistakes[:MOST_MISTAKES]
        )
        if len(mistakes) > MOST_MISTAKES:
            lines[f"and {len(mistakes) - MOST_MISTAKES} more"] = None
        raise StudyError("\n".join(lines)) from None


def _explain(
    mistake: ErrorDetails, text: str, source: str, scale: str | None = None, changes: object = None
) -> str:
    parts, kind = _keys(mistake)
    given_keys = keys = [str(part) for part in parts]
    if scale and keys and _reaches(changes, keys):
        parts, keys = ["scales", scale, *parts], ["scales", scale, *keys]
    place = f"{source}:{line_of(keys, text)}"
    if scale and keys == given_keys:  # the key is correct by itself, but not with the changes of the scale
        place += f": at scale `{scale}`"
    shown = _shown(parts) or "the study"
    if mistake["type"] == "extra_forbidden":
        return f"{place}: unknown key `{shown}`{_similar_key(given_keys, kind)}"
    if mistake["type"] == "union_tag_invalid":
        return f"{place}: `{shown}.kind`: {one_of(list(KINDS), mistake['ctx']['tag'])}"
    if mistake["type"] == "missing":
        return f"{place}: `{shown}` is missing{_meaning(given_keys, kind)}"
    if keys[:1] == ["storages"] and isinstance(mistake["input"], str) and mistake["type"].startswith("model"):
        return f'{place}: `{shown}`: a place is a table with its kind: {{ directory = "…" }}'
    return f"{place}: `{shown}`: {in_words(mistake)}"


def _shown(parts: Sequence[str | int]) -> str:
    """Return keys as a user counts them: the first of a list is number 1."""
    told = (f" number {part + 1}" if isinstance(part, int) else f".{part}" for part in parts)
    return "".join(told).removeprefix(".")


def _unknown_name(scale: str | None, part: str, name: str, known: list[str], text: str, source: str) -> str:
    keys = ["scales", str(scale), part, name]
    place = f"{source}:{line_of(keys, text)}: `{'.'.join(keys)}`"
    return f"{place}: the file has no `[{part}.{name}]`{similar(name, known)}"


def _keys(mistake: ErrorDetails) -> tuple[list[str | int], str | None]:
    """Return the keys that lead to a mistake as the user wrote them, and the kind of a workload's."""
    keys = [part for part in mistake["loc"] if part not in NO_KEYS]
    if mistake["type"] == "mistake":
        keys += mistake["ctx"]["keys"]
    if keys[:1] == ["workloads"] and len(keys) > 2 and keys[2] in KINDS:
        return keys[:2] + keys[3:], str(keys[2])
    return keys, None


def _reaches(changes: object, keys: list[str]) -> bool:
    """Tell whether a scale says something at these keys, or above them."""
    for key in keys:
        if not isinstance(changes, dict):
            return True
        if key not in changes:
            return False
        changes = changes[key]
    return True


def _meaning(keys: list[str], kind: str | None) -> str:
    """Return what a key means that is missing."""
    part = _part_at(keys, kind)
    field = part.model_fields.get(keys[-1]) if part else None
    told = field.description if field else None
    return f": {told[:1].lower()}{told[1:]}" if told else ""


def _part_at(keys: list[str], kind: str | None) -> type[BaseModel] | None:
    return part_at(KINDS[kind], keys[2:]) if kind else part_at(Study, keys)


def _similar_key(keys: list[str], kind: str | None) -> str:
    """Suggest a known key for an unknown one, looked up in the declaration itself."""
    model = _part_at(keys, kind)
    return similar_key(model, keys[-1]) if model else ""


def _similar_files(path: Path) -> str:
    """Suggest a study nearby for a name that is not there."""
    near = {found.stem: str(found) for found in path.parent.glob("*.toml")}
    names = {name: name for name in shipped()} | near
    close = difflib.get_close_matches(path.stem, names, n=1, cutoff=0.5)
    return f"; did you mean {names[close[0]]}?" if close else ""


def line_of(keys: list[str], text: str) -> int:
    """Return the line of a key, or of the nearest table above it, counted from 1."""
    table: list[str] = []
    tables_in: dict[tuple[str, ...], int] = {}
    best, best_depth = 1, 0
    for number, line in enumerate(text.splitlines(), start=1):
        header = re.match(r"\s*(\[\[?)\s*([^\]]+?)\s*\]\]?\s*(#.*)?$", line)
        entry = re.match(r"\s*([A-Za-z0-9_.\"'-]+?)\s*=", line)
        if header:
            named = tuple(_split_key(header.group(2)))
            if header.group(1) == "[[":
                tables_in[named] = tables_in.get(named, -1) + 1
            table = _numbered(named, tables_in)
            path = table
        elif entry:
            path = table + _split_key(entry.group(1))
        else:
            continue
        depth = min(len(path), len(keys))
        if depth > best_depth and keys[:depth] == path[:depth]:
            best, best_depth = number, depth
    return best


def _numbered(named: tuple[str, ...], tables_in: dict[tuple[str, ...], int]) -> list[str]:
    """Return the keys of a table's heading, with its number in each list of tables."""
    keys: list[str] = []
    for depth, key in enumerate(named, start=1):
        keys.append(key)
        if named[:depth] in tables_in:
            keys.append(str(tables_in[named[:depth]]))
    return keys


def _split_key(dotted: str) -> list[str]:
    return [part.strip("\"'") for part in re.findall(r"""'[^']*'|"[^"]*"|[^.\s]+""", dotted)]
