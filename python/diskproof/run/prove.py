"""Proofs of what holds cells back: each limit predicts the effect of a change, and the change is made."""

import random
from collections.abc import Sequence
from dataclasses import dataclass

from diskproof.analysis.folder import analyse_folder, invalidating, why_pair_fails
from diskproof.analysis.limits.prediction import predict, why_not_predicted
from diskproof.analysis.limits.proofs import Band
from diskproof.analysis.limits.records import CellLimit, WhatIf
from diskproof.refusal import RefusalError
from diskproof.results.folder import RunFolder
from diskproof.results.limit import ProofPair
from diskproof.results.plan import Cell, Plan, PlannedTrial
from diskproof.results.record import Record
from diskproof.results.trial import Trial
from diskproof.run.bench import Bench
from diskproof.run.interventions import Subject, Way, as_begun, choose
from diskproof.run.resume import folder_to_resume
from diskproof.run.session import PlannedPair, Progress, Request, check_disks
from diskproof.run.trials import run_trial
from diskproof.study.cuts import seed_of
from diskproof.study.servers import THEIRS
from diskproof.wording import Range, say

NOTHING_TO_PROVE = "no cell has an established limit: there is nothing to prove"


class Provable(Record):
    """A cell whose limit is established, with what a proof of it needs."""

    number: int
    """The cell's place in the plan, from 1: the same whenever the run is resumed."""
    blocks: int
    """Of the run; the trials of proofs are in further ones."""
    host: str | None = None
    """The machine that proves it, in a study over many hosts."""
    limit: CellLimit
    trials: list[Trial]
    """Those of the cell that count."""
    pairs: list[ProofPair]
    """Of proofs of this limit, as recorded."""
    counting: list[str]
    """The ids of the pairs that count."""


@dataclass(frozen=True)
class Proof:
    """How the limit of a cell will be proved."""

    of: Provable
    way: Way
    predicted: WhatIf
    trial_s: float
    """Mean time of one of its trials."""

    @property
    def cell(self) -> Cell:
        """The unchanged cell."""
        return self.of.limit.cell


def check_request(request: Request) -> None:
    """Refuse proofs of a run that has no limits, before anything starts."""
    if not request.plan.trials:
        raise RefusalError(
            f"{request.file.name} measures no load, so there is no limit to prove: "
            "leave --prove out, or add [workloads]"
        )
    given = next((cell.server for cell in request.plan.cells if cell.storage == THEIRS), None)
    if given is not None:
        raise RefusalError(
            f"a proof changes the server's memory, CPUs or disks, and `{given}` is not ours to change: leave "
            "--prove out, or choose other cells with --only"
        )
    if request.resume:
        folder = folder_to_resume(request.out, request.file, request.plan)
        counted = _counted(folder)
        if not provable(folder) and all(planned.id in counted for planned in request.plan.trials):
            raise RefusalError(
                f"{folder.path}: no cell has an established limit, so there is nothing to prove; "
                "`diskproof report` says what is missing"
            )


def provable(folder: RunFolder) -> list[Provable]:
    """Return the cells of a run whose limit is established."""
    plan, limits = folder.plan(), analyse_folder(folder).limits
    numbers = {cell.id: number for number, cell in enumerate(plan.cells, start=1)}
    counted, recorded = _counted(folder).values(), folder.proofs()
    found = []
    for limit in limits.cells if limits else ():
        pairs = [pair for pair in recorded if (pair.cell, pair.limit) == (limit.cell.id, limit.limit)]
        if limit.limit is not None:
            found.append(
                Provable(
                    number=numbers[limit.cell.id],
                    blocks=len(plan.blocks()),
                    limit=limit,
                    trials=[trial for trial in counted if trial.cell == limit.cell.id],
                    pairs=pairs,
                    counting=[pair.id for pair in pairs if not why_pair_fails(folder, pair)],
                )
            )
    return found


def prove(request: Request, bench: Bench, progress: Progress, limits: Sequence[Provable]) -> None:
    """Make the pairs of trials that do not count yet, for these cells.

    Each pair is appended to the run folder. Pairs alternate between cells, so that slow changes of the
    machine affect all proofs alike.
    """
    proofs = _proofs(request.plan, bench, progress, limits)
    pairs = [(proof, number) for number in range(1, request.pairs + 1) for proof in proofs]
    left = [(proof, number) for proof, number in pairs if not _counts(proof, number)]
    if not left:
        return
    progress.proofs_begin([_planned(proof, number) for proof, number in left])
    broken: set[str] = set()
    for proof, number in left:
        if proof.cell.id in broken:
            continue
        planned = _planned(proof, number)
        progress.begins(planned)
        pair = _run_pair(request.plan, bench, proof, number)
        bench.folder.append(pair)
        progress.ends(pair, why_pair_fails(bench.folder, pair))
        if not (pair.as_it_was.finished and pair.changed.finished):
            broken.add(proof.cell.id)  # the next would break off too


def _proofs(plan: Plan, bench: Bench, progress: Progress, limits: Sequence[Provable]) -> list[Proof]:
    """Return the possible proofs, and report for each other cell why there is none.

    A prediction that was made before the first pair of a proof stays.
    """
    proofs = []
    for one in limits:
        found, cell = one.limit, one.limit.cell
        assert found.limit is not None
        way = choose(Subject(bench, cell, plan.metric(cell), one.trials), found.limit)
        if isinstance(way, str):
            progress.note(f"{cell.id}: the limit is {found.limit}, which cannot be proved here: {way}")
            continue
        for pair in one.pairs:
            way = as_begun(way, pair)
        change = way.intervention.says.text
        predicted = _recorded_prediction(one.pairs, way) or predict(found, way.intervention)
        if predicted is None:
            progress.note(
                f"{cell.id}: the limit is {found.limit}; no proof, since the effect cannot be predicted if "
                f"{change}: {why_not_predicted(found, way.intervention).text}"
            )
            continue
        if not Band(predicted.low, predicted.high).can_fail(plan.same_within):
            band = say("{band:3}", band=Range(low=predicted.low, high=predicted.high)).text
            progress.note(
                f"{cell.id}: the limit is {found.limit}; if {change}, predicted throughput is {band} of the "
                "unchanged. 'No change' would fit that too, so it would prove nothing"
            )
            continue
        proofs.append(Proof(one, way, predicted, _trial_s(one.trials)))
    return proofs


def _counted(folder: RunFolder) -> dict[str, Trial]:
    return {trial.id: trial for trial in folder.trials() if not invalidating(folder, trial)}


def _recorded_prediction(recorded: Sequence[ProofPair], way: Way) -> WhatIf | None:
    """Return the prediction that earlier pairs of the same proof were made with."""
    for pair in recorded:
        if pair.intervention.same_change(way.intervention):
            return WhatIf(
                says=pair.intervention.says,
                ratio=pair.predicted_ratio,
                low=pair.predicted_low,
                high=pair.predicted_high,
                basis=pair.basis,
            )
    return None


def _counts(proof: Proof, number: int) -> bool:
    """Return whether this pair was made, for this very proof, and counts."""
    pair = next((pair for pair in proof.of.pairs if pair.id == _pair_id(proof, number)), None)
    if pair is None or pair.id not in proof.of.counting:
        return False
    return pair.intervention.same_change(proof.way.intervention)


def _pair_id(proof: Proof, number: int) -> str:
    return f"proof-{proof.of.number:02}-{number}"


def _planned(proof: Proof, number: int) -> PlannedPair:
    return PlannedPair(
        id=_pair_id(proof, number),
        cell=proof.cell.id,
        intervention=proof.way.intervention,
        estimated_s=2 * proof.trial_s,
    )


def _trial_s(trials: Sequence[Trial]) -> float:
    took = [trial.timings.total_s for trial in trials if trial.timings]
    return sum(took) / len(took) if took else 0.0


def _run_pair(plan: Plan, bench: Bench, proof: Proof, number: int) -> ProofPair:
    """Run the cell unchanged and changed, in a random order."""
    changed_first = random.Random(seed_of(plan.seed, _pair_id(proof, number))).random() < 0.5  # noqa: S311
    trials = {
        changed: _run(bench, proof, number, position, changed=changed)
        for position, changed in enumerate((changed_first, not changed_first), start=1)
    }
    limit = proof.of.limit.limit
    assert limit is not None
    return ProofPair(
        id=_pair_id(proof, number),
        cell=proof.cell.id,
        host=proof.of.host,
        limit=limit,
        intervention=proof.way.intervention,
        predicted_ratio=proof.predicted.ratio,
        predicted_low=proof.predicted.low,
        predicted_high=proof.predicted.high,
        basis=proof.predicted.basis,
        as_it_was=trials[False],
        changed=trials[True],
    )


def _run(bench: Bench, proof: Proof, number: int, position: int, *, changed: bool) -> Trial:
    """Run one trial of a pair; both draw alike, and unlike every other trial of the run."""
    bench, cell = (proof.way.bench, proof.way.cell) if changed else (bench, proof.cell)
    planned = PlannedTrial(
        id=f"{_pair_id(proof, number)}-{'changed' if changed else 'as-it-was'}",
        block=proof.of.blocks + number,
        position=position,
        cell=cell.id,
    )
    layout = bench.layouts[cell.storage]
    check_disks(layout)
    trial = run_trial(bench, planned, cell)
    check_disks(layout)
    return trial
