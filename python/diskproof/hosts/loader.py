"""What a host of the load runs: diskproof-load, as the database's host asks for it trial by trial.

It takes its machine for the run. It is silent while diskproof-load measures: its answer comes afterwards.
"""

import base64
import time
from collections.abc import Callable, Iterator
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import psutil

from diskproof import load
from diskproof.hosts import probe
from diskproof.hosts.line import Line, Said
from diskproof.hosts.remote import FILES
from diskproof.refusal import RefusalError, refusal_of
from diskproof.server.endpoint import AUTHORITY, CERTIFICATE
from diskproof.system.clocks import calendar_ahead_ns
from diskproof.system.counters import HostCounters, between, host_counters
from diskproof.system.cpus import usable
from diskproof.system.endings import was_stopped_since
from diskproof.system.idle import cores_awake
from diskproof.system.journal import clean, machine_taken
from diskproof.system.machine import describe_machine
from diskproof.system.processes import Starter
from diskproof.system.undoing import Undone


class _Desk:
    """Does what is asked, a question at a time."""

    def __init__(self, starter: Starter, folder: Path) -> None:
        self._starter, self._folder = starter, folder
        self._load: load.Load | None = None
        self._events: Iterator[load.Event] = iter(())

    def do(self, asked: Said) -> Said:
        """Return the answer; one with `failed` says why there is none."""
        do: dict[str, Callable[..., Said]] = {
            "network": self._network,
            "clock": self._clock,
            "start": self._start,
            "go": self._go,
            "finish": self._finish,
            "stop": self._stop,
        }
        try:
            return do[asked.pop("do")](**asked)
        except RefusalError as error:
            return {"failed": str(error)}
        except OSError as error:
            return {"failed": refusal_of(error) or str(error)}

    def _network(self, address: str, port: int, secret: str) -> Said:
        return probe.network(address, port, bytes.fromhex(secret)).model_dump()

    def _clock(self, address: str, port: int, secret: str) -> Said:
        found = probe.clock(address, port, bytes.fromhex(secret))
        return {**vars(found), "ahead_ns": -found.ahead_ns, "calendar_ns": calendar_ahead_ns()}

    def _start(
        self,
        url: str,
        kind: str,
        arguments: list[str],
        files: dict[str, str],
        certificate: str,
        password: str,
        longest_s: float,
    ) -> Said:
        self._stop()
        (self._folder / CERTIFICATE).write_text(certificate)
        for name, content in files.items():
            (self._folder / name).write_bytes(base64.b64decode(content))
        self._load = load.Load(
            self._starter,
            url.replace(AUTHORITY, str(self._folder / CERTIFICATE)),
            kind,
            [word.replace(FILES, str(self._folder)) for word in arguments],
            self._folder / "load.log",
            password,
        )
        self._events = self._load.events(longest_s)
        return {"ready": next(self._events)}

    def _go(self, at_ns: int, address: str) -> Said:
        assert self._load is not None
        interface = _interface_towards(address)
        intervals: list[load.Event] = []
        began_ns = 0
        first = last = _counted(interface)
        here_s = time.monotonic()
        self._load.go_on(at_ns)
        for event in self._events:
            match event["event"]:
                case "measuring":
                    first, began_ns = _counted(interface), event["monotonic_ns"]
                case "measured":
                    last = _counted(interface)
                case "interval":
                    intervals.append(event)
                case "idle":
                    break
        if was_stopped_since(here_s):
            return {"failed": "it was stopped (Ctrl-Z or SIGSTOP) while it measured"}
        (at, host, bytes_first), (until, host_last, bytes_last) = first, last
        used = between(host, host_last)
        moved = [after - before for before, after in zip(bytes_first, bytes_last, strict=True)]
        return {
            "began_ns": began_ns,
            "intervals": intervals,
            "counted_s": until - at,
            "busy_s": used.host_cpu_busy_s,
            "steal_s": used.host_cpu_steal_s,
            "moved": moved,
            "cpus": len(usable()),
            "host_cpus": psutil.cpu_count() or len(usable()),
        }

    def _finish(self) -> Said:
        assert self._load is not None
        self._load.go_on()
        summary = next(event for event in self._events if event["event"] == "summary")
        self._stop()
        return {"summary": summary}

    def _stop(self) -> Said:
        if self._load is not None:
            self._load.end()
            self._load = None
        return {}


def _counted(interface: str | None) -> tuple[float, HostCounters, list[int]]:
    """Return the moment, the machine's counters, and the bytes that an interface has sent and received."""
    counters: Any = psutil.net_io_counters(pernic=True).get(interface) if interface else None
    moved = [counters.bytes_sent, counters.bytes_recv] if counters else []
    return time.monotonic(), host_counters(), moved


def _interface_towards(own: str) -> str | None:
    """Return the network interface that has an address of this machine."""
    for name, addresses in psutil.net_if_addrs().items():
        if any(one.address == own for one in addresses):
            return name
    return None


def main() -> None:
    """Take the machine, then do what is asked until the line closes."""
    line = Line()

    def show(undone: Undone) -> None:
        line.tell(note=f"{'removed' if undone.done else 'could not remove'}: {undone.what}")

    with line.held():
        version = load.version()
        for undone in clean():
            show(undone)
        said = line.hear() or {}
        with (
            machine_taken("load of a database on another machine", show) as journal,
            cores_awake() if said.get("cores_awake") else nullcontext() as wake_up_us,
        ):
            folder = journal.directory(Path("/tmp") / f"diskproof-{journal.mark}")  # noqa: S108 - made new
            folder.chmod(0o700)
            desk = _Desk(Starter(journal), folder)
            machine = describe_machine([], [], version, wake_up_us)
            line.tell(state="waits", machine=machine.model_dump_json())
            while (asked := line.hear()) is not None:
                line.tell(state="answers", said=desk.do(asked))


if __name__ == "__main__":
    main()
