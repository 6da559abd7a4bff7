"""Reading a study file: every mistake is named with its line, its key and what would be right."""

import difflib
import re
import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import get_args

from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails

from diskproof.refusal import RefusalError
from diskproof.results.records import format_bytes
from diskproof.study.loads import KINDS
from diskproof.study.model import Study
from diskproof.study.part import FOLDER

MAX_STUDY_BYTES = 1_000_000
"""A study file is written by a person; a larger file was named by mistake."""

MIB = 2**20


class StudyError(RefusalError):
    """A study file that cannot be used, with all that is wrong in it, one line each."""


@dataclass(frozen=True)
class StudyFile:
    """A study together with where it came from."""

    name: str
    text: str
    study: Study


def read_study(path: Path) -> StudyFile:
    """Read and check a study file; StudyError lists every mistake."""
    try:
        if path.stat().st_size > MAX_STUDY_BYTES:
            raise StudyError(f"{path} has more than {MAX_STUDY_BYTES:,} bytes; is it a study file?")
        text = path.read_text(encoding="utf-8")
    except FileNotFoundError:
        raise StudyError(f"there is no file {path}{_similar_files(path)}") from None
    except (OSError, UnicodeDecodeError) as error:
        raise StudyError(f"{path} cannot be read: {error}") from None
    return StudyFile(name=path.stem, text=text, study=parse_study(text, str(path)))


def parse_study(text: str, source: str) -> Study:
    """Check the text of a study; `source` names it in errors; scripts are looked for beside it."""
    try:
        content = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise StudyError(f"{source} is not valid TOML: {error}") from None
    try:
        return Study.model_validate(content, context={FOLDER: Path(source).parent})
    except ValidationError as error:
        lines = dict.fromkeys(_explain(mistake, text, source) for mistake in error.errors())
        raise StudyError("\n".join(lines)) from None


def _explain(mistake: ErrorDetails, text: str, source: str) -> str:
    keys, kind = _keys(mistake)
    place = f"{source}:{_line_of(keys, text)}"
    shown = ".".join(keys) or "the study"
    if mistake["type"] == "extra_forbidden":
        return f"{place}: unknown key `{shown}`{_similar_key(keys, kind)}"
    if mistake["type"] == "union_tag_invalid":
        return f"{place}: `{shown}.kind`: input should be {_choice(list(KINDS))}, not {mistake['ctx']['tag']}"
    if mistake["type"] == "missing":
        return f"{place}: `{shown}` is missing"
    if mistake["type"] == "string_pattern_mismatch" and mistake["loc"][-1] == "[key]":
        return f"{place}: `{shown}`: a name has letters, digits, `.`, `-`, `_`, and at most 40 of them"
    message = mistake["msg"].removeprefix("Value error, ")
    bound = mistake.get("ctx", {}).get("ge")
    if isinstance(bound, int) and bound >= MIB:  # nothing but a size has such a bound
        message = message.replace(str(bound), format_bytes(bound))
    given = "" if isinstance(mistake["input"], dict | list) else f", not {mistake['input']!r}"
    return f"{place}: `{shown}`: {message[:1].lower()}{message[1:]}{given}"


def _keys(mistake: ErrorDetails) -> tuple[list[str], str | None]:
    """Return the keys that lead to a mistake as the user wrote them, and the kind of a workload's."""
    keys = [str(part) for part in mistake["loc"] if part != "[key]"]
    if keys[:1] == ["workloads"] and len(keys) > 2 and keys[2] in KINDS:
        return keys[:2] + keys[3:], keys[2]
    return keys, None


def _choice(words: list[str]) -> str:
    quoted = [f"'{word}'" for word in words]
    return f"{', '.join(quoted[:-1])} or {quoted[-1]}"


def _similar_key(keys: list[str], kind: str | None) -> str:
    """Suggest a known key for an unknown one, looked up in the declaration itself."""
    model: type[BaseModel] | None = KINDS[kind] if kind else Study
    for key in keys[2 if kind else 0 : -1]:
        field = model.model_fields.get(key) if model else None
        if field is not None:  # otherwise the key is a name that the user chose: `servers.NAME`
            model = _part_within(field.annotation)
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


def _line_of(keys: list[str], text: str) -> int:
    """Return the line on which a key stands, or the nearest table above it, counted from 1."""
    table: list[str] = []
    best, best_depth = 1, 0
    for number, line in enumerate(text.splitlines(), start=1):
        header = re.match(r"\s*\[\[?\s*([^\]]+?)\s*\]\]?\s*(#.*)?$", line)
        entry = re.match(r"\s*([A-Za-z0-9_.\"'-]+?)\s*=", line)
        if header:
            table = _split_key(header.group(1))
            path = table
        elif entry:
            path = table + _split_key(entry.group(1))
        else:
            continue
        depth = min(len(path), len(keys))
        if depth > best_depth and keys[:depth] == path[:depth]:
            best, best_depth = number, depth
    return best


def _split_key(dotted: str) -> list[str]:
    return [part.strip().strip("\"'") for part in dotted.split(".")]


def _similar_files(path: Path) -> str:
    """Suggest a study nearby for a name that is not there."""
    candidates = [*path.parent.glob("*.toml"), *Path("studies").glob("*.toml")]
    names = {candidate.stem: candidate for candidate in candidates}
    close = difflib.get_close_matches(path.stem, names, n=1, cutoff=0.5)
    return f"; did you mean {names[close[0]]}?" if close else ""
