"""A run from beginning to end: refuse early, take the machine, run the trials, give the machine back."""

import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Protocol

from diskproof import load
from diskproof.analysis.folder import invalidating
from diskproof.refusal import RefusalError
from diskproof.results.folder import RunFolder, RunFolderError
from diskproof.results.records import Finding, Machine, Place, Plan, PlannedTrial, Trial, format_bytes
from diskproof.run.dataset import IMAGES, GoldenImages, described
from diskproof.run.rehearsal import rehearse
from diskproof.run.room import check_room, disk_limits
from diskproof.run.trial import START, Bench, run_trial
from diskproof.server.base import ServerKind
from diskproof.server.registry import find
from diskproof.storage.claims import check_claims
from diskproof.storage.layout import Layout
from diskproof.storage.places import Places
from diskproof.study.read import StudyError, StudyFile
from diskproof.system.endings import end_if_asked, ending_in_good_order, ignore_endings
from diskproof.system.idle import cores_awake
from diskproof.system.journal import Journal, clean
from diskproof.system.machine import describe_machine
from diskproof.system.processes import Starter
from diskproof.system.undoing import Undone


class Progress(Protocol):
    """Who watches a run: a terminal, a log, a test."""

    def note(self, text: str) -> None:
        """Say something that is no trial."""

    def trial_begins(self, planned: PlannedTrial) -> None:
        """Announce a trial."""

    def trial_ends(self, trial: Trial, invalid: list[Finding]) -> None:
        """Show a trial that was run, and why it does not count if it does not."""


@dataclass(frozen=True)
class Request:
    """One run to be made."""

    file: StudyFile
    plan: Plan
    out: Path
    """Root of all run folders: ``runs``."""
    resume: bool = False


def execute(request: Request, progress: Progress) -> RunFolder:
    """Run all trials that do not count yet; KeyboardInterrupt leaves the finished ones in the folder."""
    servers = _find_servers(request)
    load.version()  # refuse now where the load generator is missing
    check_claims(request.file.study, request.plan)
    rehearse(request.file, request.plan)
    for undone in clean():  # first of all: what a killed run left may be what fills the disk
        progress.note(_told(undone))
    with ending_in_good_order(), _machine_taken(request, progress) as journal, _awake(request) as wake_up_us:
        folder = _folder_to_resume(request) if request.resume else None
        images = GoldenImages(request.out.absolute() / IMAGES, journal)
        check_room(request.file.study, request.plan, servers, images)
        limits = disk_limits(request.file.study, request.plan)
        with closing(Places(journal, limits)) as places:
            bench = _set_up(request, servers, images, journal, places, folder, wake_up_us)
            _load_data_sets(request, bench, progress)
            _run_trials(request, bench, progress)
    return bench.folder


def _find_servers(request: Request) -> dict[str, ServerKind]:
    choices = request.file.study.servers
    used = dict.fromkeys(cell.server for cell in request.plan.cells)
    return {name: find(choices[name].family, choices[name].basedir, name=name) for name in used}


def _folder_to_resume(request: Request) -> RunFolder:
    root = request.out / request.file.name
    runs = sorted(path for path in root.glob("*-*") if (path / "plan.json").is_file())
    if not runs:
        raise RunFolderError(f"there is no run under {root} to go on with; start one without --resume")
    folder = RunFolder.open(runs[-1])
    if folder.study_text() != request.file.text or folder.plan() != request.plan:
        raise StudyError(
            f"{runs[-1]} was made from another version of this study (or other cells); "
            "start a new run without --resume"
        )
    return folder


def _set_up(
    request: Request,
    servers: dict[str, ServerKind],
    images: GoldenImages,
    journal: Journal,
    storages: Places,
    folder: RunFolder | None,
    wake_up_us: int | None,
) -> Bench:
    """Mount and make what the trials share; the run folder comes last, when all that has succeeded."""
    runtime = journal.directory(Path("/tmp") / f"diskproof-{journal.mark}")  # noqa: S108 - short, for sockets
    runtime.chmod(0o711)  # a server under another user must reach its own folder in it
    sockets = runtime / "run"
    sockets.mkdir(mode=0o700)
    study = request.file.study
    used = dict.fromkeys(cell.storage for cell in request.plan.cells)
    layouts = {name: Layout(name, study.storages[name], storages) for name in used}
    places = [place for layout in layouts.values() for place in layout.places()]
    facts = [kind.facts for kind in servers.values()]
    machine = describe_machine(places, facts, load.version(), wake_up_us)
    if folder is None:
        folder = _new_folder(request)
        folder.write_machine(machine)
        for name, workload in study.workloads.items():
            folder.keep_scripts(name, workload.files_to_keep)
    else:
        _check_same_machine(folder, machine)
    return Bench(
        study=study,
        seed=request.plan.seed,
        folder=folder,
        starter=Starter(journal),
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


def _check_same_machine(folder: RunFolder, now: Machine) -> None:
    """Refuse to go on with a run on what is no longer the same machine: its blocks would not compare."""
    before = folder.machine()
    if before is None:
        folder.write_machine(now)
        return
    then, today = _identity(before), _identity(now)
    changed = [f"{what}: {then[what]} then, {today[what]} now" for what in then if then[what] != today[what]]
    if changed:
        raise RunFolderError(
            f"{folder.path} was made on what is no longer the same machine ({'; '.join(changed)}); "
            "start a new run without --resume"
        )


def _identity(machine: Machine) -> dict[str, object]:
    """Return what must not change between the trials of a run."""
    return {
        "host": machine.host,
        "kernel": machine.kernel,
        "CPU": f"{machine.cpus} x {machine.cpu_model}",
        "load generator": machine.load_version,
        "servers": [f"{server.name}: {server.flavour} {server.version}" for server in machine.servers],
        "storage": [
            f"{place.storage}/{place.role}: {place.filesystem} on {_device_identity(place)}"
            for place in machine.places
        ],
    }


def _device_identity(place: Place) -> str:
    """Return what a place lies on; a virtual disk is the same on whatever loop device."""
    if place.virtual:
        return f"virtual {place.virtual.device} of {place.virtual.size_bytes} bytes"
    if place.pool:
        return f"a pool of {', '.join(f'{member.part} {member.disk}' for member in place.pool.members)}"
    return place.device.name if place.device else place.kind


def _load_data_sets(request: Request, bench: Bench, progress: Progress) -> None:
    """Load every data set that is not there yet, before the first trial."""
    for server, workload_name in dict.fromkeys((cell.server, cell.workload) for cell in request.plan.cells):
        workload, kind = bench.study.workloads[workload_name], bench.servers[server]
        if not bench.images.has(kind, workload, bench.seed):
            what = described(workload) if workload.prepares else "an empty database"
            progress.note(f"loading {what} into {server}, once")
            copies = bench.folder.scripts(workload_name)
            image = bench.images.load(kind, workload, bench.seed, bench.starter, bench.sockets, copies)
            progress.note(f"loaded {format_bytes(image.data_bytes)} in {image.load_s:.1f} s")


def _run_trials(request: Request, bench: Bench, progress: Progress) -> None:
    recorded = bench.folder.trials()
    counted = {trial.id for trial in recorded if not invalidating(bench.folder, trial)}
    started = {_start_key(request.plan, trial) for trial in recorded if trial.finished}
    for planned in request.plan.trials:
        end_if_asked()
        if planned.id in counted:
            continue
        layout = bench.layouts[request.plan.cell(planned.cell).storage]
        _check_disks(layout)
        progress.trial_begins(planned)
        trial = run_trial(bench, planned, request.plan.cell(planned.cell))
        bench.folder.append_trial(trial)
        progress.trial_ends(trial, invalidating(bench.folder, trial))
        _check_disks(layout)
        if trial.finished:
            started.add(_start_key(request.plan, trial))
        elif trial.findings[-1].check == START and _start_key(request.plan, trial) not in started:
            raise RefusalError(trial.findings[-1].message)


def _check_disks(layout: Layout) -> None:
    """End the run where a virtual disk's program is gone: every later trial on it would fail as well."""
    for disk in layout.disks():
        if how := disk.served.ended():
            raise RefusalError(
                f"storage `{layout.name}`: the virtual disk `{disk.facts.name}` is gone, and all that was on "
                f"it: its program {how}. The trials that count are kept; `diskproof run --resume` attaches "
                "it anew and goes on; where memory ran out, start a new run with fewer `rows`"
            )


def _start_key(plan: Plan, trial: Trial) -> tuple[str, str]:
    """Return what decides whether a server can start at all: itself and its tuning."""
    cell = plan.cell(trial.cell)
    return cell.server, cell.tuning


@contextmanager
def _awake(request: Request) -> Iterator[int | None]:
    """Keep idle cores quick to wake where a storage is virtual: for the whole run, that all cells compare.

    An answer of a virtual disk wakes a sleeping core; the microseconds that takes are no disk's.
    """
    storages = (request.file.study.storages[cell.storage] for cell in request.plan.cells)
    if any(choice.has_virtual_disks for storage in storages for choice in storage.places().values()):
        with cores_awake() as wake_up_us:
            yield wake_up_us
    else:
        yield None


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
