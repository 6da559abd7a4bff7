"""How money is written: an amount to the cent if it was given so, a quotient with its known digits."""

from decimal import Decimal

from diskproof.analysis.prices.shapes import Prices
from diskproof.stats.intervals import Interval
from diskproof.wording.numbers import NOT_OBSERVED

COARSE_FROM = 0.1
"""From this uncertainty on a third digit would be noise."""


def money(amount: float) -> str:
    """Return a price: whole, to the cent, or below 1 with up to three digits, never in powers of ten."""
    if amount >= 1:
        cents = round(amount, 2)
        return f"{cents:,.0f}" if cents == round(cents) else f"{cents:,.2f}"
    return _plain(amount, 3).rstrip("0").rstrip(".")


def quotient(interval: Interval | None) -> str:
    """Return a price over something measured, with its interval: two digits if no more are known."""
    if interval is None:
        return NOT_OBSERVED
    uncertainty = interval.uncertainty
    significant = 3 if uncertainty is not None and uncertainty < COARSE_FROM else 2
    estimate = _plain(interval.estimate, significant)
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


def _plain(value: float, significant: int) -> str:
    """Return a number with so many significant digits and no power of ten: ``0.0000012``, ``1,200``."""
    return f"{Decimal(f'{value:.{significant - 1}e}'):,f}"
