"""Published figures in a study file: tables as they were printed, joined to cells by the levels they name."""

import difflib
import math
import re
from collections.abc import Callable, Iterator, Sequence
from typing import Annotated, get_args

from pydantic import Field, TypeAdapter, ValidationError

from diskproof.results.factor import FACTORS, Factor
from diskproof.results.published import (
    RATES,
    Published,
    PublishedFigure,
    PublishedMeasure,
    PublishedRatio,
)
from diskproof.results.size import Size
from diskproof.study.part import Part, mistake
from diskproof.wording import numbers

MEASURES: tuple[PublishedMeasure, ...] = get_args(PublishedMeasure)

PART = "part"
"""The column that names the test of a job."""

COMPARED: tuple[PublishedMeasure, ...] = (*RATES, "seconds")
"""The measures of ratios; latencies have figures only."""

Level = str | Annotated[int, Field(strict=True)]
Entry = str | Annotated[int, Field(strict=True)] | Annotated[float, Field(strict=True)]
Levels = dict[Factor, Level]
LevelsOf = Callable[[Factor], list[str]]
"""The levels of a factor in the order in which the study names them."""


class PublishedTable(Part):
    """A table of a publication, a row of it a list. Columns that name factors say what a row is about."""

    title: str = Field(min_length=1, description="What the publication calls it, such as `Table 4.1`")
    place: str = Field(min_length=1, description="Its place in the publication")
    at: Levels = Field({}, description="Levels that all its rows have, such as `{ storage = 'ssd' }`")
    columns: list[str] = Field(
        min_length=1,
        description="Names of the columns: factors (`storage`, `clients` …), `part` (a test of a job), and "
        f"measures: {', '.join(f'`{measure}`' for measure in MEASURES)}",
    )
    rows: list[list[Entry]] = Field(min_length=1, description="Its rows, an entry a column")
    compare: list[Factor] = Field(
        ["storage"], description="Factors whose levels are compared: ratios of rows that differ in one alone"
    )

    def _check_whole(self) -> None:
        known = (*FACTORS, PART, *MEASURES)
        for column in self.columns:
            if column not in known:
                raise ValueError(f"unknown column `{column}`: give {', '.join(known)}{_meant(column, known)}")
        if len(set(self.columns)) != len(self.columns):
            raise ValueError("a column is here twice")
        if both := [factor for factor in self.at if factor in self.columns]:
            raise ValueError(f"`{both[0]}` is both in `at` and a column: leave one out")
        if not any(column in MEASURES for column in self.columns):
            raise ValueError(f"no column is a measure: {', '.join(MEASURES)}")
        for number, row in enumerate(self.rows, start=1):
            if len(row) != len(self.columns):
                raise ValueError(f"row {number} has {len(row)} entries for {len(self.columns)} columns")
            for column, entry in zip(self.columns, row, strict=True):
                if column in MEASURES and not _is_figure(entry):
                    raise ValueError(f"row {number}: {column} is {entry!r}, not a number above 0")
                if column in FACTORS and isinstance(entry, float):
                    raise ValueError(f"row {number}: {column} is {entry!r}, which is not a level")
        # What is compared by default may be no column; what is asked for would give no ratio.
        strays = [factor for factor in self.compare if factor not in self.columns]
        if strays and "compare" in self.model_fields_set:
            raise ValueError(f"`compare`: `{strays[0]}` is not a column, so no two rows differ in it")
        self._check_rows()

    def _check_rows(self) -> None:
        seen: dict[tuple[Entry, ...], int] = {}
        for number, row in enumerate(self.rows, start=1):
            entries = zip(self.columns, row, strict=True)
            about = tuple(entry for column, entry in entries if column not in MEASURES)
            if (first := seen.setdefault(about, number)) != number:
                raise ValueError(
                    f"rows {first} and {number} have the same levels: add a column in which they differ"
                )

    def figures(self) -> Iterator[PublishedFigure]:
        """Yield the table's figures, row by row."""
        for row in self.rows:
            entries = dict(zip(self.columns, row, strict=True))
            at = dict(self.at) | {factor: entries[factor] for factor in FACTORS if factor in entries}
            for measure in MEASURES:
                if measure in entries:
                    yield PublishedFigure(
                        table=self.title,
                        place=self.place,
                        at={factor: _level(factor, level) for factor, level in at.items()},
                        part=str(entries[PART]) if PART in entries else None,
                        measure=measure,
                        value=float(entries[measure]),
                    )


class PublishedClaim(Part):
    """A ratio that was published without its figures, such as "twice as fast"."""

    title: str = Field(min_length=1, description="What the publication calls it")
    place: str = Field(min_length=1, description="Its place in the publication")
    at: Levels = Field({}, description="Levels that both sides have")
    part: str | None = Field(None, description="Test of a job that it is about")
    measure: PublishedMeasure = Field(description="What it is a ratio of")
    factor: Factor = Field(description="Factor whose levels it compares")
    level: Level = Field(description="Level that it is about")
    baseline: Level = Field(description="Level that it is compared with")
    ratio: float = Field(
        gt=0,
        allow_inf_nan=False,
        description="How many times as fast `level` is as `baseline`",
    )

    def _check_whole(self) -> None:
        if str(self.level) == str(self.baseline):
            raise ValueError(f"`level` and `baseline` are both `{self.level}`")
        if self.factor in self.at:
            raise ValueError(f"`{self.factor}` is compared, so it cannot be in `at`")


class PublishedChoice(Part):
    """The experiment that a study repeats: its figures, each with its place in the text."""

    title: str = Field(min_length=1, description="Title of the publication")
    by: str = Field(min_length=1, description="Who published it, where and when")
    tables: list[PublishedTable] = Field([], description="Its tables")
    ratios: list[PublishedClaim] = Field([], description="Ratios that it gives without their figures")

    def check(self, levels: LevelsOf) -> None:
        """Refuse levels that the study does not have.

        Numbers of clients and sizes of memory may differ. No two tables may have the same title.
        """
        titles: set[str] = set()
        for number, table in enumerate(self.tables):
            for figure in table.figures():
                _check_levels(figure.at, levels, "tables", number)
            if table.title in titles:
                raise mistake(
                    f"another table is also called `{table.title}`: give each its own title",
                    "published",
                    "tables",
                    number,
                    "title",
                )
            titles.add(table.title)
        for number, claim in enumerate(self.ratios):
            _check_levels(claim.at, levels, "ratios", number)
            for level in (claim.level, claim.baseline):
                _check_levels({claim.factor: level}, levels, "ratios", number)

    def record(self, levels: LevelsOf) -> Published:
        """Return the figures and all ratios between them."""
        ratios = [ratio for table in self.tables for ratio in _ratios(table, levels)]
        ratios += [
            PublishedRatio(
                **claim.model_dump(exclude={"title", "at", "level", "baseline"}),
                table=claim.title,
                level=_level(claim.factor, claim.level),
                baseline=_level(claim.factor, claim.baseline),
                at={factor: _level(factor, level) for factor, level in claim.at.items()},
            )
            for claim in self.ratios
        ]
        figures = [figure for table in self.tables for figure in table.figures()]
        return Published(title=self.title, by=self.by, figures=figures, ratios=ratios)


def _meant(column: str, known: Sequence[str]) -> str:
    """Suggest the column that is called nearly so."""
    close = difflib.get_close_matches(column, known, n=1)
    return f"; did you mean `{close[0]}`?" if close else ""


def _level(factor: Factor, level: Level | float) -> str:
    """Return a level as cells have it: a size of memory may be written in several ways."""
    size = _size(level) if factor == "memory" else None
    return str(level) if size is None else numbers.size(size)


def _size(level: Level | float) -> int | None:
    try:
        return TypeAdapter(Size).validate_python(level)
    except ValidationError:
        return None


def _check_levels(
    at: dict[Factor, Level] | dict[Factor, str], levels: LevelsOf, part: str, number: int
) -> None:
    for factor, level in at.items():
        known, shown = levels(factor), _level(factor, level)
        match factor:
            case "clients":
                wrong = None if re.fullmatch("[1-9][0-9]*", shown) else "is not a whole number from 1"
            case "memory":
                wrong = "is not a size such as `2 GiB`" if _size(level) is None else None
            case _:
                wrong = None if shown in known else f"is not in this study, which has {', '.join(known)}"
        if wrong:
            raise mistake(f"{factor} `{level}` {wrong}", "published", part, number)


def _is_figure(entry: Entry) -> bool:
    return not isinstance(entry, str) and math.isfinite(entry) and entry > 0


def _ratios(table: PublishedTable, levels: LevelsOf) -> Iterator[PublishedRatio]:
    """Yield each figure over that of the first level of a compared factor, all else equal."""
    figures = [figure for figure in table.figures() if figure.measure in COMPARED]
    for factor in table.compare:
        order = levels(factor)
        for figure in figures:
            others = [one for one in figures if _differ_in(factor, one, figure)]
            first = min([figure, *others], key=lambda one: _rank(one.at.get(factor), order))
            if first is not figure:
                yield _ratio(factor, figure, first)


def _differ_in(factor: Factor, one: PublishedFigure, other: PublishedFigure) -> bool:
    """Tell whether two figures are of the same, but for the level of one factor, which both name."""

    def rest(figure: PublishedFigure) -> object:
        return figure.measure, figure.part, {key: at for key, at in figure.at.items() if key != factor}

    levels = one.at.get(factor), other.at.get(factor)
    return None not in levels and levels[0] != levels[1] and rest(one) == rest(other)


def _rank(level: str | None, order: list[str]) -> int:
    return order.index(level) if level in order else len(order)


def _ratio(factor: Factor, figure: PublishedFigure, baseline: PublishedFigure) -> PublishedRatio:
    speed = figure.value / baseline.value
    return PublishedRatio(
        **figure.model_dump(exclude={"at", "value"}),
        at={key: level for key, level in figure.at.items() if key != factor},
        factor=factor,
        level=figure.at[factor],
        baseline=baseline.at[factor],
        ratio=speed if figure.measure in RATES else 1 / speed,
    )
