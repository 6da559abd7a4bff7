"""What the head of a run over hosts does by itself, without Ray."""

from pathlib import Path
from typing import Any, cast

import pytest

from diskproof.hosts.cluster import Host
from diskproof.hosts.lab import Found, Step, digest
from diskproof.hosts.over import _Hand, _Head, _run_name
from diskproof.refusal import RefusalError
from diskproof.results.folder import RunFolder
from diskproof.run.session import Progress, Request
from support.trials import make_machine, make_plan, make_trial


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


class Other(_Hand):
    """A host whose answers are its machine's facts alone."""

    def ask(self, method: str, *arguments: object) -> Any:
        assert (method, arguments) == ("machine", ("parts/2",))
        return make_machine(kernel="6.12.0-1-amd64").model_dump_json()


def test_another_machine_is_lost_before_it_measures(tmp_path: Path) -> None:
    plan = make_plan()
    plan = plan.model_copy(update={"trials": [plan.trials[0].model_copy(update={"host": "b"})]})
    folder = RunFolder.create(tmp_path / "run", "", plan)
    folder.write_machine(make_machine(others={"b": make_machine()}))
    notes, hand = Notes(), Other(Host("b", "10.0.0.2", "", None), None)
    head = _Head(cast("Request", None), folder, "0" * 16, [hand], notes)

    # A trial that such a machine made is left out, and is in nobody's way.
    line = make_trial(plan).model_dump_json()
    head._take(hand, Found(folder="parts/2", line=line))
    assert head._known == {"b": {digest(line)}}
    assert folder.trials() == []
    assert hand.lost is None
    assert (
        "is left out, of another machine (kernel: 6.1.0-31-amd64 then, 6.12.0-1-amd64 now)" in notes.said[0]
    )

    hand.step = Step(state="waits", folder="parts/2")
    head._check_machine(hand)
    assert not hand.is_ready
    assert hand.lost is not None
    assert "put that back and use --resume, or start a new run" in hand.lost
