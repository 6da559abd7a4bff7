"""A replay's transactions, looked up by the rows of ours that they committed with. Pure."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from diskproof.crash.ledger import Acknowledgement, Failure, Key, Rows, never_sent, outcome, whole
from diskproof.results.cut import LedgerOutcome
from diskproof.results.findings import UNMARKED
from diskproof.results.trial import Finding
from diskproof.wording import say
from diskproof.wording.numbers import count, listed

MARKS_TABLE = r"diskproof_commits(_\d+)?"
"""A pattern: each client has one if tables are locked. `run replay --acknowledgements` makes them."""

MARK_COLUMNS = 2

MARKS = "SELECT client, number FROM {schema}{table}"
"""PostgreSQL has it in a schema of ours, which no statement of a log drops, whatever its search path is."""

TABLES = "SELECT table_name FROM information_schema.tables WHERE left(table_name, 17) = 'diskproof_commits'"
"""The tables were made when the load began: a cut may have taken all of them."""


WHY = {
    "change": "DDL, procedures, LOAD DATA or several statements in one text",
    "locked": "under LOCK TABLES",
    "mark": "whose row of ours the server refused",
    "untransactional": "of tables without transactions (MyISAM, UNLOGGED)",
}
"""Why an acknowledged write has no row of ours that tells of it, by the load generator's word."""


def unmarked(writes: Sequence[Failure], cut_us: int) -> list[Finding]:
    """Return a warning that counts the acknowledged writes of which no row of ours tells."""
    found = Counter(one.code for one in writes if one.at_us <= cut_us)
    if not found:
        return []
    kinds = [f"{times:,} {WHY.get(code, code)}" for code, times in sorted(found.items())]
    message = say(
        "{writes} could not be looked up after the cut: {kinds}",
        writes=count(found.total(), "acknowledged write"),
        kinds=listed(kinds),
    )
    return [Finding(check=UNMARKED, severity="warning", message=message)]


@dataclass(frozen=True)
class Marks:
    """The table after recovery."""

    rows: Rows
    """Client and number of each transaction."""

    @property
    def there(self) -> Counter[Key]:
        """The transactions in the database, each with how often it holds them."""
        return Counter((whole(client), whole(number)) for client, number in self.rows)


def compare_marks(
    told: Sequence[Acknowledgement], marks: Marks, cut_us: int, failed: Sequence[Failure]
) -> LedgerOutcome:
    """Compare the transactions that are there with those acknowledged until a moment.

    What the log's own tables hold is not known beforehand, so nothing shows whether a transaction is there in
    part.
    """
    unsent = never_sent([*told, *failed], marks.there)
    return outcome(told, marks.there, cut_us, never_sent=unsent, half_applied=0, off_by=0)
