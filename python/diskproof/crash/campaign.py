"""All cuts of a run: each planned one that is not recorded yet, and what is kept of it."""

import os
from collections.abc import Sequence
from pathlib import Path

from diskproof.crash import evidence
from diskproof.crash.trial import CutAttempt, make_cut
from diskproof.refusal import RefusalError, told_of
from diskproof.results.crash_plan import CrashPlan
from diskproof.results.cut import CutTrial
from diskproof.results.folder import RunFolder
from diskproof.results.trial import Finding
from diskproof.run.bench import MISHAPS, Bench
from diskproof.run.execute import run_trials
from diskproof.run.outfit import data_set_name
from diskproof.run.prove import check_request, prove
from diskproof.run.served import START
from diskproof.run.session import Progress, Request, check_disks, session
from diskproof.storage.virtual import ServedDisk
from diskproof.system.endings import end_if_asked

MOST_UNFINISHED = 3
"""Cuts of one cell that may break off one after the other: the next would as well."""


class StoppedError(RefusalError):
    """A run that had begun and cannot go on; what was finished is in its folder."""

    def __init__(self, message: str, folder: RunFolder) -> None:
        """Keep the reason and the folder."""
        super().__init__(message)
        self.folder = folder


def execute(request: Request, progress: Progress) -> RunFolder:
    """Make all trials, proofs and cuts of a run that do not count yet.

    KeyboardInterrupt leaves the finished ones in the folder; so does StoppedError, which names it.
    """
    if request.pairs:
        check_request(request)
    with session(request, progress) as bench:
        try:
            run_trials(request, bench, progress)
            if request.pairs:
                prove(request, bench, progress)
            if request.plan.crash is not None:
                make_cuts(request.plan.crash, bench, progress)
        except RefusalError as error:
            raise StoppedError(str(error), bench.folder) from error
        except OSError as error:
            if (told := told_of(error)) is None:
                raise
            raise StoppedError(told, bench.folder) from error
    return bench.folder


def make_cuts(plan: CrashPlan, bench: Bench, progress: Progress) -> None:
    """Make the cuts that are not recorded yet as finished, and append each to the run folder.

    RefusalError where a cell's server never starts, or its cuts break off again and again.
    """
    recorded = bench.folder.cuts()
    done = {cut.id for cut in recorded if cut.finished}
    shelf = evidence.Shelf(plan, recorded)
    made = [cut for cut in recorded if cut.finished]
    for cut in made:
        if cut.evidence is None:  # its evidence was being kept when the campaign was killed
            bench.folder.drop_cut_folder(cut.id)
    for planned in plan.trials:
        end_if_asked()
        if planned.id in done:
            continue
        layout = bench.layouts[plan.cell(planned.cell).storage]
        check_disks(layout)
        progress.cut_begins(planned)
        attempt = make_cut(bench, plan, planned)
        cut = _put_away(attempt, shelf)
        progress.cut_ends(cut)
        made.append(cut)
        check_disks(layout)
        _check_sense(made)


def _put_away(attempt: CutAttempt, shelf: evidence.Shelf) -> CutTrial:
    """Record a cut, then keep evidence of it where it failed, and nothing where it did not.

    In this order: only what failed leaves evidence, and where keeping it fails or is interrupted such a cut
    would be made again, and its loss forgotten. With evidence it is recorded anew: the last record counts.
    """
    folder = attempt.bench.folder
    cut = attempt.record(evidence=None)
    folder.append_cut(cut)
    why = shelf.takes(cut)
    if why is None:
        folder.drop_cut_folder(cut.id)
        return cut
    try:
        cut = _keep_evidence(attempt, why)
    except MISHAPS as error:
        folder.drop_cut_folder(cut.id)
        attempt.findings.append(
            Finding(
                check="evidence",
                severity="warning",
                message=f"no evidence of it could be kept: {error}",
                remedy="the logs of requests are as large as all that was written: see that they have room",
            )
        )
        cut = attempt.record(evidence=None)
    folder.append_cut(cut)
    return cut


def _keep_evidence(attempt: CutAttempt, why: str) -> CutTrial:
    """Complete the folder of a cut to what can be looked at and replayed, and return the cut's record."""
    cut = attempt.record(evidence=str(attempt.folder.relative_to(attempt.bench.folder.path.absolute())))
    evidence.keep(attempt.folder, cut, attempt.told or [], attempt.verified.ledger, attempt.cut_us)
    if attempt.cuts_disks:
        _keep_what_replays(attempt)
    evidence.explain(attempt.folder, cut, why, attempt.cut_us)
    return cut


def _keep_what_replays(attempt: CutAttempt) -> None:
    """Keep the bytes that the logs of a cut begin with: once for all cuts that begin with the same."""
    images = attempt.bench.folder.images_folder().absolute()
    data_set = data_set_name(attempt.cell.server, attempt.image)
    disks = attempt.layout.cut_disks()

    def image(disk: ServedDisk) -> Path:
        return evidence.disk_image(images, attempt.layout.keeps_as(data_set), disk)

    if not all(image(disk).exists() for disk in disks):
        try:
            attempt.layout.export(data_set, lambda disk: _part(image(disk)))
            for disk in disks:
                _part(image(disk)).replace(image(disk))
        finally:
            for disk in disks:
                _part(image(disk)).unlink(missing_ok=True)
            attempt.layout.clear()
    to_replay = evidence.ToReplay(
        cut_us=attempt.cut_us,
        folders={role: str(path) for role, path in attempt.layout.folders().items()},
        disks=[
            evidence.DiskToReplay(
                log=evidence.request_log(attempt.folder, disk).name,
                image=os.path.relpath(image(disk), attempt.folder),
            )
            for disk in disks
        ],
    )
    text = to_replay.model_dump_json(indent=1) + "\n"
    (attempt.folder / evidence.REPLAY).write_text(text, encoding="utf-8")


def _part(image: Path) -> Path:
    """Return the file of an image that is not whole yet."""
    return image.with_suffix(".part")


def _check_sense(made: Sequence[CutTrial]) -> None:
    """End a campaign whose server never starts, or whose cuts break off one after the other.

    `made`: the finished cuts of earlier sessions and all of this one; what broke off before was mended since.
    """
    last = made[-1]
    if last.finished:
        return
    why = next(found for found in last.findings if found.severity == "invalid")
    of_cell = [cut for cut in made if cut.cell == last.cell]
    never_started = not any(cut.finished for cut in of_cell) and why.check == START
    if never_started or (
        len(of_cell) >= MOST_UNFINISHED and not any(cut.finished for cut in of_cell[-MOST_UNFINISHED:])
    ):
        raise RefusalError(why.message)
