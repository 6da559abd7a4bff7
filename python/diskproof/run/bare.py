"""A trial of a storage without a server: its files are written, and fio works on them."""

import os
import shlex
from collections.abc import Callable
from pathlib import Path

from diskproof.fio.program import Job
from diskproof.results.findings import DIRECT, SETTINGS
from diskproof.results.load import LoadResult
from diskproof.results.machine import Place
from diskproof.results.plan import Cell, PlannedTrial
from diskproof.results.record import ROLES, Role
from diskproof.results.trial import DataFacts, RestoredBy
from diskproof.results.usage import CpuUse, VirtualUse
from diskproof.run.attempt import Attempt, Counted
from diskproof.run.bench import Bench
from diskproof.run.sampler import NothingWatched
from diskproof.run.slower import OwnTimeError
from diskproof.storage.copy import settle
from diskproof.storage.kinds.base import StorageError
from diskproof.storage.proof import prove_placement
from diskproof.study.cuts import seed_of
from diskproof.study.loads.fileio import Fileio
from diskproof.system.counters import open_files
from diskproof.system.dilation import FOLLOWS
from diskproof.system.mounts import device_number
from diskproof.system.threads import Threads
from diskproof.wording import say
from diskproof.workload.fileio import (
    LIKELY_PER_S,
    Asked,
    descriptors,
    file_names,
    layout_job,
    load_job,
    read_series,
    remove_scratch,
    to_result,
    write_logs,
)

LAYOUT_BYTES_PER_S = 1e6
"""The slowest pace at which files are written; slower means that fio hangs."""

LAST_REQUESTS_S = 600.0
"""Extra time for the last requests and the sync at the end of a pass."""

LOOK_S = 0.05
"""Time between two looks at fio, until it has opened all files."""

MOST_LOOKS = 20

MOST_RECORD_BYTES = 128 * 2**10
"""Largest record of a ZFS data set that every version takes."""

WARM_UP, MEASURED = "warm-up", "measured"


class FilesAttempt(Attempt):
    """A trial of a load on bare files.

    Warm-up and measurement are two runs of fio, so that the figures of fio, disks and kernel cover the same
    requests. Caches and queues keep what the warm-up left.
    """

    def __init__(self, bench: Bench, planned: PlannedTrial, cell: Cell) -> None:
        super().__init__(bench, planned, cell)
        workload = bench.study.load(cell.workload)
        assert isinstance(workload, Fileio)
        self.workload = workload
        self.folder = self.folders["data"]
        self.restored_by: RestoredBy = "snapshot"
        self.zeroes = self.direct = False
        self.job: Job | None = None

    def restore(self) -> None:
        """Put the files into the data directory, with nothing of them in the page cache."""
        block = int(self.workload.block_size)
        self.layout.suit(1 << min(block, MOST_RECORD_BYTES).bit_length() - 1)
        self.layout.draw_anew(self.bench.seed, self.planned.block)
        self.zeroes = zeroes_will_do(self._place())
        contents = "zeroes" if self.zeroes else "random"
        self.restored_by = self.layout.restore(f"{self.workload.data_name}-{block}-{contents}", self._lay_out)
        self.places = self.layout.places()
        self.lap("restore_s")

    def start(self) -> None:
        """Find out whether the files take direct I/O."""
        for note in self.layout.notes():
            self.note(SETTINGS, note)
        self.direct = self.workload.direct and self._takes_direct()
        self.lap("start_s")

    def measure(self) -> None:
        """Warm up, and measure.

        Virtual disks take their modelled time from the warm-up to the end of the load.
        """
        self.let_disks_take_time(on=True)
        per_s = LIKELY_PER_S
        if self.phases.warm_up_s:
            warm = self._asked(self.phases.warm_up_s, per_s, WARM_UP)
            per_s = self._run(warm, WARM_UP, -self.phases.warm_up_s).transactions_per_s
        self.lap("warm_up_s")
        counted = Counted(self, NothingWatched(), self._fio, Threads(self._fio), self._role_of)
        try:
            self.result = self._run(
                self._asked(self.phases.measure_s, per_s, MEASURED), MEASURED, 0.0, counted
            )
        finally:
            counted.abandon()
        self.let_disks_take_time(on=False)
        self.lap("measure_s")

    def stop(self) -> None:
        """Mark the trial as finished: nothing runs any more."""
        self.lap("stop_s")
        self.finished = True

    def end_processes(self) -> None:
        """Kill fio if it still runs."""
        if self.job is not None:
            self.job.end()

    def data(self) -> DataFacts:
        """Return the size of the files."""
        return DataFacts(
            data_bytes=self.workload.files * self.workload.file_bytes, restored_by=self.restored_by
        )

    # ------------------------------------------------------------ the files

    def _place(self) -> Place:
        """Return the place of the files as it was when the run began: between trials it may be unmounted."""
        ours = (self.cell.storage, "data")
        return next(place for place in self.bench.places if (place.storage, place.role) == ours)

    def _lay_out(self, roles: set[Role]) -> RestoredBy:
        """Write the files in full, and drop them from the page cache."""
        if "data" in roles:
            job_file = self.log / "layout.fio"
            job_file.write_text(layout_job(self.workload, zeroes=self.zeroes))
            self.job = Job(self.bench.onlooker, job_file, cwd=self.folder)
            try:
                self.job.result(self.workload.data_bytes / LAYOUT_BYTES_PER_S)
            finally:
                self.job.end()
        settle([self.folders[role] for role in ROLES if role in roles])
        return "written"

    def _takes_direct(self) -> bool:
        """Return whether the files take direct I/O; StorageError if the study needs it and they do not.

        Files in memory have nothing below the page cache, so for them a note is enough.
        """
        try:
            os.close(os.open(self.folder / file_names(self.workload)[0], os.O_RDWR | os.O_DIRECT))
        except OSError as error:
            filesystem = self._place().filesystem
            if filesystem not in ("tmpfs", "ramfs"):
                raise StorageError(
                    f"{filesystem} on storage `{self.cell.storage}` does not take O_DIRECT "
                    f"({error.strerror}): set `direct = false` in `[workloads.NAME]`"
                ) from error
            self.note(
                DIRECT,
                say(
                    "{filesystem} does not take O_DIRECT: it is itself the page cache", filesystem=filesystem
                ),
            )
            return False
        return True

    # ------------------------------------------------------------ fio at work

    def _asked(self, seconds: float, per_s: float, phase: str) -> Asked:
        # Each block and each phase draws other requests; within a block all cells draw alike. fio multiplies
        # a seed by the thread's number, so small seeds would give equal draws again.
        seed = seed_of(self.bench.seed, self.planned.block, phase)
        return Asked(
            self.workload, self.cell.clients, seconds, seed, self.direct, self.zeroes, per_s, self.bench.time
        )

    def _run(self, asked: Asked, phase: str, shift_s: float, counted: Counted | None = None) -> LoadResult:
        """Run a phase to its end; `counted` counts it from the first request to the last."""
        job_file, series = self.log / f"{phase}.fio", self.log / phase
        logs = write_logs(asked, series)
        job_file.write_text(load_job(asked, logs, series))
        began_s = asked.time.now_s()
        try:
            if counted:
                counted.begin()
            self.job = Job(
                self.bench.starter,
                job_file,
                cwd=self.folder,
                descriptors=descriptors(self.workload, self.cell.clients),
                environment=asked.time.environment(self.bench.clock),
            )
            self.look_at_cpus(None, [self.job.pid])  # at once: a short pass may end in a moment
            self._look_at(self.job)
            if not self.job.ended(0):
                self.look_at_cpus(None, [self.job.pid])  # again, now with all its threads
            result = self.job.result(asked.time.real_s(asked.seconds + LAST_REQUESTS_S))
            check_kept_time(asked, asked.time.now_s() - began_s)
            if counted:
                counted.end()
            self.series.add(read_series(series, asked, shift_s))
        finally:
            self.end_processes()
            remove_scratch(series, logs)
        self.command = f"cd {shlex.quote(str(self.folder))} && fio {shlex.quote(str(job_file))}"
        outcome = to_result(result, asked)
        if counted:
            self._count_over(outcome)
        return outcome

    def _count_over(self, outcome: LoadResult) -> None:
        """Relate the counters to the seconds of the load itself: all requests fall into them.

        Counting runs from before fio's start until after its end, up to a second longer, and the disks are
        idle in the rest. Only the host's CPU time includes fio's start and end. fio reports its own CPU time
        at its end, when there is no process left to read.
        """
        if self.usage is None or not outcome.seconds:
            return
        sampled = self.usage.cpu.get("load")
        fio = CpuUse(used_s=outcome.known_client.cpu_s, waited_s=sampled.waited_s if sampled else None)
        self.usage = self.usage.model_copy(
            update={
                "seconds": outcome.seconds,
                "counted_s": self.usage.seconds,
                "cpu": {**self.usage.cpu, "load": fio},
            }
        )
        self.disk_use = [over_seconds(use, outcome.seconds) for use in self.disk_use]

    def _fio(self) -> list[int]:
        return [] if self.job is None or self.job.ended(0) else [self.job.pid]

    def _look_at(self, job: Job) -> None:
        """Judge the files of fio as soon as they are open.

        If fio ends before that, its files are judged by their names: it starts among them and makes no
        others.
        """
        for _ in range(MOST_LOOKS):
            if len(self.files) >= self.workload.files:
                return
            if job.ended(LOOK_S):
                self._judge(lying(self.folder, file_names(self.workload)))
                return
            self._judge(held_open(job.pid, self._role_of))

    def _judge(self, files: list[tuple[str, str]]) -> None:
        judged = prove_placement(files, self._role_of, self.folders, self.places, elsewhere=[self.log])
        # fio's own logs and answers lie where they should, and prove nothing.
        found = [file for file in judged if file.role or not file.as_declared]
        self.files = max(self.files, found, key=len)

    def _role_of(self, path: str) -> Role | None:
        return "data" if Path(path).name in file_names(self.workload) else None


def check_kept_time(asked: Asked, took_s: float) -> None:
    """Refuse a fio that was sooner at its end than the trial's time allows (OwnTimeError)."""
    lasts = not (asked.load.is_pass or asked.replays)
    if lasts and took_s < FOLLOWS * asked.seconds:
        raise OwnTimeError(
            f"time is to pass {asked.time.dilation} times slower, but fio took {took_s:.3g} s of it for "
            f"{asked.seconds:g} s: is it linked statically? Leave `dilation` out, or install another fio"
        )


def held_open(pid: int, role_of: Callable[[str], Role | None]) -> list[tuple[str, str]]:
    """Return the load's open files, and of all others those that are open for writing."""
    return open_files([pid], read_too=lambda path: role_of(path) is not None)


def lying(folder: Path, names: list[str]) -> list[tuple[str, str]]:
    """Return the paths of files, each with its device as ``major:minor``."""
    paths = [(folder / name).resolve() for name in names]
    return [(str(path), device_number(path)) for path in paths]


def over_seconds(use: VirtualUse, seconds: float) -> VirtualUse:
    """Return a virtual disk's figures for so many seconds; in the others it was idle."""
    depth = use.queue_depth_mean * use.seconds / seconds
    return use.model_copy(update={"seconds": seconds, "queue_depth_mean": depth})


def zeroes_will_do(place: Place) -> bool:
    """Return whether files of zeroes are read and written like any others.

    That holds for virtual disks, which do not store zeroes, and for memory. A real disk may compress them, a
    cloud volume may not store them, and a file system that compresses turns them into holes.
    """
    if "compress" in place.mount_options or (place.pool and place.pool.compression != "off"):
        return False
    if place.pool:
        return all(member.virtual for member in place.pool.members)
    return place.kind == "ram" or place.virtual is not None
