"""Records of a machine."""

import pytest

from diskproof.results.machine import VirtualFacts


@pytest.mark.parametrize(
    ("model", "fua", "survives"), [("flash", True, True), ("memory", False, False), ("cloud", False, True)]
)
def test_an_older_run_says_by_its_model_what_a_disk_is(model: str, fua: bool, survives: bool) -> None:
    old = {"name": "x", "device": "x", "title": "X", "model": model, "size_bytes": 1}
    read = VirtualFacts.model_validate(old)
    assert (read.fua, read.survives_without_power) == (fua, survives)
    new = VirtualFacts.model_validate({**old, "fua": not fua, "survives_without_power": not survives})
    assert (new.fua, new.survives_without_power) == (not fua, not survives)
