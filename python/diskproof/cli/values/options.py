"""A database server's option file."""

from pathlib import Path

from pydantic import ConfigDict, TypeAdapter

from diskproof.cli.fenced import value_of
from diskproof.cli.values import answer
from diskproof.families import FAMILIES, Family
from diskproof.run.option_files import Read, read_options
from diskproof.study.part import KeptOptions
from diskproof.system.fence import given

OPTIONS: TypeAdapter[Read] = TypeAdapter(Read, config=ConfigDict(defer_build=True))


def options(family: Family, kept: KeptOptions) -> Read:
    """Read an option file as `read_options` does."""
    return OPTIONS.validate_json(value_of("options", [family, kept.path], [kept.path], kept.content))


def _said(name: Path, path: Path) -> bytes:
    family = next(family for family in FAMILIES if family == str(name))
    return OPTIONS.dump_json(read_options(family, KeptOptions(path, given())))


if __name__ == "__main__":
    answer(_said)
