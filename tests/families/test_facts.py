"""What is declared of each family is complete, and a mistake in its files is refused."""

import re
import tomllib
from importlib.resources import files

import pytest
from pydantic import ValidationError

from diskproof.families import FAMILIES, Family, limit_of_wait, of
from diskproof.families.durability import log_names
from diskproof.families.facts import FamilyFacts, read
from diskproof.families.options import FAMILY_OF, Options, Server
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
    needs = facts.needs({})
    assert {need.log for need in needs.values() if need.log} == set(facts.log_roles)
    assert all(need.otherwise for need in needs.values() if need.keeps is not None)
    assert len(log_names(family, {}, facts.log_roles)) == len(facts.log_roles)
    assert not facts.needs({**facts.relaxed({})}).keys() - needs.keys()


@pytest.mark.parametrize("family", [family for family in FAMILIES if of(family).options_of])
def test_what_a_family_sets_is_among_its_options(family: Family) -> None:
    facts = of(family)
    set_by_us = {tuned.name for tuned in facts.tuning} | {facts.memory_variable}
    assert set_by_us | {*facts.pools, *facts.per_connection} <= facts.options.known
    assert set_by_us.isdisjoint(facts.options.places)


def test_every_flavour_is_of_a_family_with_options() -> None:
    for flavour, family in FAMILY_OF.items():
        assert of(family).options_of
        assert Server(flavour, None).family == family


def test_a_family_that_speaks_anothers_protocol_has_its_facts() -> None:
    other = POSTGRESQL.model_copy(update={"title": "Another"})
    assert other.tuned("fast") == POSTGRESQL.tuned("fast")
    assert other.options is POSTGRESQL.options


def test_a_wait_is_known_by_any_familys_name_of_it() -> None:
    assert limit_of_wait("LWLock:WALWrite") == "log flush"
    assert limit_of_wait("Lock:anything") == "locks"
    assert limit_of_wait("Client:ClientRead") is None


@pytest.mark.parametrize(
    "mistake", ["pages = 1", "log_roles = ['wal']", "[waits]\n'log flash' = 'a'", "page_bytes = 'many'"]
)
def test_a_mistake_in_a_file_of_facts_is_refused(mistake: str) -> None:
    with pytest.raises(ValidationError):
        FamilyFacts(**{**read("sqlite"), **tomllib.loads(mistake)}, needs=dict, relaxed=dict)


@pytest.mark.parametrize(
    "mistake", ["option = 'a'", "[[lives.MySQL]]\noptions = 'a'", "[[lives.DB2]]", "[values]\nnumbers = ''"]
)
def test_a_mistake_in_a_file_of_options_is_refused(mistake: str) -> None:
    with pytest.raises(ValidationError):
        Options.model_validate(tomllib.loads(mistake))


def test_no_option_stands_twice_among_a_flavours_lives() -> None:
    for family in {*FAMILY_OF.values()}:
        told = tomllib.loads((files("diskproof.families") / family / "options.toml").read_text())
        for flavour, lives in told["lives"].items():
            names = [name for life in lives for name in life["options"].split()]
            assert len(names) == len(set(names)), flavour
