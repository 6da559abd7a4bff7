from itertools import pairwise

import pytest

from diskproof.families import FAMILIES, Family, of
from diskproof.families.facts import LEVELS, Level


@pytest.mark.parametrize("family", FAMILIES)
def test_every_family_is_safest_fast_and_unsafe_in_different_ways(family: Family) -> None:
    levels = [of(family).tuned(level) for level in LEVELS]
    assert all(first != second for first, second in pairwise(levels))
    assert all(tuned.reason.endswith(".") for tuned in of(family).tuning)


@pytest.mark.parametrize(
    ("level", "commit", "sync", "doublewrite"),
    [("safest", "1", "1", "ON"), ("fast", "2", "0", "ON"), ("unsafe", "0", "0", "OFF")],
)
def test_innodb_levels_are_those_of_the_published_experiment(
    level: Level, commit: str, sync: str, doublewrite: str
) -> None:
    variables = of("mysql").tuned(level)
    assert variables["innodb_flush_log_at_trx_commit"] == commit
    assert variables["sync_binlog"] == sync
    assert variables["innodb_doublewrite"] == doublewrite
    assert variables["log_bin"] == "ON"
