"""One trial as it runs: what a trial with a server and a trial on bare files share."""

import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from typing import Any

from diskproof.results.findings import CLOCK, FINISHED, STOPPED
from diskproof.results.load import LoadResult
from diskproof.results.load_host import LoadHost
from diskproof.results.machine import Place
from diskproof.results.plan import Cell, PlannedTrial
from diskproof.results.record import Role
from diskproof.results.tpcc import Checked
from diskproof.results.trial import DataFacts, Finding, HeldCpus, OpenFile, Setting, Severity, Timings, Trial
from diskproof.results.usage import Party, Usage, VirtualUse
from diskproof.run.activity import ActivityWatch
from diskproof.run.bench import MISHAPS, Bench
from diskproof.run.sampler import Sampler, Watched
from diskproof.server.base import ServerError
from diskproof.system.clocks import calendar_ahead_ns, calendar_set_ns
from diskproof.system.cpus import allowed_cpus
from diskproof.system.endings import check_going_on, was_stopped_since
from diskproof.system.threads import Threads
from diskproof.wording import NOTHING, Message, as_message, say, seconds

REMEDY = "Fix the cause, then {command} repeats this trial."

PAUSED_S = 3.0
"""A look at the database's threads that comes later than this shows a pause. With six runnable threads for
each CPU, looks came up to 0.3 s late."""


class ServerStartError(ServerError):
    """The server did not start for a trial."""


class Steps(ABC):
    """What a trial and a cut share: the time of their steps, their findings, their disks."""

    def __init__(self, bench: Bench, planned: PlannedTrial, cell: Cell) -> None:
        self.bench, self.layout = bench, bench.layouts[cell.storage]
        self.planned, self.cell = planned, cell
        self.started_at = datetime.now(UTC).isoformat(timespec="seconds")
        self.findings: list[Finding] = []
        self.finished = False
        self.settings: list[Setting] = []
        self.laps: dict[str, float] = {}
        self._began = self._last = time.monotonic()

    def lap(self, step: str) -> float:
        """Record and return the seconds since the last step, or since the start."""
        now = time.monotonic()
        self.laps[step] = seconds = now - self._last
        self._last = now
        return seconds

    @contextmanager
    def starting(self, failing: str = "did not start") -> Iterator[None]:
        """Turn what a server refuses into an error of its start."""
        try:
            yield
        except ServerError as error:
            raise ServerStartError(f"`{self.cell.server}` {failing} for {self.cell.id}: {error}") from error

    @property
    def total_s(self) -> float:
        """Seconds since the start."""
        return time.monotonic() - self._began

    def let_disks_take_time(self, *, on: bool) -> None:
        """Let virtual disks answer in their modelled time, or at memory speed.

        In their time they are slowed if the bench says so.
        """
        if self.bench.slowness:
            self.layout.slow(self.bench.slowness) if on else self.layout.slow_no_longer()
        for disk in self.layout.disks():
            disk.control.set_timing(on=on)

    def take(self, *steps: Callable[[], None]) -> None:
        """Take these steps, and clear up. If a part of ours fails, a finding says so and the run goes on.

        KeyboardInterrupt in any thread if the run was interrupted: its programs may have ended before.
        """
        try:
            for step in steps:
                check_going_on()
                step()
            check_going_on()
        except MISHAPS as error:
            # Not if what failed was ended by the signal that ends the run.
            check_going_on()
            self.fail(error)
        finally:
            self.clear()

    @abstractmethod
    def fail(self, error: Exception) -> None:
        """Record why it broke off."""

    def clear(self) -> None:
        """Clear away processes and data, whatever happened. A step that fails does not stop the others."""
        said = len(self.findings)
        for undo in self.undoing():
            try:
                undo()
            except MISHAPS as error:
                self.is_left(error)
        if not self.finished:  # its last finding says why
            self.findings = self.findings[said:] + self.findings[:said]

    @abstractmethod
    def undoing(self) -> list[Callable[[], object]]:
        """Return the steps that clear everything away."""

    @abstractmethod
    def is_left(self, error: Exception) -> None:
        """Record what was not cleared away."""

    def find(
        self, check: str, severity: Severity, message: Message | str, remedy: Message | str = NOTHING
    ) -> None:
        """Record what went wrong, or what to know."""
        said, helps = as_message(message), as_message(remedy)
        self.findings.append(Finding(check=check, severity=severity, message=said, remedy=helps))

    def recorded(self) -> dict[str, Any]:
        """Return what its record shares with every other."""
        return self.planned.model_dump(exclude={"host"}) | {
            "started_at": self.started_at,
            "finished": self.finished,
            "settings": self.settings,
            "findings": self.findings,
        }


class Attempt(Steps):
    """One trial as it runs: its steps in their order, and what each of them found."""

    def __init__(self, bench: Bench, planned: PlannedTrial, cell: Cell) -> None:
        super().__init__(bench, planned, cell)
        self.phases = bench.folder.plan().phases_of(cell)
        self.folders = self.layout.folders()
        self.log = bench.folder.server_folder(planned.id).absolute()
        self.places: list[Place] = []
        self.files: list[OpenFile] = []
        self.held_cpus: HeldCpus | None = None
        self.tables: Checked | None = None
        self.command = ""
        self.result: LoadResult | None = None
        self.load_hosts: list[LoadHost] = []
        self.usage: Usage | None = None
        self.disk_use: list[VirtualUse] = []
        self.series = bench.folder.series_writer(planned.id)

    @abstractmethod
    def restore(self) -> None:
        """Put the data set into the trial's directories, with nothing of it in the page cache."""

    @abstractmethod
    def start(self) -> None:
        """Start what is measured, up to its first request."""

    @abstractmethod
    def measure(self) -> None:
        """Warm up and measure, with all counters."""

    @abstractmethod
    def stop(self) -> None:
        """Stop normally; the trial is finished."""

    def fail(self, error: Exception) -> None:
        """Record why the trial broke off."""
        self.is_left(error)

    def undoing(self) -> list[Callable[[], object]]:
        """Reset the disks first: a disk that stays slowed would be slow in the next trial."""
        reset = [self.layout.slow_no_longer] if self.bench.slowness else []
        return [*reset, self.end_processes, self.layout.clear]

    def is_left(self, error: Exception) -> None:
        """Record it in its own words: the server may have ended long before, in good order."""
        self.invalid(FINISHED, str(error) or type(error).__name__)

    def record(self) -> Trial:
        """Write the series and return the record."""
        self.series.close()
        return Trial(
            **self.recorded(),
            load=self.result if self.finished else None,
            load_hosts=self.load_hosts if self.finished else [],
            usage=self.usage,
            virtual_disks=self.disk_use,
            places=self.places,
            timings=Timings(**self.laps, total_s=self.total_s) if self.finished else None,
            broke_off_after_s=None if self.finished else self.total_s,
            data=self.data(),
            open_files=self.files,
            held_cpus=self.held_cpus,
            tables=self.tables,
            load_command=self.command,
        )

    @abstractmethod
    def data(self) -> DataFacts:
        """Return the facts of the data set as it was restored."""

    @abstractmethod
    def end_processes(self) -> None:
        """Kill the processes that still run."""

    def invalid(self, check: str, message: Message | str) -> None:
        """Record why the trial does not count."""
        remedy = say(REMEDY, command=self.bench.folder.plan().resumed_by)
        self.find(check, "invalid", message, remedy)

    def note(self, check: str, message: Message | str) -> None:
        """Record a fact that belongs beside the figures."""
        self.find(check, "note", message)

    def look_at_cpus(self, server: list[int] | None, load: list[int]) -> None:
        """Read back which CPUs the kernel lets server and load use, if the study limits them.

        Both are process ids; `server` is None if no server has processes of its own.
        """
        if self.bench.cpus:
            self.held_cpus = HeldCpus(
                cpus=list(self.bench.cpus),
                server=None if server is None else allowed_cpus(server),
                load=allowed_cpus(load),
            )


class Counted:
    """All counters of the measured phase, over the same time: disks, pools, host, server, load."""

    def __init__(
        self,
        attempt: Attempt,
        watched: Watched,
        load: Callable[[], list[int]],
        threads: Threads,
        role_of: Callable[[str], Role | None],
    ) -> None:
        """`load` returns the load's processes, `threads` are the database's, `role_of` knows its files."""
        self._attempt = attempt
        self._has_processes = bool(watched.pids)
        own = [place for place in attempt.places if place.storage == attempt.cell.storage]
        devices = list(dict.fromkeys(name for place in own for name in place.counted))
        others: dict[Party, Callable[[], list[int]]] = {
            "load": load,
            "disks": lambda: [disk.served.process.pid for disk in attempt.layout.disks()],
        }
        bench = attempt.bench
        self._sampler = Sampler(watched, devices, attempt.series.add, bench.cpus, others, bench.time)
        self._activity = ActivityWatch(threads, role_of, attempt.series.add, bench.time)
        self._made_s = time.monotonic()
        self._calendar_ns = calendar_ahead_ns()

    def meet(self) -> None:
        """Find the threads that serve clients, while all clients are connected and idle."""
        self._activity.meet()

    def begin(self) -> None:
        """Start counting: the measured phase begins now."""
        attempt = self._attempt
        for disk in attempt.layout.disks():
            disk.count_anew()
        self._sampler.begin()
        self._activity.begin()

    def end(self) -> None:
        """Stop counting and record the figures."""
        attempt = self._attempt
        self._activity.end()
        self._sampler.end()
        if was_stopped_since(self._made_s):
            attempt.invalid(
                STOPPED,
                say(
                    "The lab was stopped (Ctrl-Z or SIGSTOP) during the trial while the load went on, so the "
                    "counters do not cover the same time as the load."
                ),
            )
        elif self._activity.late_s > PAUSED_S:
            attempt.invalid(
                STOPPED,
                say(
                    "The lab did not run for {paused} of the measurement: it or the whole machine was paused "
                    "(a frozen container, a virtual machine), so counters and load do not fit together.",
                    paused=seconds(self._activity.late_s),
                ),
            )
        elif set_ns := calendar_set_ns(self._calendar_ns):
            attempt.invalid(
                CLOCK,
                say(
                    "The machine's clock was set by {step} during the trial, or the machine slept. Work that "
                    "servers do by that clock, such as checkpoints, came too early or too late.",
                    step=seconds(set_ns / 1e9),
                ),
            )
        attempt.usage = usage = self._sampler.usage(self._has_processes).model_copy(
            update={
                "activity": self._activity.activity(),
                "runnable_mean": self._activity.runnable_mean(),
            }
        )
        attempt.disk_use = [disk.use(usage.devices) for disk in attempt.layout.disks()]

    def abandon(self) -> None:
        """Stop counting after a failure; does nothing after `end`."""
        self._activity.abandon()
        self._sampler.abandon()
