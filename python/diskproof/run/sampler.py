"""Counters during a trial: each second into the series, and over the whole measurement into `Usage`."""

import math
import threading
import time
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass

from diskproof.families.samples import Samples, Status
from diskproof.results.series import Row
from diskproof.results.usage import CpuUse, DeviceUsage, Party, ServerAccount, Usage
from diskproof.server.base import ANSWER_LIMIT_S, Running, ServerError, ServerFailedError
from diskproof.system import counters
from diskproof.system.counters import between
from diskproof.system.cputime import CpuAccount
from diskproof.system.dilation import REAL, TrialTime

PERIOD_S = 1.0

END_LIMIT_S = ANSWER_LIMIT_S + 10
"""How long `end` waits for the current sample: each question to the server has a limit of its own."""


UNUSED = CpuUse(used_s=0.0, waited_s=0.0)


class NothingWatched:
    """Stands for the server where there is none: it has no counters and no sessions."""

    pids: list[int] = []  # noqa: RUF012 - never changed

    def status(self) -> Status:
        """Return no counters."""
        return Status(counters={}, gauges={})

    def account(self, samples: Samples, /) -> ServerAccount | None:
        """Return no account."""
        del samples
        return None

    def waiting_sessions(self) -> dict[str, int] | None:
        """Return None: there are no sessions."""

    def log_tail(self) -> str:
        """Return no lines."""
        return ""


Watched = Running | NothingWatched
"""What is measured, if it counts something itself: a server, or nothing but files."""


@dataclass(frozen=True)
class Sample:
    """All counters at one moment."""

    at_s: float
    host: counters.HostCounters
    cpu: dict[Party, CpuUse]
    """Use since the first sample, of the parties that had a process by then."""
    devices: dict[str, DeviceUsage]
    server: Status


class Sampler:
    """Reads host, device and server counters once a second, from `begin` to `end`.

    Only the first and the last sample are kept, with what the server's account needs of the others. The rest
    goes out at once as rows, so a trial of a day needs no more memory than one of a minute.
    """

    def __init__(
        self,
        server: Watched,
        devices: list[str],
        series: Callable[[Iterable[Row]], object],
        cpus: Collection[int] = (),
        others: Mapping[Party, Callable[[], list[int]]] | None = None,
        own_time: TrialTime = REAL,
    ) -> None:
        """Watch a server, the disks of its roles (kernel names), and the CPUs that it may use.

        All seconds are those of `own_time`.

        `series` receives a second's rows at a time, from another thread. `others` return the processes of
        what works beside the server.
        """
        self._server = server
        self._devices = devices
        self._cpus = cpus
        self._time = own_time
        parties: dict[Party, Callable[[], list[int]]] = {"server": lambda: server.pids, **(others or {})}
        self._parties = {party: CpuAccount(pids) for party, pids in parties.items()}
        self._series = series
        self._waits = WaitsWatch(server.waiting_sessions)
        self._samples = Samples()
        self._first: Sample | None = None
        self._last: Sample | None = None
        self._failure: ServerError | OSError | None = None
        self._stop = threading.Event()
        self._keeping = threading.Lock()
        self._thread: threading.Thread | None = None

    def begin(self) -> None:
        """Take the first sample and go on in the background."""
        self._first = self._last = first = self._sample(exact=True)
        self._samples.add(first.at_s, first.server)
        self._thread = threading.Thread(target=self._watch, daemon=True)
        self._thread.start()
        self._waits.begin()

    def end(self) -> None:
        """Stop and take the last sample; do nothing if `begin` was never called.

        Raises what failed in the background, and ServerFailedError if the server still owes an answer.
        """
        if self._thread is None:
            return
        self.abandon()
        self._waits.end()
        self._thread.join(END_LIMIT_S)
        if self._thread.is_alive():
            raise ServerFailedError(
                f"the server did not answer for {END_LIMIT_S:g} s when asked for its counters; "
                f"its log ends with:\n{self._server.log_tail()}"
            )
        self._thread = None
        if self._failure is not None:
            raise self._failure
        self._keep(self._sample(exact=True))

    def abandon(self) -> None:
        """Stop without a last sample: the server may be gone. No row follows."""
        self._waits.abandon()
        with self._keeping:
            self._stop.set()

    def usage(self, has_processes: bool) -> Usage:
        """Return the differences between the last sample and the first.

        What is measured may have no processes of its own here, and so no figures of its own: a database
        inside the load generator, or a server that was there already.
        """
        first, last = self._first, self._last
        assert first is not None
        assert last is not None
        cpu = _cpu_between(first, last)
        return Usage(
            seconds=last.at_s - first.at_s,
            server_cpu_s=cpu.get("server", UNUSED).used_s if has_processes else None,
            **between(first.host, last.host).model_dump(),
            devices=_devices_between(first, last),
            server_counters=_counters_minus(last.server, first.server),
            account=self._account(),
            cpu=cpu,
        )

    def _watch(self) -> None:
        """Sample once a second until the end, or until the server does not answer."""
        assert self._first is not None
        try:
            while not self._stop.wait(
                self._time.real_s(seconds_to_next(self._time.now_s() - self._first.at_s))
            ):
                sample = self._sample()
                with self._keeping:
                    if self._stop.is_set():
                        return
                    self._keep(sample)
        except (ServerError, OSError) as failure:
            self._failure = failure

    def _keep(self, sample: Sample) -> None:
        assert self._first is not None
        assert self._last is not None
        self._series(_rows(self._last, sample, self._first.at_s))
        self._last = sample
        self._samples.add(sample.at_s, sample.server)

    def _account(self) -> ServerAccount | None:
        account = self._server.account(self._samples)
        waiting = self._waits.mean()
        if account is None or waiting is None:
            return account
        return account.model_copy(update={"waiting_sessions": waiting})

    def _sample(self, *, exact: bool = False) -> Sample:
        own = self._time.own
        devices = {name: counters.device_counters(name) for name in self._devices}
        at_s, host = self._time.now_s(), own(counters.host_counters(self._cpus))
        used = {
            party: used for party, account in self._parties.items() if (used := account.look(exact=exact))
        }
        return Sample(
            at_s=at_s,
            host=self._held_back(host, used),
            cpu={party: self._own_cpu(party, use) for party, use in used.items()},
            devices={name: own(usage) for name, usage in devices.items() if usage is not None},
            server=self._server.status(),
        )

    def _own_cpu(self, party: Party, use: CpuUse) -> CpuUse:
        """Return what a party used and waited for: server and load may have fewer CPUs than others."""
        if party == "disks":
            return self._time.own(use)
        return self._time.own(use).model_copy(update={"used_s": use.used_s / self._time.cpus_count})

    def _held_back(self, host: counters.HostCounters, used: Mapping[Party, CpuUse]) -> counters.HostCounters:
        """Return what the host's CPUs did if they are as many as those of server and load."""
        theirs_s = sum(use.used_s for party, use in used.items() if party != "disks")
        more_s = self._time.held_by_server_and_load(theirs_s)
        held_s = None if host.held_cpu_busy_s is None else host.held_cpu_busy_s + more_s
        return host.model_copy(
            update={"host_cpu_busy_s": host.host_cpu_busy_s + more_s, "held_cpu_busy_s": held_s}
        )


def seconds_to_next(elapsed_s: float) -> float:
    """Return the wait until the next whole period. Missed periods are not repeated.

    A burst of samples would load a server that has just been slow.
    """
    return (math.floor(elapsed_s / PERIOD_S) + 1) * PERIOD_S - elapsed_s


def _counters_minus(later: Status, earlier: Status) -> dict[str, float]:
    """Return the counters that moved; one that is missing at either end is left out."""
    before = earlier.counters
    differences = {name: value - before[name] for name, value in later.counters.items() if name in before}
    return {name: difference for name, difference in differences.items() if difference}


def _rows(earlier: Sample, later: Sample, start_s: float) -> list[Row]:
    """Return the rates between two samples and the levels at the later one."""
    seconds = later.at_s - earlier.at_s
    t_s = later.at_s - start_s
    rates = [(t_s, source, metric, amount / seconds) for source, metric, amount in _moves(earlier, later)]
    levels = [(t_s, source, metric, level) for source, metric, level in _levels(earlier, later)]
    return rates + levels


def _moves(earlier: Sample, later: Sample) -> list[tuple[str, str, float]]:
    """Return (source, metric of the rate, difference of the counter); a rate of seconds is a share."""
    host = between(earlier.host, later.host).model_dump(exclude_none=True)
    moves = [("host", _rate_of(name), moved) for name, moved in host.items()]
    for party, used in _cpu_between(earlier, later).items():
        moves.append((party, "cpu", used.used_s))
        if used.waited_s is not None:
            moves.append((party, "cpu_waited", used.waited_s))
    for name, device in _devices_between(earlier, later).items():
        source = f"device:{name}"
        moves += [
            (source, "reads_per_s", device.reads),
            (source, "writes_per_s", device.writes),
            (source, "read_kib_per_s", device.read_bytes / 1024),
            (source, "written_kib_per_s", device.written_bytes / 1024),
            (source, "utilisation", device.busy_s),
        ]
        if device.read_s is not None and device.write_s is not None:
            # The time of a write includes the flush that it asked for.
            moves.append((source, "in_flight", device.read_s + device.write_s))
        if device.flushes is not None:
            moves.append((source, "flushes_per_s", device.flushes))
    moves += [
        ("server", f"{name}_per_s", moved)
        for name, moved in _counters_minus(later.server, earlier.server).items()
    ]
    return moves


def _rate_of(name: str) -> str:
    """Return what a counter of the machine is called as a rate: ``cpu_busy``, ``context_switches_per_s``."""
    return name.removeprefix("host_").removesuffix("_s") if name.endswith("_s") else f"{name}_per_s"


def _levels(earlier: Sample, later: Sample) -> list[tuple[str, str, float]]:
    """Return (source, metric, level): what the server reports, and a disk's mean times."""
    levels = [("server", name, level) for name, level in later.server.gauges.items()]
    for name, device in _devices_between(earlier, later).items():
        kinds = {
            "read": (device.read_s, device.reads),
            "write": (device.write_s, device.writes),
            "flush": (device.flush_s, device.flushes),
        }
        levels += [
            (f"device:{name}", f"{kind}_mean_us", seconds / count * 1e6)
            for kind, (seconds, count) in kinds.items()
            if seconds is not None and count
        ]
    return levels


def _devices_between(earlier: Sample, later: Sample) -> dict[str, DeviceUsage]:
    common = later.devices.keys() & earlier.devices.keys()
    return {name: between(earlier.devices[name], later.devices[name]) for name in sorted(common)}


def _cpu_between(earlier: Sample, later: Sample) -> dict[Party, CpuUse]:
    return {party: between(earlier.cpu.get(party, UNUSED), used) for party, used in later.cpu.items()}


WAITS_PERIOD_S = 0.2

MOST_TIME = 0.02
"""Share of the time for asking: a server with a thousand sessions is asked less often."""


class WaitsWatch:
    """Asks a server in the background what its sessions wait for; stops if the server does not report it."""

    def __init__(self, ask: Callable[[], dict[str, int] | None]) -> None:
        self._ask = ask
        self._moments = 0
        self._found: Counter[str] = Counter()
        self._stop = threading.Event()
        self._thread: threading.Thread | None = None

    def begin(self) -> None:
        """Start asking."""
        self._thread = threading.Thread(target=self._watch, daemon=True)
        self._thread.start()

    def end(self) -> None:
        """Stop asking, and wait for the current answer."""
        self.abandon()
        if self._thread is not None:
            self._thread.join(ANSWER_LIMIT_S)

    def abandon(self) -> None:
        """Stop asking."""
        self._stop.set()

    def mean(self) -> dict[str, float] | None:
        """Return the mean number of sessions by what they waited for; None if it is not reported."""
        if not self._moments:
            return None
        return {name: count / self._moments for name, count in sorted(self._found.items())}

    def _watch(self) -> None:
        wait_s = 0.0
        while not self._stop.wait(wait_s):
            began_s = time.monotonic()
            try:
                waiting = self._ask()
            except ServerError:  # the sampler's own question reports the fault
                return
            if waiting is None:
                return
            self._moments += 1
            self._found.update(waiting)
            wait_s = max(WAITS_PERIOD_S, (time.monotonic() - began_s) / MOST_TIME)
