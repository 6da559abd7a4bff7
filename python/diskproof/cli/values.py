"""Values of foreign files as JSON: a process in the fence says them, and the one outside reads them."""

import sys
from collections.abc import Sequence
from pathlib import Path

from pydantic import TypeAdapter

from diskproof.analysis.folder import Values, values_of
from diskproof.analysis.gather import Gathered
from diskproof.cli.fenced import value_of
from diskproof.families import FAMILIES, Family
from diskproof.importers.base import Found
from diskproof.importers.read import read_files
from diskproof.refusal import RefusalError
from diskproof.results.folder import RunFolder
from diskproof.run.option_files import Read, read_options
from diskproof.study.part import KeptOptions
from diskproof.system.fence import given

RUN: TypeAdapter[Values] = TypeAdapter(Values)
FILES: TypeAdapter[tuple[list[Found], list[str]]] = TypeAdapter(tuple[list[Found], list[str]])
OPTIONS: TypeAdapter[Read] = TypeAdapter(Read)


def gathered(run: Path) -> Gathered:
    """Gather a run's trials."""
    return Gathered(*RUN.validate_json(value_of("run", [run])))


def files(paths: Sequence[Path]) -> tuple[list[Found], list[str]]:
    """Read the output of other tools as `read_files` does."""
    return FILES.validate_json(value_of("files", paths))


def options(family: Family, kept: KeptOptions) -> Read:
    """Read an option file as `read_options` does."""
    return OPTIONS.validate_json(value_of(family, [kept.path], kept.content))


def _said(kind: str, paths: Sequence[Path]) -> bytes:
    match kind:
        case "run":
            return RUN.dump_json(values_of(RunFolder.open(paths[0])))
        case "files":
            return FILES.dump_json(read_files(paths))
    family = next(family for family in FAMILIES if family == kind)
    return OPTIONS.dump_json(read_options(family, KeptOptions(paths[0], given())))


if __name__ == "__main__":
    try:
        sys.stdout.buffer.write(_said(sys.argv[1], [Path(word) for word in sys.argv[2:]]))
    except RefusalError as refusal:
        sys.exit(str(refusal))
