"""Keys of a study that are options of the load generator."""

import json

import pytest
from pydantic import ValidationError

from diskproof import load
from diskproof.study.loads import KINDS
from diskproof.study.loads.described import DESCRIPTION, NOT_OF_A_STUDY, WORKLOADS
from diskproof.system.programs import run


def test_the_copy_is_what_the_program_prints() -> None:
    """After a change of an option, `make docs` renews it."""
    printed = run([str(load.program()), "describe"]).out
    assert json.loads(printed) == json.loads(DESCRIPTION.read_text())


def test_every_option_of_a_workload_is_a_key() -> None:
    """None is left out but those that the lab sets itself, and those of scripts that have their own keys."""
    for kind in set(WORKLOADS) - {"lua", "script"}:
        options = {option["name"] for option in WORKLOADS[kind]["options"]} - NOT_OF_A_STUDY
        named = {
            mark.name
            for field in KINDS[kind].model_fields.values()
            for mark in field.metadata
            if hasattr(mark, "verbs")
        }
        assert options <= named, kind


@pytest.mark.parametrize(
    ("key", "value", "said"),
    [
        ("rows", 0, "greater than or equal to 1"),
        ("appends", 1.5, "less than or equal to 1"),
        ("stay", 1, "valid boolean"),
        ("protocol", "binary", "'text' or 'prepared'"),
        ("rowz", 3, "not permitted"),
    ],
)
def test_what_the_program_would_refuse_is_refused(key: str, value: object, said: str) -> None:
    with pytest.raises(ValidationError, match=said):
        KINDS["conditions"].model_validate({"kind": "conditions", key: value})


def test_a_value_is_passed_on_if_it_is_given_or_the_lab_reads_it() -> None:
    workload = KINDS["conditions"].model_validate({"kind": "conditions", "days": 30, "stay": True})
    assert workload.options("prepare") == {"tables": 100, "rows": 10_000, "payload-bytes": 200, "days": 30}
    assert workload.options("run")["stay"] is True
    assert "protocol" not in workload.options("run")
