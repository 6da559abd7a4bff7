"""Which lines of logs tell of damage, and which are the ordinary words of a recovery."""

from itertools import zip_longest

import pytest

from diskproof.families.facts import FamilyFacts
from diskproof.families.mysql import MYSQL
from diskproof.families.postgresql import POSTGRESQL
from diskproof.server.log import MOST_CHARACTERS, MOST_LINES, complaints

# Lines as the servers wrote them over files that were torn, emptied or taken away.
MYSQL_TELLING = [
    "0 [ERROR] InnoDB: Missing FILE_CHECKPOINT(278347) at 309299",
    "16338 [ERROR] InnoDB: We scanned the log up to 1885184. A checkpoint was at 1885651 "
    "and the maximum LSN on a database page was 0. It is possible that the database is now corrupt!",
    "1 [ERROR] [MY-011971] [InnoDB] Tablespace 'innodb_system' Page [page id: "
    "space=0, page number=5] log sequence number 19740286 is in the future! Current system log sequence "
    "number 19693563.",
    "InnoDB: Database page corruption on disk or a failed",
    "[ERROR] mysqld got signal 6 ;",
    "InnoDB: Error: page 7 log sequence number 12345",
    "0 [ERROR] [MY-010958] [Server] I/O error reading the header from the binary log.",
]
POSTGRESQL_TELLING = [
    "[1] WARNING:  page verification failed, calculated checksum 1 but expected 2",
    "[1] ERROR:  invalid page in block 1 of relation base/16385/16390",
    "[1] PANIC:  could not locate a valid checkpoint record",
    "[1] ERROR:  xlog flush request 0/2B8 is not satisfied --- flushed only to 0/1",
]

MYSQL_ORDINARY = [
    "0 [Note] InnoDB: Starting crash recovery from checkpoint LSN=278347",
    "0 [Note] InnoDB: Recovered page [page id: space=5, page number=9] to './sbtest/"
    "sbtest2.ibd' from the doublewrite buffer.",
    "0 [Note] Recovering after a crash using /binlog/binlog",
    "0 [ERROR] Error in Log_event::read_log_event(): 'Event truncated'",
    "15901 [ERROR] Error in Log_event::read_log_event(): 'Event crc check failed! Most "
    "likely there is event corruption.', data_len: 31, event_type: 16",
    "1 [Warning] [MY-013412] [InnoDB] The last block of redo had corrupted "
    "first_rec_group and became fixed (0 -> 507).",
    "7f8f03804740  InnoDB: Transaction 12382 in prepared state after recovery",
    "29703 [Note] InnoDB: Restoring possible half-written data pages ",
]
POSTGRESQL_ORDINARY = [
    "[2] LOG:  database system was not properly shut down; automatic recovery in progress",
    "[2] LOG:  invalid record length at 0/1999210: wanted 24, got 0",
    "[2] LOG:  incorrect resource manager data checksum in record at 0/1999210",
    "[2] LOG:  unexpected pageaddr 0/0 in log segment 000000010000000000000001",
    "[2] FATAL:  the database system is starting up",
    '[2] ERROR:  relation "ledger" does not exist at character 15',
]


@pytest.mark.parametrize(
    ("facts", "telling", "ordinary"),
    [
        (MYSQL, MYSQL_TELLING, MYSQL_ORDINARY),
        (POSTGRESQL, POSTGRESQL_TELLING, POSTGRESQL_ORDINARY),
    ],
    ids=["mysql", "postgresql"],
)
def test_damage_is_told_from_the_words_of_a_recovery(
    facts: FamilyFacts, telling: list[str], ordinary: list[str]
) -> None:
    mixed = [line for pair in zip_longest(ordinary, telling, fillvalue="") for line in pair]
    assert complaints("\n".join(mixed), facts) == telling
    assert complaints("\n".join(ordinary), facts) == []
    assert complaints("", facts) == []


def test_a_server_that_repeats_itself_or_never_ends_is_cut_short() -> None:
    facts = MYSQL.model_copy(update={"damage": {"broken": "a test"}, "harmless": {"mended": ""}})
    repeated = "page 1 broken\n  page 1 broken\npage 2 BROKEN, mended"
    assert complaints(repeated, facts) == ["page 1 broken"]
    many = complaints("\n".join(f"page {page} broken" for page in range(MOST_LINES + 7)), facts)
    assert len(many) == MOST_LINES + 1
    assert many[-1] == "... and 7 lines more"
    (long,) = complaints("broken: " + "0" * 10_000, facts)
    assert len(long) == MOST_CHARACTERS
