"""What the audit says of a server that was there already: what cannot be seen never passes."""

import pytest

from diskproof.audit import host, server, storage
from diskproof.audit.check import Check, Evidence
from diskproof.results.trial import Setting
from support.cases.trials import elsewhere

POOL = Setting.read_only("innodb_buffer_pool_size", "134217728", "")


@pytest.mark.parametrize("check", [server.placement, storage.physics])
def test_what_needs_its_machine_cannot_be_told(check: Check[Evidence]) -> None:
    outcome = check.outcome(elsewhere(usage__seconds=60.0))
    assert (outcome.state, outcome.problems) == ("cannot be told", ())


def test_other_work_is_judged_on_the_machine_of_the_load() -> None:
    assert host.host_busy.outcome(elsewhere(usage__host_cpu_busy_s=3_000.0)).state == "failed"
    beside = host.host_busy.outcome(elsewhere(may_be_here=True, usage__host_cpu_busy_s=3_000.0))
    assert beside.state == "cannot be told"
    assert [what.text for what in beside.missing] == ["the server's CPU time"]


def test_data_are_compared_with_the_pool_that_was_read_back() -> None:
    small = storage.data_size.outcome(elsewhere(settings=[POOL], data__data_bytes=2**20))
    assert "fits in the buffer pool (128 MiB)" in small.problems[0].message.text
    large = storage.data_size.outcome(elsewhere(settings=[POOL], data__data_bytes=2**30))
    assert [what.text for what in large.missing] == ["the machine's memory"]
    unknown = storage.data_size.outcome(elsewhere(data__data_bytes=2**30))
    assert unknown.state == "cannot be told"


def test_a_setting_that_was_only_read_asks_for_nothing() -> None:
    assert server.settings.outcome(elsewhere(settings=[POOL])).state == "passed"
