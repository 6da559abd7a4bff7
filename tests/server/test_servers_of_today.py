"""Servers whose counters or settings differ from those of the distribution's own."""

import time
from pathlib import Path

import pytest

from diskproof.families.facts import LEVELS, Level
from diskproof.families.samples import Samples
from diskproof.server.base import ServerKind
from diskproof.system.processes import Starter
from support.servers import Images, connect, start

UPDATES = 50


@pytest.mark.parametrize("level", LEVELS)
def test_each_level_holds_and_its_flushes_are_seen(
    level: Level, kind_of_today: ServerKind, root: Path, starter: Starter, images: Images
) -> None:
    running = start(kind_of_today, images.restore(kind_of_today, root), starter, level)
    try:
        settings = running.read_settings()
        before = running.status()
        with connect(running) as client:
            for at in range(UPDATES):
                client.run(f"UPDATE sbtest1 SET c = '{at}' WHERE id = 1")
        time.sleep(1.2)  # a backend of PostgreSQL hands its counts in at most once a second
        account = running.account(Samples([(0.0, before), (1.0, running.status())]))
    finally:
        running.kill()
    assert not [one for one in settings if not one.holds]
    assert account is not None
    if kind_of_today.facts.family == "postgresql":
        assert account.log_flushes is not None
        assert account.log_flush_s is not None
        assert (account.log_flushes >= UPDATES) == (level == "safest")
    else:
        assert account.binlog_commits == UPDATES
