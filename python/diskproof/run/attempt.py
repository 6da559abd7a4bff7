"""A trial under way: what those with a server and those on bare files have in common."""

import time
from abc import ABC, abstractmethod
from collections.abc import Callable
from datetime import UTC, datetime

from diskproof.results.load import LoadResult
from diskproof.results.machine import Place
from diskproof.results.plan import Cell, PlannedTrial
from diskproof.results.record import Role
from diskproof.results.trial import DataFacts, Finding, HeldCpus, OpenFile, Setting, Timings, Trial
from diskproof.results.usage import Party, PoolUse, Usage, VirtualUse
from diskproof.run.activity import ActivityWatch
from diskproof.run.bench import MISHAPS, Bench
from diskproof.run.sampler import Sampler, Watched
from diskproof.storage.poolwatch import PoolWatch
from diskproof.system.cpus import allowed_cpus
from diskproof.system.threads import Threads

MENDING_REMEDY = "mend the cause, then `diskproof run --resume` runs this trial again"


class Stopwatch:
    """Seconds since the last look, and in all."""

    def __init__(self) -> None:
        """Start it."""
        self._began = self._last = time.monotonic()

    def lap(self) -> float:
        """Return the seconds since the last look, or the start."""
        now = time.monotonic()
        seconds, self._last = now - self._last, now
        return seconds

    def total(self) -> float:
        """Return the seconds since the start."""
        return time.monotonic() - self._began


class Attempt(ABC):
    """A trial under way: its parts in the order in which they are done, and what each of them found."""

    def __init__(self, bench: Bench, planned: PlannedTrial, cell: Cell) -> None:
        """Begin the record of a planned trial; nothing is touched yet."""
        self.bench, self.planned, self.cell = bench, planned, cell
        self.layout = bench.layouts[cell.storage]
        self.phases = bench.study.phases(cell.workload)
        self.started_at = datetime.now(UTC).isoformat(timespec="seconds")
        self.watch = Stopwatch()
        self.folders = self.layout.folders()
        self.log = bench.folder.server_folder(planned.id).absolute()
        self.findings: list[Finding] = []
        self.finished = False
        self.restore_s = self.start_s = self.load_s = self.stop_s = 0.0
        self.settings: list[Setting] = []
        self.places: list[Place] = []
        self.files: list[OpenFile] = []
        self.held_cpus: HeldCpus | None = None
        self.command = ""
        self.result: LoadResult | None = None
        self.usage: Usage | None = None
        self.disk_use: list[VirtualUse] = []
        self.pool_use: list[PoolUse] = []
        self.series = bench.folder.series_writer(planned.id)

    @abstractmethod
    def restore(self) -> None:
        """Put the data set into the trial's directories, and nothing of it into the page cache."""

    @abstractmethod
    def start(self) -> None:
        """Start what is measured, up to its first request."""

    @abstractmethod
    def measure(self) -> None:
        """Warm up and measure, and look at what is measured meanwhile."""

    @abstractmethod
    def stop(self) -> None:
        """End in good order; the trial is finished."""

    def fail(self, error: Exception) -> None:
        """Say why the trial broke off."""
        self.invalid("finished", str(error) or type(error).__name__)

    def clear(self) -> None:
        """Leave nothing of the trial but its record, whatever happened, and whichever of it goes wrong.

        The disks come first: one that a trial which broke off has left slow would be slow in the next.
        """
        undoing = [self.end_processes, self.layout.clear]
        if self.bench.slowness:
            undoing.insert(0, self.layout.slow_no_longer)
        for undo in undoing:
            try:
                undo()
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
            timings=self.timings() if self.finished else None,
            data=self.data(),
            settings=self.settings,
            open_files=self.files,
            held_cpus=self.held_cpus,
            load_command=self.command,
            findings=self.findings,
        )

    # ------------------------------------------------------------ what the two kinds say of themselves

    @abstractmethod
    def data(self) -> DataFacts:
        """Return what lay there at the start."""

    @abstractmethod
    def timings(self) -> Timings:
        """Return how long the parts of a finished trial took."""

    @abstractmethod
    def end_processes(self) -> None:
        """End what may still be at work, whatever happened."""

    # ------------------------------------------------------------ what they share

    def invalid(self, check: str, message: str) -> None:
        """Record what makes the trial one that does not count."""
        self.findings.append(Finding(check=check, severity="invalid", message=message, remedy=MENDING_REMEDY))

    def note(self, check: str, message: str) -> None:
        """Record what must be known beside the figures."""
        self.findings.append(Finding(check=check, severity="note", message=message))

    def make_ready(self) -> None:
        """Let virtual disks draw what is this block's own from the restore on."""
        self.layout.draw_anew(self.bench.seed, self.planned.block)

    def let_disks_take_time(self, *, on: bool) -> None:
        """Let virtual disks answer in their own time, or at memory speed; slowed where the bench says so."""
        if self.bench.slowness:
            self.layout.slow(self.bench.slowness) if on else self.layout.slow_no_longer()
        for disk in self.layout.disks():
            disk.control.set_timing(on=on)

    def look_at_cpus(self, server: list[int] | None, load: list[int]) -> None:
        """Read back where the kernel lets the server and its load run, where the study says so.

        Process ids; `server` is None where no server has processes of its own.
        """
        if self.bench.cpus:
            self.held_cpus = HeldCpus(
                cpus=list(self.bench.cpus),
                server=None if server is None else allowed_cpus(server),
                load=allowed_cpus(load),
            )


class Counted:
    """The counters of a measured phase, all over the same time: disks, pools, host, what is watched."""

    def __init__(
        self,
        attempt: Attempt,
        watched: Watched,
        load: Callable[[], list[int]],
        threads: Threads,
        role_of: Callable[[str], Role | None],
    ) -> None:
        """Look at a trial's devices, at its server where it has one, and at the processes of its load.

        `threads` are the database's, wherever it is; `role_of` knows its files.
        """
        self._attempt = attempt
        self._embedded = not watched.pids
        devices = _devices(attempt.places, attempt.cell.storage)
        others: dict[Party, Callable[[], list[int]]] = {
            "load": load,
            "disks": lambda: [disk.served.process.pid for disk in attempt.layout.disks()],
        }
        self._sampler = Sampler(watched, devices, attempt.series.add, attempt.bench.cpus, others)
        self._activity = ActivityWatch(threads, role_of, attempt.series.add)
        self._pools: list[PoolWatch] = []

    def meet(self) -> None:
        """See who serves clients: all of them are connected, and idle."""
        self._activity.meet()

    def begin(self) -> None:
        """Begin to count: the measured phase begins now."""
        attempt = self._attempt
        for disk in attempt.layout.disks():
            disk.count_anew()
        self._pools = attempt.layout.watch_pools(attempt.log, attempt.bench.onlooker)
        self._sampler.begin()
        self._activity.begin()

    def end(self) -> None:
        """Put down what was counted: the measured phase is over."""
        attempt = self._attempt
        self._activity.end()
        self._sampler.end()
        attempt.usage = usage = self._sampler.usage(self._embedded).model_copy(
            update={
                "activity": self._activity.activity(),
                "runnable_mean": self._activity.runnable_mean(),
            }
        )
        attempt.disk_use = [disk.use(usage.devices) for disk in attempt.layout.disks()]
        attempt.pool_use = [use for watch in self._pools for use in watch.end()]

    def abandon(self) -> None:
        """Stop counting, wherever it is; nothing happens after the end."""
        self._activity.abandon()
        self._sampler.abandon()
        for watch in self._pools:
            watch.abandon()


def _devices(places: list[Place], storage: str) -> list[str]:
    of_storage = [place for place in places if place.storage == storage]
    devices = [place.device for place in of_storage if place.device]
    devices += [member.device for place in of_storage if place.pool for member in place.pool.members]
    return list(dict.fromkeys(name for device in devices for name in device.counted))
