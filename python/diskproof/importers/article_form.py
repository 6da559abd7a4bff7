"""The keys of an article's TOML file that its record has in another form; the others stand in results."""

from typing import Annotated

from pydantic import Field

from diskproof.results.article import (
    MOST_ENTRIES,
    About,
    Control,
    Counts,
    Parts,
    Statement,
    Words,
    Written,
)
from diskproof.results.factor import Factor
from diskproof.study.published import Levels, PublishedTable

Choice = str | Annotated[int, Field(strict=True)]
Chosen = dict[Factor, Choice | list[Choice]]
"""Levels of some factors; a list names several, each of which is meant."""

VALUED = ("percent slower", "percent faster", "percent more", "percent of", "times as fast", "difference")
"""The kinds of claim that state a figure."""


class Head(About):
    """What was published, and by whom. If a study repeats it, that study may hold title and tables."""

    title: Words | None = Field(None, description="Its title; by default the study's")
    by: Words | None = Field(None, description="Who published it, where and when; by default the study's")
    study: Words | None = Field(
        None, description="The study file that repeats it, from this file's folder: its tables are read there"
    )
    tables: list[Words] | None = Field(
        None, description="Titles of the study's tables that are meant; by default all"
    )
    names: dict[str, Words] = Field(
        {}, description="What the article calls levels that the study calls otherwise: `study = 'article'`"
    )


class ReportForm(Counts):
    """Counts that a tool's report prints beside its rates; they must fit together."""

    at: Levels = Field(description="Levels of the result that it is of")
    place: Words = Field(description="Where it stands")


class RunForm(Written):
    """Single runs whose mean, best or median the tables have."""

    run: Annotated[int, Field(ge=1)] = Field(description="Which run, from 1")
    table: PublishedTable = Field(description="Its figures")


class SettingsForm(Written):
    """Settings of the server: an option file as it was printed, or single options of a level."""

    level: Words = Field(description="The level that they are of, or a name for them")
    server: str | None = Field(None, description="Server and version: `Percona Server 5.7.27-30`")
    text: str | None = Field(None, description="The option file as it was printed")
    options: dict[str, str | int | bool] = Field({}, description="Single options")
    place: Words = Field(description="Where they stand")


class ClaimForm(Statement):
    """A statement about figures. It is about each pair of results that `at`, `of` and `than` select."""

    at: Chosen = Field({}, description="Levels that both results have")
    part: str | list[str] | None = Field(None, description="Tests of a job that it is about; by default all")
    of: Chosen = Field({}, description="Levels of the result that it is about")
    than: Chosen = Field({}, description="Levels of the result that it is compared with")


class AlikeForm(Control):
    """Results that should not differ: controls, and levels that are equal by their making."""

    factor: Factor = Field("storage", description="Factor whose levels should be the same")
    levels: list[Words] | None = Field(None, description="Those levels; by default all")
    at: Chosen = Field({}, description="Levels of the results that are meant")
    part: str | list[str] | None = Field(None, description="Tests of a job that are meant; by default all")


class Headed(Written):
    """The table that marks a file as an article."""

    article: Head = Field(description="What was published")


class ArticleForm(Parts, Headed):
    """A published experiment, as a file."""

    tables: list[PublishedTable] = Field(
        [], max_length=MOST_ENTRIES, description="Its tables, as in a study's `[published]`"
    )
    reports: list[ReportForm] = Field([], max_length=MOST_ENTRIES, description="Counts of tools' reports")
    runs: list[RunForm] = Field([], max_length=MOST_ENTRIES, description="Single runs")
    settings: list[SettingsForm] = Field([], max_length=MOST_ENTRIES, description="Settings of the server")
    claims: list[ClaimForm] = Field([], max_length=MOST_ENTRIES, description="What is concluded")
    alike: list[AlikeForm] = Field([], max_length=MOST_ENTRIES, description="What should not differ")
