"""Names in SQL stay one name, whatever they hold."""

import re

import pytest

from diskproof.families.names import account, granted, quoted
from diskproof.results.record import Protocol

NAMES = ["we`ird; drop", 'a"b', "it's", "two words", "größe ☃", "back\\slash", "100%", "a.b", "--", ""]


@pytest.mark.parametrize("name", NAMES)
def test_a_name_is_one_word(name: str) -> None:
    marks: dict[Protocol, str] = {"mysql": "`", "postgresql": '"'}
    for family, mark in marks.items():
        written = quoted(family, name, "t")
        assert re.fullmatch(f"{mark}(?:[^{mark}]|{mark * 2})*{mark}\\.{mark}t{mark}", written)
        assert written[1 : -2 - len("t")].removesuffix(f"{mark}.").replace(2 * mark, mark) == name


def test_a_grant_is_of_one_database() -> None:
    assert granted("my_db%") == r"`my\_db\%`"


def test_an_account_is_one_account() -> None:
    assert account("o'brien", "%") == "'o''brien'@'%'"
