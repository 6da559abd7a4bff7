"""A trial of a database server: start, load, prove, stop."""

import shlex

from diskproof import load
from diskproof.results.plan import Cell, PlannedTrial
from diskproof.results.series import Row
from diskproof.results.trial import DataFacts, OpenFile, RestoredBy, Timings
from diskproof.run.attempt import Attempt, Counted
from diskproof.run.bench import Bench
from diskproof.run.outfit import restore_data, settings_of
from diskproof.server.base import Dirs, Running, ServerError
from diskproof.storage.proof import prove_placement
from diskproof.study.loads.base import Load
from diskproof.system.counters import open_files
from diskproof.system.threads import Threads
from diskproof.workload.arguments import run_arguments

START = "start"
"""Name of the finding that a server did not start."""

JOB_SILENCE_S = 600.0
"""A job tells of every second, except while it makes tables between two of its parts."""


class ServerStartError(ServerError):
    """The server did not start for a trial."""


class ServerAttempt(Attempt):
    """A trial of a server, loaded by diskproof-load."""

    def __init__(self, bench: Bench, planned: PlannedTrial, cell: Cell) -> None:
        """Find the server and its loaded database."""
        super().__init__(bench, planned, cell)
        self.kind = bench.servers[cell.server]
        self.workload: Load = bench.study.workloads[cell.workload]
        self.image = bench.images.get(self.kind, self.workload, bench.seed)
        self.dirs = Dirs(**self.folders, run=bench.sockets, log=self.log)
        self.running: Running | None = None
        self.restored_by: RestoredBy = "copy"
        self.preload_s = 0.0
        self.engine: str | None = None

    def restore(self) -> None:
        """Put the loaded database into the trial's directories, and nothing of it into the page cache."""
        self.layout.suit(self.kind.page_bytes)
        self.make_ready()
        self.restored_by = restore_data(self.layout, self.kind, self.image, self.dirs, self.cell.server)
        self.places = self.layout.places()  # what was mounted anew may have another number
        self.restore_s = self.watch.lap()

    def start(self) -> None:
        """Start the server with the cell's settings."""
        try:
            settings = settings_of(self.bench, self.cell, self.dirs)
            for text in (*settings.notes, *self.layout.notes()):
                self.note("settings", text)
            self.running = self.kind.start(self.dirs, settings, self.bench.starter)
            self.layout.throttle(lambda: self.running.pids if self.running else [])
        except ServerError as error:
            raise ServerStartError(
                f"`{self.cell.server}` did not start for {self.cell.id}: {error}"
            ) from error
        self.start_s = self.watch.lap()
        if self.workload.preloads:
            self.running.preload()
            self.preload_s = self.watch.lap()

    def measure(self) -> None:
        """Load the server, and look at it while every client is connected: before, and right after.

        Virtual disks take their time from the warm-up to the end of the load, and count what is measured.
        """
        assert self.running is not None
        embedded = not self.running.pids
        if embedded:
            threads = Threads(lambda: [current.pid], embedded_workers=load.WORKERS)
        else:
            threads = Threads(lambda: self.running.pids if self.running else [])
        counted = Counted(self, self.running, lambda: [current.pid], threads, self.running.role_of)
        current = self._begin_load(self.running)
        try:
            if embedded:
                self.layout.throttle(lambda: [current.pid])
            for event in current.events(longest_s=self._longest_silence_s()):
                match event["event"]:
                    case "ready":
                        self.settings = self.running.read_settings()
                        self.engine = self.running.engine()
                        self.let_disks_take_time(on=True)
                        counted.meet()
                        current.go_on()
                    case "measuring":
                        counted.begin()
                    case "measured":
                        counted.end()
                    case "idle":
                        self.files = self._prove([current.pid] if embedded else self.running.pids)
                        self.look_at_cpus(None if embedded else self.running.pids, [current.pid])
                        self.let_disks_take_time(on=False)
                        current.go_on()
                    case "interval":
                        self.series.add(_series(event, self.phases.warm_up_s))
                    case "summary":
                        self.result = load.to_result(event)
        finally:
            current.end()
            counted.abandon()
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
        self.invalid(START if isinstance(error, ServerStartError) else "finished", message)

    def end_processes(self) -> None:
        """Kill the server where it is still there."""
        if self.running is not None:
            self.running.kill()

    def data(self) -> DataFacts:
        """Return the loaded database as it was restored."""
        return DataFacts(
            data_bytes=self.image.data_bytes,
            rows=self.image.rows,
            engine=self.engine,
            declared_engine=self.workload.declared_engine,
            job_engine=self.workload.job_engine,
            restored_by=self.restored_by,
        )

    def timings(self) -> Timings:
        """Return how long the parts took; a job is measured from beginning to end."""
        job = self.workload.is_job
        return Timings(
            restore_s=self.restore_s,
            start_s=self.start_s,
            preload_s=self.preload_s,
            warm_up_s=0.0 if job else max(self.load_s - self.phases.measure_s, 0.0),
            measure_s=self.load_s if job else self.phases.measure_s,
            stop_s=self.stop_s,
            total_s=self.watch.total(),
        )

    def _begin_load(self, running: Running) -> load.Load:
        # Every block draws anew, or five blocks would repeat one sequence of keys; within a block all
        # cells draw alike.
        seed = self.bench.seed + self.planned.block
        copies = self.bench.folder.scripts(self.cell.workload)
        arguments = run_arguments(self.workload, self.phases, self.cell.clients, seed, copies)
        current = load.Load(
            self.bench.starter, running.url, self.workload.kind, arguments, self.log / "load.log"
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
        return max(self.phases.warm_up_s, self.phases.measure_s)


def _series(event: load.Event, warm_up_s: float) -> list[Row]:
    shift = -warm_up_s if event["phase"] == "warm-up" else 0.0
    return [(t_s + shift, "load", metric, value) for t_s, metric, value in load.interval_rows(event)]
