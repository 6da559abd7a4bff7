"""What the measured speed costs to buy.

Price/performance is the price of what was measured over its throughput, as the Transaction Processing
Performance Council defines it (TPC-C Standard Specification 5.11, clause 7: three years' price over tpmC),
but of the storage alone: it is the factor under test, and the study prices nothing else.
"""

from collections.abc import Sequence

from diskproof.analysis.gather import Gathered
from diskproof.analysis.prices.shapes import Basis, CellPrice, Prices, StoragePrice
from diskproof.results.plan import Cell
from diskproof.results.prices import Price
from diskproof.stats.intervals import Interval, geometric_mean_interval

GB = 10**9
MONTHS = 12
"""Of a year; a month is the twelfth part of one."""


def answer_prices(gathered: Gathered) -> Prices | None:
    """Return what the storages of a run cost, and what the speed of its cells does; None without prices."""
    plan = gathered.plan
    if not plan.prices:
        return None
    devices = {price.device: price for bought in plan.prices.values() for price in bought}
    basis: Basis = "month" if any(price.per == "month" for price in devices.values()) else "purchase"
    used = list(dict.fromkeys(cell.storage for cell in plan.cells))
    return Prices(
        currency=next(iter(devices.values())).currency,
        basis=basis,
        devices=list(devices.values()),
        storages=[_price_storage(gathered, name, basis) for name in used if name in plan.prices],
        unpriced=[name for name in used if name not in plan.prices],
        cells=[
            priced
            for cell in plan.cells
            if cell.storage in plan.prices and (priced := _price_cell(gathered, cell, basis))
        ],
    )


def amount(devices: Sequence[Price], basis: Basis) -> float:
    """Return what devices cost together: to buy, or a month, a bought one spread evenly over its years."""
    if basis == "purchase":
        return sum(device.amount for device in devices)
    return sum(
        device.amount if device.per == "month" else device.amount / (MONTHS * device.years)
        for device in devices
    )


def usable_bytes(devices: Sequence[Price]) -> int:
    """Return the size as sold of the devices that hold the data: the first one named, and those alike.

    A cache or a log before a disk adds no room; what a mirror or a file system takes is not known here.
    """
    return sum(device.size_bytes for device in devices if device.device == devices[0].device)


# ---------------------------------------------------------------- a storage


def _price_storage(gathered: Gathered, storage: str, basis: Basis) -> StoragePrice:
    devices = gathered.plan.prices[storage]
    price = amount(devices, basis)
    return StoragePrice(
        storage=storage,
        bought=[device.device for device in devices],
        amount=price,
        usable_bytes=usable_bytes(devices),
        amount_per_gb=price / (usable_bytes(devices) / GB),
    )


# ---------------------------------------------------------------- a cell


def _price_cell(gathered: Gathered, cell: Cell, basis: Basis) -> CellPrice | None:
    """Return what a cell's transactions cost; None if it has none, or no valid trial.

    At a set rate, throughput is the study's own choice.
    """
    speed = _speed(gathered, cell) if gathered.plan.metric(cell) == "transactions_per_s" else None
    if speed is None:
        return None
    devices = gathered.plan.prices[cell.storage]
    price, bars = amount(devices, basis), gathered.bars_of(cell)
    return CellPrice(
        cell=cell,
        amount=price,
        speed=speed,
        per_1000_per_s=None if bars else price_over(1000 * price, speed),
        bars=bars,
    )


def price_over(price: float, speed: Interval) -> Interval:
    """Return a price over a speed; its interval is the speed's, turned over (the price is exact)."""
    return speed.model_copy(
        update={
            "estimate": price / speed.estimate,
            "low": None if speed.high is None else price / speed.high,
            "high": None if speed.low is None else price / speed.low,
        }
    )


def _speed(gathered: Gathered, cell: Cell) -> Interval | None:
    speeds = [*gathered.speeds(cell, None).values()]
    return geometric_mean_interval(speeds) if speeds else None
