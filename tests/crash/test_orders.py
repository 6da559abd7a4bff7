"""TPC-C's orders after a cut: losses, orders that nobody sent, and conditions that do not hold."""

from diskproof.crash.ledger import Acknowledgement, read_acknowledgements
from diskproof.crash.orders import Orders, compare_orders
from support.tpcc import make_checked

CUT_US = 1_000

TOLD = "0 1 1 4 3001 100\n1 1 1 4 3002 200\n0 2 1 5 3001 300\n"
ALL = [(3001, 4, 1), (3002, 4, 1), (3001, 5, 1)]


def test_acknowledgements_name_orders() -> None:
    told = read_acknowledgements(TOLD)
    assert told[0] == Acknowledgement(0, 1, 100, (3001, 4, 1))
    assert [one.key for one in told] == ALL


def test_nothing_is_lost_if_all_orders_are_there() -> None:
    found = compare_orders(read_acknowledgements(TOLD), Orders(ALL, make_checked()), 2, CUT_US)
    assert (found.acknowledged, found.present, found.lost, found.never_sent) == (3, 3, 0, 0)
    assert not found.is_broken


def test_a_missing_order_is_a_loss() -> None:
    found = compare_orders(read_acknowledgements(TOLD), Orders(ALL[:1], make_checked()), 2, CUT_US)
    assert found.lost == 2
    assert found.first_lost_before_s == 0.0008
    assert found.last_kept_before_s == 0.0009


def test_an_order_after_the_cut_was_no_promise() -> None:
    found = compare_orders(read_acknowledgements(TOLD), Orders(ALL[:2], make_checked()), 2, 250)
    assert (found.acknowledged, found.lost) == (2, 0)


def test_each_client_may_have_one_order_under_way() -> None:
    more = [*ALL, (3003, 4, 1), (3004, 4, 1)]
    told = read_acknowledgements(TOLD)
    assert compare_orders(told, Orders(more, make_checked()), 2, CUT_US).never_sent == 0
    found = compare_orders(told, Orders([*more, (3005, 4, 1)], make_checked()), 2, CUT_US)
    assert (found.never_sent, found.unacknowledged_present) == (1, 3)


def test_a_broken_condition_is_damage() -> None:
    orders = Orders([*ALL, ALL[0]], make_checked(broken=7))
    found = compare_orders(read_acknowledgements(TOLD), orders, 2, CUT_US)
    assert (found.half_applied, found.duplicated) == (1, 1)
    assert found.is_broken
