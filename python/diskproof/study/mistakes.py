"""What is wrong with a file that a person wrote.

Pydantic checks the declarations; its messages are about inputs, instances and dictionaries. Here they become
messages about a TOML file, with the nearest right word if there is one.
"""

import datetime
import difflib
import json
import re
import tomllib
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, get_args, get_origin

from pydantic import BaseModel
from pydantic_core import ErrorDetails

from diskproof.families import FAMILIES, of
from diskproof.stats.grouping import grouped
from diskproof.study.part import NAME_PATTERN
from diskproof.wording import numbers

MIB = 2**20

LONGEST_GIVEN = 80
"""Characters of a wrong value that are shown."""

MOST_BITS = 64
"""Of a whole number: TOML guarantees no more, and Python does not print thousands of digits."""

DEEPEST = 32
"""Tables and lists within each other: no key of ours is deeper."""

_LONG_KEY = re.compile(
    r"""(?<![\w"'-])(?:(?:[\w-]{1,99}|"(?:[^"\\\n]|\\.){0,99}"|'[^'\n]{0,99}')[ \t]{0,9}\.[ \t]{0,9}){32}"""
)
"""A key of more parts than that: Python's reader takes a time that is the square of them."""

MOST_MISTAKES = 20
"""At most so many are reported at once: each is searched for in the text."""

SIZE = "give a size such as `256 MiB`: a number and B, KB, MB, GB, TB, KiB, MiB, GiB or TiB"

NAME = "a name has at most 40 letters, digits, `.`, `-` and `_`"

WANTED = {
    "string": "text in quotes",
    "int": "a whole number",
    "float": "a number",
    "bool": "true or false",
    "path": "a path in quotes",
    "list": "a list",
    "dict": "a table",
    "model": "a table",
    "model_attributes": "a table",
}
"""What a value should be, by the beginning of pydantic's name for the mistake."""

PATTERNS = {
    NAME_PATTERN.pattern: NAME,
    r"^[A-Z]{3}$": "give three capital letters, such as `USD`",
    r"^[A-Za-z_][A-Za-z0-9_]*$": "a variable's name has letters, digits and `_`, and begins with no digit",
}
"""What a text must look like, by its pattern."""

MEMBERS = {"str": "string", "int": "int", "float": "float", "bool": "bool", "constrained-int": "int"}
"""What pydantic appends to a place of several types, and how that type's mistakes begin."""

BOUNDS = {"ge": "{} or more", "le": "{} or less", "gt": "more than {}", "lt": "less than {}"}

COMMON_WORDS = {
    **{word: str(family) for family in FAMILIES for word in of(family).called if word != family},
    "disk": "storage",
    "threads": "clients",
    "shutdown": "stop",
    "crash": "stop",
    "sysbench": "oltp",
    "fio": "fileio",
    "mysqlslap": "slap",
}
"""Words used elsewhere, and the study's word for them."""

TOML_HINTS = {
    "Invalid value": "text needs quotes",
    "Cannot overwrite": "the key is there twice",
    "Cannot declare": "the table is there twice",
    "Illegal character '\\n'": "a quote is not closed",
    "Unterminated string": "a quote is not closed",
    "Exceeds the limit": "a number here does not have thousands of digits",
}
"""The usual cause behind each refusal of Python's TOML reader."""

_BETWEEN = "', '"

_KIND = re.compile(r"(\w+?)_(?:type|parsing|parsing_size|from_float)")


def one_a_place(mistakes: Sequence[ErrorDetails]) -> Iterator[ErrorDetails]:
    """Yield one mistake a value: pydantic reports one for each type that the value may have."""
    for place, found in grouped(mistakes, _place).items():
        if all(one["loc"] == place for one in found):
            yield from found
            continue
        wanted = list(dict.fromkeys(WANTED[_wrong_type(one)] for one in found if _wrong_type(one)))
        yield {**found[0], "loc": place, "type": "several", "msg": f"give {_alternatives(wanted)}"}


def _place(mistake: ErrorDetails) -> tuple[int | str, ...]:
    *above, last = mistake["loc"] or ("",)
    if above and MEMBERS.get(str(last), "none") == _wrong_type(mistake):
        return tuple(above)
    return mistake["loc"]


def _wrong_type(mistake: ErrorDetails) -> str:
    """Return the type that a value should have, if its type is wrong."""
    found = _KIND.fullmatch(mistake["type"])
    return found[1] if found and found[1] in WANTED else ""


def in_words(mistake: ErrorDetails) -> str:
    """Return what is wrong with a value, what would be right, and the value."""
    if _wrong_type(mistake) == "list" and (given := _written(mistake["input"])):
        given = given.strip('"') if given.strip('"').isdigit() else given
        return f"give a list, in brackets: [{given}]"
    texts = mistake["type"] == "literal_error" and mistake["ctx"]["expected"].startswith("'")
    if texts and isinstance(mistake["input"], str):
        return one_of(re.findall(r"'([^']*)'", mistake["ctx"]["expected"]), mistake["input"])
    wrong, given = _wrong(mistake), _shown(mistake["input"])
    if mistake["type"] == "value_error" and not wrong.startswith("give "):
        return wrong  # a sentence of its own, such as "there is no file …"
    return f"{wrong}{given and f', not {given}'}"


def _wrong(mistake: ErrorDetails) -> str:
    told = mistake.get("ctx", {})
    if wrong := _wrong_type(mistake):
        return f"give {WANTED[wrong]}"
    match mistake["type"]:
        case "literal_error":
            return f"give {told['expected']}"
        case "greater_than_equal" | "less_than_equal" | "greater_than" | "less_than":
            (bound,) = told.keys() & BOUNDS.keys()
            return f"give {BOUNDS[bound].format(_bound(told[bound]))}"
        case "finite_number":
            return "give a number that is finite"
        case "string_too_short":
            return "it is empty: give some text"
        case "string_too_long":
            return f"give at most {told['max_length']:,} characters"
        case "too_short":
            return f"it is empty: give at least {told['min_length']}"
        case "too_long":
            return f"give at most {told['max_length']:,} of them"
        case "byte_size" | "byte_size_unit":
            return SIZE
        case "string_pattern_mismatch":
            return PATTERNS.get(told["pattern"], f"give text that fits {told['pattern']}")
    message = mistake["msg"].removeprefix("Value error, ")
    return message[:1].lower() + message[1:]


def _bound(value: float) -> str:
    """Return a bound; whole mebibytes are sizes."""
    if isinstance(value, int) and value >= MIB and value % MIB == 0:
        return numbers.size(value)
    return f"{int(value):,}" if value == int(value) else f"{value:g}"


def one_of(known: Sequence[str], given: object) -> str:
    """Say which words are allowed, which was given, and which was probably meant."""
    quoted = [f"'{word}'" for word in known]
    choice = " or ".join(filter(None, [", ".join(quoted[:-1]), quoted[-1]]))
    return f"give {choice}, not {_shown(given)}{_nearest(str(given), known)}"


def _nearest(given: str, known: Sequence[str]) -> str:
    """Suggest the word that is nearest to a wrong one."""
    by_small = {word.lower(): word for word in known}
    if (meant := COMMON_WORDS.get(given.strip().lower())) in known:
        return f"; did you mean '{meant}'?"
    close = difflib.get_close_matches(given.strip().lower(), by_small, n=1, cutoff=0.6)
    return f"; did you mean '{by_small[close[0]]}'?" if close else ""


def similar(word: str, known: Sequence[str]) -> str:
    """Suggest the known word that is nearest to a wrong one, or list the known ones."""
    close = difflib.get_close_matches(word, known, n=1, cutoff=0.6)
    return f"; did you mean `{close[0]}`?" if close else f"; known here: {', '.join(known) or 'nothing'}"


def similar_key(model: type[BaseModel], key: str) -> str:
    """Suggest a key of a declaration for an unknown one."""
    return similar(key, [field.alias or name for name, field in model.model_fields.items()])


def part_at(model: type[BaseModel] | None, keys: Sequence[str]) -> type[BaseModel] | None:
    """Return the declaration of the part that has the last key, within the declaration of a whole file."""
    is_name = False  # that the user chose, as in `servers.NAME`; it may be called like a key
    for key in keys[:-1]:
        field = model.model_fields.get(key) if model and not is_name else None
        is_name = field is not None and get_origin(field.annotation) is dict
        if field is not None:
            model = _part_within(field.annotation)
    return model


def _part_within(annotation: object) -> type[BaseModel] | None:
    """Return the part that an annotation holds: itself, or within a dict, list or union."""
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return annotation
    return next((part for inner in get_args(annotation) if (part := _part_within(inner))), None)


def toml(text: str) -> dict[str, Any]:
    """Read TOML; ValueError says what it is instead: "is not valid TOML: …"."""
    if key := _LONG_KEY.search(text):
        line = text.count("\n", 0, key.start()) + 1
        raise ValueError(f"is nested too deeply: a key in line {line} has {DEEPEST} parts or more")
    try:
        content = tomllib.loads(text)
    except ValueError as error:  # a number of thousands of digits raises no TOMLDecodeError
        raise ValueError(f"is not valid TOML: {_toml_mistake(error, text)}") from None
    except RecursionError:
        content = None
    if content is None or _is_too_deep(content):
        raise ValueError(f"is nested too deeply: no key of a study is more than {DEEPEST} deep")
    return content


def _is_too_deep(content: object) -> bool:
    level = [content]
    for _ in range(DEEPEST):
        level = [
            one
            for value in level
            if isinstance(value, dict | list)
            for one in (value.values() if isinstance(value, dict) else value)
        ]
    return any(isinstance(value, dict | list) for value in level)


def _toml_mistake(error: ValueError, text: str) -> str:
    """Say where a text is not TOML: the reader's own words, the line, and the usual cause."""
    told = str(error)
    hint = next((hint for words, hint in TOML_HINTS.items() if words in told), "")
    said = re.sub(
        r"\('(.*?)',?\)", lambda keys: f"[{keys[1].replace(_BETWEEN, '.')}]", told.partition(";")[0]
    )
    place = re.search(r"\(at line (\d+),", said)
    line = text.split("\n")[int(place[1]) - 1].strip() if place else ""
    return f"{said}{line and f': `{line:.{LONGEST_GIVEN}}`'}{hint and f': {hint}'}"


def too_long(content: object) -> tuple[list[str | int], str] | None:
    """Return the keys of a whole number that is longer than TOML's are, and what is wrong with it.

    It is refused before anything computes with it: Python reads `0xfff…` of any length.
    """
    waiting: list[tuple[list[str | int], object]] = [([], content)]
    while waiting:
        keys, value = waiting.pop()
        if isinstance(value, int) and not -(2 ** (MOST_BITS - 1)) <= value < 2 ** (MOST_BITS - 1):
            bits = value.bit_length() + 1  # the sign's with them
            return keys, f"give a number of at most {MOST_BITS} bits, not one of {bits:,}"
        if isinstance(value, dict | list):
            within: Iterable[tuple[str | int, object]] = (
                value.items() if isinstance(value, dict) else enumerate(value)
            )
            waiting += [([*keys, key], one) for key, one in within]
    return None


def _written(value: object) -> str:
    """Return a plain value as TOML has it."""
    return json.dumps(value) if isinstance(value, str | int | float) else ""


def _shown(value: object) -> str:
    """Return a value as the file has it; nothing for a table or list."""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, datetime.date | datetime.time):
        return value.isoformat()
    if isinstance(value, str | int | float):
        return f"{value!r:.{LONGEST_GIVEN}}"
    return ""


def _alternatives(words: Iterable[str]) -> str:
    every = [word for word in words if word != WANTED["int"] or WANTED["float"] not in words]
    return " or ".join([", ".join(every[:-1]), every[-1]]) if len(every) > 1 else every[0]
