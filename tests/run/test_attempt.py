"""What a trial leaves behind, whatever goes wrong in it."""

from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Any

import pytest

from diskproof.refusal import RefusalError
from diskproof.results.trial import DataFacts
from diskproof.run.attempt import Attempt
from diskproof.storage.virtual import Slowness
from support.trials import make_plan

PLAN = make_plan(storages=("disk",), tunings=("safest",), clients=(1,))


@dataclass
class Place:
    """Stands for a storage: remembers what was undone, and refuses some of it."""

    refused: tuple[str, ...]
    undone: list[str] = field(default_factory=list)

    def folders(self) -> dict[str, str]:
        return {}

    def slow_no_longer(self) -> None:
        self.undo("slowness")

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
