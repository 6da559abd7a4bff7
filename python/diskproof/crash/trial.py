"""One cut: restore, start, load, die, recover, verify."""

import random
from datetime import UTC, datetime

from diskproof.crash.clients import ACKNOWLEDGEMENTS, Clients, Order
from diskproof.crash.evidence import request_log
from diskproof.crash.ledger import Acknowledgement, compare, read_acknowledgements, told_since
from diskproof.crash.moment import apart, disk_at_cut, now_us
from diskproof.crash.recovery import Recovered, look, recover
from diskproof.crash.verify import Verified
from diskproof.refusal import RefusalError
from diskproof.results.crash_plan import CrashPlan, PlannedCut
from diskproof.results.cut import CutTimings, CutTrial, DiskAtCut, LedgerOutcome, Recovery
from diskproof.results.trial import Finding, Setting
from diskproof.run.attempt import Stopwatch
from diskproof.run.bench import MISHAPS, Bench
from diskproof.run.cutcells import CUT_LOAD
from diskproof.run.outfit import data_set_name, restore_data, settings_of
from diskproof.run.served import START
from diskproof.server.base import Dirs, Running, ServerError, Settings
from diskproof.storage.virtual import PowerCut

MENDING_REMEDY = "mend the cause, then go on with `--resume`: this cut is made again"


class SettingsError(RefusalError):
    """The running server has other settings than were asked for."""


class ServerStartError(ServerError):
    """The server did not start from its whole, loaded data set: no power had failed yet."""


def make_cut(bench: Bench, plan: CrashPlan, planned: PlannedCut) -> "CutAttempt":
    """Make one cut to its end. What goes wrong with our own part is its finding, and the campaign goes on.

    A server that does not come up again is an outcome. The attempt is returned with nothing mounted or at
    work any more; `record` says what it found.
    """
    attempt = CutAttempt(bench, plan, planned)
    try:
        attempt.restore()
        attempt.start()
        attempt.load()
        attempt.die()
        attempt.come_back()
        attempt.recover()
        attempt.verify()
    except MISHAPS as error:
        attempt.fail(error)
    finally:
        attempt.clear()
    return attempt


class CutAttempt:
    """A cut under way: its parts in the order in which they are done, and what each of them found."""

    def __init__(self, bench: Bench, plan: CrashPlan, planned: PlannedCut) -> None:
        """Begin the record of a planned cut; nothing is touched yet."""
        self.bench, self.plan, self.planned = bench, plan, planned
        self.cell = plan.cell(planned.cell)
        assert bench.study.crash is not None
        self.crash = bench.study.crash
        self.layout = bench.layouts[self.cell.storage]
        self.kind = bench.servers[self.cell.server]
        self.image = bench.images.get(self.kind, bench.study.workloads[CUT_LOAD], bench.seed)
        self.folder = bench.folder.new_cut_folder(planned.id).absolute()
        self.started_at = datetime.now(UTC).isoformat(timespec="seconds")
        self.watch = Stopwatch()
        self.timings: dict[str, float] = {}
        self.findings: list[Finding] = []
        self.finished = False
        self.settings: list[Setting] = []
        self.silent_because: str | None = None
        self.put_off_s = 0.0
        self.began_us = self.cut_us = 0
        self.disks: list[DiskAtCut] = []
        self.last_flush_us: int | None = None
        self.told: list[Acknowledgement] | None = None
        self.recovery: Recovery | None = None
        self.verified = Verified()
        self._recovered = Recovered()
        self._running: Running | None = None
        self._clients: Clients | None = None
        self._asked: Settings | None = None

    @property
    def cuts_disks(self) -> bool:
        """Whether disks are cut; else it is the server alone that dies."""
        return self.planned.way != "kill"

    # ------------------------------------------------------------ until the cut

    def restore(self) -> None:
        """Put the loaded database into place; from these bytes on disks keep account of what is at risk."""
        self.layout.suit(self.kind.page_bytes)
        self.layout.draw_anew(self.planned.seed, self.planned.block)
        dirs = self._dirs("server")
        if self.cuts_disks:
            if not self.layout.keeps(data_set_name(self.cell.server, self.image)):
                restore_data(self.layout, self.kind, self.image, dirs, self.cell.server)
            self.layout.track(lambda disk: request_log(self.folder, disk))
        restore_data(self.layout, self.kind, self.image, dirs, self.cell.server)
        self._lap("restore_s")

    def start(self) -> None:
        """Start the server with the cell's settings."""
        dirs = self._dirs("server")
        try:
            self._asked = settings_of(self.bench, self.cell, dirs)
            self._running = self.kind.start(dirs, self._asked, self.bench.starter)
        except ServerError as error:
            raise ServerStartError(
                f"`{self.cell.server}` did not start for {self.cell.id}: {error}"
            ) from error
        self._lap("start_s")

    def load(self) -> None:
        """Let the clients commit, on disks that take their time, until the moment that was drawn."""
        assert self._running is not None
        order = Order(
            self._running.url,
            self.cell,
            self.crash,
            self.planned.seed,
            self.folder / ACKNOWLEDGEMENTS,
            self.folder / "load.log",
        )
        self._clients = clients = Clients(order, self.bench.starter)
        clients.connect()
        self.settings = self._running.read_settings()
        check_settings(self.settings)
        self._let_disks_take_time(on=True)
        self.began_us = now_us()
        clients.begin()
        draw = random.Random(self.planned.seed)  # noqa: S311 - a moment
        waited = clients.wait(draw.uniform(self.crash.cut_after_s, self.crash.cut_before_s))
        self.silent_because, self.put_off_s = waited.silent_because, waited.put_off_s
        self._lap("load_s")

    # ------------------------------------------------------------ the cut

    def die(self) -> None:
        """Die in the planned way, and see that nobody is left."""
        match self.planned.way:
            case "kill":
                self.cut_us = now_us()
                self._kill()
            case "stop":
                self._cut(PowerCut(self.planned.seed, "all"))
            case "power":
                self._cut(PowerCut(self.planned.seed, self.plan.keep, self.plan.unreadable))
        assert self._clients is not None
        self.told = read_acknowledgements(self._clients.told())
        if not self.cuts_disks and self.told:
            # It was alive until its last answer; how long killing it took after that is no window of loss.
            self.cut_us = max(self.cut_us, self.told[-1].at_us)

    def _cut(self, how: PowerCut) -> None:
        """Cut the disks first, and kill whoever worked on them: from the cut on nothing can reach a disk."""
        answers = self.layout.cut(how)
        self._kill()
        self.cut_us = answers[0][1]["at_monotonic_us"]
        of_log = self.layout.cut_disks_of("redo")
        flushes = [facts["last_flush_monotonic_us"] for disk, facts in answers if disk in of_log]
        self.last_flush_us = max((us for us in flushes if us is not None), default=None)
        self.disks = [disk_at_cut(disk, facts, self.began_us, self.cut_us) for disk, facts in answers]
        self.findings += apart(self.disks)

    def _kill(self) -> None:
        """Kill all processes of the server at once, and its clients; an embedded server dies with them."""
        assert self._running is not None
        assert self._clients is not None
        self._running.kill()
        self._clients.kill()

    def come_back(self) -> None:
        """Let the power return with what survived, and nothing of what the kernel held."""
        if self.cuts_disks:
            self.layout.power_returns()
            self.layout.track_no_longer()
        self._lap("cut_s")

    # ------------------------------------------------------------ after the cut

    def recover(self) -> None:
        """Mount and start again, on disks that take their time; what does not come up is an outcome."""
        asked, dirs = self._asked, self._dirs("recovery")
        assert asked is not None
        self._let_disks_take_time(on=True)
        self._recovered = recover(
            self.layout.mount_again if self.cuts_disks else None,
            lambda limit_s: self.kind.start(dirs, asked, self.bench.starter, deadline_s=limit_s),
            self.layout.folders().values(),
        )
        self._running = self._recovered.running or self._running
        self._lap("recover_s")

    def verify(self) -> None:
        """Hold the database to its acknowledgements, at memory speed; the cut is finished."""
        self._let_disks_take_time(on=False)
        self.recovery, self.verified = look(self._recovered)
        self.findings += self.verified.findings
        self.finished = True
        self._lap("verify_s")

    # ------------------------------------------------------------ the end

    def fail(self, error: Exception) -> None:
        """Say why the cut broke off."""
        check = START if isinstance(error, ServerStartError) else "finished"
        message = str(error) or type(error).__name__
        if self._running is not None:
            message += f"; the server's log ends with:\n{self._running.log_tail()}"
        self.finished = False
        self.findings.append(Finding(check=check, severity="invalid", message=message, remedy=MENDING_REMEDY))

    def clear(self) -> None:
        """Leave nothing of it but its record and its folder, whatever happened.

        What was verified by then stays so: a loss that was seen is not given up for what comes after it.
        """
        try:
            if self._clients is not None:
                self._clients.kill()
            if self._running is not None:
                self._running.kill()
            self.layout.track_no_longer()
            self.layout.clear()
        except MISHAPS as error:
            if self.finished:
                self.findings.append(Finding(check="cleared", severity="warning", message=str(error)))
            else:
                self.fail(error)
        self._lap("stop_s")

    def record(self, evidence: str | None) -> CutTrial:
        """Return the record."""
        acknowledged = None
        if self.told is not None and self.finished:
            acknowledged = sum(one.at_us <= self.cut_us for one in self.told)
        return CutTrial(
            id=self.planned.id,
            cell=self.cell.id,
            way=self.planned.way,
            block=self.planned.block,
            position=self.planned.position,
            seed=self.planned.seed,
            started_at=self.started_at,
            finished=self.finished,
            silent_because=self.silent_because,
            put_off_s=self.put_off_s,
            disks=self.disks,
            unflushed_acknowledgements=self._unflushed(),
            acknowledged=acknowledged,
            ledger=self._outcome() if self.finished else None,
            recovery=self.recovery,
            settings=self.settings,
            timings=CutTimings(**self.timings, total_s=self.watch.total()),
            evidence=evidence,
            findings=self.findings,
        )

    # ------------------------------------------------------------ parts

    def _outcome(self) -> LedgerOutcome | None:
        if self.verified.ledger is None or self.told is None:
            return None
        return compare(self.told, self.verified.ledger, self.plan.accounts, self.cut_us)

    def _unflushed(self) -> int | None:
        if not self.disks or self.told is None:
            return None
        since_us = self.began_us if self.last_flush_us is None else self.last_flush_us
        return told_since(self.told, since_us, self.cut_us)

    def _dirs(self, log: str) -> Dirs:
        """Return the server's directories; each of its starts has a log of its own."""
        (self.folder / log).mkdir(exist_ok=True)
        return Dirs(**self.layout.folders(), run=self.bench.sockets, log=self.folder / log)

    def _let_disks_take_time(self, *, on: bool) -> None:
        for disk in self.layout.disks():
            disk.control.set_timing(on=on)

    def _lap(self, part: str) -> None:
        self.timings[part] = self.watch.lap()


def check_settings(settings: list[Setting]) -> None:
    """Refuse to cut a server that runs with other settings than the cell's: it would tell of those."""
    wrong = [one for one in settings if not one.holds]
    if wrong:
        raise SettingsError(
            f"`{wrong[0].name}` reads back as {wrong[0].observed}, and {wrong[0].requested} was asked for: "
            "give a value that the server takes in `[tunings.NAME]`"
        )
