"""A trial of a storage alone: its files laid out, and fio at work on them."""

import os
import shlex
from collections.abc import Callable
from pathlib import Path

from diskproof.fio.program import Job
from diskproof.results.load import LoadResult
from diskproof.results.machine import Place
from diskproof.results.plan import Cell, PlannedTrial
from diskproof.results.record import ROLES, Role
from diskproof.results.trial import DataFacts, RestoredBy, Timings
from diskproof.results.usage import CpuUse, VirtualUse
from diskproof.run.attempt import Attempt, Counted
from diskproof.run.bench import Bench
from diskproof.server.samples import Samples, Status
from diskproof.storage.copy import settle
from diskproof.storage.kinds.base import StorageError
from diskproof.storage.layout import seed_of
from diskproof.storage.proof import prove_placement
from diskproof.study.loads.fileio import Fileio
from diskproof.system.counters import open_files
from diskproof.system.threads import Threads
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
"""Files that are written slower than this are not written at all."""

LAST_REQUESTS_S = 600.0
"""What the last requests and the sync at the end of a pass may take beyond the time that was asked for."""

LOOK_S = 0.05
"""Until fio is looked at again, where it has not opened all files."""

MOST_LOOKS = 20

MOST_RECORD_BYTES = 128 * 2**10
"""Of a ZFS data set, for any version."""

WARM_UP, MEASURED = "warm-up", "measured"


class NothingWatched:
    """Where no server is under test there is nobody who keeps an account of itself."""

    pids: list[int] = []  # noqa: RUF012 - never changed

    def status(self) -> Status:
        """Return no counters."""
        return Status(counters={}, gauges={})

    def account(self, told: Samples) -> None:
        """Return no account."""
        del told

    def waiting_sessions(self) -> None:
        """Return none: there are no sessions."""

    def log_tail(self) -> str:
        """Return no words."""
        return ""


class FilesAttempt(Attempt):
    """A trial of a load on bare files.

    Warm-up and measurement are two runs of fio: so its figures, the disks' and the kernel's are of the same
    requests, from the first to the last. What the warm-up left in caches and queues of the storage stays.
    """

    def __init__(self, bench: Bench, planned: PlannedTrial, cell: Cell) -> None:
        """Find the load."""
        super().__init__(bench, planned, cell)
        workload = bench.study.workloads[cell.workload]
        assert isinstance(workload, Fileio)
        self.workload = workload
        self.folder = self.folders["data"]
        self.restored_by: RestoredBy = "snapshot"
        self.zeroes = self.direct = False
        self.warm_up_s = 0.0
        self.job: Job | None = None

    def restore(self) -> None:
        """Put the files into the data's directory, and nothing of them into the page cache."""
        block = int(self.workload.block_size)
        self.layout.suit(1 << min(block, MOST_RECORD_BYTES).bit_length() - 1)
        self.make_ready()
        self.zeroes = zeroes_will_do(self._place())
        contents = "zeroes" if self.zeroes else "random"
        self.restored_by = self.layout.restore(f"{self.workload.data_name}-{block}-{contents}", self._lay_out)
        self.places = self.layout.places()
        self.restore_s = self.watch.lap()

    def start(self) -> None:
        """See what the files allow."""
        for text in self.layout.notes():
            self.note("settings", text)
        self.direct = self.workload.direct and self._takes_direct()
        self.start_s = self.watch.lap()

    def measure(self) -> None:
        """Warm up, and measure.

        Virtual disks take their time from the warm-up to the end of the load, and count what is measured.
        """
        self.let_disks_take_time(on=True)
        per_s = LIKELY_PER_S
        if self.phases.warm_up_s:
            warm = self._asked(self.phases.warm_up_s, per_s, WARM_UP)
            per_s = self._run(warm, WARM_UP, -self.phases.warm_up_s).transactions_per_s
        self.warm_up_s = self.watch.lap()
        counted = Counted(self, NothingWatched(), self._fio, Threads(self._fio), self._role_of)
        try:
            self.result = self._run(
                self._asked(self.phases.measure_s, per_s, MEASURED), MEASURED, 0.0, counted
            )
        finally:
            counted.abandon()
        self.let_disks_take_time(on=False)
        self.load_s = self.watch.lap()

    def stop(self) -> None:
        """Nothing is left at work; the trial is finished."""
        self.finished = True

    def end_processes(self) -> None:
        """Kill fio where it is still at work."""
        if self.job is not None:
            self.job.end()

    def data(self) -> DataFacts:
        """Return the size of the files."""
        return DataFacts(
            data_bytes=self.workload.files * self.workload.file_bytes, restored_by=self.restored_by
        )

    def timings(self) -> Timings:
        """Return how long the parts took."""
        return Timings(
            restore_s=self.restore_s,
            start_s=self.start_s,
            warm_up_s=self.warm_up_s,
            measure_s=self.load_s,
            stop_s=self.stop_s,
            total_s=self.watch.total(),
        )

    # ------------------------------------------------------------ the files

    def _place(self) -> Place:
        """Return the files' place as it was when the run began: between trials it may be unmounted."""
        ours = (self.cell.storage, "data")
        return next(place for place in self.bench.places if (place.storage, place.role) == ours)

    def _lay_out(self, roles: set[Role]) -> RestoredBy:
        """Write the files whole, and leave them cold."""
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
        """Tell whether the files can be worked on past the page cache; StorageError where they should be.

        Files in memory have nothing behind the page cache that could be reached past it.
        """
        try:
            os.close(os.open(self.folder / file_names(self.workload)[0], os.O_RDWR | os.O_DIRECT))
        except OSError as error:
            filesystem = self._place().filesystem
            if filesystem not in ("tmpfs", "ramfs"):
                raise StorageError(
                    f"{filesystem} on storage `{self.cell.storage}` takes no O_DIRECT ({error.strerror}): "
                    "`direct = false` in `[workloads.NAME]`"
                ) from error
            self.note("direct", f"{filesystem} knows no O_DIRECT: it is itself the page cache")
            return False
        return True

    # ------------------------------------------------------------ fio at work

    def _asked(self, seconds: float, per_s: float, phase: str) -> Asked:
        # Every block draws anew, and the warm-up other requests than are measured; within a block all cells
        # draw alike. fio multiplies a seed by the number of the thread: small ones would meet again.
        seed = seed_of(self.bench.seed, self.planned.block, phase)
        return Asked(self.workload, self.cell.clients, seconds, seed, self.direct, self.zeroes, per_s)

    def _run(self, asked: Asked, phase: str, shift_s: float, counted: Counted | None = None) -> LoadResult:
        """Run a phase to its end; `counted` counts it from its first request to its last."""
        job_file, series = self.log / f"{phase}.fio", self.log / phase
        logs = write_logs(asked, series)
        job_file.write_text(load_job(asked, logs, series))
        try:
            if counted:
                counted.begin()
            self.job = Job(
                self.bench.starter,
                job_file,
                cwd=self.folder,
                descriptors=descriptors(self.workload, self.cell.clients),
            )
            self.look_at_cpus(None, [self.job.pid])  # now, for a short pass may be over in a moment
            self._look_at(self.job)
            if not self.job.ended(0):
                self.look_at_cpus(None, [self.job.pid])  # and of all its threads
            result = self.job.result(asked.seconds + LAST_REQUESTS_S)
            if counted:
                counted.end()
            self.series.add(read_series(series, asked, shift_s))
        finally:
            self.end_processes()
            remove_scratch(series, logs)
        self.command = f"cd {shlex.quote(str(self.folder))} && fio {shlex.quote(str(job_file))}"
        told = to_result(result, asked)
        if counted:
            self._count_over(told)
        return told

    def _count_over(self, told: LoadResult) -> None:
        """Let what was counted stand for the load's own seconds: all of it was done in them.

        It was counted from before fio was started until it had ended, and in the rest of that time, up to
        a second, the disks had nothing to do. Only the host's CPU time has fio's start and end in it. What
        fio itself used of the CPUs it tells in the end, when there is no process left to look at.
        """
        if self.usage is None or not told.seconds:
            return
        looked_at = self.usage.cpu.get("load")
        fio = CpuUse(used_s=told.known_client.cpu_s, waited_s=looked_at.waited_s if looked_at else None)
        self.usage = self.usage.model_copy(
            update={
                "seconds": told.seconds,
                "counted_s": self.usage.seconds,
                "cpu": {**self.usage.cpu, "load": fio},
            }
        )
        self.disk_use = [over_seconds(use, told.seconds) for use in self.disk_use]

    def _fio(self) -> list[int]:
        return [] if self.job is None or self.job.ended(0) else [self.job.pid]

    def _look_at(self, job: Job) -> None:
        """Throttle fio where the study says so, and judge its files as soon as it has them open.

        Of one that is over before it could be looked at, the files are judged by their names: it was started
        among them, has no others, and may make none.
        """
        self.layout.throttle(lambda: [job.pid])
        for _ in range(MOST_LOOKS):
            if len(self.files) >= self.workload.files:
                return
            if job.ended(LOOK_S):
                self._judge(lying(self.folder, file_names(self.workload)))
                return
            self._judge(held_open(job.pid, self._role_of))

    def _judge(self, files: list[tuple[str, str]]) -> None:
        judged = prove_placement(files, self._role_of, self.folders, self.places, elsewhere=[self.log])
        # fio's own logs and answers lie where they should and say nothing.
        found = [file for file in judged if file.role or not file.as_declared]
        self.files = max(self.files, found, key=len)

    def _role_of(self, path: str) -> Role | None:
        return "data" if Path(path).name in file_names(self.workload) else None


def held_open(pid: int, role_of: Callable[[str], Role | None]) -> list[tuple[str, str]]:
    """Return the load's files, and what else is open for writing: libraries are read while fio starts."""
    return open_files([pid], read_too=lambda path: role_of(path) is not None)


def lying(folder: Path, names: list[str]) -> list[tuple[str, str]]:
    """Return files by their paths, each with its device as ``major:minor``."""
    found = []
    for name in names:
        path = (folder / name).resolve()
        number = path.stat().st_dev
        found.append((str(path), f"{os.major(number)}:{os.minor(number)}"))
    return found


def over_seconds(use: VirtualUse, seconds: float) -> VirtualUse:
    """Return what a virtual disk did as of so many seconds; in the others that it counted it was idle."""
    depth = use.queue_depth_mean * use.seconds / seconds
    return use.model_copy(update={"seconds": seconds, "queue_depth_mean": depth})


def zeroes_will_do(place: Place) -> bool:
    """Tell whether files of zeroes are read and written as any others are.

    To a virtual disk and to memory all bytes are alike, and a virtual disk keeps no zeroes. A real disk may
    compress them, a cloud's volume not keep them, and a file system that compresses makes holes of them.
    """
    if "compress" in place.mount_options or (place.pool and place.pool.compression != "off"):
        return False
    if place.pool:
        return all(member.virtual for member in place.pool.members)
    return place.kind == "ram" or place.virtual is not None
