"""The MySQL family: MySQL, Percona Server and MariaDB."""

from diskproof.families.facts import FamilyFacts, read
from diskproof.families.mysql.durability import POSSIBLE, contradictions, defaults, needs, relaxed

MYSQL = FamilyFacts(
    **read("mysql"),
    needs=needs,
    relaxed=relaxed,
    defaults=defaults,
    possible=POSSIBLE,
    contradictions=contradictions,
)
