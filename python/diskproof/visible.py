"""What could steer a terminal or hide in a text, shown instead of obeyed."""

import json
import re

_HIDDEN = re.compile(
    r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u180e\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb"
    r"\ud800-\udfff\U000e0000-\U000e007f]"
)
"""Control characters but line feeds and tabs, what turns the direction of writing, what has no width, and
halves of characters: bytes of a file's name that are no UTF-8. Joiners stay: some scripts need them."""


def visible(text: str) -> str:
    """Return a text that shows all it holds: a sign stands for each character that could hide or steer."""
    return _HIDDEN.sub("\N{REPLACEMENT CHARACTER}", text.replace("\r\n", "\n"))


def visible_json(text: str) -> str:
    """Return JSON of the same values, in which such characters are escaped."""
    return _HIDDEN.sub(lambda found: json.dumps(found[0])[1:-1], text)
