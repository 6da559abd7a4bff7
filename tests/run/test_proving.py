"""The pairs of trials of a proof: their order, a prediction that stays, and how a run resumes them."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from diskproof.analysis.answers import Verdict
from diskproof.analysis.limits.records import CellLimit, Limits, WhatIf
from diskproof.refusal import RefusalError
from diskproof.results.folder import Made, RunFolder
from diskproof.results.limit import Intervention, ProofPair
from diskproof.results.plan import Cell, Plan, PlannedTrial
from diskproof.results.trial import Finding, Trial
from diskproof.run import prove as room
from diskproof.run.bench import Bench
from diskproof.run.interventions import Subject, Way
from diskproof.run.prove import check_request, provable, prove
from diskproof.run.session import Planned, PlannedPair, Progress, Request
from diskproof.storage.virtual import Slowness
from diskproof.study.plan import make_plan as plan_study
from diskproof.study.read import StudyFile, parse_study
from diskproof.wording import Message
from support.proofs import SAYS, slowed
from support.runs import write_run
from support.trials import change, make_machine, make_plan, make_trial, make_trials, typical_rate

PLAN = make_plan(storages=("disk",), tunings=("safest",), clients=(1, 2, 4), blocks=2)
SLOWER = Intervention(change="slower flushes", says=SAYS["slower flushes"][0], factor=2.0)
BROKEN = Finding(check="finished", severity="invalid", message="the server died during the trial")


@dataclass
class Watcher(Progress):
    """Remembers what a run says."""

    notes: list[str] = field(default_factory=list)
    announced: list[PlannedPair] = field(default_factory=list)
    failing: list[Sequence[Message]] = field(default_factory=list)

    def note(self, text: str) -> None:
        self.notes.append(text)

    def looked(self, is_open: Sequence[Verdict], needed_s: float | None, left_s: float) -> None:
        raise AssertionError(is_open, needed_s, left_s)

    def proofs_begin(self, pairs: Sequence[PlannedPair]) -> None:
        self.announced += pairs

    def begins(self, planned: Planned) -> None:
        assert isinstance(planned, PlannedPair)

    def ends(self, made: Made, failing: Sequence[Message] = ()) -> None:
        assert isinstance(made, ProofPair)
        self.failing.append(failing)


@dataclass
class Stage:
    """A run whose trials are made, on which pairs are run that take no time."""

    folder: RunFolder
    watcher: Watcher = field(default_factory=Watcher)
    ran: list[PlannedTrial] = field(default_factory=list)
    changed: list[bool] = field(default_factory=list)
    spoil: Callable[[Trial], Trial] = lambda trial: trial
    predicted: float = 0.5
    intervention: Intervention = SLOWER
    named: dict[int, str | None] = field(default_factory=lambda: {0: "log flush", 2: "log flush"})

    def prove(self, pairs: int) -> None:
        others: dict[str, Any] = dict.fromkeys(one.name for one in fields(Bench))
        bench = Bench(**{**others, "folder": self.folder, "layouts": {"disk": None}, "slowness": {}})
        request: Any = SimpleNamespace(plan=PLAN, pairs=pairs)
        prove(request, bench, self.watcher, provable(self.folder))

    def analyse(self, _folder: RunFolder) -> SimpleNamespace:
        cells = [
            CellLimit.model_validate({"cell": cell, "limit": self.named.get(number)})
            for number, cell in enumerate(PLAN.cells)
        ]
        return SimpleNamespace(limits=Limits(cells=cells))

    def choose(self, subject: Subject, _limit: str) -> Way | str:
        slowness = {"cheetah": Slowness(on="flush", add_us=4000.0)}
        return Way(self.intervention, subject.cell, replace(subject.bench, slowness=slowness))

    def predict(self, _limit: CellLimit, intervention: Intervention) -> WhatIf | None:
        predicted = self.predicted
        return WhatIf(says=intervention.says, ratio=predicted, low=predicted, high=predicted, basis="the law")

    def run_trial(self, bench: Bench, planned: PlannedTrial, cell: Cell) -> Trial:
        changed = bool(bench.slowness)
        self.ran.append(planned)
        self.changed.append(changed)
        trial = make_trial(PLAN, planned, typical_rate(cell) * (0.5 if changed else 1.0))
        return self.spoil(change(trial, virtual_disks=[slowed("flush")]) if changed else trial)


@pytest.fixture
def stage(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Stage:
    folder = write_run(tmp_path / "run", PLAN, make_trials(PLAN), make_machine(PLAN), series=False)
    stage = Stage(folder)
    monkeypatch.setattr(room, "analyse_folder", stage.analyse)
    monkeypatch.setattr(room, "choose", stage.choose)
    monkeypatch.setattr(room, "predict", stage.predict)
    monkeypatch.setattr(room, "run_trial", stage.run_trial)
    monkeypatch.setattr(room, "check_disks", lambda _layout: None)
    return stage


def test_each_pair_has_a_trial_of_either_kind_that_draw_alike(stage: Stage) -> None:
    stage.prove(8)
    pairs = stage.folder.proofs()
    assert [pair.id for pair in pairs[:4]] == ["proof-01-1", "proof-03-1", "proof-01-2", "proof-03-2"]
    assert len(pairs) == 16
    assert [one.id for one in stage.watcher.announced] == [pair.id for pair in pairs]
    assert stage.watcher.failing == [[]] * 16
    for pair in pairs:
        assert pair.as_it_was.block == pair.changed.block > max(PLAN.blocks())
        assert {pair.as_it_was.position, pair.changed.position} == {1, 2}
        assert pair.as_it_was.cell == pair.changed.cell == pair.cell
        assert not pair.as_it_was.virtual_disks
        assert pair.changed.virtual_disks[0].slowed
        assert (pair.predicted_ratio, pair.basis.text) == (0.5, "the law")
    assert len({trial.id for trial in stage.ran}) == 32
    assert not {trial.id for trial in stage.ran} & {trial.id for trial in stage.folder.trials()}
    firsts = [pair.changed.position == 1 for pair in pairs]
    assert 3 < sum(firsts) < 13, "which comes first is drawn"


def test_the_order_is_drawn_from_the_seed(stage: Stage, tmp_path: Path) -> None:
    stage.prove(5)
    first = list(stage.changed)
    stage.changed.clear()
    stage.folder = write_run(tmp_path / "again", PLAN, make_trials(PLAN), make_machine(PLAN), series=False)
    stage.prove(5)
    assert stage.changed == first


def test_valid_pairs_are_kept_and_more_are_added(stage: Stage) -> None:
    stage.prove(2)
    stage.ran.clear()
    stage.prove(2)
    assert not stage.ran
    stage.prove(3)
    assert {trial.id.rpartition("-as-it")[0] for trial in stage.ran if "as-it" in trial.id} == {
        "proof-01-3",
        "proof-03-3",
    }


def test_a_kill_within_a_pair_leaves_those_before_it(stage: Stage) -> None:
    def killed(trial: Trial) -> Trial:
        if len(stage.ran) == 6:
            raise KeyboardInterrupt
        return trial

    stage.spoil = killed
    with pytest.raises(KeyboardInterrupt):
        stage.prove(2)
    assert [pair.id for pair in stage.folder.proofs()] == ["proof-01-1", "proof-03-1"]
    path = stage.folder.path / "proofs.jsonl"
    path.write_bytes(path.read_bytes() + b'{"id":"proof-01-2","ce')
    stage.spoil = lambda trial: trial
    stage.prove(2)
    assert len(stage.folder.proofs()) == 4
    assert len(stage.ran) == 6 + 4


def test_a_prediction_before_the_first_pair_stays(stage: Stage) -> None:
    stage.prove(1)
    stage.predicted = 0.9
    stage.prove(2)
    assert {pair.predicted_ratio for pair in stage.folder.proofs()} == {0.5}


def test_another_intervention_begins_a_proof_anew(stage: Stage) -> None:
    stage.prove(2)
    relaxed = Intervention(change="flushes relaxed", says="no commit waits for a flush", factor=0.0)
    stage.predicted, stage.intervention = 0.9, relaxed
    stage.prove(2)
    assert {pair.predicted_ratio for pair in stage.folder.proofs()} == {0.9}
    assert len(stage.folder.proofs()) == 4


def test_a_pair_that_does_not_count_is_run_again_by_the_next_run(stage: Stage) -> None:
    stage.spoil = lambda trial: change(trial, virtual_disks=[])
    stage.prove(1)
    assert all("reports that it was slowed" in why[0].text for why in stage.watcher.failing)
    stage.spoil = lambda trial: trial
    stage.prove(1)
    assert stage.watcher.failing[-2:] == [[], []]
    assert len(stage.folder.proofs()) == 2


def test_a_proof_that_breaks_off_ends_and_the_others_go_on(stage: Stage) -> None:
    def broken(trial: Trial) -> Trial:
        bad = trial.id.startswith("proof-01")
        return change(trial, finished=False, load=None, findings=[BROKEN]) if bad else trial

    stage.spoil = broken
    stage.prove(3)
    assert [pair.id for pair in stage.folder.proofs()] == [
        "proof-01-1",
        "proof-03-1",
        "proof-03-2",
        "proof-03-3",
    ]


def test_each_cell_without_a_proof_gets_a_reason(stage: Stage, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        room,
        "choose",
        lambda subject, _: "nothing can be done" if subject.cell.clients == 1 else stage.choose(subject, _),
    )
    monkeypatch.setattr(room, "predict", lambda *_: None)
    stage.prove(1)
    assert not stage.ran
    assert not stage.watcher.announced
    [first, second] = stage.watcher.notes
    assert (
        first
        == f"{PLAN.cells[0].id}: the limit is log flush, which cannot be proved here: nothing can be done"
    )
    assert second.startswith(
        f"{PLAN.cells[2].id}: the limit is log flush; no proof, since the effect cannot be predicted if every"
    )


def test_a_prediction_that_cannot_fail_is_not_tested(stage: Stage) -> None:
    """What the study calls the same as no change would fit 0.98 as well."""
    stage.predicted = 0.98
    stage.prove(3)
    assert not stage.ran
    assert len(stage.watcher.notes) == 2
    assert stage.watcher.notes[0].endswith(
        "predicted throughput is 0.98 of the unchanged. 'No change' would fit that too, "
        "so it would prove nothing"
    )
    stage.predicted = 0.96
    stage.prove(1)
    assert len(stage.folder.proofs()) == 2


def test_with_nothing_named_there_is_nothing_to_prove(stage: Stage) -> None:
    stage.named = {}
    assert provable(stage.folder) == []
    stage.prove(1)
    assert not stage.ran
    assert not stage.watcher.announced


QUICKSTART = (Path(__file__).parents[1] / "support" / "eight_cells.toml").read_text()
CUTS = """question = "What is lost?"
[servers.mariadb]
family = "mysql"
[storages.ssd]
ram = "1 GiB"
[tunings.safest]
[crash]
"""


def request(tmp_path: Path, text: str, **fields: Any) -> Request:
    file = StudyFile("study", text, parse_study(text, "study.toml", None))
    return Request(file=file, plan=plan_study(file), out=tmp_path, pairs=3, **fields)


def test_proofs_of_cuts_alone_are_refused(tmp_path: Path) -> None:
    with pytest.raises(RefusalError, match=r"measures no load.*leave --prove out"):
        check_request(request(tmp_path, CUTS))


def test_a_complete_run_without_limits_is_refused_before_the_start(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = request(tmp_path, QUICKSTART, resume=True)
    folder = RunFolder.create(tmp_path / "study" / "20260101-000000", QUICKSTART, asked.plan)
    monkeypatch.setattr(room, "analyse_folder", lambda _: SimpleNamespace(limits=None))
    check_request(asked)  # its trials are yet to be made
    check_request(request(tmp_path, QUICKSTART))
    for trial in trials_of(asked.plan):
        folder.append(trial)
    with pytest.raises(RefusalError, match="there is nothing to prove"):
        check_request(asked)


def trials_of(plan: Plan) -> list[Trial]:
    return [make_trial(plan, planned, 100.0) for planned in plan.trials]
