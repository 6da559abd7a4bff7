"""Sizes on the command line, written as in a study file."""

from pydantic import TypeAdapter, ValidationError

from diskproof.refusal import RefusalError
from diskproof.results.size import Size


def size_of(option: str, text: str) -> int:
    """Return the bytes that a size such as `4 GiB` means; RefusalError if it is not one."""
    try:
        return int(TypeAdapter(Size).validate_python(text))
    except ValidationError:
        raise RefusalError(f"{option} takes a size such as `4 GiB`, not `{text}`") from None
