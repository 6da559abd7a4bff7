"""The load's machines, as the database's machine has them: over the line to its lab, and so through the head.

Nothing is sent while they measure: all know the moment of the beginning beforehand, each by its own clock.
"""

import base64
import secrets
import signal
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from diskproof.hosts import probe
from diskproof.hosts.line import Line, Said
from diskproof.load import PROTOCOL, SILENCE_S, Event, LoadFailedError, to_result
from diskproof.refusal import RefusalError
from diskproof.results.load import LoadResult
from diskproof.results.load_host import LoadHost, Network
from diskproof.run.elsewhere import Order
from diskproof.server.endpoint import make_door
from diskproof.system.clocks import SET_NS
from diskproof.workload.shared import together, together_in_intervals

FILES = "{files}"
"""Stands in arguments for the folder in which a load's machine keeps the files of a workload."""

LEAD_NS = 1_000_000_000
"""From sending the moment of the beginning to that moment: the message must arrive before."""

DRIFT = 500e-6
"""How much faster one clock may run than another: by at most so much NTP slews one (RFC 5905, 11.3)."""

ANSWER_S = 3 * SILENCE_S
"""How long an answer may take besides the phases: statements under way at their end have a minute."""


@dataclass(frozen=True)
class Roles:
    """The machines of a study with its load elsewhere, and their addresses."""

    address: str
    """The address of the database's machine."""
    port: int
    loads: Mapping[str, str]
    """The addresses of the load's machines, by name."""


@dataclass(frozen=True)
class _Clock(probe.Clock):
    """The clock of one machine beside ours, at one moment."""

    calendar_ns: int
    """How far its calendar is ahead of its own monotonic clock."""
    at_ns: int


class RemoteLoads:
    """The machines of the load."""

    files = FILES

    def __init__(self, line: Line, roles: Roles, runtime: Path) -> None:
        """Make the endpoint, and measure the network to each machine; RefusalError if one is out of reach."""
        self._line, self._roles = line, roles
        self._lost: str | None = None
        self.awaited = False
        """Whether an answer is to come."""
        self.names: Sequence[str] = list(roles.loads)
        folder = runtime / "endpoint"
        folder.mkdir(mode=0o700)
        self.endpoint = make_door(folder, roles.address, roles.port, list(roles.loads.values()))
        try:
            self.networks = {name: Network(**self._probe(name, "network")) for name in self.names}
        except LoadFailedError as error:
            raise RefusalError(
                f"the network to the load's machines cannot be measured: {error}. Open port {roles.port} and "
                f"{roles.port + 1} of {roles.address} to them"
            ) from None

    def check(self) -> None:
        """RefusalError if a machine is gone: no further trial can be made."""
        if self._lost is not None:
            raise RefusalError(self._lost)

    def begin(self, order: Order) -> "RemoteLoad":
        """Prepare a load on the first machines, one for each list of arguments."""
        return RemoteLoad(self, order, self.names[: len(order.arguments)])

    def clocks(self, names: Sequence[str]) -> dict[str, _Clock]:
        """Compare the machines' clocks with ours, one after another."""
        found = {}
        for name in names:
            at_ns = time.monotonic_ns()
            found[name] = _Clock(**self._probe(name, "clock"), at_ns=at_ns)
        return found

    def own_address(self, name: str) -> str:
        """Return the address of a machine."""
        return self._roles.loads[name]

    def send(self, asked: Mapping[str, Said]) -> None:
        """Ask machines without waiting."""
        self._line.tell(state="asks", said=asked)
        self.awaited = True

    def ask(self, asked: Mapping[str, Said]) -> dict[str, Said]:
        """Ask machines, and return their answers as `answers` does."""
        self.send(asked)
        return self.answers()

    def has_answers(self, limit_s: float) -> bool:
        """Return whether answers come within the limit; `answers` returns them."""
        return self._line.hears(limit_s)

    def answers(self, limit_s: float = ANSWER_S) -> dict[str, Said]:
        """Return the answers, by machine; LoadFailedError names the first that failed.

        Without an answer nothing more can be asked: a later one would be taken for another's.
        """
        try:
            heard = self._line.hear(limit_s)
        except TimeoutError:
            self.awaited = False
            self._lost = "the load's machines did not answer"
            raise LoadFailedError(self._lost) from None
        self.awaited = False
        if heard is None:
            signal.raise_signal(signal.SIGTERM)
            raise LoadFailedError("the head of the run is gone")
        for name, answer in heard.items():
            if "failed" in answer:
                why = f"host `{name}`: {answer['failed']}"
                if answer.get("lost"):
                    self._lost = why
                raise LoadFailedError(why)
        return heard

    def _probe(self, name: str, what: str) -> dict[str, Any]:
        secret, port = secrets.token_bytes(probe.SECRET_BYTES), self._roles.port + 1
        try:
            with probe.answering(self._roles.address, port, secret):
                asked = {"do": what, "address": self._roles.address, "port": port, "secret": secret.hex()}
                return self.ask({name: asked})[name]
        except OSError as error:
            at = f"{self._roles.address}:{port}"
            raise LoadFailedError(f"{at} cannot be listened on: {error.strerror or error}") from None


@dataclass
class RemoteLoad:
    """A load that some machines make together."""

    loads: RemoteLoads
    order: Order
    names: Sequence[str]
    hosts: list[LoadHost] = field(default_factory=list)
    pids: list[int] = field(default_factory=list)
    _started: bool = False

    @property
    def argv(self) -> list[str]:
        """The command of the first machine."""
        return ["diskproof-load", "run", self.order.kind, "--url", self.order.url, *self.order.arguments[0]]

    def go_on(self) -> None:
        """Do nothing: the next event is asked for when this one is dealt with."""

    def events(self, longest_s: float) -> Iterator[Event]:
        """Yield the events of all machines together, each when it is certain that it has happened."""
        phases = self.order.phases
        self._started = True
        ready = self.loads.ask(self._starts(longest_s))
        for name, one in ready.items():
            if one["ready"]["protocol"] != PROTOCOL:
                raise LoadFailedError(f"host `{name}` has another version of diskproof-load")
        yield next(iter(ready.values()))["ready"]
        before = self.loads.clocks(self.names)
        start_ns = time.monotonic_ns() + LEAD_NS
        self.loads.send(
            {
                name: {
                    "do": "go",
                    "at_ns": start_ns + clock.ahead_ns,
                    "address": self.loads.own_address(name),
                }
                for name, clock in before.items()
            }
        )
        measure_ns = start_ns + int(phases.warm_up_s * 1e9)
        self._sleep(measure_ns)
        yield {"event": "measuring"}
        self._sleep(measure_ns + int(phases.measure_s * 1e9))
        yield {"event": "measured"}
        went = self.loads.answers()
        self._check_clocks(before, self.loads.clocks(self.names))
        yield {"event": "idle"}
        yield from together_in_intervals([one["intervals"] for one in went.values()])
        ended = self.loads.ask({name: {"do": "finish"} for name in self.names})
        results = [to_result(one["summary"]) for one in ended.values()]
        self.hosts += self._records(went, before, results)
        self._started = False
        yield {"event": "summary", "result": together(results)}

    def end(self) -> None:
        """Have the machines end it; they do so by themselves if they cannot be asked."""
        try:
            if self.loads.awaited:
                self.loads.answers(self.order.phases.warm_up_s + self.order.phases.measure_s + ANSWER_S)
            if self._started:
                self.loads.ask({name: {"do": "stop"} for name in self.names})
        except LoadFailedError:
            pass
        self._started = False

    def _starts(self, longest_s: float) -> dict[str, Said]:
        same = {
            "do": "start",
            "url": self.order.url,
            "kind": self.order.kind,
            "files": {name: base64.b64encode(one).decode() for name, one in self.order.files.items()},
            "certificate": self.loads.endpoint.certificate,
            "password": self.loads.endpoint.password,
            "longest_s": longest_s,
        }
        return {
            name: {**same, "arguments": list(arguments)}
            for name, arguments in zip(self.names, self.order.arguments, strict=True)
        }

    def _sleep(self, until_ns: int) -> None:
        """Wait for a moment; LoadFailedError if a machine fails before, or ends before its time.

        If this machine is busy, it wakes late. Then answers are there that came after the moment.
        """
        left_s = max(until_ns - time.monotonic_ns(), 0) / 1e9
        if self.loads.has_answers(left_s) and time.monotonic_ns() < until_ns:
            self.loads.answers()
            raise LoadFailedError("the load ended before its time")

    def _check_clocks(self, before: Mapping[str, _Clock], after: Mapping[str, _Clock]) -> None:
        """Refuse a trial in which a clock jumped, or a machine stood still: its phases are not ours."""
        for name, now in after.items():
            then = before[name]
            allowed_ns = then.within_ns + now.within_ns + DRIFT * (now.at_ns - then.at_ns)
            if (moved_ns := abs(now.ahead_ns - then.ahead_ns)) > allowed_ns:
                raise LoadFailedError(
                    f"host `{name}`: its clock moved by {moved_ns / 1e9:.2g} s against ours"
                )
            if (stepped_ns := abs(now.calendar_ns - then.calendar_ns)) > SET_NS:
                raise LoadFailedError(f"host `{name}`: its clock was set by {stepped_ns / 1e9:.2g} s")

    def _records(
        self, went: Mapping[str, Said], clocks: Mapping[str, _Clock], results: Sequence[LoadResult]
    ) -> list[LoadHost]:
        began = {name: one["began_ns"] - clocks[name].ahead_ns for name, one in went.items()}
        records = []
        for name, result in zip(went, results, strict=True):
            one, clock = went[name], clocks[name]
            sent, received = one["moved"] or (None, None)
            assert result.client is not None
            records.append(
                LoadHost(
                    name=name,
                    clients=result.known_clients,
                    cpus=one["cpus"],
                    host_cpus=one["host_cpus"],
                    seconds=one["counted_s"],
                    transactions_per_s=result.transactions_per_s,
                    latency_mean_us=result.latency_us.mean if result.latency_us else None,
                    client=result.client,
                    host_cpu_busy_s=one["busy_s"],
                    host_cpu_steal_s=one["steal_s"],
                    to_database_bytes=sent,
                    from_database_bytes=received,
                    began_after_us=(began[name] - min(began.values())) / 1e3,
                    clock_error_us=clock.within_ns / 1e3,
                    network=self.loads.networks[name].model_copy(
                        update={"round_trip_us": clock.round_trip_us}
                    ),
                )
            )
        return records
