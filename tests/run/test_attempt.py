"""What a trial leaves behind, whatever goes wrong in it."""

import time
from dataclasses import dataclass, field
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from diskproof.analysis.folder import invalidating
from diskproof.refusal import RefusalError
from diskproof.results.folder import RunFolder
from diskproof.results.trial import DataFacts
from diskproof.run.attempt import Attempt
from diskproof.run.cut import CutAttempt
from diskproof.run.served import ServerAttempt
from diskproof.storage.virtual import Slowness
from support.command import diskproof_here
from support.trials import make_plan

PLAN = make_plan(storages=("disk",), tunings=("safest",), clients=(1,))


STUDY = """
question = "What if the clock is set?"
[design]
blocks = 2
warm_up_s = 0
measure_s = 0.5
clients = [1]
repeat_disturbed = false
[servers.db]
family = "sqlite"
[storages.disk]
directory = "place"
[tunings.fast]
[workloads.simple]
mix = "read-only"
tables = 1
rows = 100
"""


@dataclass
class Place:
    """Stands for a storage: remembers what was undone, and refuses some of it."""

    refused: tuple[str, ...]
    undone: list[str] = field(default_factory=list)

    def folders(self) -> dict[str, str]:
        return {}

    def slow_no_longer(self) -> None:
        self.undo("slowness")

    def power_returns(self) -> None:
        self.undo("power")

    def heal(self) -> None:
        self.undo("faults")

    def track_no_longer(self) -> None:
        self.undo("accounts")

    def clear(self) -> None:
        self.undo("files")

    def undo(self, what: str) -> None:
        self.undone.append(what)
        if what in self.refused:
            raise RefusalError(f"{what} would not go")


class Broken(Attempt):
    """A trial that broke off with everything still there."""

    def restore(self) -> None: ...
    def start(self) -> None: ...
    def measure(self) -> None: ...
    def stop(self) -> None: ...

    def end_processes(self) -> None:
        self.layout.undo("processes")  # type: ignore[attr-defined]

    def data(self) -> DataFacts:
        raise NotImplementedError


def attempt(tmp_path: Any, *refused: str, slow: bool = True) -> tuple[Broken, Place]:
    place = Place(refused)
    bench: Any = SimpleNamespace(
        layouts={"disk": place},
        folder=SimpleNamespace(
            plan=lambda: PLAN, server_folder=lambda _: tmp_path, series_writer=lambda _: None
        ),
        slowness={"disk": Slowness(on="flush", add_us=1.0)} if slow else {},
    )
    return Broken(bench, PLAN.trials[0], PLAN.cells[0]), place


@pytest.mark.parametrize(
    "refused", [(), ("processes",), ("slowness",), ("files",), ("processes", "slowness", "files")]
)
def test_a_failed_undo_does_not_stop_the_others(tmp_path: Any, refused: tuple[str, ...]) -> None:
    trial, place = attempt(tmp_path, *refused)
    trial.clear()
    assert place.undone == ["slowness", "processes", "files"]
    assert [one.message.text for one in trial.findings] == [
        f"{what} would not go" for what in place.undone if what in refused
    ]
    assert all(one.severity == "invalid" for one in trial.findings)


def test_unslowed_disks_are_left_alone(tmp_path: Any) -> None:
    trial, place = attempt(tmp_path, slow=False)
    trial.clear()
    assert place.undone == ["processes", "files"]


def test_what_is_left_after_a_stop_in_good_order_is_no_death_of_the_server(tmp_path: Any) -> None:
    broken, place = attempt(tmp_path, "files", slow=False)
    trial: Any = object.__new__(ServerAttempt)
    trial.bench, trial.layout, trial.findings, trial._room = broken.bench, place, [], None
    trial.finished = True
    trial.running = SimpleNamespace(alive=False, kill=lambda: None, log_tail=lambda: "its last line")
    trial.clear()
    assert [one.message.text for one in trial.findings] == ["files would not go"]


@pytest.mark.parametrize("finished", [False, True])
def test_a_cut_clears_away_what_it_can(finished: bool) -> None:
    place = Place(("clients", "faults"))
    cut: Any = object.__new__(CutAttempt)
    cut.layout, cut.findings, cut.finished, cut.laps, cut._last = place, [], finished, {}, 0.0
    cut.find("seen", "invalid", "it came to nothing" if not finished else "it lost something")
    cut._has_power = finished
    cut.plan = SimpleNamespace(faults={"one": None})
    cut._clients = SimpleNamespace(kill=lambda: place.undo("clients"))
    cut._running = SimpleNamespace(kill=lambda: place.undo("server"), log_tail=lambda: "its last line")
    cut.clear()
    power = [] if finished else ["power"]
    assert place.undone == ["clients", "server", *power, "faults", "accounts", "files"]
    left = 2 * ["cleared"]
    assert [one.check for one in cut.findings] == (["seen", *left] if finished else [*left, "seen"])
    assert cut.finished is finished
    assert "stop_s" in cut.laps


def test_a_clock_that_was_set_makes_its_trial_invalid(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "study.toml").write_text(STUDY)
    now_ns, first_ns = time.time_ns, 0

    def set_once() -> int:
        nonlocal first_ns
        first_ns = first_ns or now_ns()
        return now_ns() + (5_000_000_000 if now_ns() > first_ns + 200_000_000 else 0)

    monkeypatch.setattr(time, "time_ns", set_once)
    said = diskproof_here(tmp_path, "run", "study.toml")
    assert said.returncode == 12, said.stderr
    [path] = (tmp_path / "runs" / "study").iterdir()
    folder = RunFolder.open(path)
    during, after = folder.trials()
    (found,) = invalidating(folder, during)
    assert found.check == "clock"
    assert "was set by 5" in found.message.text
    assert "clock" not in [finding.check for finding in after.findings]
