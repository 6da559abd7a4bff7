"""Published figures and ratios, laid beside what the builders of trials measure."""

from collections.abc import Sequence
from typing import Any

from diskproof.results.plan import Plan
from diskproof.results.published import Published, PublishedFigure, PublishedMeasure, PublishedRatio
from support.trials import change


def figure(
    value: float,
    measure: PublishedMeasure = "transactions_per_s",
    *,
    table: str = "Table 1",
    part: str | None = None,
    **at: str,
) -> PublishedFigure:
    """Return a published figure at these levels."""
    return PublishedFigure(table=table, place="page 3", at=at, part=part, measure=measure, value=value)


def ratio(value: float, level: str = "disk", baseline: str = "dram", **changes: Any) -> PublishedRatio:
    """Return a published ratio of two storages, unless `changes` name other things; levels go into ``at``."""
    made = PublishedRatio(
        table="Table 1",
        place="page 3",
        at={},
        measure="transactions_per_s",
        factor="storage",
        level=level,
        baseline=baseline,
        ratio=value,
    )
    return change(made, **changes)


def publish(
    plan: Plan, *, figures: Sequence[PublishedFigure] = (), ratios: Sequence[PublishedRatio] = ()
) -> Plan:
    """Return the plan of a study that repeats an experiment with these figures and ratios."""
    published = Published(
        title="Two media and one database",
        by="A. N. Author, Journal of Things 1, 2001",
        figures=list(figures),
        ratios=list(ratios),
    )
    return change(plan, published=published)
