"""What disturbs a run over hosts: kills of each of its processes, and a network, disk or clock that fails."""

import re
import signal
import subprocess
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from random import Random

import psutil

from disturbances import fill
from machines import Host, words_of

PARTITION_S = 30.0
"""Longer than Ray takes to call a machine gone."""

AHEAD_S = 5.0
WAKE_S = 0.05

MEASURE_S = 0.5
"""As in the study. A load that is younger is in its trial."""

PROGRAMS = ("mariadbd", "postgres")

CLOCK = """import os, time
now_ns = time.time_ns
def ahead_ns():
    try:
        with open(os.environ["AHEAD_S"]) as file:
            return now_ns() + int(float(file.read() or 0) * 1e9)
    except OSError:
        return now_ns()
time.time_ns = ahead_ns
time.time = lambda: ahead_ns() / 1e9
"""
"""The clock of a machine is ahead by what a file says."""


@dataclass
class Case:
    """What happens to a run, and what came of it."""

    what: str
    host: Host
    """Whose processes, network, disk or clock are disturbed."""
    runner: Host
    """Where `diskproof run` runs."""
    random: Random
    struck: bool = False
    """Whether the run was still under way."""
    killed: set[int] = field(default_factory=set)
    """Numbers of the processes that were killed."""
    attempt: tuple[Path, str] | None = None
    """The trial in which load or server was killed: its run folder on the machine, and its name."""
    found: list[str] = field(default_factory=list)
    said: str = ""


def named(host: Host, *names: str) -> list[psutil.Process]:
    """Return the processes of a machine that have one of these names, the oldest first."""
    found = []
    for process in host.processes():
        with suppress(psutil.Error):
            if process.name() in names:
                found.append((process.create_time(), process.pid, process))
    return [process for *_, process in sorted(found)]


def labs(host: Host) -> list[psutil.Process]:
    """Return the workers of Ray that run a lab."""
    return [one for one in host.processes() if words_of(one)[:1] and words_of(one)[0].startswith("ray::Host")]


VICTIMS: dict[str, Callable[[Host], list[psutil.Process]]] = {
    "lab": labs,
    "part": Host.parts,
    "raylet": lambda host: named(host, "raylet"),
    "host": Host.processes,
    "load": lambda host: named(host, "diskproof-load"),
    "server": lambda host: named(host, *PROGRAMS)[:1] or named(host, "diskproof-load"),
    "cluster": lambda host: named(host, "gcs_server"),
}
"""Whose processes are killed; an embedded server is the load."""

WEIGHTS = {
    "head": 16,
    "head interrupted": 6,
    "lab": 14,
    "part": 14,
    "raylet": 12,
    "cluster": 4,
    "host": 10,
    "load": 14,
    "server": 14,
    "partition": 4,
    "full disk": 6,
    "clock": 4,
}


def strike(case: Case, process: subprocess.Popen[str], hosts: Sequence[Host], ending_s: float) -> list[Host]:
    """Disturb the run if it still runs at the moment; return the machines that must join again.

    `ending_s`: how long a run may take.
    """

    def wait(seconds: float, ready: Callable[[], object] = lambda: False) -> bool:
        until(lambda: process.poll() is not None or ready(), seconds)
        return process.poll() is None

    random, host = case.random, case.host
    if case.what.startswith("head"):
        sign = random.choice((Host.parts, attempts_on, attempts_on))
        early = case.what == "head" and random.random() < 0.2
        if early or wait(ending_s, lambda: any(sign(one) for one in hosts)):
            case.struck = wait(random.uniform(0, 3))
        if case.struck and case.what == "head":
            process.kill()
            case.killed.add(process.pid)
        elif case.struck:
            process.send_signal(signal.SIGINT)
        return []
    in_trial = case.what not in {"lab", "part", "raylet", "host", "cluster"} or random.random() < 0.6
    if not wait(ending_s, (lambda: attempts_on(host)) if in_trial else host.parts):
        return []
    seen_s = time.monotonic()
    if not wait(random.uniform(0, MEASURE_S * 0.6 if in_trial else 4)):
        return []
    case.struck = True
    if case.what not in VICTIMS:
        return _disturb(case)
    attempts, victims = attempts_on(host), VICTIMS[case.what](host)
    for victim in victims:
        with suppress(psutil.Error):
            victim.kill()
            case.killed.add(victim.pid)
    if case.what in {"load", "server"} and attempts and time.monotonic() - seen_s < MEASURE_S * 0.7:
        case.attempt = attempts[0]
    return [host] if case.what in {"raylet", "host", "cluster"} else []


def _disturb(case: Case) -> list[Host]:
    match case.what:
        case "partition":
            _link(case.host, "down")
            time.sleep(PARTITION_S)
            _link(case.host, "up")
            return [case.host]
        case "full disk":
            full = case.random.choice((case.host.out, case.host.scratch / "runs"))
            fill(full / "filler")
        case "clock":
            (case.host.scratch / f"ahead-{case.host.name}").write_text(str(AHEAD_S))
    return []


def until(ready: Callable[[], object], seconds: float) -> bool:
    """Wait; return whether it came."""
    end = time.monotonic() + seconds
    while not (came := bool(ready())) and time.monotonic() < end:
        time.sleep(WAKE_S)
    return came


def attempts_on(host: Host) -> list[tuple[Path, str]]:
    """Return the trials under load on a machine: run folder there, and name."""
    found = []
    for load in named(host, "diskproof-load"):
        with suppress(OSError):
            log = str(Path(f"/proc/{load.pid}/fd/2").readlink())
            if match := re.fullmatch(r"(.*)/servers/(b\d+-t\d+)/load\.log", log):
                found.append((Path(match[1]), match[2]))
    return found


def _link(host: Host, state: str) -> None:
    subprocess.run(["ip", "link", "set", host.link, state], check=True)
