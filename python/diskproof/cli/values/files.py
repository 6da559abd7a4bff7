"""The output of other tools."""

from collections.abc import Sequence
from pathlib import Path

from pydantic import TypeAdapter

from diskproof.cli.fenced import value_of
from diskproof.cli.values import answer
from diskproof.importers.base import Found
from diskproof.importers.read import read_files

FILES: TypeAdapter[tuple[list[Found], list[str]]] = TypeAdapter(tuple[list[Found], list[str]])


def files(paths: Sequence[Path]) -> tuple[list[Found], list[str]]:
    """Read the output of other tools as `read_files` does."""
    return FILES.validate_json(value_of("files", paths, paths))


if __name__ == "__main__":
    answer(lambda *paths: FILES.dump_json(read_files(paths)))
