"""Prices as a study gives them."""

from typing import Any

from diskproof.results.plan import Plan
from diskproof.results.prices import Price
from support.trials import change

GB = 10**9


def make_price(device: str, amount: float, **changes: Any) -> Price:
    """Return the price of a device that is bought for three years and holds 100 GB, unless said otherwise."""
    price = Price(
        device=device,
        currency="USD",
        amount=amount,
        per="device",
        size_bytes=100 * GB,
        years=3.0,
        source=f"assumed: a price of {device}",
    )
    return change(price, **changes)


def with_prices(plan: Plan, **prices: list[Price]) -> Plan:
    """Return the plan with what its storages cost; a name's underscores stand for dashes."""
    return change(plan, prices={name.replace("_", "-"): bought for name, bought in prices.items()})
