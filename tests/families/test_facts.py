"""What is declared of each family is complete, and a mistake in its files is refused."""

import re

import pytest

from diskproof.families import FAMILIES, Family, limit_of_wait, of
from diskproof.families.durability import log_names
from diskproof.families.postgresql import POSTGRESQL
from diskproof.results.record import ROLES


@pytest.mark.parametrize("family", FAMILIES)
def test_every_family_fills_its_record(family: Family) -> None:
    facts = of(family)
    assert facts.name == family
    assert family in facts.called
    assert set(facts.log_roles) <= set(ROLES)
    for pattern in (facts.gauges, *facts.file_roles.values(), *facts.damage, *facts.harmless):
        re.compile(pattern)
    re.compile(facts.ours), re.compile(facts.adds_up)
    needs = facts.needs({})
    assert {tuned.name for tuned in facts.tuning}.isdisjoint(facts.places)
    assert {need.log for need in needs.values() if need.log} == set(facts.log_roles)
    assert all(need.otherwise for need in needs.values() if need.keeps is not None)
    assert len(log_names(family, {}, facts.log_roles)) == len(facts.log_roles)
    assert not facts.needs({**facts.relaxed({})}).keys() - needs.keys()


def test_a_family_that_speaks_anothers_protocol_has_its_facts() -> None:
    other = POSTGRESQL.model_copy(update={"title": "Another"})
    assert other.tuned("fast") == POSTGRESQL.tuned("fast")
    assert other.known == POSTGRESQL.known


def test_a_wait_is_known_by_any_familys_name_of_it() -> None:
    assert limit_of_wait("LWLock:WALWrite") == "log flush"
    assert limit_of_wait("Lock:anything") == "locks"
    assert limit_of_wait("Client:ClientRead") is None
