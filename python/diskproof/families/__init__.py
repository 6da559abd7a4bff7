"""What is known of each server family and needs no running server: pure data and functions."""

from functools import lru_cache
from typing import get_args

from diskproof.families.facts import FamilyFacts
from diskproof.families.mysql import MYSQL
from diskproof.families.postgresql import POSTGRESQL
from diskproof.families.program import PROGRAM
from diskproof.families.sqlite import SQLITE
from diskproof.results.limit import Limit
from diskproof.results.record import Database, Family

__all__ = ["FAMILIES", "Database", "Family", "limit_of_wait", "of"]

FAMILIES: tuple[Database, ...] = get_args(Database)

_FACTS = {facts.name: facts for facts in (MYSQL, POSTGRESQL, SQLITE, PROGRAM)}


def of(family: Family) -> FamilyFacts:
    """Return what is known of a family."""
    return _FACTS[family]


@lru_cache(1000)
def limit_of_wait(wait: str) -> Limit | None:
    """Return the limit that a session's wait is evidence of, by any family's name of it."""
    return next((limit for facts in _FACTS.values() if (limit := facts.limit_of_wait(wait))), None)
