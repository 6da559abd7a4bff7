"""Conditions on figures, as people write them: ``p99 <= 20 ms``, ``ratio of storage dram to disk >= 2``."""

import operator
import re
from dataclasses import dataclass
from typing import Annotated, Literal, get_args

from pydantic import BeforeValidator, WithJsonSchema

from diskproof.results.factor import Factor
from diskproof.results.plan import Cell
from diskproof.stats.intervals import Interval

Figure = Literal["ratio", "throughput", "mean", "p50", "p75", "p90", "p95", "p99", "p99.9", "seconds", "lost"]

RELATIONS = {"<=": operator.le, "<": operator.lt, ">=": operator.ge, ">": operator.gt}

UNITS = {
    "throughput": {"/s": 1.0},
    "seconds": {"s": 1.0, "": 1.0},
    "ratio": {"": 1.0},
    "lost": {"": 1.0},
}
TIMES = {"us": 1.0, "ms": 1e3, "s": 1e6}
"""Units of latencies, in microseconds."""

FORM = re.compile(
    r"(?P<figure>[a-z][a-z0-9._]*)"
    r"(?:\s+of\s+(?P<factor>[a-z]+)\s+(?P<level>\S.*?)(?:\s+to\s+(?P<baseline>\S.*?))?)?"
    r"\s*(?P<relation>[<>]=?)\s*(?P<value>(?:\d{1,3}(?:,\d{3})+|\d[\d_]*)(?:\.\d*)?|\.\d+)"
    r"\s*(?P<unit>/s|[a-z]*)"
)


@dataclass(frozen=True)
class Condition:
    """A figure's relation to a bound; perhaps of some cells, or of a level beside its baseline."""

    words: str
    """As the user gave it."""
    figure: Figure
    relation: str
    bound: float
    """In its unit."""
    unit: float = 1.0
    """Its unit: transactions a second, a job's seconds, a count; of a latency, so many microseconds."""
    factor: Factor | None = None
    level: str | None = None
    baseline: str | None = None

    def concerns(self, cell: Cell) -> bool:
        """Tell whether it is about a cell."""
        return self.factor is None or cell.level(self.factor) == self.level

    def is_shown(self, found: Interval | None) -> bool:
        """Tell whether the whole interval, in the condition's unit, fulfils it."""
        if found is None or found.low is None or found.high is None:
            return False
        return all(RELATIONS[self.relation](end, self.bound) for end in (found.low, found.high))


def parse_condition(text: str) -> Condition:
    """Read a condition; ValueError says what it takes."""
    parts = FORM.fullmatch(text.strip())
    figure = next((name for name in get_args(Figure) if parts and parts["figure"] == name), None)
    if parts is None or figure is None:
        raise ValueError(
            f"write a condition such as `p99 <= 20 ms`, not `{text}`; figures: {', '.join(get_args(Figure))}"
        )
    units = UNITS.get(figure, TIMES)
    if parts["unit"] not in units:
        raise ValueError(f"`{text}`: give `{figure}` {' or '.join(f'in {unit}' for unit in units if unit)}")
    factor = next((name for name in get_args(Factor) if parts["factor"] == name), None)
    if parts["factor"] and factor is None:
        raise ValueError(f"`{text}`: `{parts['factor']}` is not one of {', '.join(get_args(Factor))}")
    if parts["baseline"] and figure != "ratio":
        raise ValueError(f"`{text}`: only a `ratio` is of one level to another")
    bound, unit = float(re.sub("[,_]", "", parts["value"])), units[parts["unit"]]
    if not (0 < bound < 1e15 or (bound == 0 and figure == "lost")):
        raise ValueError(f"`{text}`: the bound must be more than 0")
    of = factor, parts["level"], parts["baseline"]
    return Condition(text.strip(), figure, parts["relation"], bound, unit, *of)


def _of_a_study(value: object) -> Condition:
    if isinstance(value, dict):
        raise ValueError(  # noqa: TRY004 - pydantic reports ValueErrors alone
            "a threshold is a text now, such as `ratio of storage dram to disk >= 2` or `p99 <= 20 ms`"
        )
    condition = parse_condition(str(value))
    if condition.figure == "ratio" and condition.baseline is None:
        raise ValueError(
            "write `ratio of FACTOR LEVEL to BASELINE`, such as `ratio of storage dram to disk >= 2`"
        )
    return condition


Threshold = Annotated[Condition, BeforeValidator(_of_a_study), WithJsonSchema({"type": "string"})]
"""A condition that a run must prove, or `diskproof run` ends with exit code 10."""
