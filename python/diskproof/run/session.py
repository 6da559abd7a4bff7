"""The machine taken for one run: refuse early, prepare everything, give everything back."""

import time
from collections.abc import Collection, Iterator, Sequence
from contextlib import ExitStack, closing, contextmanager, nullcontext
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path

from diskproof import load
from diskproof.analysis.answers import Verdict
from diskproof.disk import write_clock
from diskproof.fio import program as fio
from diskproof.refusal import RefusalError
from diskproof.results.folder import Made, RunFolder
from diskproof.results.limit import Intervention
from diskproof.results.plan import Plan, PlannedTrial
from diskproof.results.record import Record
from diskproof.run.bench import RUNTIME, Bench
from diskproof.run.capacity import check_room, disk_limits
from diskproof.run.cut_rights import check_may_cut
from diskproof.run.dataset import IMAGES, GoldenImages, described, is_loaded
from diskproof.run.given import held, load_once
from diskproof.run.program_rehearsal import rehearse_program
from diskproof.run.rehearsal import check
from diskproof.run.resume import check_same_dump, check_same_machine, folder_to_resume, resumed_plan
from diskproof.run.slower import check_slower
from diskproof.server.base import ServerKind
from diskproof.server.choice import find_chosen
from diskproof.server.given import GivenServer, find_given
from diskproof.storage.kinds.base import LESS_DATA
from diskproof.storage.layout import Layout
from diskproof.storage.places import Places
from diskproof.study.model import Study
from diskproof.study.plan import placed
from diskproof.study.read import StudyFile
from diskproof.system.cpu_quota import CpuQuota
from diskproof.system.cpus import Division, divide, kept_to, usable
from diskproof.system.dilation import TrialTime
from diskproof.system.idle import cores_awake
from diskproof.system.journal import Journal, clean, machine_taken
from diskproof.system.machine import describe_machine
from diskproof.system.own_folder import real_path
from diskproof.system.processes import Starter
from diskproof.system.run_processes import other_states
from diskproof.system.undoing import Undone
from diskproof.wording import Message, numbers


class PlannedPair(Record):
    """Two trials that prove what holds a cell back: unchanged, and with an intervention."""

    id: str
    cell: str
    intervention: Intervention
    estimated_s: float


Planned = PlannedTrial | PlannedPair
"""A step of a run: a trial, a cut (which is a kind of trial), or a pair of trials."""


class Progress:
    """Receives the events of a run: a terminal, a log, a test. A subclass need not define what it ignores."""

    def note(self, text: str) -> None:
        """Show a message that belongs to no trial."""

    def begins(self, planned: Planned) -> None:
        """Announce a trial, a pair of trials or a cut."""

    def ends(self, made: Made, failing: Sequence[Message] = ()) -> None:
        """Show a finished one, and why a trial or a pair does not count if it does not."""

    def looked(self, is_open: Sequence[Verdict], needed_s: float | None, left_s: float) -> None:
        """Show the open verdicts after a block: what time they probably need, and what is left."""

    def proofs_begin(self, pairs: Sequence[PlannedPair]) -> None:
        """Announce all pairs of trials that will prove something."""


@dataclass(frozen=True)
class Request:
    """One run to be made."""

    file: StudyFile
    plan: Plan
    out: Path
    """Root of all run folders: ``runs``."""
    resume: bool = False
    pairs: int = 0
    """Pairs of trials that prove what holds each cell back; 0: no proofs."""
    images: Path | None = None
    """Folder of the loaded data sets; None: in `out`."""


@contextmanager
def session(request: Request, progress: Progress, within: RunFolder | None = None) -> Iterator[Bench]:
    """Yield what the trials and the cuts of a run share; whatever happens, nothing is left behind.

    All data sets are loaded by then, except `within` the folder of an earlier run, which may come from
    another machine.
    """
    try:
        real_path(request.out)
    except RefusalError as error:
        raise RefusalError(f"--out: {error}") from None
    check_may_cut(request.plan)
    file, plan = request.file, request.plan.with_every_cell()
    whole = replace(request, plan=plan)
    servers, given = _find_servers(whole)
    load.version()  # refuse now where the load generator is missing
    study = file.study
    division = divide(plan.cpus) if plan.cpus else None
    here = placed(study, plan)
    images_at = request.images or request.out.absolute() / IMAGES
    # In the folder of an earlier run nothing is loaded.
    for note in check(file, plan, servers, given, images_at) if within is None else ():
        progress.note(note)

    def show(undone: Undone) -> None:
        progress.note(f"{'removed' if undone.done else 'could not remove'}: {undone.what}")

    for undone in clean():  # first: what a killed run left may fill the disk
        show(undone)
    if others := other_states():
        said = f"DISKPROOF_STATE={numbers.listed(others)}"
        progress.note(f"another run works on this machine ({said}): the two measure each other")
    with (
        held(given),
        machine_taken(_purpose(request), show) as journal,
        cores_awake() if study.design.cores_awake else nullcontext() as wake_up_us,
        # Virtual disks are started by the lab and stay on its CPUs.
        kept_to(division.others) if division else nullcontext(),
    ):
        folder = within
        if request.resume:
            folder = folder_to_resume(request.out, request.file, request.plan)
        images = GoldenImages(images_at, journal)
        check_room(study, here, servers, images.folder)
        with ExitStack() as stack:
            times = folder.plan() if folder else plan
            own_time = TrialTime(times.dilation, times.cpus_count)
            check_slower(own_time, servers.values())
            limits, beside = disk_limits(study, here), disk_limits(study, here, beside=True)
            places = stack.enter_context(closing(Places(journal, limits, own_time.dilation, beside)))
            bench = _set_up(
                request, whole, servers, given, images, journal, places, folder, division, wake_up_us
            )
            bench = replace(bench, time=own_time, quota=_quota(own_time, bench.cpus, journal))
            if own_time.dilation > 1:
                write_clock(bench.clock)
            if within is None:
                bench.folder.hold()
                _load_data_sets(whole, bench, progress)
                if file.study.program is not None:
                    _rehearse(plan, bench, progress)
            yield bench


def _purpose(request: Request) -> str:
    """Say for whoever must wait which run has the machine, since when and for how long."""
    plan = request.plan
    seconds = (plan.at_most_s or plan.estimated_s) + (plan.crash.estimated_s if plan.crash else 0)
    return (
        f"study {request.file.name}, which writes to {request.out.absolute()}, began at "
        f"{datetime.now():%H:%M} and takes about {numbers.duration(seconds)}"
    )


def _find_servers(request: Request) -> tuple[dict[str, ServerKind], dict[str, GivenServer]]:
    """Return the servers that the lab will start, and those that are there already."""
    study = request.file.study
    choices = study.servers
    used = {cell.server: choices[cell.server] for cell in request.plan.cells if cell.has_server}
    return (
        {
            name: find_chosen(name, choice, study.program)
            for name, choice in used.items()
            if not choice.is_given
        },
        {name: find_given(name, choice) for name, choice in used.items() if choice.is_given},
    )


def _set_up(
    request: Request,
    whole: Request,
    servers: dict[str, ServerKind],
    given: dict[str, GivenServer],
    images: GoldenImages,
    journal: Journal,
    storages: Places,
    folder: RunFolder | None,
    division: Division | None,
    wake_up_us: int | None,
) -> Bench:
    """Mount and make what the trials share; the run folder comes last, when all that has succeeded."""
    runtime = journal.directory(RUNTIME / f"diskproof-{journal.mark}")
    runtime.chmod(0o711)  # a server under another user must reach its own folder in it
    sockets = runtime / "run"
    sockets.mkdir(mode=0o700)
    study = whole.file.study
    used = dict.fromkeys(cell.storage for cell in whole.plan.cells)
    layouts = {name: _layout(study, name, storages) for name in used}
    places = [place for layout in layouts.values() for place in layout.places()]
    facts = [*(kind.facts for kind in servers.values()), *(one.facts for one in given.values())]
    fio_version = None if all(cell.has_server for cell in whole.plan.cells) else fio.version()
    machine = describe_machine(places, facts, load.version(), wake_up_us, division, fio_version=fio_version)
    if folder is None:
        folder = new_folder(request)
        folder.write(machine)
    elif request.resume:
        check_same_machine(folder, machine)
        folder.write(resumed_plan(folder.plan(), request.plan))
    return Bench(
        study=study,
        seed=request.plan.seed,
        folder=folder,
        starter=Starter(journal, division.held if division else None),
        onlooker=Starter(journal),
        cpus=division.held if division else (),
        sockets=sockets,
        servers=servers,
        given=given,
        layouts=layouts,
        storages=storages,
        places=places,
        images=images,
    )


def _quota(own_time: TrialTime, cpus: Collection[int], journal: Journal) -> CpuQuota | None:
    if own_time.cpu_share >= 1:
        return None
    return CpuQuota(own_time.cpu_share, len(cpus) or len(usable()), journal)


def _layout(study: Study, name: str, places: Places) -> Layout:
    return Layout(name, study.storages[name], places) if name in study.storages else Layout.nowhere(name)


def new_folder(request: Request) -> RunFolder:
    """Make a run's folder, with the study, its plan and the files that it names."""
    root = request.out / request.file.name
    while True:
        path = root / datetime.now(UTC).strftime("%Y%m%d-%H%M%S")
        if not path.exists():
            folder = RunFolder.create(path, request.file.text, request.plan)
            for name, files in request.file.study.files_to_keep.items():
                folder.keep_scripts(name, files)
            return folder
        time.sleep(0.1)  # a run that was refused within this second has the name


def _load_data_sets(request: Request, bench: Bench, progress: Progress) -> None:
    """Load every data set that does not exist yet."""
    served = [cell for cell in request.plan.cells if cell.server in bench.servers]
    for server, workload_name in dict.fromkeys((cell.server, cell.workload) for cell in served):
        workload, kind = bench.study.load(workload_name), bench.servers[server]
        is_missing = not is_loaded(bench.images.folder, kind, workload, bench.seed)
        if is_missing:
            what = described(workload) if workload.prepares else "an empty database"
            progress.note(f"loading {what} into {server}, once")
        if dumped := bench.images.dumped(workload):
            check_same_dump(bench.folder, workload_name, dumped.facts.dump)
        if is_missing:
            copies = bench.folder.scripts(bench.study.named_in_study(workload_name))
            loaded = bench.images.load(kind, workload, bench.seed, bench.starter, bench.sockets, copies)
            facts = loaded.facts
            progress.note(f"loaded {numbers.size(facts.data_bytes)} in {facts.load_s:.1f} s")
    load_once(bench, request.plan, progress.note)


def _rehearse(plan: Plan, bench: Bench, progress: Progress) -> None:
    """Try a program once with each tuning."""
    progress.note("trying the program without a cut")
    for cell in {cell.tuning: cell for cell in plan.cells}.values():
        rehearse_program(bench, cell)


def check_disks(layout: Layout) -> None:
    """End the run if a virtual disk's program is gone: every later trial on it would fail too."""
    for disk in layout.disks():
        if how := disk.served.ended():
            raise RefusalError(
                f"storage `{layout.name}`: the virtual disk `{disk.facts.name}` is gone with its contents: "
                f"its program {how}. Finished trials are kept: `--resume` continues the run. If memory "
                f"ran out, {LESS_DATA} in a new run"
            )
