"""What the head of a run over hosts does by itself, without Ray."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any, cast

import pytest

from diskproof.cli.progress import progress_display
from diskproof.hosts.cluster import Host
from diskproof.hosts.lab import Found, Step, digest
from diskproof.hosts.over import _Head, _Member, _part, _run_name
from diskproof.refusal import RefusalError
from diskproof.results.folder import TRIALS, RunFolder
from diskproof.run.session import PlannedPair, Progress, Request
from support.cuts import make_crash_plan
from support.machines import sharing
from support.proofs import make_pair
from support.trials import change, make_machine, make_plan, make_trial


def test_a_run_has_one_head_and_one_name(tmp_path: Path) -> None:
    folder = RunFolder(tmp_path)
    with _run_name(folder) as name:
        with pytest.raises(RefusalError, match="another program runs"), _run_name(folder):
            pass
        assert len(name) == 16
    with _run_name(folder) as again:
        assert again == name
    (tmp_path / "hosts.id").write_text("../..")
    with pytest.raises(RefusalError, match="is damaged"), _run_name(folder):
        pass


class Notes(Progress):
    """Keeps the messages of a run."""

    def __init__(self) -> None:
        self.said: list[str] = []

    def note(self, text: str) -> None:
        self.said.append(text)


class Other(_Member):
    """A host whose answers are its machine's facts alone."""

    def ask(self, method: str, *arguments: object) -> Any:
        assert (method, arguments) == ("machine", ("parts/2",))
        return make_machine(kernel="6.12.0-1-amd64").model_dump_json()


def test_another_machine_is_lost_before_it_measures(tmp_path: Path) -> None:
    plan = make_plan()
    plan = plan.model_copy(update={"trials": [plan.trials[0].model_copy(update={"host": "b"})]})
    folder = RunFolder.create(tmp_path / "run", "", plan)
    folder.write(make_machine(others={"b": make_machine()}))
    notes, hand = Notes(), Other(Host("b", "10.0.0.2", "", None), None)
    head = _Head(cast("Request", None), folder, "0" * 16, [hand], notes)

    # A trial that such a machine made is left out, and is in nobody's way.
    trial = make_trial(plan)
    line = trial.model_dump_json()
    head._take(hand, trial, Found(folder="parts/2", file=TRIALS, line=line))
    assert head._known == {"b": {digest(line)}}
    assert folder.trials() == []
    assert hand.lost is None
    assert (
        "is left out, of another machine (kernel: 6.1.0-31-amd64 then, 6.12.0-1-amd64 now)" in notes.said[0]
    )

    hand.step = Step(state="waits", folder="parts/2")
    head._check_machine(hand)
    assert not hand.is_at("waits")
    assert hand.lost is not None
    assert "put that back and use --resume, or start a new run" in hand.lost


class Giving(_Member):
    """A host that has finished trials."""

    lines: Sequence[str] = ()

    def ask(self, method: str, *arguments: Any) -> Any:
        match method:
            case "records":
                new = [line for line in self.lines if digest(line) not in arguments[1]]
                return [Found(folder="parts/1", file=TRIALS, line=line) for line in new[:1]]
            case "machine":
                return make_machine().model_dump_json()
        assert method == "files"
        return []


def test_trials_are_fetched_in_the_order_of_the_plan(tmp_path: Path) -> None:
    plan = make_plan()
    trials = [
        planned.model_copy(update={"host": host})
        for planned, host in zip(plan.trials, ("b", "a", "c", "a"), strict=False)
    ]
    plan = plan.model_copy(update={"trials": trials, "hosts": ["a", "b", "c"]})
    folder, notes = RunFolder.create(tmp_path / "run", "", plan), Notes()
    lines = [make_trial(plan, planned).model_dump_json() for planned in trials]
    a, b, c = (Giving(Host(name, "10.0.0.1", "", None), None) for name in "abc")
    a.lines, b.lines, c.lines = [lines[1], lines[3]], [lines[0]], [lines[1]]
    _Head(cast("Request", None), folder, "0" * 16, [a, b, c], notes)._gather()
    assert [trial.id for trial in folder.trials()] == [trials[number].id for number in (0, 1, 3)]
    assert (a.lost, b.lost) == (None, None)
    assert c.lost == f"it sent a record of what it was not given: {trials[1].id} of {trials[1].cell}"


def test_a_part_is_of_the_same_machine_whatever_is_left() -> None:
    crash = make_crash_plan(storages=("x", "y"), cuts=1)
    crash = change(crash, trials=[change(cut, host="a") for cut in crash.trials])
    plan = change(sharing(make_plan(blocks=2)), crash=crash)
    whole = _part(plan, {one.id for one in plan.trials} | {cut.id for cut in crash.trials}, "a")
    less = _part(plan, {plan.trials[0].id, crash.trials[0].id}, "a")
    nothing = _part(plan, set(), "a")
    for part, trials, cuts in ((less, 1, 1), (nothing, 0, 0)):
        assert (part.cells, part.crash and part.crash.cells) == (plan.cells, crash.cells)
        assert (len(part.trials), len(part.crash.trials if part.crash else ())) == (trials, cuts)
    assert whole.crash == crash
    assert _part(plan, {cut.id for cut in crash.trials}, "b").crash is None


def test_a_pair_of_an_earlier_head_is_shown(capsys: pytest.CaptureFixture[str]) -> None:
    plan = sharing(make_plan(blocks=2))
    pair = make_pair(plan)
    with progress_display(plan) as shown:  # no `proofs_begin`: the host had made it before
        shown.begins(PlannedPair(id=pair.id, cell=pair.cell, intervention=pair.intervention, estimated_s=0.0))
        shown.ends(pair)
    assert f"[pair 1/1] {pair.cell}: " in capsys.readouterr().err
