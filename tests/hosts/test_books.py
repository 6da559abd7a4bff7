"""What a host may send: records of what it was given, and their files."""

import pytest

from diskproof.hosts.records import Books, WrongError, check_file
from diskproof.results.folder import CUTS, PROOFS, TRIALS
from support.machines import comparing, sharing
from support.proofs import make_pair
from support.trials import change, make_plan, make_trial

PLAN = comparing(make_plan(blocks=1))
TRIAL = make_trial(PLAN, PLAN.trials[0])


@pytest.mark.parametrize(
    ("file", "line", "why"),
    [
        ("machine.json", TRIAL.model_dump_json(), "records of no known kind: machine.json"),
        (TRIALS, "{", "cannot be read"),
        (CUTS, TRIAL.model_dump_json(), "cannot be read"),
        (TRIALS, change(TRIAL, id="b09-t09").model_dump_json(), "not given: b09-t09"),
        (TRIALS, change(TRIAL, cell=PLAN.cells[1].id).model_dump_json(), "not given"),
    ],
)
def test_a_record_of_something_else_is_refused(file: str, line: str, why: str) -> None:
    books = Books(PLAN, ["a", "b"])
    assert books.read(TRIALS, TRIAL.model_dump_json(), "a") == TRIAL
    with pytest.raises(WrongError, match="not given"):
        books.read(TRIALS, TRIAL.model_dump_json(), "b")
    with pytest.raises(WrongError, match=why):
        books.read(file, line, "a")


@pytest.mark.parametrize(
    "name",
    [
        "plan.json",
        "series/b01-t02.parquet",
        "servers/b01-t01/../../plan.json",
        "/servers/b01-t01/log",
        "cuts/x",
    ],
)
def test_a_file_of_something_else_is_refused(name: str) -> None:
    for own in (f"series/{TRIAL.id}.parquet", f"servers/{TRIAL.id}/recovery/log"):
        check_file(own, 1, TRIAL)
    with pytest.raises(WrongError, match="does not belong to b01-t01"):
        check_file(name, 1, TRIAL)


def test_a_proof_is_of_one_host_and_its_own_trials() -> None:
    shared = sharing(make_plan(blocks=2))
    books = Books(shared, ["a", "b"])
    for number, host in enumerate(("a", "b")):
        pair = change(make_pair(shared, cell=number), host=host)
        assert books.proves(host, shared.cells[number])
        assert books.read(PROOFS, pair.model_dump_json(), host) == pair
        assert books.host(PROOFS, pair.model_dump_json()) == host
    first = change(make_pair(shared), host="a")
    wrong_trial = change(make_pair(shared, as_it_was={"id": "b01-t01"}), host="a")
    for wrong in (pair, change(first, host="b"), wrong_trial):
        with pytest.raises(WrongError, match="not given: proof-0"):
            books.read(PROOFS, wrong.model_dump_json(), "a")
