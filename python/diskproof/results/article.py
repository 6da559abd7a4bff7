"""An experiment as somebody published it: how it was made, its figures, and what was concluded from them."""

from typing import Literal

from diskproof.results.factor import Factor
from diskproof.results.imported import ImportedResult, Settings, Source
from diskproof.results.published import PublishedMeasure
from diskproof.results.record import Record


class Procedure(Record):
    """How its figures came about, as far as it tells; None: it does not."""

    repeats: int | None = None
    """Runs of each cell."""
    chosen: Literal["best", "mean", "median", "single"] | None = None
    """What is printed of them."""
    spread_told: bool = False
    """Whether their scatter is told in any way."""
    restart_between: bool | None = None
    """Whether server and data were put back between runs."""
    randomised: bool | None = None
    """Whether the order of the cells was random."""
    warm_up_s: float | None = None
    measured_s: float | None = None
    place: str = ""
    """Where it says so."""


class Conditions(Record):
    """What one level of a factor was measured with: all that may differ between levels, as far as told."""

    factor: Factor
    level: str
    facts: dict[str, str]
    """By what they are: ``cpu``, ``cpus``, ``memory``, ``server version``, ``engine``, ``disk``,
    ``file system``, ``memory limit`` … Two levels that are compared should be equal in all but the factor
    itself (named in `under_test`)."""
    under_test: list[str] = []
    """The facts that the comparison is about."""
    place: str = ""


class Claim(Record):
    """A statement about two results, or about one, as figures: never the article's own sentences."""

    kind: Literal[
        "percent slower",
        "percent faster",
        "percent more",
        "percent of",
        "times as fast",
        "difference",
        "faster",
        "the same",
        "bound by",
        "trend",
    ]
    """``percent slower``: a is p % slower than b. ``percent more``: an increase by p % from b to a.
    ``difference``: a - b, in the unit of the measure. ``faster`` and ``the same`` have no value.
    ``bound by``: what is said to hold a back (`cause`)."""
    says: str
    """The claim in our own words."""
    place: str
    """Where in the publication it stands."""
    measure: PublishedMeasure
    of: str
    """Name of the result that it is about."""
    than: str | None = None
    """Name of the result that it is compared with."""
    value: float | None = None
    at_least: bool = False
    """Whether it was said to be "more than" that."""
    about: bool = False
    """Whether it was said to be rough ("~27", "almost 575")."""
    cause: str | None = None


class Article(Record):
    """A published experiment: a file of ``studies/published/``, or a user's own."""

    source: Source
    title: str
    by: str
    """Who published it, where and when."""
    question: str = ""
    storage_under_test: bool = True
    """Whether it is about storage: then a load that reaches none of it is a control."""
    procedure: Procedure = Procedure()
    conditions: list[Conditions] = []
    settings: list[Settings] = []
    """Option files and levels as published; `Settings.source.format` names the level."""
    results: list[ImportedResult] = []
    """Its figures as results, so that they are audited like those read from a tool's own output."""
    claims: list[Claim] = []
    controls: list[str] = []
    """Names of results that should not differ between storages: they touch no disk, or data in memory."""
    devices: dict[str, str] = {}
    """Kind of device behind each storage: ``spinning 7200``, ``flash``, ``memory``, ``network``; what physics
    allows follows from it."""
