"""Prices in a study file: what the devices of a storage cost."""

from typing import Annotated, Literal, Self

from pydantic import Field, StringConstraints, model_validator

from diskproof.results.prices import Price
from diskproof.results.size import SoldSize
from diskproof.study.part import Part

YEARS = 3.0
"""Default life of a device: the three years of TPC's pricing."""


class PriceChoice(Part):
    """The price of a device, to be named in `bought` of a storage."""

    currency: Annotated[str, StringConstraints(pattern=r"^[A-Z]{3}$")] = Field(
        description="Currency, by its three letters, such as `USD`; one for the whole study"
    )
    amount: float = Field(gt=0, allow_inf_nan=False, description="Price of one device, or of one month")
    per: Literal["device", "month"] = Field(
        "device", description="What the price pays: the `device`, or a `month` of a rented one"
    )
    size: SoldSize = Field(gt=0, description="Its size as sold, such as `72 GB`")
    years: float = Field(
        YEARS,
        gt=0,
        le=100,
        description="Years of use of a bought device, over which its price is spread",
    )
    source: str = Field(min_length=1, description="Source and date of the price; or `assumed: …`")

    @model_validator(mode="after")
    def _what_is_rented_has_no_life(self) -> Self:
        if self.per == "month" and "years" in self.model_fields_set:
            raise ValueError("`years` belongs to a bought device: leave it out if `per` is a month")
        return self

    def record(self, device: str) -> Price:
        """Return the price of a device of this name."""
        told = self.model_dump(exclude={"size"})
        return Price(device=device, size_bytes=int(self.size), **told)
