"""The MySQL family: MySQL, Percona Server and MariaDB."""

from diskproof.families.facts import FamilyFacts, read
from diskproof.families.mysql.durability import POSSIBLE, contradictions, defaults, needs, relaxed

WITHOUT_TRANSACTIONS = frozenset({"myisam", "aria", "memory", "csv", "archive"})
"""Storage engines without commits; Aria survives a crash, but has none either."""

MYSQL = FamilyFacts(
    **read("mysql"),
    needs=needs,
    relaxed=relaxed,
    defaults=defaults,
    possible=POSSIBLE,
    contradictions=contradictions,
)
