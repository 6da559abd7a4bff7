"""One cut: a trial whose server dies. Restore, start, load, die, recover, verify."""

import random
from collections.abc import Callable
from contextlib import suppress
from typing import Any

from diskproof.crash.clients import Clients, Committing
from diskproof.crash.evidence import request_log
from diskproof.crash.ids import NEVER_US
from diskproof.crash.ledger import Acknowledgement, Failure, read_unmarked, told_since
from diskproof.crash.loads import Held, books_of, outcome_of, read_failed, read_told
from diskproof.crash.marks import unmarked
from diskproof.crash.moment import apart, disk_at_cut
from diskproof.crash.promises import Promises
from diskproof.crash.recovery import Recovered, Verified, does_harm, look, recover
from diskproof.crash.trouble import trouble
from diskproof.refusal import RefusalError
from diskproof.results.crash import OF_DISKS
from diskproof.results.cut import CutTimings, CutTrial, DiskAtCut, LedgerOutcome, StatesSeen
from diskproof.results.fault import Fault, Trouble
from diskproof.results.findings import CLEARED, FINISHED, START
from diskproof.results.plan import CUT_LOAD, Cell, PlannedCut
from diskproof.results.trial import Setting
from diskproof.run.attempt import ServerStartError, Steps
from diskproof.run.bench import Bench
from diskproof.run.server_setup import data_set_name, restore_data, settings_of, start_in_own_time
from diskproof.run.slower import check_follows
from diskproof.server.base import Dirs, Running, Settings
from diskproof.server.program import ProgramRunning
from diskproof.storage.virtual import PowerCut
from diskproof.system.endings import check_going_on
from diskproof.wording import Message, as_message

TIME_ALONE = ("stall", "slow")
"""Faults that change no byte; the study may be about throughput, which a log costs some of."""

STOP_S = 60.0
"""How long an orderly stop may take."""

REMEDY = "Fix the cause, then `--resume` repeats this cut."


class SettingsError(RefusalError):
    """The running server has other settings than requested."""


class CutAttempt(Steps):
    """One cut as it runs: its steps in their order, and what each of them found."""

    planned: PlannedCut

    def __init__(self, bench: Bench, planned: PlannedCut, cell: Cell) -> None:
        super().__init__(bench, planned, cell)
        assert bench.study.crash is not None
        self.crash = bench.study.crash
        self.kind = bench.servers[self.cell.server]
        self.image = bench.images.get(self.kind, bench.study.load(CUT_LOAD), bench.seed)
        self.folder = bench.folder.new_cut_folder(planned.id).absolute()
        self.silent_because: Message | None = None
        self.put_off_s = 0.0
        self.began_us = self.cut_us = 0
        self.disks: list[DiskAtCut] = []
        self.last_flush_us: int | None = None
        self.told: list[Acknowledgement] | None = None
        self.failed: list[Failure] = []
        plan = bench.folder.plan().crash
        assert plan is not None
        self.plan = plan
        self.fault = plan.faults.get(cell.fault)
        self.trouble: Trouble | None = None
        self._seen: dict[str, Any] = {}
        self._befell_us = self._seen_us = 0
        self.verified: Verified | None = None
        self.seen: StatesSeen | None = None
        self._recovered = Recovered()
        self._running: Running | None = None
        self._clients: Committing | None = None
        self._has_power = True
        self._asked: Settings | None = None

    @property
    def cuts_disks(self) -> bool:
        """Whether disks are cut; otherwise only the server dies."""
        return self.planned.way in OF_DISKS

    @property
    def is_logged(self) -> bool:
        """Whether its disks log their requests: those that are cut, and those with faults of their data."""
        spoils = any(fault.kind not in TIME_ALONE for fault in self.plan.faults.values())
        return self.cuts_disks or (spoils and bool(self.layout.cut_disks()))

    @property
    def bears_errors(self) -> bool:
        """Whether the study has faults: clients then go on after errors, also where there is none."""
        return bool(self.plan.faults)

    @property
    def ledger(self) -> Held | None:
        """The ledger after recovery; None if there is none that can be read."""
        return self.verified.ledger if self.verified else None

    @property
    def steps(self) -> list[Callable[[], None]]:
        """What it does, in this order."""
        return [self.restore, self.start, self.live, self.come_back, self.recover, self.verify]

    def restore(self) -> None:
        """Put the loaded database into place; from now on the disks account for bytes at risk."""
        self.layout.suit(self.kind.page_bytes)
        self.layout.draw_anew(self.planned.seed, self.planned.block)
        dirs = self._dirs("server")
        if self.is_logged:
            if not self.layout.keeps(data_set_name(self.cell.server, self.image)):
                restore_data(self.layout, self.kind, self.image, dirs, self.cell.server)
            self.layout.track(lambda disk: request_log(self.folder, disk))
        restore_data(self.layout, self.kind, self.image, dirs, self.cell.server)
        self.lap("restore_s")

    def start(self) -> None:
        """Start the server with the cell's settings."""
        dirs = self._dirs("server")
        with self.starting():
            self._asked = settings_of(self.bench, self.cell, dirs)
            if self.planned.way == "restart":
                self._asked = self.kind.keeping(self._asked)
            self._running = start_in_own_time(self.bench, self.kind, self.cell, dirs, self._asked)
            check_follows(self._running, self.bench.time)
        self.lap("start_s")

    def live(self) -> None:
        """Commit until death, when it is this cut's turn."""
        with self.bench.turn:
            check_going_on()
            self.lap("turn_s")
            self.load()
            self.die()

    def load(self) -> None:
        """Let the clients commit, on disks that take their modelled time, until the random moment."""
        assert self._running is not None
        self._clients = clients = self._clients_of(self._running)
        clients.connect()
        self.bench.hold(clients.pids)
        self.settings = self._running.read_settings()
        check_settings(self.settings)
        self.let_disks_take_time(on=True)
        self.began_us = self._now_us()
        clients.begin()
        draw = random.Random(self.planned.seed)  # noqa: S311 - a moment
        seconds = draw.uniform(self.crash.cut_after_s, self.crash.cut_before_s)
        self._befell_us = self._now_us()
        if self.fault is not None:
            self._live_through(self.fault, seconds)
        else:
            waited = clients.wait(seconds)
            self.silent_because, self.put_off_s = waited.silent_because, waited.put_off_s
        self._look_at(clients)
        self.lap("load_s")

    def _clients_of(self, running: Running) -> Committing:
        if isinstance(running, ProgramRunning):
            return Promises(running, self.folder)
        return Clients(
            self.bench.starter,
            running.url,
            self.bench.study.load(CUT_LOAD),
            self.crash.cut_before_s,
            self.cell.clients,
            self.planned.seed,
            self.folder,
            self.bench.time,
            bear_errors=self.bears_errors,
        )

    def _live_through(self, fault: Fault, seconds: float) -> None:
        """Let the fault come, and wait for the death, busy or not."""
        self.layout.befall(fault, self.planned.seed)
        if fault.kind == "full":
            self._fill_between(fault, seconds)
        self._live_until(seconds)

    def _look_at(self, clients: Committing) -> None:
        """Look at server and clients just before the death, in a study of faults."""
        if not self.bears_errors:
            return
        assert self._running is not None
        self._seen_us = self._now_us()
        self._seen = {
            "stopped": not self._running.alive,
            "gave_up": clients.has_ended,
            "read_only": self.layout.is_read_only(),
            "complaints": self._running.complaints(),
        }
        if self.planned.way != "restart":
            self._name_hits()

    def _name_hits(self) -> None:
        """Name what was hit as long as the files are there; a damaged file system need not say where."""
        if self.fault is not None and self.fault.kind not in TIME_ALONE:
            with suppress(OSError):
                self._seen["struck"] = self.layout.struck()

    def _fill_between(self, fault: Fault, seconds: float) -> None:
        """Take all room of the file systems, and give it back if the study says so before the death."""
        [(start_s, end_s)] = fault.windows_s
        self._live_until(start_s)
        self.layout.fill(fault)
        if end_s is not None and end_s < seconds:
            self._live_until(end_s)
            self.layout.make_room()

    def _live_until(self, at_s: float) -> None:
        self.bench.time.sleep(max(at_s - (self._now_us() - self._befell_us) / 1e6, 0.0))

    def die(self) -> None:
        """Die in the planned way, and read what was acknowledged."""
        assert self._clients is not None
        if self.planned.way != "restart":
            self._clients.freeze()
        match self.planned.way:
            case "restart":
                assert self._running is not None
                self.cut_us = self._now_us()
                if not self._running.stop(self.bench.time.real_s(STOP_S)):
                    self.silent_because = as_message("the server did not stop in good order, and was killed")
                self._kill()
            case "kill":
                self.cut_us = self._now_us()
                self._kill()
            case "stop":
                self._cut(PowerCut(self.planned.seed, "all"))
            case "power":
                self._cut(PowerCut(self.planned.seed, self.crash.keep))
        text = self._clients.told()
        self.told, self.failed = read_told(text), read_failed(text)
        if not self.cuts_disks:
            # The server lived until its last answer. The time that killing took is no window of loss.
            self.cut_us = max([self.cut_us, *(one.at_us for one in self.told if one.at_us < NEVER_US)])
        if self.crash.load == "replay":
            self.findings += unmarked(read_unmarked(text), self.cut_us)

    def _cut(self, how: PowerCut) -> None:
        """Cut the disks first, then kill their users: from the cut on nothing can reach a disk."""
        answers = self.layout.cut(how)
        self._has_power = False
        self._kill()
        self.cut_us = answers[0][1]["at_monotonic_us"]
        of_log = self.layout.cut_disks_of("redo")
        flushes = [facts["last_flush_monotonic_us"] for disk, facts in answers if disk in of_log]
        self.last_flush_us = max((us for us in flushes if us is not None), default=None)
        self.disks = [disk_at_cut(disk, facts, self.began_us, self.cut_us) for disk, facts in answers]
        self.findings += apart(self.disks)

    def _now_us(self) -> int:
        """Return the time on the clock of disks and clients."""
        return int(self.bench.time.now_s() * 1e6)

    def _kill(self) -> None:
        """Kill all processes of the server at once, and its clients; an embedded server dies with them."""
        assert self._running is not None
        assert self._clients is not None
        self._running.kill()
        self._clients.kill()

    def come_back(self) -> None:
        """Restore the power with what survived, and nothing that the kernel held; faults are over."""
        if self.bears_errors:
            if self.planned.way == "restart":  # a stop writes, too
                self._name_hits()
            hits = self.layout.heal()
            after_s = min(one.after_s for one in ([self.fault] if self.fault else self.plan.faults.values()))
            known = self.fault is not None and self.fault.kind != "full"
            assert self.told is not None
            self.trouble = trouble(
                *(self.told, self.failed, self._befell_us, self._seen_us, after_s, hits if known else None)
            ).model_copy(update=self._seen)
        if self.cuts_disks:
            self.layout.power_returns()
            self._has_power = True
            self.layout.track_no_longer()
        self.lap("cut_s")

    def recover(self) -> None:
        """Mount and start again, on disks that take their modelled time. A failure is an outcome."""
        self.let_disks_take_time(on=True)
        mount = self.layout.mount_again if self.cuts_disks else None
        if not self.cuts_disks and (self.bears_errors or self.planned.way == "restart"):
            mount = self._remount
        self._recovered = self._come_up(mount)
        self._running = self._recovered.running or self._running
        self.lap("recover_s")

    def _come_up(self, mount: Callable[[], None] | None) -> Recovered:
        asked, dirs = self._asked, self._dirs("recovery")
        assert asked is not None
        return recover(
            mount,
            lambda limit_s: start_in_own_time(self.bench, self.kind, self.cell, dirs, asked, limit_s),
            self.layout.folders().values(),
            self.bench.time,
        )

    def _remount(self) -> None:
        self.layout.remount()
        self.let_disks_take_time(on=True)

    def verify(self) -> None:
        """Compare the database with its acknowledgements, at memory speed; the cut is finished."""
        self.let_disks_take_time(on=False)
        self.verified = look(self._recovered, books_of(self.bench.study, self.bench.starter))
        self.findings += self.verified.findings
        if self.trouble is not None and not does_harm(self.verified, self._outcome()):
            self.trouble = self.trouble.model_copy(update={"struck": []})
        self.finished = True
        self.lap("verify_s")

    def fail(self, error: Exception) -> None:
        """Record why the cut broke off."""
        check = START if isinstance(error, ServerStartError) else FINISHED
        message = str(error) or type(error).__name__
        if self._running is not None:
            message += f"; the server's log ends with:\n{self._running.log_tail()}"
        self.finished = False
        self.find(check, "invalid", message, REMEDY)

    def undoing(self) -> list[Callable[[], object]]:
        """Clear away everything but the record and the folder."""
        users = [one.kill for one in (self._clients, self._running) if one is not None]
        power = [] if self._has_power else [self.layout.power_returns]
        fault = [self.layout.heal] if self.bears_errors else []
        disks = [*power, *fault, self.layout.track_no_longer, self.layout.clear]
        return [*users, *disks, lambda: self.lap("stop_s")]

    def is_left(self, error: Exception) -> None:
        """Keep what was verified before: a later failure does not discard a loss."""
        self.find(CLEARED, "warning", str(error))

    def record(self, evidence: str | None) -> CutTrial:
        """Return the record."""
        acknowledged = None
        if self.told is not None and self.finished:
            acknowledged = sum(one.at_us <= self.cut_us for one in self.told)
        return CutTrial(
            **self.recorded(),
            dump=self.image.facts.dump,
            silent_because=self.silent_because,
            put_off_s=self.put_off_s,
            disks=self.disks,
            unflushed_acknowledgements=self._unflushed(),
            acknowledged=acknowledged,
            ledger=self._outcome() if self.finished else None,
            trouble=self.trouble,
            recovery=self.verified.recovery if self.verified else None,
            timings=CutTimings(**self.laps, total_s=self.total_s),
            evidence=evidence,
            states=self.seen,
        )

    def _outcome(self) -> LedgerOutcome | None:
        if self.ledger is None or self.told is None:
            return None
        books = (self.told, self.ledger, self.crash.accounts, self.cell.clients, self.cut_us)
        return outcome_of(*books, self.failed)

    def _unflushed(self) -> int | None:
        if not self.disks or self.told is None:
            return None
        since_us = self.began_us if self.last_flush_us is None else self.last_flush_us
        return told_since(self.told, since_us, self.cut_us)

    def _dirs(self, log: str) -> Dirs:
        """Return the server's directories; each of its starts has a log of its own."""
        (self.folder / log).mkdir(exist_ok=True)
        return Dirs(**self.layout.folders(), run=self.bench.sockets, log=self.folder / log)


def check_settings(settings: list[Setting]) -> None:
    """Refuse to cut a server with other settings than the cell's: the cut would describe those."""
    wrong = [one for one in settings if not one.holds]
    if wrong:
        raise SettingsError(
            f"`{wrong[0].name}` reads back as {wrong[0].observed}, but {wrong[0].requested} was requested: "
            "set a value that the server takes in `[tunings.NAME]`"
        )
