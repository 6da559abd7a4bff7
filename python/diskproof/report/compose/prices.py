"""What storages and their speed cost to buy."""

from decimal import Decimal

from diskproof.analysis.answers import Analysis
from diskproof.analysis.prices.buy import best_buy
from diskproof.analysis.prices.shapes import Basis, Prices
from diskproof.report.compose.tables import cells_table, figures, table
from diskproof.report.document import Block, Paragraph, Section, Table
from diskproof.stats.intervals import Interval
from diskproof.wording.numbers import NOT_OBSERVED, listed, number, significant


def section(analysis: Analysis) -> Section:
    """Return the part about prices; an empty one if the study gives none."""
    prices = analysis.prices
    if prices is None:
        return Section("", ())
    blocks: list[Block | Section] = [Paragraph(note(prices)), storage_prices(prices)]
    speeds = speed_prices(analysis, prices)
    if speeds.rows:
        per = f"{priced(prices)} per 1,000/s: the price over thousands of transactions per second."
        blocks += [Paragraph(f"{per} Intervals are inverted from the throughput's."), speeds]
    return Section("Price of the storage", tuple(blocks), anchor="price", contents="Price")


def note(prices: Prices) -> str:
    """Return what the prices are of, and how they are made."""
    what: dict[Basis, str] = {
        "purchase": "what its devices cost to buy",
        "month": "that of a month: rent, and what was bought spread evenly over its years",
    }
    said = (
        f"In {prices.currency}, of the storage alone, from the prices that the study gives. A storage's "
        f"price is {what[prices.basis]}. A GB is 10^9 bytes, as sold, of the devices that hold the data."
    )
    return f"{said} No price is given for {listed(prices.unpriced)}." if prices.unpriced else said


# ---------------------------------------------------------------- tables


def storage_prices(prices: Prices) -> Table:
    """Return a row a storage: its devices, its price and a GB's."""
    heading = priced(prices)
    return table(
        prices.storages,
        ("Storage", lambda row: row.storage),
        ("Bought", lambda row: bought(row.bought)),
        (figures(heading), lambda row: money(row.amount)),
        (figures(f"{heading} per GB"), lambda row: money(row.amount_per_gb)),
        label="What each storage costs to buy",
    )


def speed_prices(analysis: Analysis, prices: Prices) -> Table:
    """Return a row a cell that has transactions: what a thousand per second cost."""
    heading = priced(prices)
    return cells_table(
        analysis,
        prices.cells,
        (figures("Transactions/s"), lambda row: number(row.speed.estimate)),
        (
            figures(f"{heading} per 1,000/s"),
            lambda row: "not comparable" if row.bars else quotient(row.per_1000_per_s),
        ),
        label="What the speed of every cell costs to buy",
    )


COARSE_FROM = 0.1
"""From this uncertainty on a third digit would be noise."""


def money(amount: float) -> str:
    """Return a price: whole, to the cent, or below 1 with up to three digits, never in powers of ten."""
    if amount >= 1:
        cents = round(amount, 2)
        return f"{cents:,.0f}" if cents == round(cents) else f"{cents:,.2f}"
    return _plain(amount, 3).rstrip("0").rstrip(".")


def in_short(analysis: Analysis) -> str:
    """Return the prices of the storages: ``in USD: hdd 60, ssd 90; ssd costs 1.5 times as much``.

    Empty without prices, and if the faster of two is no dearer: what to do says that once all is measured.
    """
    prices, best = analysis.prices, best_buy(analysis)
    if prices is None or (analysis.complete and best and best.times <= 1):
        return ""
    storages = ", ".join(f"{row.storage} {money(row.amount)}" for row in prices.storages)
    more = f"; {best.storage} costs {significant(best.times, 2)} times as much" if best else ""
    return f"in {priced(prices)}: {storages}{more}"


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
