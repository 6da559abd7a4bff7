"""JSON out of a text that may hold more than that, and figures out of JSON."""

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, NoReturn

from diskproof.importers.base import ImportRefusedError, Text
from diskproof.importers.numbers import MOST, broken


@dataclass(frozen=True)
class Node:
    """An object of a JSON text, asked by name."""

    text: Text
    line: int
    """The line on which the whole text begins."""
    fields: Mapping[str, Any]

    def number(self, name: str) -> float | None:
        """Return a figure, which some tools write as a string; None if there is none."""
        told = self.fields.get(name)
        if told is None or told == "":
            return None
        if isinstance(told, str):
            try:
                told = float(told)
            except ValueError:
                raise self._refusal(name, told) from None
        if isinstance(told, bool) or not isinstance(told, int | float) or not 0 <= told <= MOST:
            raise self._refusal(name, told)
        return float(told)

    def count(self, name: str) -> int | None:
        """Return a whole number; None if there is none."""
        value = self.number(name)
        if value is None:
            return None
        if value != int(value):
            raise self._refusal(name, value)
        return int(value)

    def word(self, name: str) -> str | None:
        """Return what a name says as text; None if it says nothing."""
        told = self.fields.get(name)
        return None if told is None or isinstance(told, dict | list) else str(told)

    def node(self, name: str) -> "Node | None":
        """Return the object of a name; None if there is none."""
        told = self.fields.get(name)
        return Node(self.text, self.line, told) if isinstance(told, dict) else None

    def nodes(self, name: str) -> list["Node"]:
        """Return the objects of a list."""
        told = self.fields.get(name)
        found = told if isinstance(told, list) else []
        return [Node(self.text, self.line, one) for one in found if isinstance(one, dict)]

    def words(self) -> dict[str, str]:
        """Return all single values as text."""
        return {name: word for name in self.fields if (word := self.word(name)) is not None}

    def _refusal(self, name: str, told: object) -> ImportRefusedError:
        return broken(self.text, self.line, f"`{name}` is {str(told)[:40]!r}, not a figure")


def objects(text: Text) -> Iterator[Node]:
    """Yield each JSON object that begins a line or a list, with what stands around it left out.

    ImportRefusedError if one does not come to its end.
    """
    decoder = json.JSONDecoder(parse_constant=_no_constant)
    content, at, line, counted = text.content, 0, 1, 0
    while begin := _NEXT.match(content, at) or _BEGIN.search(content, at):
        line += content.count("\n", counted, begin.end())
        counted = begin.end()
        try:
            found, at = decoder.raw_decode(content, begin.end() - 1)
        except (ValueError, RecursionError) as error:
            raise broken(text, line, f"the JSON that begins here is broken ({str(error)[:80]})") from None
        yield Node(text, line, found)


_BEGIN = re.compile(r"^[ \t]*(?:\[[ \t]*)?\{", re.MULTILINE)
"""A brace with nothing but space before it in its line: what stands around the JSON may hold others. A list
may begin with it."""

_NEXT = re.compile(r"\s*,\s*\{")


def _no_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is no figure")
