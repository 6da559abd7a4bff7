"""One trial: place, restore, start, warm up, measure, prove, stop."""

import shlex
import subprocess
import time
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from diskproof import load
from diskproof.refusal import RefusalError
from diskproof.results.folder import RunFolder
from diskproof.results.records import (
    Cell,
    DataFacts,
    Finding,
    LoadResult,
    OpenFile,
    Place,
    PlannedTrial,
    PoolUse,
    RestoredBy,
    Role,
    Setting,
    Timings,
    Trial,
    Usage,
    VirtualUse,
)
from diskproof.results.series import Row
from diskproof.run.dataset import KEPT_ROLES, GoldenImage, GoldenImages
from diskproof.run.sampler import Sampler
from diskproof.server.base import Dirs, Running, ServerError, ServerKind
from diskproof.storage.copy import copy_tree, settle
from diskproof.storage.layout import Layout
from diskproof.storage.poolwatch import PoolWatch
from diskproof.storage.proof import prove_placement
from diskproof.study.loads.base import Load
from diskproof.study.model import Study
from diskproof.system.counters import open_files
from diskproof.system.processes import Starter
from diskproof.workload.arguments import run_arguments

START = "start"
"""Name of the finding that a server did not start."""

MENDING_REMEDY = "mend the cause, then `diskproof run --resume` runs this trial again"


JOB_SILENCE_S = 600.0
"""A job tells of every second, except while it makes tables between two of its parts."""

MISHAPS = (RefusalError, OSError, subprocess.SubprocessError)
"""What goes wrong with a server, a load or a disk: a trial's finding, never the run's end."""


class ServerStartError(ServerError):
    """The server did not start for a trial."""


@dataclass(frozen=True)
class Bench:
    """All that the trials of one run share."""

    study: Study
    seed: int
    folder: RunFolder
    starter: Starter
    sockets: Path
    """A short private folder for the server's socket."""
    servers: dict[str, ServerKind]
    layouts: dict[str, Layout]
    places: list[Place]
    images: GoldenImages


def run_trial(bench: Bench, planned: PlannedTrial, cell: Cell) -> Trial:
    """Run one trial to its end. What goes wrong in it is its finding, and the run goes on.

    A data set that cannot be loaded (DataSetError) is no trial's fault and is raised.
    """
    image = bench.images.get(bench.servers[cell.server], bench.study.workloads[cell.workload], bench.seed)
    attempt = _Attempt(bench, planned, cell, image)
    try:
        attempt.restore()
        attempt.start()
        attempt.measure()
        attempt.stop()
    except MISHAPS as error:
        attempt.fail(error)
    finally:
        attempt.clear()
    return attempt.record()


class _Stopwatch:
    """Seconds since the last look, and in all."""

    def __init__(self) -> None:
        self._began = self._last = time.monotonic()

    def lap(self) -> float:
        now = time.monotonic()
        seconds, self._last = now - self._last, now
        return seconds

    def total(self) -> float:
        return time.monotonic() - self._began


class _Attempt:
    """A trial under way: its parts in the order in which they are done, and what each of them found."""

    def __init__(self, bench: Bench, planned: PlannedTrial, cell: Cell, image: GoldenImage) -> None:
        self.bench, self.planned, self.cell, self.image = bench, planned, cell, image
        self.kind = bench.servers[cell.server]
        self.layout = bench.layouts[cell.storage]
        self.design = bench.study.design
        self.started_at = datetime.now(UTC).isoformat(timespec="seconds")
        self.watch = _Stopwatch()
        self.folders = self.layout.folders()
        self.dirs = Dirs(
            **self.folders, run=bench.sockets, log=bench.folder.server_folder(planned.id).absolute()
        )
        self.running: Running | None = None
        self.findings: list[Finding] = []
        self.finished = False
        self.restored_by: RestoredBy = "copy"
        self.restore_s = self.start_s = self.load_s = self.stop_s = 0.0
        self.settings: list[Setting] = []
        self.places: list[Place] = []
        self.files: list[OpenFile] = []
        self.engine: str | None = None
        self.command = ""
        self.result: LoadResult | None = None
        self.usage: Usage | None = None
        self.disk_use: list[VirtualUse] = []
        self.pool_use: list[PoolUse] = []
        self.series = bench.folder.series_writer(planned.id)

    @property
    def workload(self) -> Load:
        return self.bench.study.workloads[self.cell.workload]

    def restore(self) -> None:
        """Put the loaded database into the trial's directories, and nothing of it into the page cache."""
        self.layout.suit(self.kind.page_bytes)
        self.layout.draw_anew(self.bench.seed, self.planned.block)
        self.restored_by = self.layout.restore(f"{self.cell.server}-{self.image.folder.name}", self._copy)
        self.places = self._places()
        self.restore_s = self.watch.lap()

    def start(self) -> None:
        """Start the server with the cell's settings."""
        study = self.bench.study
        try:
            settings = self.kind.settings(
                self.dirs,
                level=study.tuning_level(self.cell.tuning),
                memory_bytes=self.cell.memory_bytes,
                max_clients=self.cell.clients,
                variables=study.tunings[self.cell.tuning].variables_as_text(),
            )
            self.findings += [
                Finding(check="settings", severity="note", message=note)
                for note in (*settings.notes, *self.layout.notes())
            ]
            self.running = self.kind.start(self.dirs, settings, self.bench.starter)
            self.layout.throttle(lambda: self.running.pids if self.running else [])
        except ServerError as error:
            raise ServerStartError(
                f"`{self.cell.server}` did not start for {self.cell.id}: {error}"
            ) from error
        self.start_s = self.watch.lap()

    def measure(self) -> None:
        """Load the server, and look at it while every client is connected: before, and right after.

        Virtual disks take their time from the warm-up to the end of the load, and count what is measured.
        """
        assert self.running is not None
        sampler = Sampler(self.running, _devices(self.places, self.cell.storage), self.series.add)
        embedded = not self.running.pids
        disks = self.layout.disks()
        current = self._begin_load(self.running)
        watches: list[PoolWatch] = []
        try:
            if embedded:
                self.layout.throttle(lambda: [current.pid])
            for event in current.events(longest_s=self._longest_silence_s()):
                match event["event"]:
                    case "ready":
                        self.settings = self.running.read_settings()
                        self.engine = self.running.engine()
                        self._let_disks_take_time(on=True)
                        current.go_on()
                    case "measuring":
                        for disk in disks:
                            disk.count_anew()
                        watches = self.layout.watch_pools(self.dirs.log, self.bench.starter)
                        sampler.begin()
                    case "measured":
                        sampler.end()
                        self.usage = sampler.usage(embedded)
                        self.disk_use = [disk.use(self.usage.devices) for disk in disks]
                        self.pool_use = [use for watch in watches for use in watch.end()]
                    case "idle":
                        self.files = self._prove([current.pid] if embedded else self.running.pids)
                        self._let_disks_take_time(on=False)
                        current.go_on()
                    case "interval":
                        self.series.add(_series(event, self.design.warm_up_s))
                    case "summary":
                        self.result = load.to_result(event)
        finally:
            sampler.abandon()
            current.end()
            for watch in watches:
                watch.abandon()
        self.load_s = self.watch.lap()

    def stop(self) -> None:
        """Stop the server; the trial is finished."""
        assert self.running is not None
        self.running.stop()
        self.stop_s = self.watch.lap()
        self.finished = True

    def fail(self, error: Exception) -> None:
        """Say why the trial broke off, with the last lines of the server's log."""
        message = str(error) or type(error).__name__
        if self.running is not None:
            what = "the trial broke off" if self.running.alive else "the server died during the trial"
            message = f"{what} ({message}); the server's log ends with:\n{self.running.log_tail()}"
        check = START if isinstance(error, ServerStartError) else "finished"
        self.findings.append(Finding(check=check, severity="invalid", message=message, remedy=MENDING_REMEDY))

    def clear(self) -> None:
        """Leave nothing of the trial but its record, whatever happened."""
        try:
            if self.running is not None:
                self.running.kill()
            self.layout.clear()
        except MISHAPS as error:
            self.fail(error)

    def record(self) -> Trial:
        """Write the series and return the record."""
        self.series.close()
        return Trial(
            id=self.planned.id,
            cell=self.cell.id,
            block=self.planned.block,
            position=self.planned.position,
            started_at=self.started_at,
            finished=self.finished,
            load=self.result if self.finished else None,
            usage=self.usage,
            virtual_disks=self.disk_use,
            places=self.places,
            pools=self.pool_use,
            timings=self._timings() if self.finished else None,
            data=DataFacts(
                data_bytes=self.image.data_bytes,
                rows=self.image.rows,
                engine=self.engine,
                declared_engine=self.workload.declared_engine,
                restored_by=self.restored_by,
            ),
            settings=self.settings,
            open_files=self.files,
            load_command=self.command,
            findings=self.findings,
        )

    def _copy(self, roles: set[Role]) -> RestoredBy:
        """Fill the empty directories of some roles from the golden image, and leave them cold."""
        how: RestoredBy = "copy"
        for role in KEPT_ROLES:
            if role in roles:
                done = copy_tree(self.image.folder / role, self.folders[role])
                how = done if role == "data" else how
        self.kind.place(self.dirs)
        settle([self.folders[role] for role in KEPT_ROLES])
        return how

    def _places(self) -> list[Place]:
        """Return where the roles lie; what was mounted anew may have another number."""
        return self.layout.places()

    def _let_disks_take_time(self, *, on: bool) -> None:
        for disk in self.layout.disks():
            disk.control.set_timing(on=on)

    def _begin_load(self, running: Running) -> load.Load:
        # Every block draws anew, or five blocks would repeat one sequence of keys; within a block all
        # cells draw alike.
        seed = self.bench.seed + self.planned.block
        copies = self.bench.folder.scripts(self.cell.workload)
        arguments = run_arguments(self.workload, self.design, self.cell.clients, seed, copies)
        current = load.Load(
            self.bench.starter, running.url, self.workload.kind, arguments, self.dirs.log / "load.log"
        )
        self.command = shlex.join(["diskproof-load", *current.argv[1:]])
        return current

    def _prove(self, pids: list[int]) -> list[OpenFile]:
        """Judge the files that are open right after the load, while every connection still holds its own."""
        assert self.running is not None
        return prove_placement(
            open_files(pids),
            self.running.role_of,
            self.folders,
            self.places,
            elsewhere=[self.dirs.log, self.dirs.run],
        )

    def _longest_silence_s(self) -> float:
        if self.workload.is_job:
            return JOB_SILENCE_S
        return max(self.design.warm_up_s, self.design.measure_s)

    def _timings(self) -> Timings:
        return Timings(
            restore_s=self.restore_s,
            start_s=self.start_s,
            warm_up_s=0.0 if self.workload.is_job else max(self.load_s - self.design.measure_s, 0.0),
            measure_s=self.load_s if self.workload.is_job else self.design.measure_s,
            stop_s=self.stop_s,
            total_s=self.watch.total(),
        )


def _series(event: load.Event, warm_up_s: float) -> list[Row]:
    shift = -warm_up_s if event["phase"] == "warm-up" else 0.0
    return [(t_s + shift, "load", metric, value) for t_s, metric, value in load.interval_rows(event)]


def _devices(places: list[Place], storage: str) -> list[str]:
    of_storage = [place for place in places if place.storage == storage]
    devices = [place.device for place in of_storage if place.device]
    devices += [member.device for place in of_storage if place.pool for member in place.pool.members]
    return list(dict.fromkeys(name for device in devices for name in device.counted))
