"""What the load that is cut leaves in the database, and how it is held to its acknowledgements."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from diskproof import load
from diskproof.crash.ids import VERBS, Ids, compare_ids, read_ids
from diskproof.crash.ledger import (
    ACCOUNTS,
    ENTRIES,
    ENTRIES_TABLE,
    ENTRY_KEY_COLUMNS,
    Acknowledgement,
    Failure,
    Ledger,
    compare,
    read_acknowledgements,
    read_failures,
)
from diskproof.crash.marks import MARK_COLUMNS, MARKS, MARKS_TABLE, TABLES, Marks, compare_marks
from diskproof.crash.orders import ORDER_KEY_COLUMNS, ORDERS, ORDERS_TABLE, Orders, compare_orders
from diskproof.results.cut import LedgerOutcome
from diskproof.results.plan import CUT_LOAD
from diskproof.server.base import Running, ServerError
from diskproof.server.program import ProgramRunning
from diskproof.study.model import Study
from diskproof.system.processes import Starter

Held = Ledger | Orders | Marks | Ids
"""The tables as they were read after recovery, or a program's ids."""


@dataclass(frozen=True)
class Books:
    """How the tables of a load are read."""

    read: Callable[[Running], Held]
    """ServerError if they cannot be read any more."""
    table: str
    """Each acknowledged transaction has a row of its own there; a pattern of names."""
    key_columns: int
    """The first columns of such a row, which identify it."""


def _read_marks(running: Running) -> Marks:
    schema = "diskproof." if running.url.startswith("postgresql:") else ""
    every = [MARKS.format(schema=schema, table=table) for (table,) in running.rows(TABLES)]
    return Marks(running.rows(" UNION ALL ".join(every)) if every else [])


LEDGER = Books(
    lambda running: Ledger(running.rows(ENTRIES), running.rows(ACCOUNTS)), ENTRIES_TABLE, ENTRY_KEY_COLUMNS
)


def _read_ids(running: Running) -> Ids:
    assert isinstance(running, ProgramRunning)
    return Ids(running.ids())


def books_of(study: Study, starter: Starter) -> Books:
    """Return the books of the load that a study cuts."""
    crash = study.crash
    assert crash is not None
    if study.program is not None:
        return Books(_read_ids, "", 0)
    workload = study.load(CUT_LOAD)
    if crash.load == "replay":
        return Books(_read_marks, MARKS_TABLE, MARK_COLUMNS)
    arguments = workload.checked_by
    if arguments is None:
        return LEDGER

    def read_orders(running: Running) -> Orders:
        try:
            checked = load.check(starter, running.url, workload.kind, arguments)
        except load.LoadFailedError as error:
            raise ServerError(str(error)) from None
        return Orders(running.rows(ORDERS), checked)

    return Books(read_orders, ORDERS_TABLE, ORDER_KEY_COLUMNS)


def outcome_of(
    told: Sequence[Acknowledgement],
    held: Held,
    accounts: int,
    clients: int,
    cut_us: int,
    failed: Sequence[Failure] = (),
) -> LedgerOutcome:
    """Compare a recovered database with what it acknowledged until a moment."""
    if isinstance(held, Ledger):
        return compare(told, held, accounts, cut_us, failed)
    if isinstance(held, Ids):
        return compare_ids(told, held, cut_us)
    if isinstance(held, Marks):
        return compare_marks(told, held, cut_us, failed)
    return compare_orders(told, held, clients, cut_us)


def read_told(text: str) -> list[Acknowledgement]:
    """Read a file of acknowledgements in order of time: a database's, or a program's."""
    return read_ids(text) if text.startswith(VERBS) else read_acknowledgements(text)


def read_failed(text: str) -> list[Failure]:
    """Read the transactions in such a file that failed; none of a program's."""
    return [] if text.startswith(VERBS) else read_failures(text)
