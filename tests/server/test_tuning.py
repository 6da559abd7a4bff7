from itertools import pairwise

import pytest

from diskproof.server.tuning import TUNING, tuned_variables
from diskproof.study.model import LEVELS, Level
from diskproof.study.part import Family


@pytest.mark.parametrize("family", TUNING)
def test_every_family_is_safest_fast_and_unsafe_in_different_ways(family: Family) -> None:
    levels = [tuned_variables(family, level) for level in LEVELS]
    assert all(first != second for first, second in pairwise(levels))
    assert all(tuned.reason.endswith(".") for tuned in TUNING[family])


@pytest.mark.parametrize(
    ("level", "commit", "sync", "doublewrite"),
    [("safest", "1", "1", "ON"), ("fast", "2", "0", "ON"), ("unsafe", "0", "0", "OFF")],
)
def test_innodb_levels_are_those_of_the_published_experiment(
    level: Level, commit: str, sync: str, doublewrite: str
) -> None:
    variables = tuned_variables("mysql", level)
    assert variables["innodb_flush_log_at_trx_commit"] == commit
    assert variables["sync_binlog"] == sync
    assert variables["innodb_doublewrite"] == doublewrite
    assert variables["log_bin"] == "ON"
