"""Texts that nobody meant: seeded damage to a sound one, of the kinds that files really meet."""

import random
from collections.abc import Iterator

NUMBERS = (
    "NaN", "inf", "-1", "-0.5", "1e400", "9" * 30, "9" * 5000, "", "0", "0x1f", "0x" + "f" * 5000, "1,5",
    "½", "٣",
)  # fmt: skip


def damaged(content: str, seed: int, times: int) -> Iterator[str]:
    """Yield so many damaged copies: cut short, flipped, shuffled, doubled, with other figures in it."""
    chance = random.Random(seed)
    kinds = (_cut, _flipped, _shuffled, _dropped, _doubled, _refigured, _stretched)
    for _ in range(times):
        text = content
        for kind in chance.sample(kinds, k=chance.choice((1, 1, 2, 3))):
            text = kind(text, chance)
        yield text


def _cut(text: str, chance: random.Random) -> str:
    return text[: chance.randrange(len(text) + 1)]


def _flipped(text: str, chance: random.Random) -> str:
    raw = bytearray(text.encode())
    for _ in range(chance.choice((1, 3, 20)) if raw else 0):
        raw[chance.randrange(len(raw))] ^= 1 << chance.randrange(8)
    return raw.decode("utf-8", errors="replace")


def _shuffled(text: str, chance: random.Random) -> str:
    lines = text.splitlines(keepends=True)
    chance.shuffle(lines)
    return "".join(lines)


def _dropped(text: str, chance: random.Random) -> str:
    return "".join(line for line in text.splitlines(keepends=True) if chance.random() < 0.8)


def _doubled(text: str, chance: random.Random) -> str:
    return text[chance.randrange(len(text) + 1) :] + text


def _refigured(text: str, chance: random.Random) -> str:
    """Put one of the impossible figures in the place of some of its own."""
    words = text.split(" ")
    for at, word in enumerate(words):
        if any(letter.isdecimal() for letter in word) and chance.random() < 0.1:
            words[at] = chance.choice(NUMBERS) + ("," if word.endswith(",") else "")
    return " ".join(words)


def _stretched(text: str, chance: random.Random) -> str:
    at = chance.randrange(len(text) + 1)
    return text[:at] + chance.choice(" -=|,{[(\t#'\"a9") * 20_000 + text[at:]
