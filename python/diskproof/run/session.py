"""The machine taken for one run: refuse early, make everything ready, give everything back."""

import time
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Protocol

from diskproof import load
from diskproof.fio import program as fio
from diskproof.refusal import RefusalError
from diskproof.results.crash_plan import PlannedCut
from diskproof.results.cut import CutTrial
from diskproof.results.folder import RunFolder
from diskproof.results.limit import Intervention, ProofPair
from diskproof.results.plan import Plan, PlannedTrial
from diskproof.results.record import format_bytes
from diskproof.results.trial import Finding, Trial
from diskproof.run.bench import Bench
from diskproof.run.cutcells import with_cut_cells
from diskproof.run.dataset import IMAGES, GoldenImages, described
from diskproof.run.rehearsal import check_fio, rehearse
from diskproof.run.resume import check_same_machine, folder_to_resume
from diskproof.run.room import check_room, disk_limits
from diskproof.run.surroundings import Surroundings, surrounded
from diskproof.server.base import ServerKind
from diskproof.server.choice import find_chosen
from diskproof.storage.claims import check_claims
from diskproof.storage.layout import Layout
from diskproof.storage.places import Places
from diskproof.study.read import StudyFile
from diskproof.system.cpus import divide
from diskproof.system.endings import ending_in_good_order, ignore_endings
from diskproof.system.journal import Journal, clean
from diskproof.system.machine import describe_machine
from diskproof.system.processes import Starter
from diskproof.system.undoing import Undone


@dataclass(frozen=True)
class PlannedPair:
    """Two trials that prove what holds a cell back: as it is, and with an intervention."""

    id: str
    cell: str
    intervention: Intervention
    estimated_s: float


class Progress(Protocol):
    """Who watches a run: a terminal, a log, a test."""

    def note(self, text: str) -> None:
        """Say something that is no trial."""

    def trial_begins(self, planned: PlannedTrial) -> None:
        """Announce a trial."""

    def trial_ends(self, trial: Trial, invalid: list[Finding]) -> None:
        """Show a trial that was run, and why it does not count if it does not."""

    def proofs_begin(self, pairs: Sequence[PlannedPair]) -> None:
        """Announce all pairs of trials that are to prove something."""

    def pair_begins(self, planned: PlannedPair) -> None:
        """Announce a pair."""

    def pair_ends(self, pair: ProofPair, failing: Sequence[str]) -> None:
        """Show a pair that was run, and why it does not count if it does not."""

    def cut_begins(self, planned: PlannedCut) -> None:
        """Announce a cut."""

    def cut_ends(self, cut: CutTrial) -> None:
        """Show a cut that was made."""


@dataclass(frozen=True)
class Request:
    """One run to be made."""

    file: StudyFile
    plan: Plan
    out: Path
    """Root of all run folders: ``runs``."""
    resume: bool = False
    pairs: int = 0
    """Pairs of trials that are to prove what holds each cell back; 0: nothing is to be proved."""


@contextmanager
def session(request: Request, progress: Progress, within: RunFolder | None = None) -> Iterator[Bench]:
    """Yield all that the trials and the cuts of a run share; whatever happens, nothing is left behind.

    All data sets are loaded by then; but not where it is to work `within` the folder of an earlier run, which
    may have been another machine's.
    """
    file, plan = with_cut_cells(request.file, request.plan)
    whole = replace(request, file=file, plan=plan)
    servers = _find_servers(whole)
    load.version()  # refuse now where the load generator is missing
    division = divide(request.plan.cpus) if request.plan.cpus else None
    check_fio(whole.file.study, whole.plan)
    check_claims(whole.file.study, whole.plan)
    rehearse(whole.file, whole.plan)
    for undone in clean():  # first of all: what a killed run left may be what fills the disk
        progress.note(_told(undone))
    with (
        ending_in_good_order(),
        _machine_taken(request, progress) as journal,
        surrounded(whole.file.study, whole.plan, division) as surroundings,
    ):
        folder = within
        if request.resume:
            folder = folder_to_resume(request.out, request.file, request.plan)
        images = GoldenImages(request.out.absolute() / IMAGES, journal)
        check_room(whole.file.study, whole.plan, servers, images)
        limits = disk_limits(whole.file.study, whole.plan)
        with closing(Places(journal, limits)) as places:
            bench = _set_up(request, whole, servers, images, journal, places, folder, surroundings)
            if within is None:
                _load_data_sets(whole, bench, progress)
            yield bench


def _find_servers(request: Request) -> dict[str, ServerKind]:
    choices = request.file.study.servers
    used = dict.fromkeys(cell.server for cell in request.plan.cells if cell.has_server)
    return {name: find_chosen(name, choices[name]) for name in used}


def _set_up(
    request: Request,
    whole: Request,
    servers: dict[str, ServerKind],
    images: GoldenImages,
    journal: Journal,
    storages: Places,
    folder: RunFolder | None,
    surroundings: Surroundings,
) -> Bench:
    """Mount and make what the trials share; the run folder comes last, when all that has succeeded."""
    runtime = journal.directory(Path("/tmp") / f"diskproof-{journal.mark}")  # noqa: S108 - short, for sockets
    runtime.chmod(0o711)  # a server under another user must reach its own folder in it
    sockets = runtime / "run"
    sockets.mkdir(mode=0o700)
    study = whole.file.study
    used = dict.fromkeys(cell.storage for cell in whole.plan.cells)
    layouts = {name: Layout(name, study.storages[name], storages) for name in used}
    places = [place for layout in layouts.values() for place in layout.places()]
    facts = [kind.facts for kind in servers.values()]
    division = surroundings.division
    fio_version = None if all(cell.has_server for cell in whole.plan.cells) else fio.version()
    machine = describe_machine(
        places, facts, load.version(), surroundings.wake_up_us, division, fio_version=fio_version
    )
    if folder is None:
        folder = _new_folder(request)
        folder.write_machine(machine)
        for name, workload in request.file.study.workloads.items():
            folder.keep_scripts(name, workload.files_to_keep)
    elif request.resume:
        check_same_machine(folder, machine)
        if folder.plan() != request.plan:  # more cuts than there were to be
            folder.write_plan(request.plan)
    return Bench(
        study=study,
        seed=request.plan.seed,
        folder=folder,
        starter=Starter(journal, division.held if division else None),
        onlooker=Starter(journal),
        cpus=division.held if division else (),
        sockets=sockets,
        servers=servers,
        layouts=layouts,
        places=places,
        images=images,
    )


def _new_folder(request: Request) -> RunFolder:
    root = request.out / request.file.name
    while True:
        path = root / datetime.now(UTC).strftime("%Y%m%d-%H%M%S")
        if not path.exists():
            return RunFolder.create(path, request.file.text, request.plan)
        time.sleep(0.1)  # a run that was refused within this second has the name


def _load_data_sets(request: Request, bench: Bench, progress: Progress) -> None:
    """Load every data set that is not there yet, before the first trial."""
    served = [cell for cell in request.plan.cells if cell.has_server]
    for server, workload_name in dict.fromkeys((cell.server, cell.workload) for cell in served):
        workload, kind = bench.study.workloads[workload_name], bench.servers[server]
        if not bench.images.has(kind, workload, bench.seed):
            what = described(workload) if workload.prepares else "an empty database"
            progress.note(f"loading {what} into {server}, once")
            copies = bench.folder.scripts(workload_name)
            image = bench.images.load(kind, workload, bench.seed, bench.starter, bench.sockets, copies)
            progress.note(f"loaded {format_bytes(image.data_bytes)} in {image.load_s:.1f} s")


def check_disks(layout: Layout) -> None:
    """End the run where a virtual disk's program is gone: every later trial on it would fail as well."""
    for disk in layout.disks():
        if how := disk.served.ended():
            raise RefusalError(
                f"storage `{layout.name}`: the virtual disk `{disk.facts.name}` is gone, and all that was on "
                f"it: its program {how}. The trials that count are kept; `diskproof run --resume` attaches "
                "it anew and goes on; where memory ran out, start a new run with fewer `rows` or `accounts`"
            )


@contextmanager
def _machine_taken(request: Request, progress: Progress) -> Iterator[Journal]:
    """Hold the machine's one journal; whatever happens, undo what stands in it."""
    journal = Journal.begin(f"study {request.file.name}")
    try:
        yield journal
    finally:
        ignore_endings()  # a second Ctrl-C must not leave half of it behind
        for undone in journal.finish():
            if not undone.done:
                progress.note(_told(undone))


def _told(undone: Undone) -> str:
    return f"{'cleared away' if undone.done else 'could not clear away'}: {undone.what}"
