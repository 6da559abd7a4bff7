"""Starting diskproof-disk and speaking with it: the lab's end of docs/disk.md."""

import json
import os
import signal
import socket
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from diskproof.refusal import RefusalError
from diskproof.system.processes import Starter
from diskproof.system.programs import PIPE, Process, TimedOut, find_program, first_line, in_memory, kill, run

PROGRAM = "diskproof-disk"

LOG = "disk.log"
"""What the program says on stderr, beside its socket."""

READY_S = 120.0
"""How long a disk may take until it serves: a large flash drive is filled first, and the path is measured."""

ANSWER_S = 30.0
"""How long an answer to a control request may take."""

LINES_AT_ONCE = 500
"""Loads or probes in one file, which the program refuses above 1 MiB."""

END_S = 10.0
"""How long the program may take to end once it was told to."""

Facts = dict[str, Any]


class DiskError(RefusalError):
    """A virtual disk cannot do what was asked; the message is the program's own, or says that it is gone."""


class TooFastError(DiskError):
    """A device is faster than this machine can answer."""

    def __init__(self, device: str, model_read_us: float, path_us: float) -> None:
        """Take medians of 4 KiB reads at depth 1: the model's, and those of the path to any virtual disk."""
        self.device, self.model_read_us, self.path_us = device, model_read_us, path_us
        super().__init__(self.saying("--below-floor"))

    def saying(self, option: str) -> str:
        """Return the message with the name of the option that serves the device all the same."""
        return (
            f"`{self.device}` is too fast for this machine: its model answers a 4 KiB read in "
            f"{self.model_read_us:.1f} µs, and the path to a virtual disk alone takes {self.path_us:.1f} µs. "
            "Let time pass slower (`dilation` in a study, `--dilation` to attach it), use a slower device or "
            f"a faster machine, or serve it slower than it is with {option}"
        )


def is_installed() -> bool:
    """Return whether the program is there."""
    return find_program(PROGRAM) is not None


def program() -> Path:
    """Return the program that was installed with this lab; DiskError if there is none."""
    found = find_program(PROGRAM)
    if found is None:
        raise DiskError(f"{PROGRAM} is not installed; `make run` builds it, as does `pip install .`")
    return found


def devices(floor_us: float | None = None) -> list[Facts]:
    """Return the devices that come with the program: what `list --json` says of each.

    With a floor, `label` and `refused` tell how each stands to it.
    """
    held = [] if floor_us is None else ["--floor-us", str(floor_us)]
    return [json.loads(line) for line in _say("list", "--json", *held).splitlines()]


def floor_us() -> float:
    """Measure what this machine's way to a virtual disk costs; DiskError where none can be served."""
    return float(json.loads(_say("floor", "--json"))["floor_us"])


def write_clock(library: Path) -> None:
    """Write the library that slows the clocks of a server that is started with it; any user may load it."""
    _say("clock", str(library))
    library.chmod(0o644)


def simulate(device: str, pattern: str, depth: int = 1, *, seconds: int, requests: int) -> Facts:
    """Return what the model says to requests of 4 KiB in so many virtual seconds, or to so many of them."""
    probe = {"pattern": pattern, "block_bytes": 4096, "depth": depth}
    (facts,) = simulate_probes(device, [{"probe": probe, "seconds": seconds, "requests": requests}], seed=1)
    return facts


def read_us(device: str) -> float:
    """Return the median time of a single 4 KiB read."""
    return float(simulate(device, "random-read", seconds=1, requests=1000)["median_us"])


def simulate_loads(device: str, loads: Sequence[Facts]) -> list[Facts]:
    """Return what clients would see on a device, in virtual time: one answer for each load."""
    return _simulate_lines(device, "--transactions", loads)


def simulate_probes(device: str, probes: Sequence[Facts], seed: int) -> list[Facts]:
    """Return what the model answers to each probe, each time a new model."""
    return _simulate_lines(device, "--probes", probes, "--seed", str(seed))


def _simulate_lines(device: str, option: str, lines: Sequence[Facts], *options: str) -> list[Facts]:
    said: list[str] = []
    for begin in range(0, len(lines), LINES_AT_ONCE):
        with in_memory() as file:
            file.write("\n".join(map(json.dumps, lines[begin : begin + LINES_AT_ONCE])).encode())
            file.flush()
            name = f"/proc/{os.getpid()}/fd/{file.fileno()}"
            said += _say("simulate", device, option, name, *options).splitlines()
    return [json.loads(line) for line in said]


def show(device: str) -> Facts:
    """Return a device file, checked; DiskError where there is no such device or its file is wrong."""
    facts: Facts = json.loads(_say("show", device))
    return facts


def _say(*words: str) -> str:
    try:
        result = run([str(program()), *words])
    except TimedOut as late:
        raise DiskError(f"`{PROGRAM} {words[0]}` did not end within {late.timeout:g} s") from None
    if result.code != 0:
        raise DiskError(result.err.strip().removeprefix(f"{PROGRAM}: ") or f"{PROGRAM} said nothing")
    return result.out


class Control:
    """The control socket of a served disk: one JSON object a line, each answered by one."""

    def __init__(self, path: Path) -> None:
        """Speak with the disk whose socket lies at `path`; it is connected to for each request."""
        self.path = path

    def ask(self, do: str, **fields: object) -> Facts:
        """Send a request and return the answer; DiskError where it is refused, or nobody answers."""
        return ask_at_once(do, [(self, fields)])[0]

    def set_timing(self, *, on: bool) -> None:
        """Let answers take the model's time, or none: while data is put in place."""
        self.ask("timing", on=on)


def ask_at_once(do: str, asked: Sequence[tuple[Control, Facts]]) -> list[Facts]:
    """Send a request to several disks and return their answers; DiskError as with `Control.ask`.

    All are connected to before the first is asked, and all are asked before any answer is waited for: what
    lies between two of them is a call of the kernel, however long each takes over its answer.
    """
    with ExitStack() as stack:
        connections = []
        for control, _ in asked:
            connection = stack.enter_context(socket.socket(socket.AF_UNIX, socket.SOCK_STREAM))
            connection.settimeout(ANSWER_S)
            with _speaking(control, do):
                connection.connect(str(control.path))
            connections.append(connection)
        requests = [(json.dumps({"do": do, **fields}) + "\n").encode() for _, fields in asked]
        for (control, _), connection, request in zip(asked, connections, requests, strict=True):
            with _speaking(control, do):
                connection.sendall(request)
        return [
            _answer(control, do, connection)
            for (control, _), connection in zip(asked, connections, strict=True)
        ]


def _answer(control: Control, do: str, connection: socket.socket) -> Facts:
    with _speaking(control, do):
        line = connection.makefile("rb").readline()
    if not line.endswith(b"\n"):
        raise DiskError(f"the virtual disk at {control.path} went away before it answered `{do}`")
    answer: Facts = json.loads(line)
    if not answer.get("ok"):
        raise DiskError(f"the virtual disk refused `{do}`: {answer.get('error', 'no reason given')}")
    return answer


@contextmanager
def _speaking(control: Control, do: str) -> Iterator[None]:
    """Put in words what goes wrong on a connection."""
    try:
        yield
    except TimeoutError:
        raise DiskError(
            f"the virtual disk at {control.path} has not answered `{do}` for {ANSWER_S:g} s"
        ) from None
    except OSError as error:
        raise DiskError(f"the virtual disk at {control.path} is gone ({error})") from None


@dataclass(frozen=True)
class Served:
    """A disk that is being served."""

    process: Process
    control: Control
    file: Path | None
    """The disk's bytes as one file, in a FUSE mount; None where it is served as a directory."""
    ready: Facts
    """What the program said when it was ready."""
    warnings: tuple[str, ...] = ()
    """What it warned of until then."""

    def ended(self) -> str | None:
        """Say how the program ended, with its last words; None while it runs."""
        code = self.process.poll()
        if code is None:
            return None
        log = self.control.path.with_name(LOG)
        said = log.read_text(errors="replace").strip().splitlines()[-1:] if log.is_file() else []
        how = f"was killed by {signal.Signals(-code).name}" if code < 0 else f"ended with exit code {code}"
        return f"{how}, saying: {said[0]}" if said else how

    def end(self) -> None:
        """Ask the program to end, and see that it does; it unmounts its file itself."""
        try:
            self.control.ask("detach")
        except DiskError:
            self.process.terminate()
        try:
            self.process.wait(END_S)
        except TimedOut:
            if not kill(self.process):
                raise DiskError(
                    f"{PROGRAM} (process {self.process.pid}) was killed and does not end"
                ) from None


def serve(
    starter: Starter,
    device: str,
    *,
    mount: Path,
    socket_file: Path,
    options: list[str],
    outlives: bool = False,
) -> Served:
    """Start serving a device as a file in `mount`; DiskError carries the program's reason where it refuses.

    `outlives`: it goes on when this process ends.
    """
    argv = [str(program()), "serve", device, "--mount", str(mount), "--socket", str(socket_file), *options]
    log = socket_file.with_name(LOG)
    process = starter.start(argv, log_file=log, stdout=PIPE, outlives=outlives)
    assert process.stdout is not None
    with process.stdout as output:
        line = first_line(output, READY_S)
    event: Facts = json.loads(line) if line.endswith(b"\n") else {}
    if event.get("event") != "ready":
        kill(process)
        if too_fast := event.get("below_floor"):
            raise TooFastError(device, **too_fast)
        said = log.read_text(errors="replace").strip().splitlines()[-1:]
        raise DiskError(event.get("message") or (said[0] if said else f"{PROGRAM} ended without a message"))
    file = Path(event["file"]) if event["file"] else None
    warnings = tuple(warning["message"] for warning in event["warnings"])
    return Served(process, Control(socket_file), file, event, warnings)
