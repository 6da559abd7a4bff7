"""What storages and their speed cost to buy."""

from diskproof.analysis.answers import Analysis
from diskproof.analysis.prices.shapes import Basis, Prices
from diskproof.report.compose import money
from diskproof.report.compose.tables import cells_table, figures, table
from diskproof.report.document import Block, Paragraph, Section, Table
from diskproof.wording.numbers import listed, number

NOT_COMPARABLE = "not comparable"


def section(analysis: Analysis) -> Section:
    """Return the part about prices; an empty one if the study gives none."""
    prices = analysis.prices
    if prices is None:
        return Section("", ())
    blocks: list[Block | Section] = [Paragraph(note(prices)), storage_prices(prices)]
    speeds = speed_prices(analysis, prices)
    if speeds.rows:
        blocks += [Paragraph(_speed_note(prices)), speeds]
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


def _speed_note(prices: Prices) -> str:
    return (
        f"{money.priced(prices)} per 1,000/s: the price over thousands of transactions per second. Intervals "
        "are inverted from the throughput's."
    )


# ---------------------------------------------------------------- tables


def storage_prices(prices: Prices) -> Table:
    """Return a row a storage: its devices, its price and a GB's."""
    heading = money.priced(prices)
    return table(
        prices.storages,
        ("Storage", lambda row: row.storage),
        ("Bought", lambda row: money.bought(row.bought)),
        (figures(heading), lambda row: money.money(row.amount)),
        (figures(f"{heading} per GB"), lambda row: money.money(row.amount_per_gb)),
        label="What each storage costs to buy",
    )


def speed_prices(analysis: Analysis, prices: Prices) -> Table:
    """Return a row a cell that has transactions: what a thousand per second cost."""
    heading = money.priced(prices)
    return cells_table(
        analysis,
        prices.cells,
        (figures("Transactions/s"), lambda row: number(row.speed.estimate)),
        (
            figures(f"{heading} per 1,000/s"),
            lambda row: NOT_COMPARABLE if row.bars else money.quotient(row.per_1000_per_s),
        ),
        label="What the speed of every cell costs to buy",
    )
