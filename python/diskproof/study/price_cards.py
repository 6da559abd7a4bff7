"""Price cards: what a disk costs, as a function of what is bought of it; in files, and in studies."""

import datetime
import math
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Literal

from pydantic import Field, StringConstraints, ValidationError

from diskproof.reading import UnreadableError, read_text
from diskproof.refusal import RefusalError
from diskproof.results.prices import Price
from diskproof.results.size import SoldSize
from diskproof.study.part import FOLDER, Device, Part

MOST_BYTES = 1 << 16

YEARS = 3.0
"""Default life of a device: the three years of TPC's pricing."""

STEP = 1.5
"""Between two amounts of a dimension that are tried: a finer step would be finer than the predictions."""

GIB = 1 << 30


class Dimension(Part):
    """What is bought of one limit, beyond what is included."""

    included: float = Field(0, ge=0, allow_inf_nan=False, description="Amount without a price")
    most: float = Field(gt=0, le=1e7, allow_inf_nan=False, description="Most that can be bought")
    most_per_gib: float | None = Field(
        None, gt=0, allow_inf_nan=False, description="Most for each GiB of the volume"
    )
    each: float = Field(gt=0, allow_inf_nan=False, description="Price of one more")
    bought: float | None = Field(None, gt=0, allow_inf_nan=False, description="In a study: what was bought")

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
    """What one disk or volume costs. In a study, `bought` of a storage names it."""

    title: str | None = Field(None, min_length=1, description="What is bought, and where")
    device: Device | None = Field(None, description="Its device file, for `advise`: a name, or a path")
    currency: Annotated[str, StringConstraints(pattern=r"^[A-Z]{3}$")] = Field(
        description="Currency, by its three letters, such as `USD`; one for the whole study"
    )
    per: Literal["device", "month"] = Field(
        "device", description="What the price pays: the `device`, or a `month` of a rented one"
    )
    years: float = Field(
        YEARS, gt=0, le=100, description="Years over which a bought device's price is spread"
    )
    date: datetime.date | None = Field(None, description="Day on which the price held")
    source: str = Field(min_length=1, description="Where the price was read; or `assumed: …`")
    amount: float = Field(0, ge=0, allow_inf_nan=False, description="Price of the device, whatever its size")
    per_gib: float = Field(0, ge=0, allow_inf_nan=False, description="Price of a GiB more")
    size: SoldSize | None = Field(
        None, gt=0, description="Its size as sold, such as `72 GB`. Without it, `advise` chooses"
    )
    outlives_machine: bool = Field(True, description="Whether data outlive the machine")
    iops: Dimension | None = Field(None, description="Requests a second that can be bought")
    mib_per_s: Dimension | None = Field(None, description="MiB a second that can be bought")

    def _check_whole(self) -> None:
        if not (self.amount or self.per_gib or self.iops or self.mib_per_s):
            raise ValueError("it has no price: give `amount`, or `per_gib`, `iops` and `mib_per_s`")
        if self.per == "month" and "years" in self.model_fields_set:
            raise ValueError("`years` belongs to a bought device: leave it out if `per` is a month")

    @property
    def gib(self) -> float | None:
        """Its size, if it is sold in one."""
        return self.size / GIB if self.size else None

    def record(self, device: str) -> Price:
        """Return what a study's device of this name costs."""
        size = self.size
        assert size  # a study's card has one
        iops, mib_per_s = (limit.bought if limit else None for limit in (self.iops, self.mib_per_s))
        told = self.model_dump(include={"currency", "per", "years", "source"})
        amount = self._whole(size / GIB, iops, mib_per_s)
        return Price(device=device, amount=amount, size_bytes=int(size), **told)

    def a_month(self, gib: float, iops: float | None, mib_per_s: float | None) -> float:
        """Return the price of a month."""
        whole = self._whole(gib, iops, mib_per_s)
        return whole if self.per == "month" else whole / self.years / 12

    def _whole(self, gib: float, iops: float | None, mib_per_s: float | None) -> float:
        whole = self.amount + self.per_gib * gib
        whole += self.iops.costs(iops) if self.iops and iops else 0.0
        return whole + (self.mib_per_s.costs(mib_per_s) if self.mib_per_s and mib_per_s else 0.0)


class SoldCard(PriceCard):
    """A card in a file of its own, for `advise`."""

    title: str = Field(min_length=1)
    device: Device
    date: datetime.date


def shipped_cards() -> list[SoldCard]:
    """Return the cards that come with diskproof."""
    return [read_card(path) for path in sorted((Path(__file__).parent / "cards").glob("*.toml"))]


def read_card(path: Path) -> SoldCard:
    """Read a card; RefusalError says what is wrong with it."""
    try:
        text = read_text(path, MOST_BYTES)
    except (UnreadableError, OSError) as error:
        raise RefusalError(f"{path}: {error}") from None
    return parse_card(text, path)


def parse_card(text: str, path: Path) -> SoldCard:
    """Read the card of `advise` from its text; a device file's relative path starts at the card's folder."""
    try:
        return SoldCard.model_validate(tomllib.loads(text), context={FOLDER: path.parent})
    except tomllib.TOMLDecodeError as error:
        raise RefusalError(f"{path}: {error}") from None
    except ValidationError as error:
        said = "; ".join(
            ": ".join([".".join(map(str, one["loc"])), one["msg"]]).lstrip(": ") for one in error.errors()
        )
        raise RefusalError(f"{path}: {said}") from None
