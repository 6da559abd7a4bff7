"""How money is worded: an amount to the cent where it was given so, a quotient to what is known of it."""

from collections import Counter
from decimal import Decimal

from diskproof.analysis.answers import Interval
from diskproof.analysis.prices.shapes import Basis, Prices
from diskproof.analysis.words import listed
from diskproof.report import words
from diskproof.results.prices import Price

COARSE_FROM = 0.1
"""From this uncertainty on a third digit would be noise."""


def money(amount: float) -> str:
    """Return a price: whole, to the cent, or below 1 with up to three digits, never in powers of ten."""
    if amount >= 1:
        cents = round(amount, 2)
        return f"{cents:,.0f}" if cents == round(cents) else f"{cents:,.2f}"
    return _plain(amount, 3).rstrip("0").rstrip(".")


def quotient(interval: Interval | None, *, bounds: bool = True) -> str:
    """Return a price over something measured, with its interval: two digits where it is not known better."""
    if interval is None:
        return words.NOT_OBSERVED
    uncertainty = interval.uncertainty
    significant = 3 if uncertainty is not None and uncertainty < COARSE_FROM else 2
    estimate = _plain(interval.estimate, significant)
    if not bounds:
        return estimate
    if interval.low is None or interval.high is None:
        return f"{estimate} (no interval)"
    return f"{estimate} ({_plain(interval.low, significant)} to {_plain(interval.high, significant)})"


def priced(prices: Prices) -> str:
    """Return the heading over an amount: ``USD``, ``USD a month``."""
    return f"{prices.currency} a month" if prices.basis == "month" else prices.currency


def bought(devices: list[str]) -> str:
    """Return what a storage is made of: ``2 x sas + x25-e``."""
    counts = {name: devices.count(name) for name in devices}
    return " + ".join(name if count == 1 else f"{count} x {name}" for name, count in counts.items())


def device(price: Price) -> str:
    """Return a device's price as the study tells it: ``USD 160``, ``EUR 0.08 a month``."""
    return f"{price.currency} {money(price.amount)}{' a month' if price.per == 'month' else ''}"


def sold_size(price: Price) -> str:
    """Return a device's size as it is sold: disks count in GB, memory in GiB."""
    if price.size_bytes % 2**20 == 0:
        return words.size(price.size_bytes)
    return f"{price.size_bytes / 1e9:,.4g} GB"


def life(price: Price) -> str:
    """Return how long a device is paid for: ``3 years``, ``rented``."""
    if price.per == "month":
        return "rented"
    return f"{price.years:g} {'year' if price.years == 1 else 'years'}"


def note(prices: Prices) -> str:
    """Say what the prices are of, and how they are made."""
    what: dict[Basis, str] = {
        "purchase": "what its devices cost to buy",
        "month": "that of a month: rent, and what was bought spread evenly over its years",
    }
    said = (
        f"In {prices.currency}, of the storage alone, from the prices that the study gives. A storage's "
        f"price is {what[prices.basis]}; a GB is 10^9 bytes, as sold, of the devices that hold the data."
    )
    return f"{said} No price is given for {listed(prices.unpriced)}." if prices.unpriced else said


def speed_note(prices: Prices) -> str:
    """Say how a price over a speed is made."""
    return (
        f"{priced(prices)} per 1,000/s: the price over thousands of transactions a second. Per million "
        "durable transactions: what the storage costs in the time that a million take, its price spread "
        "evenly over its life; only where the settings as read back lose no acknowledged commit, and given "
        "that the disk keeps what it has flushed. Intervals are the throughput's, turned over."
    )


def not_durable(prices: Prices) -> str:
    """Say why transactions are not counted as durable, and in how many cells; nothing where all are."""
    reasons = Counter(one.why_not for one in prices.cells if one.why_not)
    said = "; ".join(f"{reason} ({words.count(cells, 'cell')})" for reason, cells in reasons.items())
    return f"Not counted as durable: {said}." if said else ""


def _plain(value: float, significant: int) -> str:
    """Return a number with so many significant digits and no power of ten: ``0.0000012``, ``1,200``."""
    return f"{Decimal(f'{value:.{significant - 1}e}'):,f}"
