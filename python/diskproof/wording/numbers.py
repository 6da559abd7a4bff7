"""How numbers, sizes, times and lists are written."""

import math
import re
from collections.abc import Sequence

NOT_OBSERVED = "n/a"


def number(value: float | None) -> str:
    """Return a figure with about three significant digits; from 100 on a whole number."""
    if value is None:
        return NOT_OBSERVED
    size = abs(value)
    if size == 0:
        return "0"
    if size >= 99.95:
        return f"{value:,.0f}"
    if size >= 9.995:
        return f"{value:.1f}"
    if size >= 0.9995:
        return f"{value:.2f}"
    return f"{value:#.3g}" if size >= 1e-4 else f"{value:.1e}"


def figure(value: float, digits: int = 4) -> str:
    """Return a figure with so many significant digits, a larger one whole: never ``1.206e+04``."""
    whole = 10.0 ** (digits - 1) <= abs(value) < 1e15
    return f"{value:,.0f}" if whole else f"{value:.{digits}g}"


def significant(value: float, digits: int) -> str:
    """Return a positive number with exactly so many significant digits: ``0.0120``."""
    if not 1e-4 <= value < 1e6:
        return f"{value:.{digits - 1}e}"
    decimals = digits - 1 - math.floor(math.log10(value))
    return f"{round(value, decimals):,.{max(decimals, 0)}f}"


def printed(value: float) -> str:
    """Return a figure with the digits that it was printed with, and separators: ``1,156.24``."""
    return f"{value:,.10g}"


def percent(share: float) -> str:
    """Return a share as a percentage without needless digits: ``95%``, ``2.5%``."""
    return f"{share * 100:.3g}%"


def whole_percent(share: float) -> str:
    """Return a share in whole percent: ``93%``; one below half a percent as ``under 1%``."""
    return percent(round(share, 2)) if share >= 0.005 or share <= 0 else "under 1%"


def time(time_us: float) -> str:
    """Return a time with two significant digits in the unit that suits it: ``8.1 ms``, ``340 µs``."""
    if time_us <= 0:
        return "0 ms"
    if time_us < 995:
        return f"{significant(time_us, 2)} µs"
    return f"{significant(time_us / 1000, 2)} ms" if time_us < 995_000 else f"{time_us / 1e6:.2g} s"


def milliseconds(time_us: float | None) -> str:
    """Return a time in milliseconds, without its unit."""
    return NOT_OBSERVED if time_us is None else number(time_us / 1000)


def duration(time_s: float) -> str:
    """Return a time as people say it: ``0.25 s``, ``6 min 12 s``, ``2 h 5 min``."""
    if time_s < 60:
        return f"{time_s:.3g} s"
    minutes, rest_s = divmod(round(time_s), 60)
    if minutes < 60:
        return f"{minutes} min {rest_s} s" if rest_s else f"{minutes} min"
    hours, minutes = divmod(minutes, 60)
    return f"{hours} h {minutes} min" if minutes else f"{hours} h"


def size(size_bytes: float | None) -> str:
    """Return a size as people write it in a study file: ``256 MiB``."""
    if size_bytes is None:
        return NOT_OBSERVED
    for unit in ("B", "KiB", "MiB", "GiB"):
        if size_bytes < 1024:
            return f"{size_bytes:.4g} {unit}"
        size_bytes /= 1024
    return f"{size_bytes:.4g} TiB"


def count(value: float, noun: str, plural: str | None = None) -> str:
    """Return a count with its noun: ``1 trial``, ``40 trials``."""
    return f"{value:,.10g} {noun if value == 1 else plural or plural_of(noun)}"


def plural_of(noun: str) -> str:
    """Return the plural of a regular noun: ``query`` -> ``queries``."""
    if noun.endswith("y") and noun[-2:-1] not in "aeiou":
        return f"{noun[:-1]}ies"
    return f"{noun}es" if noun.endswith(("s", "x", "ch", "sh")) else f"{noun}s"


def listed(words: Sequence[str], most: int = 5) -> str:
    """Return a list as people write it, the rest counted: ``a, b and c``, ``a, b and 7 more``."""
    if len(words) > most:
        return f"{', '.join(words[:most])} and {len(words) - most} more"
    return " and ".join([", ".join(words[:-1]), words[-1]] if len(words) > 1 else words)


_BEFORE_UNIT = re.compile(r"(?<=\d) (?=(?:[mµn]?s|min|h|[KMGT]?i?B)\b)")


def unbroken(text: str, space: str = "\N{NO-BREAK SPACE}") -> str:
    """Return a text in which no line can end between a number and its unit."""
    return _BEFORE_UNIT.sub(space, text)


def sentence_case(words: str) -> str:
    """Return words with a capital at their beginning."""
    return words[:1].upper() + words[1:]
