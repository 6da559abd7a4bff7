"""TPC-C's tables compared with the new orders that were acknowledged, after recovery. Pure.

A new order leaves a row in the table of orders under a number that no other order has. So each acknowledged
one can be looked up, as clause 3.5.4 of the specification does with its success file. What the other
transactions left is held to the twelve consistency conditions.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from diskproof.crash.ledger import Acknowledgement, Key, Rows, outcome, whole
from diskproof.results.cut import LedgerOutcome
from diskproof.results.tpcc import Checked

ORDERS_TABLE = "tpcc_orders"
ORDER_KEY_COLUMNS = 3
"""Order, district and warehouse come first in an order, and identify it."""

ORDERS = "SELECT o_id, o_d_id, o_w_id FROM tpcc_orders WHERE o_id > 3000"
"""The orders since the tables were loaded: `prepare` makes 3,000 for each district (clause 4.3.3.1)."""


@dataclass(frozen=True)
class Orders:
    """The tables as they were read after recovery."""

    rows: Rows
    """Order, district and warehouse of each order since the tables were loaded."""
    checked: Checked

    @property
    def there(self) -> Counter[Key]:
        """The orders in the database, each with how often it holds them."""
        return Counter(tuple(map(whole, row)) for row in self.rows)


def compare_orders(
    told: Sequence[Acknowledgement], orders: Orders, clients: int, cut_us: int
) -> LedgerOutcome:
    """Compare recovered tables with the new orders that were acknowledged until a moment.

    Each of the clients may have sent one order beyond its last acknowledged one.
    """
    there, sent = orders.there, {one.key for one in told}
    unknown = sum(key not in sent for key in there)
    return outcome(
        told,
        there,
        cut_us,
        never_sent=max(unknown - clients, 0),
        half_applied=len(orders.checked.complaints),
        off_by=0,
    )
