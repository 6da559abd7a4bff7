"""What a sound run of TPC-C would have recorded."""

import numpy as np

from diskproof.results.load import TransactionType
from diskproof.results.tpcc import KINDS, Checked, Condition, RowCount
from support.tpcc_inputs import Constants, Drawn, bin_shares
from support.trials import make_latency

ORDERS = 20_000


def make_inputs(*, warehouses: int = 2, seed: int = 1) -> Drawn:
    """Return the inputs of a correct run, drawn anew."""
    draw = np.random.default_rng(seed)

    def counts(n: int, shares: list[float]) -> list[int]:
        return [int(count) for count in draw.multinomial(n, np.array(shares) / sum(shares))]

    begun = [ORDERS, ORDERS, ORDERS // 10, ORDERS // 10, ORDERS // 10]
    line_counts = counts(ORDERS, [1 / 11] * 11)
    lines = sum(count * number for number, count in enumerate(line_counts, start=5))
    named = int(draw.binomial(ORDERS + begun[2], 0.6))
    several = warehouses > 1
    constants = Constants(last_name=240, customer=511, item=4000)
    return Drawn(
        warehouses=warehouses,
        terminals=8,
        constants=constants,
        load_constant=157,
        begun=begun,
        rolled_back=int(draw.binomial(ORDERS, 0.01)),
        lines=lines,
        remote_lines=int(draw.binomial(lines, 0.01 * several)),
        line_counts=line_counts,
        items=counts(lines, bin_shares(8191, constants.item, 1, 100_000, 100)),
        remote_payments=int(draw.binomial(ORDERS, 0.15 * several)),
        by_last_name=named,
        customers=counts(2 * ORDERS + begun[2] - named, bin_shares(1023, constants.customer, 1, 3_000, 30)),
        last_names=counts(named, bin_shares(255, constants.last_name, 0, 999, 100)),
        districts=counts(2 * ORDERS + begun[2], [0.1] * 10),
    )


def make_types(*, orders: int = ORDERS, mean_us: float = 5_000.0) -> list[TransactionType]:
    """Return the kinds of transactions of a measured phase, as a deck deals them."""
    counts = [orders, orders, orders // 10, orders // 10, orders // 10]
    return [
        TransactionType(name=name, count=count, latency_us=make_latency(mean_us, count))
        for name, count in zip(KINDS, counts, strict=True)
    ]


def make_checked(*, broken: int = 0, warehouses: int = 2) -> Checked:
    """Return the check of tables of which condition 5 is broken in so many places."""
    return Checked(
        warehouses=warehouses,
        rows=[RowCount(table="tpcc_warehouse", rows=warehouses, expected=warehouses)],
        conditions=[
            Condition(
                number=number,
                says="a = b",
                places="orders",
                broken=broken if number == 5 else 0,
                seconds=0.1,
            )
            for number in range(1, 13)
        ],
    )
