"""Messages as values: a form with gaps, and what fills them. Words are made when somebody reads them.

A conclusion is found in one place and written in another, often together with others like it. So it travels
as values: rooms that conclude make messages with `say`, rooms that write take `Message.text`.
"""

import re
import string
from collections.abc import Callable, Hashable, Mapping, Sequence
from functools import lru_cache
from typing import Any

from pydantic import BaseModel, ConfigDict, computed_field, model_validator

from diskproof.wording import numbers


class _Part(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", defer_build=True)


class Quantity(_Part):
    """A number with its unit."""

    value: float
    unit: str = ""
    """One of `UNITS`, a rate (``requests/s``), a noun that is counted (``trial``), or none."""


class Range(_Part):
    """What a quantity ranges over in messages that are otherwise the same."""

    low: float
    high: float
    unit: str = ""


_NUMBERS_FORMAT = re.compile(r"[+-]?,?\d{0,2}(?:\.\d{1,2})?[efg%]?")


@lru_cache(10_000)
def _gaps(form: str) -> frozenset[str]:
    """Return the names of a form's gaps; ValueError if one cannot be written: a damaged file may hold any."""
    gaps = set()
    for _, name, spec, conversion in string.Formatter().parse(form):
        if name is None:
            continue
        known = spec in {"", "most", "cap"} or str(spec).startswith("/") or "|" in str(spec)
        if conversion or not name.isidentifier() or "{" in str(spec):
            raise ValueError(f"{form!r} has a gap that is none of a message's")
        if not known and not _NUMBERS_FORMAT.fullmatch(str(spec)):
            raise ValueError(f"{form!r} has a gap in a format that no number has")
        gaps.add(name)
    return frozenset(gaps)


class Message(_Part):
    """What is said, as values."""

    form: str
    """The words, with a gap for each value: ``{part} of {whole} is the log flush``.

    ``{n:is|are}`` writes the first word if the number n is 1, else the second. ``{x:cap}`` begins with a
    capital. ``{x:2}`` writes two significant digits, ``{x:.3g}`` the number by Python's rules for formats;
    its unit follows. ``{x:/ }`` joins a list with what follows the slash. ``{x:most}`` writes the high end of
    a range: a value that suits all.
    """
    values: dict[str, "Value"] = {}

    @model_validator(mode="before")
    @classmethod
    def _of_words(cls, given: object) -> object:
        """Take words without values, as older run folders have them; the text is made anew."""
        if isinstance(given, str):
            return {"form": _literal(given)}
        if isinstance(given, dict) and "text" in given:
            return {name: value for name, value in given.items() if name != "text"}
        return given

    @computed_field  # type: ignore[prop-decorator]
    @property
    def text(self) -> str:
        """The words. Only rooms that write for a person ask for them."""
        return _WRITER.vformat(self.form, (), self.values)

    @model_validator(mode="after")
    def _fills_its_gaps(self) -> "Message":
        gaps = _gaps(self.form)
        if gaps != self.values.keys():
            raise ValueError(f"{self.form!r} has the gaps {sorted(gaps)}, values for {sorted(self.values)}")
        return self

    def __bool__(self) -> bool:
        """Tell whether anything is said."""
        return bool(self.form)

    def __hash__(self) -> int:
        """Return a hash, so that messages can be grouped."""
        return hash((self.form, frozenset(self.values.items())))


Item = Quantity | Range | Message | str
"""A quantity, another message, or a name as it is written: a level, an option, a path."""

Value = Item | tuple[Item, ...]
"""What fills a gap; a list is written ``a, b and c``."""

Message.model_rebuild()

NOTHING = Message(form="")


def say(form: str, /, **values: Item | float | Sequence[Item | float]) -> Message:
    """Return a message; a bare number is a quantity without a unit, any sequence a list.

    Raises ValueError if a gap of the form has no value, or a value no gap.
    """
    return Message(form=form, values={name: _value(value) for name, value in values.items()})


def as_message(words: Message | str) -> Message:
    """Return words that have no values as a message."""
    return words if isinstance(words, Message) else Message(form=_literal(words))


def us(time_us: float) -> Quantity:
    """Return a time, written in the unit that suits it: ``8.1 ms``."""
    return Quantity(value=time_us, unit="us")


def ms(time_us: float) -> Quantity:
    """Return a time in milliseconds, with the digits that arithmetic needs: ``0.3412 ms``."""
    return Quantity(value=time_us / 1000, unit="ms")


def seconds(time_s: float) -> Quantity:
    """Return a duration: ``6 min 12 s``."""
    return Quantity(value=time_s, unit="s")


def bytes_(size_bytes: float) -> Quantity:
    """Return a size: ``256 MiB``."""
    return Quantity(value=size_bytes, unit="bytes")


def share(of_one: float) -> Quantity:
    """Return a share of one, written in whole percent: ``93%``."""
    return Quantity(value=of_one, unit="share")


def printed(figure: float) -> Quantity:
    """Return a figure of a publication, written with the digits that it has there."""
    return Quantity(value=figure, unit="printed")


def counted(number: float, noun: str) -> Quantity:
    """Return a count with its regular noun: ``1 trial``, ``40 trials``."""
    return Quantity(value=number, unit=noun)


def per_s(rate: float, of: str = "") -> Quantity:
    """Return a rate: ``1,182/s``, ``1,182 transactions/s``."""
    return Quantity(value=rate, unit=f"{of}/s")


# ---------------------------------------------------------------- messages that are alike


def without_figures(message: Message) -> Hashable:
    """Return what messages share that differ in quantities alone: their form and their names."""
    return message.form, tuple((name, _shape(value)) for name, value in sorted(message.values.items()))


def forms(message: Message) -> Hashable:
    """Return what messages share that differ in names and quantities: their forms, one in the other."""
    return message.form, tuple((name, _forms(value)) for name, value in sorted(message.values.items()))


def _forms(value: Value) -> Hashable:
    if isinstance(value, tuple):
        return tuple(map(_forms, value))
    return forms(value) if isinstance(value, Message) else None


def together(messages: Sequence[Message]) -> Message:
    """Return one message for several that are equal `without_figures`: `ranged`, or the first, counted."""
    different = list(dict.fromkeys(messages))
    whole = ranged(different)
    if whole is not None:
        return whole
    return say(_FIRST, first=different[0], number=len(different))


_FIRST = "{first} (the first of {number} that differ in their figures)"


def first_of(message: Message) -> Message:
    """Return the message that stands first in one of `together`, else the message itself."""
    first = message.values.get("first")
    return first if message.form == _FIRST and isinstance(first, Message) else message


def ranged(messages: Sequence[Message]) -> Message | None:
    """Return one message for several, with the range of the one quantity that differs: ``0.037 to 0.68``.

    None if more than one value differs: their ranges would lose which belongs to which.
    """
    first = messages[0]
    if len(set(map(without_figures, messages))) > 1:
        return None
    differing = [
        name for name, value in first.values.items() if any(one.values[name] != value for one in messages)
    ]
    if not differing:
        return first
    spread = _spread([one.values[differing[0]] for one in messages]) if len(differing) == 1 else None
    if spread is None:
        return None
    return first.model_copy(update={"values": {**first.values, differing[0]: spread}})


def _spread(values: Sequence[Value]) -> Range | Message | None:
    messages = [one for one in values if isinstance(one, Message)]
    if messages:
        return ranged(messages)
    figures = [one for one in values if isinstance(one, Quantity | Range)]
    if len(figures) < len(values):
        return None
    ends = [(one.value, one.value) if isinstance(one, Quantity) else (one.low, one.high) for one in figures]
    lows, highs = zip(*ends, strict=True)
    return Range(low=min(lows), high=max(highs), unit=figures[0].unit)


def _shape(value: Value) -> Hashable:
    match value:
        case Quantity() | Range():
            return value.unit
        case Message():
            return without_figures(value)
        case tuple():
            return tuple(map(_shape, value))
        case _:
            return value


# ---------------------------------------------------------------- words


UNITS: Mapping[str, Callable[[float], str]] = {
    "us": numbers.time,
    "ms": lambda time_ms: f"{numbers.figure(time_ms)} ms",
    "s": numbers.duration,
    "bytes": numbers.size,
    "share": numbers.whole_percent,
    "printed": numbers.printed,
    "": numbers.figure,
}
"""How a quantity of each unit is written."""

_SYMBOLS = {"us": (1, " µs"), "s": (1, " s"), "bytes": (1, " B"), "share": (100, "%")}
"""For numbers with a format of their own: by what they are multiplied, and what stands behind."""


class _Writer(string.Formatter):
    """Writes values into the gaps of a form."""

    def format_field(self, value: Any, format_spec: str) -> str:  # noqa: ANN401 - as the base class has it
        if "|" in format_spec:
            one, _, many = format_spec.partition("|")
            return one if _number(value) == 1 else many
        if format_spec.startswith("/"):
            return format_spec[1:].join(map(_words, value)) if isinstance(value, tuple) else _words(value)
        if format_spec == "most":
            return _quantity(value.high, value.unit) if isinstance(value, Range) else _words(value)
        if format_spec == "cap":
            return numbers.sentence_case(_words(value))
        if format_spec:
            return _formatted(value, format_spec)
        return _words(value)


_WRITER = _Writer()


def _words(value: Value) -> str:
    match value:
        case Quantity():
            return _quantity(value.value, value.unit)
        case Range():
            low, high = _quantity(value.low, value.unit), _quantity(value.high, value.unit)
            return low if low == high else f"{low} to {high}"
        case Message():
            return value.text
        case tuple():
            return numbers.listed([_words(one) for one in value])
        case _:
            return value


def _quantity(value: float, unit: str) -> str:
    if unit in UNITS:
        return UNITS[unit](value)
    if unit.endswith("/s"):
        return f"{numbers.figure(value)}{'' if unit == '/s' else ' '}{unit}"
    return numbers.count(value, unit)


def _formatted(value: Value, spec: str) -> str:
    if not isinstance(value, Quantity | Range):
        return _words(value)
    factor, symbol = _SYMBOLS.get(value.unit, (1, f" {value.unit}" if value.unit else ""))
    ends = [value.value] if isinstance(value, Quantity) else [value.low, value.high]
    digits = int(spec) if spec.isdigit() else None
    said = [numbers.figure(end * factor, digits) if digits else format(end * factor, spec) for end in ends]
    return " to ".join(dict.fromkeys(said)) + symbol


def _number(value: Value) -> float:
    if isinstance(value, Quantity):
        return value.value
    return len(value) if isinstance(value, tuple) else 2


def _value(given: Item | float | Sequence[Item | float]) -> Value:
    if isinstance(given, str) or not isinstance(given, Sequence):
        return _item(given)
    return tuple(map(_item, given))


def _item(given: Item | float) -> Item:
    return Quantity(value=given) if isinstance(given, int | float) else given


def _literal(words: str) -> str:
    """Return the form that has these words and no gap."""
    return words.replace("{", "{{").replace("}", "}}")
