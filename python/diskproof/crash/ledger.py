"""The database compared with its acknowledgements after recovery. Pure."""

from collections import Counter
from collections.abc import Container, Iterable, Sequence
from dataclasses import dataclass

from diskproof.refusal import RefusalError
from diskproof.results.cut import LedgerOutcome

BALANCE = 1_000_000
"""What `diskproof-load prepare ledger` gives every account."""

ENTRIES = "SELECT client, number, source, target, amount FROM ledger_entries"
ACCOUNTS = "SELECT id, balance, transfers FROM ledger_accounts"

ENTRIES_TABLE = "ledger_entries"
ENTRY_KEY_COLUMNS = 2
"""Client and number come first in an entry, and identify it."""

Key = tuple[int | str, ...]
"""A transaction: its client, and its number among that client's, from 1. An order of TPC-C: its number, its
district and its warehouse. Of a program: the id."""

Rows = Sequence[tuple[object, ...]]


class LedgerError(RefusalError):
    """A file of acknowledgements that the load cannot have written: the trial proves nothing."""


@dataclass(frozen=True)
class Acknowledgement:
    """A commit that was acknowledged to a client."""

    client: int
    number: int
    at_us: int
    """When the reply was read, on CLOCK_MONOTONIC."""
    order: Key | None = None
    """The order that was made, if the load makes some; the id of a program."""
    recorded: tuple[int, int] | None = None
    """Of a replay: the session of the log, and when the transaction began there, in µs from its begin."""

    @property
    def key(self) -> Key:
        """The transaction."""
        return self.order or (self.client, self.number)


@dataclass(frozen=True)
class Failure:
    """A transaction that failed; it may be in the database after all."""

    client: int
    number: int
    at_us: int
    code: str
    """The server's own; `lost` if the connection was lost."""


@dataclass(frozen=True)
class Ledger:
    """The tables as they were read after recovery."""

    entries: Rows
    """Client, number, source, target, amount."""
    accounts: Rows
    """Id, balance, transfers."""

    @property
    def there(self) -> Counter[Key]:
        """The transactions in the database, each with how often it holds them."""
        return Counter((whole(client), whole(number)) for client, number, *_ in self.entries)


def read_acknowledgements(text: str) -> list[Acknowledgement]:
    """Read the acknowledgements in order of time; LedgerError if clients cannot have written them.

    A line without its end was cut off when the program was killed: its client went on to nothing.
    """
    return [one for one in _read(text) if isinstance(one, Acknowledgement)]


def read_failures(text: str) -> list[Failure]:
    """Read the transactions that failed, in order of time; LedgerError as of acknowledgements."""
    return [one for one in _read(text) if isinstance(one, Failure) and one.number]


def read_unmarked(text: str) -> list[Failure]:
    """Read the acknowledged writes of a replay that have no row of ours; the code says why."""
    return [one for one in _read(text) if isinstance(one, Failure) and not one.number]


def _read(text: str) -> list[Acknowledgement | Failure]:
    found = [_line(number, line) for number, line in enumerate(text.split("\n")[:-1], start=1)]
    last: Counter[int] = Counter()
    for one in found:
        if isinstance(one, Failure) and not one.number:
            continue
        if one.number != last[one.client] + 1:
            raise LedgerError(
                f"client {one.client} has an acknowledgement of transaction {one.number} after "
                f"{last[one.client]}: the numbers have a gap, so the file of acknowledgements is not valid"
            )
        last[one.client] = one.number
    return sorted(found, key=lambda one: one.at_us)


def compare(
    told: Sequence[Acknowledgement],
    ledger: Ledger,
    accounts: int,
    cut_us: int,
    failed: Sequence[Failure] = (),
) -> LedgerOutcome:
    """Compare a recovered database with what it acknowledged until a moment.

    `told` also has what was acknowledged after the cut. That was no promise of a database with power, but the
    client went on to its next number. `accounts` is the right number of accounts.
    """
    return outcome(
        told,
        ledger.there,
        cut_us,
        never_sent=never_sent([*told, *failed], ledger.there),
        half_applied=_half_applied(ledger, accounts),
        off_by=sum(whole(balance) for _, balance, _ in ledger.accounts) - accounts * BALANCE,
    )


def outcome(
    told: Sequence[Acknowledgement],
    there: Counter[Key],
    cut_us: int,
    *,
    never_sent: int,
    half_applied: int,
    off_by: int,
) -> LedgerOutcome:
    """Compare the transactions in a database with those acknowledged until a moment.

    `there` counts how often the database holds each transaction.
    """
    promised = [one for one in told if one.at_us <= cut_us]
    lost = lost_of(promised, there, cut_us)
    kept = [one for one in promised if one.key in there]
    keys = {one.key for one in promised}
    return LedgerOutcome(
        acknowledged=len(promised),
        present=len(there),
        lost=len(lost),
        unacknowledged_present=sum(key not in keys for key in there),
        never_sent=never_sent,
        duplicated=sum(times > 1 for times in there.values()),
        half_applied=half_applied,
        invariant_off_by=off_by,
        first_lost_before_s=_before_s(lost[:1], cut_us),
        last_kept_before_s=_before_s(kept[-1:], cut_us),
        last_acknowledged_before_s=_before_s(promised[-1:], cut_us),
    )


def lost_of(told: Sequence[Acknowledgement], there: Container[Key], cut_us: int) -> list[Acknowledgement]:
    """Return the acknowledged transactions that are missing."""
    return [one for one in told if one.at_us <= cut_us and one.key not in there]


def told_since(told: Sequence[Acknowledgement], since_us: int, cut_us: int) -> int:
    """Return how many were acknowledged after a moment, up to the cut."""
    return sum(since_us < one.at_us <= cut_us for one in told)


def never_sent(told: Sequence[Acknowledgement | Failure], there: Iterable[Key]) -> int:
    """Return how many transactions no client can have sent.

    Each client has sent at most one transaction beyond the last that it has written down.
    """
    last: dict[int | str, int] = {}
    for one in told:
        last[one.client] = max(one.number, last.get(one.client, 0))
    return sum(
        whole(client) < 0 or not 1 <= whole(number) <= last.get(client, 0) + 1 for client, number in there
    )


def _half_applied(ledger: Ledger, accounts: int) -> int:
    """Count the accounts that do not match the entries, including missing and unknown accounts."""
    balance: Counter[int] = Counter(dict.fromkeys(range(1, accounts + 1), BALANCE))
    transfers: Counter[int] = Counter(dict.fromkeys(range(1, accounts + 1), 0))
    for _, _, source, target, amount in ledger.entries:
        balance[whole(source)] -= whole(amount)
        balance[whole(target)] += whole(amount)
        transfers[whole(source)] += 1
        transfers[whole(target)] += 1
    expected = {(account, balance[account], transfers[account]) for account in balance}
    found = Counter(tuple(whole(value) for value in row) for row in ledger.accounts)
    wrong = {row[0] for row in expected ^ set(found)} | {row[0] for row, times in found.items() if times > 1}
    return len(wrong)


def _before_s(ones: Sequence[Acknowledgement], cut_us: int) -> float | None:
    """Return how long before the cut the first of these was acknowledged; None if there is none."""
    return (cut_us - ones[0].at_us) / 1e6 if ones else None


def _line(number: int, line: str) -> Acknowledgement | Failure:
    """Read a client, a number and a time; between the last two an order, a place in a log, or an error."""
    fields = line.split(" ")
    if len(fields) == 4 and (code := fields[2]).startswith("!") and len(code) > 1:
        known = _line(number, " ".join([*fields[:2], fields[3]]))
        return Failure(known.client, known.number, known.at_us, code[1:])
    if not all(field.isascii() and field.isdigit() for field in fields) or len(fields) not in (3, 5, 6):
        raise LedgerError(
            f"line {number} of the acknowledgements is {line!r}, not a client, a number and a time"
        )
    client, of_client, *place, at_us = (int(field) for field in fields)
    match place:
        case [session, began_us]:
            return Acknowledgement(client, of_client, at_us, recorded=(session, began_us))
        case _:
            return Acknowledgement(client, of_client, at_us, tuple(reversed(place)) or None)


def whole(value: object) -> int:
    """Return a figure of a row; -1, which no figure is, for anything else in a damaged row."""
    return int(value) if isinstance(value, int) else -1
