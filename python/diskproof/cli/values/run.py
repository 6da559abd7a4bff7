"""A run's trials."""

from pathlib import Path

from pydantic import TypeAdapter

from diskproof.analysis.folder import Values, values_of
from diskproof.analysis.gather import Gathered
from diskproof.cli.fenced import value_of
from diskproof.cli.values import answer
from diskproof.results.folder import RunFolder

RUN: TypeAdapter[Values] = TypeAdapter(Values)


def gathered(run: Path) -> Gathered:
    """Gather a run's trials."""
    return Gathered(*RUN.validate_json(value_of("run", [run], [run])))


if __name__ == "__main__":
    answer(lambda run: RUN.dump_json(values_of(RunFolder.open(run))))
