"""Every state of a cut: one run is logged, and what its disk can be left with is recovered, one by one."""

import shutil
from collections.abc import Callable, Iterable

from diskproof.crash.evidence import request_log
from diskproof.crash.loads import books_of
from diskproof.crash.recovery import Verified, does_harm, look
from diskproof.crash.states import Digests, Log, Moment, Part, State, read_log, states_of
from diskproof.results.cut import LedgerOutcome, StateSeen, StatesSeen
from diskproof.results.findings import ONE_STATE
from diskproof.results.plan import Cell, PlannedCut
from diskproof.run.bench import Bench
from diskproof.run.cut import CutAttempt
from diskproof.run.server_setup import data_set_name
from diskproof.storage.extents import Owners
from diskproof.storage.kinds.base import StorageError
from diskproof.wording import say

MOST_SHRINKING = 40
"""States that are tried to make a counterexample smaller."""

MOST_MOMENTS = 1000
"""Moments of a run that are tried, evenly spread: what lies under the writes at risk is held for each."""

LEFT_EARLY_US = 200
"""An answer leaves before the model's time of it, by the path and the alarm's lead. A commit that came of it
is no promise of a state before it."""

MOST_NAMED = 8
"""Missing writes that are named."""


class StatesAttempt(CutAttempt):
    """One run, and the states that a cut can leave of it."""

    def __init__(self, bench: Bench, planned: PlannedCut, cell: Cell) -> None:
        super().__init__(bench, planned, cell)
        assert self.crash.states is not None
        self.most = self.crash.states
        # Its end loses nothing: the log has all, and the states are made of it.
        self.crash = self.crash.model_copy(update={"keep": "all"})

    @property
    def steps(self) -> list[Callable[[], None]]:
        """What it does, in this order."""
        return [self.restore, self.start, self.live, self.come_back, self.search]

    def search(self) -> None:
        """Try state by state until one does harm, then make it smaller; the outcome is that of the last."""
        [disk] = self.layout.cut_disks()
        self.let_disks_take_time(on=False)
        log = read_log(
            request_log(self.folder, disk), self.began_us, flushes_ignored=disk.facts.flushes_ignored
        )
        moments = len(log.moments)
        log.moments = log.moments[:: -(-moments // MOST_MOMENTS) or 1]
        if not moments:  # nothing was at risk: there is one state
            log.moments = [Moment(self.cut_us, len(log.writes), ())]
        digests = Digests(log)
        tried: set[int] = set()
        equal, harmful, ended = 0, None, True
        latest: tuple[int, Verified | None] = (0, None)
        for state in states_of(log, self.planned.seed, self.kind.page_bytes):
            digest = digests.of(state)
            if digest in tried:
                equal += 1
                continue
            if len(tried) >= self.most:
                ended = False
                break
            tried.add(digest)
            if self._does_harm_twice(log, state):
                harmful, ended = state, False
                break
            if self.cut_us > latest[0]:
                latest = self.cut_us, self.verified
        if harmful is not None:
            why = _harm(self.verified, self._outcome())
            smallest = self._smallest(log, harmful)
            # Again, so that its logs are those that are kept.
            harmful = next((one for one in (smallest, harmful) if self._does_harm(log, one)), None)
            latest = self.cut_us, self.verified
            if harmful is None:
                self._note_disturbed(why)
        self.seen = StatesSeen(
            moments=moments,
            checked=len(tried),
            equal=equal,
            all_of_them=ended,
            counterexample=None if harmful is None else self._named(log, harmful),
        )
        self.cut_us, self.verified = latest
        self.finished = self.verified is not None
        self.lap("verify_s")

    def _does_harm_twice(self, log: Log, state: State) -> bool:
        """Try a state that does harm again: what the same bytes do only once is no property of the state."""
        if not self._does_harm(log, state):
            return False
        why = _harm(self.verified, self._outcome())
        if self._does_harm(log, state):
            return True
        self._note_disturbed(why)
        return False

    def _note_disturbed(self, why: str) -> None:
        self.find(
            ONE_STATE,
            "warning",
            say("a state did harm, and none when its bytes were tried again: {why}", why=why),
            "Run it again on a quiet machine: its recovery may have been disturbed.",
        )

    def _does_harm(self, log: Log, state: State) -> bool:
        """Recover from a state and compare: whether something was lost or damaged."""
        log_folder = self._dirs("recovery").log
        shutil.rmtree(log_folder)
        log_folder.mkdir()
        self._put(log, state)
        self.cut_us = state.moment.at_us - LEFT_EARLY_US
        self._recovered = self._come_up(self.layout.mount_again)
        self._running = self._recovered.running
        try:
            self.verified = look(self._recovered, books_of(self.bench.study, self.bench.starter))
        finally:
            if self._running is not None:
                self._running.kill()
        return does_harm(self.verified, self._outcome())

    def _put(self, log: Log, state: State) -> None:
        self.layout.put_state(log.patches(state), data_set_name(self.cell.server, self.image))

    def _smallest(self, log: Log, harmful: State) -> State:
        """Return a state with as few writes missing as can be found: halves are given back, then quarters."""
        lost: list[Part] = list(harmful.lost)
        size, tries = len(lost), 0
        while size and lost and tries < MOST_SHRINKING:
            for begin in range(0, len(lost), size):
                fewer = lost[:begin] + lost[begin + size :]
                tries += 1
                if self._does_harm(log, harmful.without(fewer)):
                    lost = fewer
                    break
                if tries >= MOST_SHRINKING:
                    break
            else:
                size //= 2
            size = min(size, len(lost))
        return harmful.without(lost)

    def _named(self, log: Log, state: State) -> StateSeen:
        """Name what is missing, by the files as they are if nothing is."""
        self._put(log, state.without(()))
        named: Iterable[str] = ()
        try:
            self.layout.mount_again()
            owners = self.layout.owners()
        except (StorageError, OSError):
            pass
        else:
            named = (_part_in_words(log, part, owners) for part in state.lost)
        return StateSeen(
            at_us=state.moment.at_us,
            arrived=state.moment.arrived,
            risk=list(state.moment.risk),
            lost=list(state.lost),
            named=list(named)[:MOST_NAMED],
        )


def _harm(verified: Verified | None, outcome: LedgerOutcome | None) -> str:
    """Return what harm was done, in short."""
    assert verified is not None
    recovery = verified.recovery
    refused = [recovery.refused.text] if recovery.refused else []
    reports = [*refused, *recovery.complaints, *recovery.damaged_tables]
    lost = f"{outcome.lost} lost, {outcome.never_sent} never sent" if outcome else "nothing can be read"
    return "; ".join([lost, *reports[:1]]).splitlines()[0]


def state_of(seen: StateSeen) -> State:
    """Return a state as it was recorded."""
    moment = Moment(seen.at_us, seen.arrived, tuple(seen.risk))
    return State(moment, tuple(seen.lost))


def _part_in_words(log: Log, part: Part, owners: Owners) -> str:
    write, first, end = part
    is_whole = end - first == log.sectors(write)
    torn = "" if is_whole else f"the last of {log.writes[write].length:,} bytes written at once: "
    return f"{torn}{owners.in_words(*log.place(part))}"
