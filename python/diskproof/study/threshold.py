"""The claims of a study file that its run must prove."""

from typing import Literal, Self

from pydantic import Field, model_validator

from diskproof.results.factor import Factor
from diskproof.study.part import Part

ThresholdFigure = Literal[
    "ratio",
    "throughput_per_s",
    "mean_ms",
    "p50_ms",
    "p75_ms",
    "p90_ms",
    "p95_ms",
    "p99_ms",
    "p99.9_ms",
    "seconds",
    "lost",
]


class Threshold(Part):
    """A claim that the run must prove, or `diskproof run` ends with exit code 10."""

    figure: ThresholdFigure = Field(
        "ratio",
        description="`ratio` of a level's speed to the baseline's, or a figure of each cell: transactions a "
        "second, a latency in ms, a job's seconds, the transactions `lost` in the worst cut that was made",
    )
    factor: Factor | None = Field(
        None, description="Factor whose levels are compared; for a figure it chooses the cells. Default: all"
    )
    level: str | None = Field(None, description="Level of the factor that the claim is about")
    baseline: str | None = Field(
        None, description="Of a `ratio`: level it is compared with, the factor's first"
    )
    at_least: float | None = Field(
        None, ge=0, allow_inf_nan=False, description="The whole interval of the figure is at least this"
    )
    at_most: float | None = Field(
        None, ge=0, allow_inf_nan=False, description="The whole interval of the figure is at most this"
    )

    @model_validator(mode="after")
    def _is_a_claim(self) -> Self:
        if self.at_least is None and self.at_most is None:
            raise ValueError("a threshold needs `at_least` or `at_most`")
        if 0 in (self.at_least, self.at_most) and self.figure != "lost":
            raise ValueError("a bound must be more than 0")
        if (self.factor is None) != (self.level is None):
            raise ValueError("`factor` and `level` go together")
        if self.figure == "ratio" and (self.level is None or self.baseline is None):
            raise ValueError("a `ratio` needs `factor`, `level` and `baseline`")
        if self.figure != "ratio" and self.baseline is not None:
            raise ValueError(f"`{self.figure}` is a figure of each cell: leave `baseline` out")
        return self
