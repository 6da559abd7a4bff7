"""What the measured speed costs to buy.

Price/performance is the price of what was measured over its throughput, as the Transaction Processing
Performance Council defines it (TPC-C Standard Specification 5.11, clause 7: three years' price over tpmC),
but of the storage alone: it is the factor under test, and the study prices nothing else.
"""

from collections.abc import Iterator, Sequence

from diskproof.analysis.gather import Gathered
from diskproof.analysis.prices.durable import find_not_durable
from diskproof.analysis.prices.shapes import Basis, CellPrice, Prices, RequestPrice, StoragePrice
from diskproof.results.plan import Cell, Metric
from diskproof.results.prices import Price
from diskproof.stats.grouping import grouped
from diskproof.stats.intervals import Interval, geometric_mean_interval

GB = 10**9
YEAR_S = 365.25 * 86_400
MONTHS = 12
"""Of a year; a month is the twelfth part of one."""

COUNTED: tuple[Metric, ...] = ("transactions_per_s", "requests_per_s", "seconds")
"""The metrics that show how fast a storage is. At a set rate, throughput is the study's own choice."""

JOBS_PER = 3_600.0
"""A job's speed is given in runs an hour."""


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
        cells=_with_best(
            [
                priced
                for cell in plan.cells
                if cell.storage in plan.prices and (priced := _price_cell(gathered, cell, basis))
            ]
        ),
    )


def amount(devices: Sequence[Price], basis: Basis) -> float:
    """Return what devices cost together: to buy, or a month, a bought one spread evenly over its years."""
    if basis == "purchase":
        return sum(device.amount for device in devices)
    return sum(
        device.amount if device.per == "month" else device.amount / (MONTHS * device.years)
        for device in devices
    )


def amount_per_s(devices: Sequence[Price]) -> float:
    """Return what a second of having the devices costs: rent, or price over life, which wears evenly."""
    return amount(devices, "month") * MONTHS / YEAR_S


def usable_bytes(devices: Sequence[Price]) -> int:
    """Return the size as sold of the devices that hold the data: the first one named, and those alike.

    A cache or a log before a disk adds no room; what a mirror or a file system takes is not known here.
    """
    return sum(device.size_bytes for device in devices if device.device == devices[0].device)


# ---------------------------------------------------------------- a storage


def _price_storage(gathered: Gathered, storage: str, basis: Basis) -> StoragePrice:
    devices = gathered.plan.prices[storage]
    price = amount(devices, basis)
    requests = list(_price_requests(gathered, storage, price))
    return StoragePrice(
        storage=storage,
        bought=[device.device for device in devices],
        amount=price,
        usable_bytes=usable_bytes(devices),
        amount_per_gb=price / (usable_bytes(devices) / GB),
        requests=requests,
        barred=sorted(
            {cell.workload for cell in _of_random_requests(gathered, storage)}
            - {one.workload for one in requests}
        ),
    )


def _price_requests(gathered: Gathered, storage: str, price: float) -> Iterator[RequestPrice]:
    """Yield the price of a random request a second, by every load of such requests at its best threads."""
    priced = [
        (speed, cell)
        for cell in _of_random_requests(gathered, storage)
        if not gathered.bars_of(cell) and (speed := _speed(gathered, cell))
    ]
    for workload, found in grouped(priced, lambda one: one[1].workload).items():
        speed, cell = max(found, key=lambda one: one[0].estimate)
        files = gathered.valid(cell)[0].load.file_requests
        assert files is not None
        yield RequestPrice(
            workload=workload,
            cell=cell.id,
            clients=cell.clients,
            block_bytes=files.block_bytes,
            direct=files.direct,
            amount=price_over(price, speed),
        )


def _of_random_requests(gathered: Gathered, storage: str) -> list[Cell]:
    """Return a storage's measured loads of random requests on files: a price of others says nothing."""
    return [
        cell
        for cell in gathered.plan.cells
        if cell.storage == storage
        and (loads := [one.load for one in gathered.valid(cell)])
        and all(load.asks_files == "at random" for load in loads)
    ]


# ---------------------------------------------------------------- a cell


def _price_cell(gathered: Gathered, cell: Cell, basis: Basis) -> CellPrice | None:
    """Return what a cell's speed costs; None if it has none of its own, or no valid trial."""
    speed = _speed(gathered, cell)
    if speed is None:
        return None
    devices = gathered.plan.prices[cell.storage]
    price, metric = amount(devices, basis), gathered.plan.metric(cell)
    transacts = metric == "transactions_per_s"
    not_durable = find_not_durable(gathered, cell) if transacts else None
    bars = gathered.bars_of(cell)
    has_price = transacts and not bars  # prices are held against each other
    return CellPrice(
        cell=cell,
        metric=metric,
        amount=price,
        speed=speed,
        per_1000_per_s=price_over(1000 * price, speed) if has_price else None,
        per_million=price_over(1e6 * amount_per_s(devices), speed) if has_price and not not_durable else None,
        not_durable=not_durable,
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
    metric = gathered.plan.metric(cell)
    if metric not in COUNTED:
        return None
    per = JOBS_PER if metric == "seconds" else 1.0
    parts = _common_parts(gathered, cell)
    speeds = [speed * per for speed in gathered.speeds(cell, parts).values()]
    return geometric_mean_interval(speeds) if speeds else None


def _common_parts(gathered: Gathered, cell: Cell) -> frozenset[str] | None:
    """Return the operations of a job that all its storages ran: only these can be held against each other."""
    same = [other for other in gathered.plan.cells if _offer(other) == _offer(cell)]
    parts = [found for other in same if (found := gathered.parts(other))]
    return (frozenset.intersection(*parts) or None) if parts else None


# ---------------------------------------------------------------- the best buys


def _with_best(cells: Sequence[CellPrice]) -> list[CellPrice]:
    """Mark the fastest number of clients of each storage and tuning."""
    comparable = [one for one in cells if not one.bars]
    groups = grouped(comparable, lambda one: (*_offer(one.cell), one.cell.storage)).values()
    fast = {max(group, key=lambda one: one.speed.estimate).cell.id for group in groups}
    return [one.model_copy(update={"fastest": one.cell.id in fast}) for one in cells]


def _offer(cell: Cell) -> tuple[object, ...]:
    """Return what must be equal for two storages to be offers of the same: all but clients."""
    return cell.server, cell.tuning, cell.workload, cell.memory_bytes, cell.host
