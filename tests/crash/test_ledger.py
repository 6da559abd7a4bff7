"""Each fault that a database can have after a crash is planted, and seen as itself and nothing else."""

import random
from dataclasses import replace

import pytest

from diskproof.crash.ledger import (
    BALANCE,
    Acknowledgement,
    Ledger,
    LedgerError,
    compare,
    lost_of,
    read_acknowledgements,
    read_failures,
    read_unmarked,
    told_since,
)
from diskproof.crash.marks import unmarked
from diskproof.results.cut import LedgerOutcome

ACCOUNTS = 10
CUT_US = 1_000_000

Entry = tuple[int, int, int, int, int]


def told(*keys: tuple[int, int]) -> list[Acknowledgement]:
    """Return acknowledgements, one every 10 ms, the last one 10 ms before the cut."""
    return [
        Acknowledgement(client, number, CUT_US - 10_000 * (len(keys) - index))
        for index, (client, number) in enumerate(keys)
    ]


def entry(client: int, number: int) -> Entry:
    source = (client * 3 + number) % ACCOUNTS + 1
    return client, number, source, source % ACCOUNTS + 1, 10 + number


def after(*entries: Entry) -> Ledger:
    """Return the tables that these transactions make of fresh ones."""
    accounts = {account: [BALANCE, 0] for account in range(1, ACCOUNTS + 1)}
    for _, _, source, target, amount in entries:
        accounts[source][0] -= amount
        accounts[target][0] += amount
        accounts[source][1] += 1
        accounts[target][1] += 1
    return Ledger(entries, [(account, *held) for account, held in accounts.items()])


KEYS = [(0, 1), (1, 1), (0, 2), (1, 2), (0, 3)]
WHOLE = after(*(entry(*key) for key in KEYS))


def outcome(ledger: Ledger, keys: list[tuple[int, int]] = KEYS) -> LedgerOutcome:
    return compare(told(*keys), ledger, ACCOUNTS, CUT_US)


def test_a_database_that_kept_all_has_nothing_wrong() -> None:
    found = outcome(WHOLE)
    assert (found.acknowledged, found.present, found.lost, found.unacknowledged_present) == (5, 5, 0, 0)
    assert not found.is_broken
    assert found.first_lost_before_s is None
    assert found.last_kept_before_s == found.last_acknowledged_before_s == pytest.approx(0.01)


def test_a_lost_tail_is_recorded_with_its_window() -> None:
    found = outcome(after(*(entry(*key) for key in KEYS[:3])))
    assert found.lost == 2
    assert not found.is_broken
    assert found.first_lost_before_s == pytest.approx(0.02)
    assert found.last_kept_before_s == pytest.approx(0.03)
    assert found.last_acknowledged_before_s == pytest.approx(0.01)


def test_a_loss_in_the_middle_begins_the_window_though_later_ones_were_kept() -> None:
    found = outcome(after(*(entry(*key) for key in KEYS if key != (1, 1))))
    assert found.lost == 1
    assert found.first_lost_before_s == pytest.approx(0.04)
    assert found.last_kept_before_s == pytest.approx(0.01)


def test_an_answer_on_its_way_is_no_fault() -> None:
    found = outcome(after(*(entry(*key) for key in [*KEYS, (0, 4), (1, 3), (2, 1)])))
    assert found.unacknowledged_present == 3
    assert found.lost == 0
    assert not found.is_broken


@pytest.mark.parametrize("key", [(0, 5), (1, 4), (2, 2), (0, 0), (-1, 1)])
def test_transactions_that_no_client_sent_are_counted(key: tuple[int, int]) -> None:
    found = outcome(after(*(entry(*one) for one in KEYS), entry(*key)))
    assert found.never_sent == 1
    assert found.half_applied == 0
    assert found.is_broken


def test_a_duplicate_that_was_applied_twice_is_one_and_the_accounts_agree() -> None:
    found = outcome(after(*(entry(*key) for key in KEYS), entry(0, 2)))
    assert (found.duplicated, found.half_applied, found.invariant_off_by) == (1, 0, 0)
    assert found.present == 5
    assert found.is_broken


def test_an_entry_without_its_transfer_is_half_applied() -> None:
    ledger = replace(WHOLE, entries=[*WHOLE.entries, entry(0, 4)])
    found = outcome(ledger)
    assert found.half_applied == 2
    assert found.invariant_off_by == 0


def test_a_transfer_without_its_entry_is_half_applied_and_lost() -> None:
    found = outcome(replace(WHOLE, entries=WHOLE.entries[:-1]))
    assert (found.lost, found.half_applied, found.invariant_off_by) == (1, 2, 0)


def test_one_side_of_a_transfer_breaks_the_invariant() -> None:
    _, _, source, _, amount = entry(0, 3)
    before = after(*(entry(*key) for key in KEYS[:-1]))
    accounts = [*WHOLE.accounts]
    accounts[source - 1] = before.accounts[source - 1]
    found = outcome(replace(WHOLE, accounts=accounts))
    assert found.half_applied == 1
    assert found.invariant_off_by == amount


def test_a_balance_that_agrees_and_a_count_that_does_not() -> None:
    id_, balance, transfers = WHOLE.accounts[4]
    accounts = [*WHOLE.accounts[:4], (id_, balance, 7), *WHOLE.accounts[5:]]
    assert transfers != 7
    assert outcome(replace(WHOLE, accounts=accounts)).half_applied == 1


def test_a_missing_account_and_a_strange_one_and_one_twice() -> None:
    missing = outcome(replace(WHOLE, accounts=WHOLE.accounts[1:]))
    assert missing.half_applied == 1
    assert missing.invariant_off_by == -int(str(WHOLE.accounts[0][1]))
    assert outcome(replace(WHOLE, accounts=[*WHOLE.accounts, (99, 0, 0)])).half_applied == 1
    assert outcome(replace(WHOLE, accounts=[*WHOLE.accounts, WHOLE.accounts[3]])).half_applied == 1


def test_an_empty_database_lost_everything() -> None:
    found = outcome(Ledger([], []))
    assert found.lost == found.acknowledged == 5
    assert found.half_applied == ACCOUNTS
    assert found.invariant_off_by == -ACCOUNTS * BALANCE


def test_damaged_values_are_faults_and_no_crash() -> None:
    ledger = Ledger([*WHOLE.entries, (None, "x", 1, 2, 3)], [*WHOLE.accounts[:-1], (ACCOUNTS, None, 0)])
    found = outcome(ledger)
    assert found.never_sent == 1
    assert found.half_applied >= 1


def test_acknowledgements_after_the_cut_are_sent_but_not_promised() -> None:
    late = [*told(*KEYS), Acknowledgement(0, 4, CUT_US + 5)]
    without = compare(late, WHOLE, ACCOUNTS, CUT_US)
    assert (without.acknowledged, without.lost) == (5, 0)
    sent_next = compare(late, after(*(entry(*key) for key in [*KEYS, (0, 4), (0, 5)])), ACCOUNTS, CUT_US)
    assert (sent_next.unacknowledged_present, sent_next.never_sent) == (2, 0)


@pytest.mark.parametrize("seed", range(50))
def test_kept_and_lost_make_up_the_promises_whatever_is_missing(seed: int) -> None:
    draw = random.Random(seed)
    numbers = dict.fromkeys(range(4), 0)
    keys = []
    for _ in range(draw.randrange(40)):
        client = draw.randrange(4)
        numbers[client] += 1
        keys.append((client, numbers[client]))
    there = [key for key in keys if draw.random() < 0.7]
    ledger = after(*(entry(*key) for key in there))
    found = outcome(ledger, keys)
    assert found.lost == len(keys) - len(there)
    assert {one.key for one in lost_of(told(*keys), ledger.there, CUT_US)} == set(keys) - set(there)
    assert not found.is_broken
    assert found.unacknowledged_present == 0


def test_acknowledgements_are_read_in_the_order_of_time_and_a_torn_end_is_none() -> None:
    assert read_acknowledgements("1 1 30\n0 1 20\n0 2 40\n1 2 5") == [
        Acknowledgement(0, 1, 20),
        Acknowledgement(1, 1, 30),
        Acknowledgement(0, 2, 40),
    ]
    assert read_acknowledgements("") == []


@pytest.mark.parametrize(
    ("text", "word"),
    [
        ("0 2 10\n", "gap"),
        ("0 1 10\n0 3 11\n", "gap"),
        ("0 1 10\n0 1 11\n", "gap"),
        ("0 1\n", "line 1"),
        ("0 1 10\nx 1 10\n", "line 2"),
        ("0 1 -10\n", "line 1"),
        ("\n", "line 1"),
        ("0 1 1٣\n", "line 1"),
    ],
)
def test_impossible_acknowledgements_are_refused(text: str, word: str) -> None:
    with pytest.raises(LedgerError, match=word):
        read_acknowledgements(text)


def test_acknowledgements_since_a_flush() -> None:
    assert told_since(told(*KEYS), CUT_US - 30_000, CUT_US) == 2
    assert told_since(told(*KEYS), 0, CUT_US - 15_000) == 4


def test_writes_without_a_row_of_ours_are_counted_in_words() -> None:
    text = "0 1 0 5 100\n0 0 !change 150\n1 0 !untransactional 160\n0 2 !1213 170\n0 0 !untransactional 900\n"
    assert [one.number for one in read_acknowledgements(text)] == [1]
    assert [one.code for one in read_failures(text)] == ["1213"]
    [finding] = unmarked(read_unmarked(text), cut_us=500)
    assert finding.severity == "warning"
    assert finding.message.text == (
        "2 acknowledged writes could not be looked up after the cut: 1 DDL, procedures, LOAD DATA or several "
        "statements in one text and 1 of tables without transactions (MyISAM, UNLOGGED)"
    )
    assert unmarked(read_unmarked("0 1 0 5 100\n"), cut_us=500) == []
