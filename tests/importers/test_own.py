"""diskproof-load's own output, as JSON lines."""

import json

import pytest

from diskproof.importers.base import ImportRefusedError
from support.samples import SAMPLES, found_in, results_in


def test_json_lines() -> None:
    (one,) = results_in("own.jsonl")
    summary = json.loads((SAMPLES / "own.jsonl").read_text().splitlines()[-1])
    load = one.load
    assert (one.source.tool, one.levels["workload"]) == ("diskproof-load 0.1.0", "oltp read-write")
    assert (load.transactions, load.clients) == (summary["transactions"], 4)
    assert load.latency_us
    assert load.latency_us.mean == summary["latency_us"]["mean"]
    assert load.client
    assert load.client.cpu_user_s == summary["client"]["cpu_user_s"]
    assert (len(one.intervals_per_s), one.interval_s, one.warm_up_s) == (3, 1.0, 1.0)


@pytest.mark.parametrize(
    ("old", "new"),
    [('"seconds": 3.0', '"seconds": "x"'), ('"clients": 4', '"clients": -4'), ('"client": {', '"other": {')],
)
def test_a_damaged_summary_is_refused(old: str, new: str) -> None:
    *lines, summary = (SAMPLES / "own.jsonl").read_text().splitlines()
    assert old in summary
    with pytest.raises(ImportRefusedError, match="no summary of diskproof-load"):
        found_in("\n".join([*lines, summary.replace(old, new)]))
