"""Price cards: what a disk costs, as a function of what is bought of it."""

import datetime
import math
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Literal, Self

from pydantic import Field, StringConstraints, ValidationError, model_validator

from diskproof.reading import UnreadableError, read_text
from diskproof.refusal import RefusalError
from diskproof.study.part import Part
from diskproof.study.prices import YEARS

MOST_BYTES = 1 << 16

STEP = 1.5
"""Between two amounts of a dimension that are tried: a finer step would be finer than the predictions."""

GIB = 1 << 30


class Dimension(Part):
    """What is bought of one limit, beyond what is included."""

    included: float = Field(0, ge=0, allow_inf_nan=False, description="Amount that costs nothing more")
    most: float = Field(gt=0, le=1e7, allow_inf_nan=False, description="Most that can be bought")
    most_per_gib: float | None = Field(
        None, gt=0, allow_inf_nan=False, description="Most that can be bought for each GiB of the volume"
    )
    each: float = Field(gt=0, allow_inf_nan=False, description="Price of one beyond those included")

    def limit(self, gib: float) -> float:
        """Return the most that can be bought for a volume of a size."""
        if self.most_per_gib is None:
            return self.most
        return min(self.most, max(self.most_per_gib * gib, self.included))

    def levels(self, gib: float) -> Iterator[int]:
        """Yield the amounts to try for a volume of a size, from the least: whole ones, as they are sold."""
        most = math.floor(self.limit(gib))
        level = math.ceil(self.included or most / STEP**8)
        while level < most:
            yield level
            level = math.ceil(level * STEP)
        yield most

    def costs(self, amount: float) -> float:
        """Return the price of an amount."""
        return max(amount - self.included, 0.0) * self.each


class PriceCard(Part):
    """One disk or volume, with its price at a date."""

    title: str = Field(min_length=1, description="What is bought, and where")
    device: str = Field(min_length=1, description="Its device file: a name, or a path beside the card")
    currency: Annotated[str, StringConstraints(pattern=r"^[A-Z]{3}$")]
    per: Literal["device", "month"] = Field("device", description="What the price pays")
    years: float = Field(YEARS, gt=0, le=100, description="Years over which a bought device is spread")
    date: datetime.date = Field(description="Day on which the price held")
    source: str = Field(min_length=1, description="Where the price was read")
    amount: float = Field(0, ge=0, allow_inf_nan=False, description="Price of the device, whatever its size")
    per_gib: float = Field(
        0, ge=0, allow_inf_nan=False, description="Price of a GiB; the size is then chosen"
    )
    gib: float | None = Field(
        None, gt=0, allow_inf_nan=False, description="Size of a disk that is sold whole, in GiB"
    )
    outlives_machine: bool = Field(
        True, description="Whether the data are still there after the machine has stopped"
    )
    iops: Dimension | None = Field(None, description="Requests a second that can be bought")
    mib_per_s: Dimension | None = Field(None, description="MiB a second that can be bought")

    @model_validator(mode="after")
    def _costs_something(self) -> Self:
        if not (self.amount or self.per_gib or self.iops or self.mib_per_s):
            raise ValueError("it has no price: give `amount`, or `per_gib`, `iops` and `mib_per_s`")
        return self

    def a_month(self, gib: float, iops: float | None, mib_per_s: float | None) -> float:
        """Return the price of a month."""
        whole = self.amount + self.per_gib * gib
        whole += self.iops.costs(iops) if self.iops and iops else 0.0
        whole += self.mib_per_s.costs(mib_per_s) if self.mib_per_s and mib_per_s else 0.0
        return whole if self.per == "month" else whole / self.years / 12


def shipped_cards() -> list[PriceCard]:
    """Return the cards that come with diskproof."""
    return [read_card(path) for path in sorted((Path(__file__).parent / "cards").glob("*.toml"))]


def read_card(path: Path) -> PriceCard:
    """Read a card; RefusalError says what is wrong with it."""
    try:
        text = read_text(path, MOST_BYTES)
    except (UnreadableError, OSError) as error:
        raise RefusalError(f"{path}: {error}") from None
    card = parse_card(text, str(path))
    if card.device.endswith(".toml"):
        return card.model_copy(update={"device": str(path.parent / card.device)})
    return card


def parse_card(text: str, name: str) -> PriceCard:
    """Read a card from its text."""
    try:
        return PriceCard.model_validate(tomllib.loads(text))
    except tomllib.TOMLDecodeError as error:
        raise RefusalError(f"{name}: {error}") from None
    except ValidationError as error:
        said = "; ".join(
            ": ".join([".".join(map(str, one["loc"])), one["msg"]]).lstrip(": ") for one in error.errors()
        )
        raise RefusalError(f"{name}: {said}") from None
