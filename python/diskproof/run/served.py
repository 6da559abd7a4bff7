"""A trial of a database server: start, load, check, stop."""

import shlex
from pathlib import Path

from diskproof import load
from diskproof.results.findings import FINISHED, SETTINGS, START, STATEMENT
from diskproof.results.plan import Cell, PlannedTrial
from diskproof.results.series import Row
from diskproof.results.trial import DataFacts, Dumped, OpenFile, RestoredBy
from diskproof.run.attempt import Attempt, Counted, ServerStartError
from diskproof.run.bench import Bench
from diskproof.run.elsewhere import LoadElsewhere, Order
from diskproof.run.room import FullError, Room
from diskproof.run.server_setup import restore_data, settings_of, start_in_own_time
from diskproof.run.slower import check_follows
from diskproof.server.base import DATABASE, Dirs, Running
from diskproof.storage.proof import prove_placement
from diskproof.study.loads.base import Load
from diskproof.study.plan import load_seconds
from diskproof.system.counters import open_files
from diskproof.system.threads import Threads
from diskproof.wording import as_message
from diskproof.workload.arguments import run_arguments
from diskproof.workload.shared import SEEDS_APART, shared

STOP_S = 60.0
"""How long a server may take to stop."""

JOB_SILENCE_S = 600.0
"""A job reports every second, except while it makes tables between two of its parts."""

LOCK_WAIT_S = 5.0
"""Of the load's time: so long may a client of SQLite wait for the lock, also when the rest has ended."""


class ServerAttempt(Attempt):
    """A trial of a server under the load of diskproof-load."""

    any_database = True
    """Whether the user's SQL may leave the database: of a server that the lab starts, it may."""

    def __init__(self, bench: Bench, planned: PlannedTrial, cell: Cell) -> None:
        super().__init__(bench, planned, cell)
        self.kind = bench.servers[cell.server]
        self.workload: Load = bench.study.load(cell.workload)
        self.image = bench.images.get(self.kind, self.workload, bench.seed)
        self.dirs = Dirs(**self.folders, run=bench.sockets, log=self.log)
        self.running: Running | None = None
        self._load: load.Load | LoadElsewhere | None = None
        self.restored_by: RestoredBy = "copy"
        self.engine: str | None = None
        self.only_reads = False
        """Whether its statements only read, by their words: a function that they call may write."""
        self._room: Room | None = None

    def restore(self) -> None:
        """Put the loaded database into the trial's directories, with nothing of it in the page cache."""
        self.layout.suit(self.kind.page_bytes)
        self.layout.draw_anew(self.bench.seed, self.planned.block)
        self.restored_by = restore_data(self.layout, self.kind, self.image, self.dirs, self.cell.server)
        self.places = self.layout.places()  # a new mount may have another number
        self.lap("restore_s")

    def start(self) -> None:
        """Start the server with the cell's settings."""
        with self.starting():
            settings = settings_of(self.bench, self.cell, self.dirs)
            for note in [*map(as_message, settings.notes), *self.layout.notes()]:
                self.note(SETTINGS, note)
            if self.bench.elsewhere is not None:
                settings = self.kind.opened(settings, self.bench.elsewhere.endpoint)
            self.running = start_in_own_time(self.bench, self.kind, self.cell, self.dirs, settings)
            check_follows(self.running, self.bench.time)
        self.lap("start_s")
        if self.workload.preloads:
            self.running.preload()
            self.lap("preload_s")

    def measure(self) -> None:
        """Load the server, and examine it while every client is connected: before, and right after.

        Virtual disks take their modelled time from the warm-up to the end of the load.
        """
        assert self.running is not None
        embedded = self.running.where == "load generator"
        if embedded:
            threads = Threads(lambda: current.pids, embedded_workers=load.WORKERS)
        else:
            threads = Threads(lambda: self.running.pids if self.running else [])
        counted = Counted(self, self.running, lambda: current.pids, threads, self.running.role_of)
        current = self._load = self._begin_load(self.running)
        try:
            longest_s = max(self.phases.warm_up_s, self.phases.measure_s) + LOCK_WAIT_S
            lasts_s = load_seconds(self.bench.study, self.cell.workload)
            self._room = room = Room(self.places, lasts_s, self.bench.time)
            silence_s = self.bench.time.real_s(JOB_SILENCE_S if self.workload.is_job else longest_s)
            for event in current.events(longest_s=silence_s):
                match event["event"]:
                    case "ready":
                        self.settings = self.running.read_settings()
                        for adjusted in self.running.adjusted:
                            self.note(SETTINGS, adjusted)
                        self.engine = self.running.engine()
                        self.only_reads = _only_reads(event.get("statements", []))
                        self.let_disks_take_time(on=True)
                        counted.meet()
                        self.bench.hold(current.pids)
                        current.go_on()
                    case "measuring":
                        counted.begin()
                    case "measured":
                        counted.end()
                    case "idle":
                        self.files = self._prove(current.pids if embedded else self.running.pids)
                        started = self.running.where == "process"
                        self.look_at_cpus(self.running.pids if started else None, current.pids)
                        self.let_disks_take_time(on=False)
                        current.go_on()
                    case "interval":
                        room.check()
                        self.series.add(_series(event, self.phases.warm_up_s))
                    case "summary":
                        self.result = event.get("result") or load.to_result(event, self.bench.time)
        finally:
            current.end()
            counted.abandon()
        load_s = self.lap("measure_s")
        # A job has no warm-up.
        measure_s = load_s if self.workload.is_job else self.bench.time.real_s(self.phases.measure_s)
        self.laps |= {"warm_up_s": max(load_s - measure_s, 0.0), "measure_s": measure_s}

    def check(self) -> None:
        """Hold the tables to the workload's rules, if it has some, at memory speed."""
        if (arguments := self.workload.checked_by) is None:
            return
        assert self.running is not None
        self.tables = load.check(
            self.bench.starter,
            self.running.url,
            self.workload.kind,
            arguments,
            password=self.running.password,
        )
        self.lap("check_s")

    def stop(self) -> None:
        """Check the tables and stop the server; the trial is finished."""
        assert self.running is not None
        self.check()
        self.running.stop(self.bench.time.real_s(STOP_S))
        self.lap("stop_s")
        self.finished = True

    def fail(self, error: Exception) -> None:
        """Record why the trial broke off; if the server died, with the last lines of its log."""
        message = str(error) or type(error).__name__
        if self._room is not None and not isinstance(error, FullError) and (why := self._room.full()):
            message = f"{message}; {why.text}"
        if self.running is not None and self.running.alive:
            message = f"the trial broke off: {message}"
        elif self.running is not None:
            message = (
                f"the server died during the trial ({message}); its log ends with:\n{self.running.log_tail()}"
            )
        checks: dict[type[Exception], str] = {ServerStartError: START, load.StatementError: STATEMENT}
        self.invalid(checks.get(type(error), FINISHED), message)

    def end_processes(self) -> None:
        """Kill the server if it still runs."""
        if self.running is not None:
            self.running.kill()

    def data(self) -> DataFacts:
        """Return the loaded database as it was restored."""
        return self._data(self.image.facts.data_bytes, self.image.facts.rows, self.image.facts.dump)

    def _data(self, data_bytes: int, rows: int | None, dump: Dumped | None = None) -> DataFacts:
        return DataFacts(
            data_bytes=data_bytes,
            rows=rows,
            engine=self.engine,
            declared_engine=self.workload.declared_engine,
            job_engine=self.workload.job_engine,
            restored_by=self.restored_by,
            dump=dump,
        )

    def _begin_load(self, running: Running) -> load.Load | LoadElsewhere:
        # Each block draws other keys, or five blocks would repeat one sequence; within a block all cells draw
        # alike.
        seed = self.bench.seed + self.planned.block
        current = self._here(running, seed) if self.bench.elsewhere is None else self._elsewhere(seed)
        self.command = shlex.join(["diskproof-load", *current.argv[1:]])
        return current

    def _here(self, running: Running, seed: int) -> load.Load:
        copies = self.bench.folder.scripts(self.cell.workload)
        arguments = run_arguments(
            self.workload,
            self.phases,
            self.cell.clients,
            seed,
            copies,
            any_database=self.any_database,
            dilation=self.bench.time.dilation,
        )
        log, password = self.log / "load.log", running.password
        return load.Load(self.bench.starter, running.url, self.workload.kind, arguments, log, password)

    def _elsewhere(self, seed: int) -> LoadElsewhere:
        loaders = self.bench.elsewhere
        assert loaders is not None
        shares = shared(self.workload, self.cell.clients, len(loaders.names))
        files = Path(loaders.files)
        arguments = [
            run_arguments(workload, self.phases, clients, seed + number * SEEDS_APART, files)
            for number, (workload, clients) in enumerate(shares)
        ]
        url = loaders.endpoint.url(self.kind.facts.family, DATABASE)
        kept = self.bench.study.files_to_keep.get(self.cell.workload, {})
        current = loaders.begin(Order(url, self.workload.kind, arguments, kept, self.phases))
        self.load_hosts = current.hosts  # filled when it has ended
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


def _only_reads(statements: list[load.Event]) -> bool:
    around = ("BEGIN", "START TRANSACTION", "COMMIT", "END", "ROLLBACK")
    return bool(statements) and all(
        one["kind"] == "read" or one["sql"].upper().startswith(around) for one in statements
    )


def _series(event: load.Event, warm_up_s: float) -> list[Row]:
    shift = -warm_up_s if event["phase"] == "warm-up" else 0.0
    return [(t_s + shift, "load", metric, value) for t_s, metric, value in load.interval_rows(event)]
