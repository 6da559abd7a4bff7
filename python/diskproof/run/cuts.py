"""The cuts of a run, a few at once: each that is not recorded yet, and what is kept of it."""

import os
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, ThreadPoolExecutor, wait
from contextlib import ExitStack, closing, contextmanager
from dataclasses import replace
from pathlib import Path
from threading import BoundedSemaphore, Lock

from diskproof.crash import evidence
from diskproof.refusal import RefusalError
from diskproof.results.cut import CutTrial
from diskproof.results.findings import EVIDENCE, START
from diskproof.results.plan import Cell, Cuts, PlannedCut
from diskproof.run.bench import MISHAPS, Bench
from diskproof.run.cut import CutAttempt
from diskproof.run.server_setup import data_set_name
from diskproof.run.session import Progress, check_disks
from diskproof.run.states import StatesAttempt
from diskproof.storage.virtual import ServedDisk
from diskproof.system.endings import check_going_on
from diskproof.wording import say

MOST_UNFINISHED = 3
"""After so many broken cuts of one cell in a row, the next would break off too."""

LOOK_S = 1.0
"""Of one wait: a signal that comes just before it begins is only seen at its end."""


def make_cuts(plan: Cuts, bench: Bench, progress: Progress) -> None:
    """Make the cuts that are not recorded as finished, and append each to the run folder.

    RefusalError if a cell's server never starts, or its cuts break off again and again.
    """
    recorded = bench.folder.cuts()
    finished = {cut.id: cut for cut in recorded if cut.finished}
    for cut in finished.values():
        if cut.evidence is None:  # the campaign was killed while it kept the evidence
            bench.folder.drop_cut_folder(cut.id)
    left = [planned for planned in plan.trials if planned.id not in finished]
    campaign = _Campaign(plan, left, progress, evidence.Shelf(plan, recorded), finished.values())
    with lanes(bench, plan, min(plan.at_once, len(left))) as benches:
        if len(benches) == 1:
            campaign.work(bench)
            return
        # The first interruption may end a wait, and all others are ignored: so there are two.
        with ThreadPoolExecutor(len(benches)) as pool:
            at_work = [pool.submit(campaign.work, own) for own in benches]
            try:
                running = set(at_work)
                while running:
                    done, running = wait(running, LOOK_S, FIRST_COMPLETED)
                    for lane in done:
                        lane.result()
            except Exception:
                progress.note("the run ends here, when the cuts under way have finished")
                raise
            finally:
                wait(at_work)


class _Campaign:
    """The cuts that are left, for one lane or several."""

    def __init__(
        self,
        plan: Cuts,
        left: Iterable[PlannedCut],
        progress: Progress,
        shelf: evidence.Shelf,
        made: Iterable[CutTrial],
    ) -> None:
        """Begin with the cuts that earlier sessions `made`."""
        self._plan, self._progress, self._shelf = plan, progress, shelf
        self._left, self._made = iter(left), list(made)
        self._lock = Lock()
        """Over the run folder and the progress, and over what is left."""

    def work(self, bench: Bench) -> None:
        """Make one cut after another on a bench until none is left; an error in one lane ends them all."""
        try:
            while (planned := self._next()) is not None:
                cell = self._plan.cell(planned.cell)
                layout = bench.layouts[cell.storage]
                check_disks(layout)
                attempt = make_cut(bench, planned, cell)
                with self._lock:
                    cut = _put_away(attempt, self._shelf)
                    self._progress.ends(cut)
                    self._made.append(cut)
                    check_disks(layout)
                    _check_sense(self._made)
        except BaseException:
            self._left = iter(())
            raise

    def _next(self) -> PlannedCut | None:
        with self._lock:
            check_going_on()
            if (planned := next(self._left, None)) is not None:
                self._progress.begins(planned)
            return planned


def make_cut(bench: Bench, planned: PlannedCut, cell: Cell) -> CutAttempt:
    """Make one cut to its end. If a part of ours fails, it records a finding and the campaign goes on.

    A server that does not come up again is an outcome. When the attempt is returned, nothing is mounted or
    running; `record` returns what it found.
    """
    states = bench.study.crash is not None and bench.study.crash.states is not None
    attempt = (StatesAttempt if states else CutAttempt)(bench, planned, cell)
    attempt.take(*attempt.steps)
    return attempt


def _put_away(attempt: CutAttempt, shelf: evidence.Shelf) -> CutTrial:
    """Record a cut, then keep evidence if it failed.

    The order matters. If keeping the evidence fails or is interrupted, the loss is on record already and the
    cut is not repeated. With evidence the cut is recorded again: the last record counts.
    """
    folder = attempt.bench.folder
    cut = attempt.record(evidence=None)
    folder.append(cut)
    why = shelf.takes(cut)
    if why is None:
        folder.drop_cut_folder(cut.id)
        return cut
    try:
        cut = _keep_evidence(attempt, why)
    except MISHAPS as error:
        folder.drop_cut_folder(cut.id)
        attempt.find(
            EVIDENCE,
            "warning",
            say("no evidence of the cut was kept: {error}", error=str(error)),
            "Free space: a log of requests is as large as all that was written.",
        )
        cut = attempt.record(evidence=None)
    folder.append(cut)
    return cut


def _keep_evidence(attempt: CutAttempt, why: str) -> CutTrial:
    """Complete the folder of a cut so that it can be examined and replayed; return the cut's record."""
    cut = attempt.record(evidence=str(attempt.folder.relative_to(attempt.bench.folder.path.absolute())))
    evidence.keep(attempt.folder, cut, attempt.told or [], attempt.ledger, attempt.cut_us)
    if attempt.is_logged:
        _keep_what_replays(attempt)
    evidence.explain(attempt.folder, cut, why, attempt.cut_us)
    return cut


def _keep_what_replays(attempt: CutAttempt) -> None:
    """Keep the bytes that the logs of a cut begin with: once for all cuts that begin with the same."""
    images = attempt.bench.folder.images_folder(attempt.bench.lane).absolute()
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
        state=attempt.seen.counterexample if attempt.seen else None,
    )
    text = to_replay.model_dump_json(indent=1) + "\n"
    (attempt.folder / evidence.REPLAY).write_text(text, encoding="utf-8")


def _part(image: Path) -> Path:
    """Return the file of an incomplete image."""
    return image.with_suffix(evidence.PART)


def _check_sense(made: Sequence[CutTrial]) -> None:
    """End a campaign if a server never starts, or cuts break off one after another.

    `made`: the finished cuts of earlier sessions and all of this one; earlier failures may have been fixed.
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
        raise RefusalError(why.message.text)


# ---------------------------------------------------------------- benches beside each other


@contextmanager
def lanes(bench: Bench, plan: Cuts, count: int) -> Iterator[list[Bench]]:
    """Yield the bench, and as many beside it as make up `count`; these are given back at the end."""
    # A load of all clients takes the CPUs that it gets; a start or a recovery mostly waits for its disk.
    bench = replace(bench, turn=BoundedSemaphore((count + 1) // 2))
    with ExitStack() as stack:
        yield [bench, *(_beside(bench, plan, number, stack) for number in range(2, count + 1))]


def _beside(bench: Bench, plan: Cuts, number: int, stack: ExitStack) -> Bench:
    places = stack.enter_context(closing(bench.storages.beside()))
    sockets = bench.sockets.with_name(f"{bench.sockets.name}-{number}")
    sockets.mkdir(mode=0o700)
    layouts = {
        name: bench.layouts[name].beside(bench.study.storages[name], places)
        for name in dict.fromkeys(cell.storage for cell in plan.cells)
    }
    return replace(bench, lane=number, sockets=sockets, layouts=layouts, storages=places)
