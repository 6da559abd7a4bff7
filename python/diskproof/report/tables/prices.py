"""What storages and their speed cost to buy."""

from diskproof.analysis.answers import Analysis
from diskproof.analysis.prices.shapes import CellPrice, Prices, StoragePrice
from diskproof.report import money, words
from diskproof.report.tables.table import Column, Table, factor_column, shown_factors

NOT_MEASURED = "not measured"
NOT_COMPARABLE = "not comparable"


def storage_prices(prices: Prices, *, bounds: bool = True) -> Table:
    """Return a row a storage: what it is made of, its price, a GB's, and a random request's a second."""
    loads = {one.workload: words.size(one.block_bytes) for row in prices.storages for one in row.requests}
    none = NOT_COMPARABLE if any(row.barred for row in prices.storages) else NOT_MEASURED
    heading = money.priced(prices)
    columns = [
        Column("Storage"),
        Column("Bought"),
        Column(heading, figures=True),
        Column(f"{heading} per GB", figures=True),
        *(Column(f"{heading} per IOPS ({load}, {block})", figures=True) for load, block in loads.items()),
        *([] if loads else [Column(f"{heading} per IOPS", figures=True)]),
    ]
    rows = tuple(
        (
            row.storage,
            money.bought(row.bought),
            money.money(row.amount),
            money.money(row.amount_per_gb),
            *(_request(row, load, bounds=bounds) for load in loads),
            *([] if loads else [none]),
        )
        for row in prices.storages
    )
    return Table(tuple(columns), rows)


def _request(row: StoragePrice, load: str, *, bounds: bool) -> str:
    found = next((one for one in row.requests if one.workload == load), None)
    if found is None:
        return NOT_COMPARABLE if load in row.barred else NOT_MEASURED
    through = "" if found.direct else ", page cache"
    amount = money.quotient(found.amount, bounds=bounds)
    return f"{amount}, {words.count(found.clients, 'client')}{through}"


def speed_prices(analysis: Analysis, prices: Prices, *, bounds: bool = True) -> Table:
    """Return a row a cell that has transactions: what a thousand a second cost, and a million that last."""
    factors = shown_factors(analysis)
    heading = money.priced(prices)
    columns = (
        *(factor_column(factor) for factor in factors),
        Column("Transactions/s", figures=True),
        Column(f"{heading} per 1,000/s", figures=True),
        Column(f"{prices.currency} per million durable", figures=True),
    )
    rows = tuple(
        (
            *(row.cell.level(factor) for factor in factors),
            words.number(row.speed.estimate),
            NOT_COMPARABLE if row.bars else money.quotient(row.per_1000_per_s, bounds=bounds),
            _durable(row, bounds=bounds),
        )
        for row in prices.cells
        if row.metric == "transactions_per_s"
    )
    return Table(columns, rows)


def _durable(row: CellPrice, *, bounds: bool) -> str:
    if row.per_million:
        return money.quotient(row.per_million, bounds=bounds)
    return row.why_not.partition(":")[0] if row.why_not else NOT_COMPARABLE


def device_prices(prices: Prices) -> Table:
    """Return a row a device: its price as the study gives it, and where the study has it from."""
    columns = (
        Column("Device"),
        Column("Price", figures=True),
        Column("Size", figures=True),
        Column("Paid for"),
        Column("Source"),
    )
    rows = tuple(
        (one.device, money.device(one), money.sold_size(one), money.life(one), one.source)
        for one in prices.devices
    )
    return Table(columns, rows)
