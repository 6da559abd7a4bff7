"""Trials of a server that is there already: its data, its variables, and what cannot be seen of it."""

import hashlib
import json
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, closing, contextmanager
from pathlib import Path
from typing import Any

from diskproof import load
from diskproof.results.findings import LOCK, ONLY_ASKED, RIGHTS
from diskproof.results.plan import Cell, Plan, PlannedTrial
from diskproof.results.trial import DataFacts, OpenFile, RestoredBy
from diskproof.run.attempt import Attempt
from diskproof.run.bench import Bench
from diskproof.run.dataset import DataSetError, described
from diskproof.run.option_files import given_variables
from diskproof.run.served import ServerAttempt
from diskproof.server.base import ServerError
from diskproof.server.given import GivenServer
from diskproof.server.given.base import Given, Mark
from diskproof.study.loads.base import Load
from diskproof.study.model import Study
from diskproof.study.read import StudyError
from diskproof.system import programs
from diskproof.wording import Message, say
from diskproof.workload.arguments import prepare_arguments

FORMAT = 1
"""Raised when data sets of an older version can no longer be used."""

RESET_LIMIT_S = 4 * 3600.0
"""How long the user's command may take: a snapshot of 400 GB is restored in an hour or two."""

UNSEEN = say(
    "the server was there already, so only its own answers are known: not where its files lie, what its "
    "CPUs, threads and disks did, and whether flushes reached a disk; latencies include the network"
)


GUARDED = (
    "all sessions began read-only (`read_only = true`), and {held}; the data are not diskproof's, and "
    "others may have changed them between trials"
)

READ_BACK = "after the load, all {asked} of its sessions said that they were still read-only"

LIFTED = (
    "after the load, {lifted} of its {asked} sessions were no longer read-only, as the load had lifted that; "
    "still, {held}"
)

NOT_READ_BACK = say("after the load, none of its sessions said whether it was still read-only")

WROTE_NOTHING = "no row{of} was written during the trial, by the server's own counters"

WROTE = (
    "{rows} rows{of} were written during the trial, by the server's own counters, which do not say by whom: "
    "other sessions may have written them"
)

UNCOUNTED = say("the server does not count the rows that are written, so it cannot be told whether any was")


def check_given(study: Study, plan: Plan, given: dict[str, GivenServer]) -> Iterator[str]:
    """Refuse a database that is not ours to write, and variables that need a restart.

    Yields what the servers will not say, each with the GRANT that would let them.
    """
    for name, server in given.items():
        try:
            with closing(server.open()) as connection:
                if server.read_only:
                    connection.check_read_only()
                else:
                    connection.check_database()
                yield from (f"`{name}` will not report {what}" for what in connection.lacking())
                yield from _check_reach(study, plan, name, connection)
        except ServerError as error:
            raise StudyError(f"server `{name}`: {error}") from None
    for name, tuning in dict.fromkeys((cell.server, cell.tuning) for cell in plan.cells):
        if name in given:
            try:
                given[name].check(given_variables(study, tuning, given[name].facts))
            except ServerError as error:
                raise StudyError(f"tuning `{tuning}` on server `{name}`: {error}") from None
    for name in given:
        used = {cell.workload for cell in plan.cells if cell.server == name}
        if study.servers[name].reset and len({study.load(one).data_set for one in used}) > 1:
            raise StudyError(
                f"server `{name}`: `reset` puts back one data set, and the workloads have several: make a "
                "study of each, or leave `reset` out"
            )


def _check_reach(study: Study, plan: Plan, name: str, connection: Given[Any]) -> Iterator[str]:
    """Refuse an account with which the user's own SQL could leave the database (ServerError)."""
    cells = [cell for cell in plan.cells if cell.server == name]
    own = [one for one in dict.fromkeys(cell.workload for cell in cells) if study.load(one).sends_own_sql]
    if not own:
        return
    if study.servers[name].any_database:
        yield f"`{name}`: `any_database = true`, so the study's SQL may reach all that the account may"
        return
    sets = any(given_variables(study, cell.tuning, connection.facts) for cell in cells)
    for what in connection.check_reach(own, sets_variables=sets):
        yield f"`{name}`: {what}"


@contextmanager
def held(given: Mapping[str, GivenServer]) -> Iterator[None]:
    """Keep other runs, of other machines or users, out of the databases of servers that are there already."""
    with ExitStack() as stack:
        for server in given.values():
            server.hold()
            stack.callback(server.release)
        yield


def load_once(bench: Bench, plan: Plan, note: Callable[[str], object]) -> None:
    """Load the first data set of each server that is there already, so that mistakes appear now.

    One with a `reset` is left when it has its data: the snapshot is still to be made.
    """
    first: dict[str, Cell] = {}
    for trial in plan.trials:
        cell = plan.cell(trial.cell)
        first.setdefault(cell.server, cell)
    for name, server in bench.given.items():
        if server.read_only:
            continue
        cell = first[name]
        with closing(server.open()) as connection:
            data = _Data(bench, cell, connection)
            if data.is_there():
                continue
            workload = bench.study.load(cell.workload)
            note(f"loading {described(workload) if workload.prepares else 'an empty database'} into {name}")
            data.load(bench.folder.server_folder("loading").absolute())
        if bench.study.servers[name].reset:
            raise DataSetError(
                f"the data set of `{name}` is loaded, as `reset` must put it back: make the snapshot that it "
                "restores, then run again"
            )


class _Data:
    """The data set of a cell in a server that is there already."""

    def __init__(self, bench: Bench, cell: Cell, server: Given[Any]) -> None:
        self._bench, self._server = bench, server
        self._choice = bench.study.servers[cell.server]
        self._name, self._given = cell.workload, cell.server
        self._workload: Load = bench.study.load(cell.workload)
        identity = [FORMAT, self._workload.data_set, bench.seed if self._workload.prepares else 0]
        self._key = hashlib.sha256(json.dumps(identity).encode()).hexdigest()[:32]

    def is_there(self) -> bool:
        """Return whether the database holds this data set, changed or not."""
        mark = self._server.mark()
        return mark is not None and mark.data_set == self._key

    def put_back(self, log: Path) -> RestoredBy:
        """Bring the data to what they were when they had been loaded, as the study says."""
        mark = self._server.mark()
        if mark is not None and mark.data_set == self._key:
            if not mark.changed:
                return "unchanged"
            if not self._choice.reload:
                return "not put back"
            if self._choice.reset:
                self._reset(self._choice.reset)
                return "command"
        self.load(log)
        return "loaded"

    def load(self, log: Path) -> None:
        """Remove what is there and load anew; DataSetError says why it failed."""
        server = self._server
        server.check_database()  # it may have got other tables since
        try:
            server.write_mark(Mark("", changed=True))
        except ServerError as error:
            raise DataSetError(f"the database cannot be written: {error}") from error
        server.clear()
        if self._workload.prepares:
            arguments = prepare_arguments(
                self._workload,
                self._bench.seed,
                self._bench.folder.scripts(self._name),
                any_database=self._choice.any_database,
            )
            try:
                load.prepare(
                    self._bench.starter,
                    server.url,
                    self._workload.prepared_as or self._workload.kind,
                    arguments,
                    log / "prepare.log",
                    watch=lambda: None,
                    password=server.password,
                )
            except load.LoadFailedError as error:
                raise DataSetError(f"loading {described(self._workload)} failed: {error}") from None
            server.settle()
        server.write_mark(Mark(self._key, changed=False))

    def are(self, *, changed: bool) -> None:
        """Record whether the data are no longer as they were loaded."""
        self._server.write_mark(Mark(self._key, changed=changed))

    def _reset(self, command: str) -> None:
        """Run the user's command. The mark came back with the data, or they are not what was loaded."""
        self._server.stop()
        given = self._bench.given[self._given]
        given.release()  # a command may drop the database, which has no connection then
        try:
            ended = programs.run(["sh", "-c", command], limit_s=RESET_LIMIT_S, whole=True)
        except programs.TimedOut:
            raise DataSetError(f"`{command}` did not end within {RESET_LIMIT_S / 3600:g} h") from None
        if ended.code:
            raise DataSetError(f"`{command}` failed: {ended.complaint}")
        if why := self._server.refuses_connections():
            raise DataSetError(f"after `{command}` the server refuses the connection: {why}")
        given.hold()
        mark = self._server.mark()
        if mark != Mark(self._key, changed=False):
            raise DataSetError(
                f"`{command}` has not put the data back: the database's mark is not that of the loaded data. "
                "Let it restore what was saved right after the load"
            )


class GivenAttempt(ServerAttempt):
    """A trial of a server that is there already."""

    def __init__(self, bench: Bench, planned: PlannedTrial, cell: Cell) -> None:
        Attempt.__init__(self, bench, planned, cell)
        self.server = bench.given[cell.server]
        self.workload = bench.study.load(cell.workload)
        self.running: Given[Any] | None = None
        self._load = None
        self.restored_by = "unchanged"
        self.engine = None
        self.only_reads = False
        self._room = None
        self.any_database = bench.study.servers[cell.server].any_database
        self._data_bytes = 0
        self._rows_before: int | None = None
        self._held_by = ""

    def restore(self) -> None:
        """Put the data back, if a load has changed them."""
        self.server.hold()
        with closing(self.server.open()) as connection:
            if not self.server.read_only:
                data = _Data(self.bench, self.cell, connection)
                self.restored_by = data.put_back(self.log)
                if self.workload.writes:
                    data.are(changed=True)
            self._data_bytes = connection.data_bytes()
        self.lap("restore_s")

    def start(self) -> None:
        """Set the variables of the tuning, and connect."""
        with self.starting("is not ready"):
            wanted = given_variables(self.bench.study, self.cell.tuning, self.server.facts)
            wanted = self.server.set(wanted, self.bench.starter)
            self.running = self.server.open(wanted)
        self.note(ONLY_ASKED, UNSEEN)
        if self.server.read_only:
            self._held_by = self.running.check_read_only()
            self.note(ONLY_ASKED, say(GUARDED, held=self._held_by))
            self.running.stop()  # its session has tried to write
            self.running = self.server.open(wanted)
        self._rows_before = self.running.rows_written()
        for what in self.running.lacking():
            self.note(RIGHTS, say("the server does not report {what}", what=what))
        self.lap("start_s")
        if self.workload.preloads:
            self.running.preload()
            self.lap("preload_s")

    def stop(self) -> None:
        """Put the variables back and disconnect; the trial is finished."""
        self.check()
        assert self.running is not None
        written = self.running.rows_written()
        nothing = written is not None and written == self._rows_before
        if self.server.read_only:
            self.note(ONLY_ASKED, self._what_was_guarded())
            self.note(ONLY_ASKED, self._in_words(written))
        elif self.only_reads and nothing and self.restored_by != "not put back":
            _Data(self.bench, self.cell, self.running).are(changed=False)
        if not self.server.is_held():
            self.invalid(
                LOCK,
                say(
                    "the connection that keeps other runs out of the database was lost during the trial, so "
                    "another run may have used the database at the same time"
                ),
            )
        self.end_processes()
        self.lap("stop_s")
        self.finished = True

    def _what_was_guarded(self) -> Message:
        asked, stood = (self.result and self.result.guards) or (0, 0)
        if not asked:
            return NOT_READ_BACK
        if stood < asked:
            return say(LIFTED, lifted=asked - stood, asked=asked, held=self._held_by)
        return say(READ_BACK, asked=asked)

    def _in_words(self, written: int | None) -> Message:
        if written is None or self._rows_before is None:
            return UNCOUNTED
        of = "" if self.running is None else self.running.counted
        if written == self._rows_before:
            return say(WROTE_NOTHING, of=of)
        return say(WROTE, rows=written - self._rows_before, of=of)

    def end_processes(self) -> None:
        """Put the variables back, whatever happened, and disconnect."""
        if self.running is not None:
            self.running.stop()
        self.server.put_back()

    def data(self) -> DataFacts:
        """Return the data set as it was at the start."""
        return self._data(self._data_bytes, self.workload.total_rows)

    def _prove(self, pids: list[int]) -> list[OpenFile]:
        """Return nothing: the server's files are out of reach."""
        del pids
        return []
