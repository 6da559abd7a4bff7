"""Reading a study file: every mistake is reported with its line, its key and what would be right."""

import difflib
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, get_args, get_origin

from pydantic import BaseModel, ByteSize, TypeAdapter, ValidationError
from pydantic_core import ErrorDetails

from diskproof.reading import MissingFileError, UnreadableError, read_text
from diskproof.refusal import RefusalError
from diskproof.results.size import IN_THOUSANDS
from diskproof.study.crash import LIST, TABLE
from diskproof.study.lines import line_of
from diskproof.study.loads import KINDS
from diskproof.study.mistakes import MOST_MISTAKES, in_words, one_a_place, one_of, toml, too_long
from diskproof.study.model import Study
from diskproof.study.part import FOLDER
from diskproof.study.scales import scaled, unknown_names
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


def read_study(path: Path, scale: str | None = None) -> StudyFile:
    """Read and check a study file at a scale, or at its own default; StudyError lists every mistake."""
    text = _text_of(path)
    if path.stem.startswith("."):  # `...toml` would be the folder above all runs
        raise StudyError(f"{path}: a study's name must not begin with a dot; rename the file")
    in_thousands: list[str] = []
    study = parse_study(text, str(path), in_thousands=in_thousands)
    notes = (_size_note(in_thousands[0]),) if in_thousands else ()
    chosen = study.scale if scale is None else scale
    if chosen is None:
        return StudyFile(name=path.stem, text=text, study=study, notes=notes)
    if chosen not in study.scales:
        known = f"it has {', '.join(study.scales)}" if study.scales else "it has none"
        raise StudyError(f"{path} has no scale `{chosen}`; {known}")
    at_scale = parse_study(text, str(path), chosen)
    return StudyFile(name=path.stem, text=text, study=at_scale, scale=chosen, notes=notes)


def _size_note(written: str) -> str:
    """Say what a size without an `i` is."""
    size = TypeAdapter(ByteSize).validate_python(written)
    number, letter = re.match(r"([\d.]+)\s*(\w)", written).groups()  # type: ignore[union-attr]
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


def parse_study(
    text: str, source: str, scale: str | None = None, *, in_thousands: list[str] | None = None
) -> Study:
    """Check the text of a study at all of its scales, and return it at one of them, or as written.

    `source` names it in errors; paths of scripts are relative to it. `in_thousands` gets the sizes whose
    unit has no `i`.
    """
    try:
        content = toml(text)
    except ValueError as error:
        raise StudyError(f"{source} {error}") from None
    if long := too_long(content):
        keys, wrong = long
        place = f"{source}:{line_of([str(key) for key in keys], text)}"
        raise StudyError(_with_title(f"{place}: `{_shown(keys)}`: {wrong}", content.get("published")))
    found: list[str] = [] if in_thousands is None else in_thousands
    study = _checked(content, text, source, None, found)
    sizes = {name: _checked(content, text, source, name, found) for name in study.scales}
    return study if scale is None else sizes[scale]


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
        published = content.get("published")
        lines = dict.fromkeys(
            _with_title(_explain(mistake, text, source, scale, changes), published)
            for mistake in mistakes[:MOST_MISTAKES]
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
    if parts[:1] == ["published"]:
        return ".".join(map(str, parts))
    told = (f" number {part + 1}" if isinstance(part, int) else f".{part}" for part in parts)
    return "".join(told).removeprefix(".")


def _with_title(said: str, published: object) -> str:
    """Return a complaint with a published table or ratio by its title, and not by a number from 0."""

    def titled(found: re.Match[str]) -> str:
        part, number, rest = found.groups()
        told = published.get(part) if isinstance(published, dict) else None
        one = told[int(number)] if isinstance(told, list) else None
        title = one.get("title") if isinstance(one, dict) else None
        which = f"“{title}”" if isinstance(title, str) and title else f"number {int(number) + 1}"
        if row := re.match(r"\.rows\.(\d+)", rest or ""):
            return f"`published.{part}.rows` of {which}, row {int(row[1]) + 1}"
        return f"`published.{part}{rest}` of {which}" if rest else f"`published.{part}` {which}"

    return re.sub(r"`published\.(tables|ratios)\.(\d+)(\.[^`]*)?`", titled, said, count=1)


def _unknown_name(scale: str | None, part: str, name: str, known: list[str], text: str, source: str) -> str:
    keys = ["scales", str(scale), part, name]
    close = difflib.get_close_matches(name, known, n=1, cutoff=0.6)
    there = f"did you mean `{close[0]}`?" if close else f"known here: {', '.join(known) or 'nothing'}"
    return f"{source}:{line_of(keys, text)}: `{'.'.join(keys)}`: the file has no `[{part}.{name}]`; {there}"


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
    """Return the declaration of the part that has the last key."""
    model: type[BaseModel] | None = KINDS[kind] if kind else Study
    is_name = False  # that the user chose, as in `servers.NAME`; it may be called like a key
    for key in keys[2 if kind else 0 : -1]:
        field = model.model_fields.get(key) if model and not is_name else None
        is_name = field is not None and get_origin(field.annotation) is dict
        if field is not None:
            model = _part_within(field.annotation)
    return model


def _similar_key(keys: list[str], kind: str | None) -> str:
    """Suggest a known key for an unknown one, looked up in the declaration itself."""
    model = _part_at(keys, kind)
    if model is None:
        return ""
    known = [field.alias or name for name, field in model.model_fields.items()]
    close = difflib.get_close_matches(keys[-1], known, n=1, cutoff=0.6)
    if close:
        return f"; did you mean `{close[0]}`?"
    return f"; known here: {', '.join(known)}"


def _part_within(annotation: object) -> type[BaseModel] | None:
    """Return the part of a study that an annotation holds: itself, or within a dict, list or union."""
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return annotation
    for inner in get_args(annotation):
        part = _part_within(inner)
        if part is not None:
            return part
    return None


def _similar_files(path: Path) -> str:
    """Suggest a study nearby for a name that is not there."""
    candidates = [*path.parent.glob("*.toml"), *Path("studies").glob("*.toml")]
    names = {candidate.stem: candidate for candidate in candidates}
    close = difflib.get_close_matches(path.stem, names, n=1, cutoff=0.5)
    return f"; did you mean {names[close[0]]}?" if close else ""
