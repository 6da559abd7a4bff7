"""What happens to the work, and when."""

import os
import shutil
import signal
import subprocess
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from random import Random

import psutil

SPREAD_S = 0.15
"""How long after a program's start a moment that aims at it may lie."""

POLL_S = 0.01


@dataclass
class Scene:
    """The work while it runs."""

    process: subprocess.Popen[bytes]
    output: int
    """Descriptor of the file that has what it says."""
    folder: Path
    random: Random
    look: Callable[[], bool]
    """Notes what belongs to the work; returns whether it has a journal, and so something to undo."""
    strangers: frozenset[int]
    """Processes that are not the work's."""
    debris: list[Path] = field(default_factory=list)
    """What is left of the disturbance itself; whoever caused it removes it."""

    def wait(self, seconds: float) -> bool:
        """Wait; return whether the work still runs."""
        end = time.monotonic() + seconds
        while self.process.poll() is None and time.monotonic() < end:
            self.look()
            time.sleep(POLL_S)
        return self.process.poll() is None

    def children(self) -> list[psutil.Process]:
        """Return the processes that the work has started."""
        mine = {*self.strangers, self.process.pid, os.getpid(), 1}
        return [one for one in psutil.process_iter() if one.pid not in mine]


@dataclass(frozen=True)
class Moment:
    """When it happens: after the start, after the journal's first line, or at a start of a program."""

    after_s: float
    program: str = ""
    nth: int = 1
    at_once: bool = False
    """Not even the journal is waited for."""

    def __str__(self) -> str:
        """Return it in words."""
        if self.program:
            return f"{self.after_s * 1000:.0f} ms after start {self.nth} of {self.program}"
        return f"{self.after_s:.3f} s after {'its start' if self.at_once else 'it took the machine'}"

    def wait(self, scene: Scene) -> bool:
        """Wait for it; return whether the work still runs then."""
        while not (self.at_once or scene.look()):
            if not scene.wait(POLL_S):
                return False
        started: set[int] = set()
        while self.program and len(started) < self.nth:
            if not scene.wait(POLL_S):
                return False
            for child in scene.children():
                with suppress(psutil.Error):
                    if child.name() == self.program[:15]:
                        started.add(child.pid)
        return scene.wait(self.after_s)


def choose_moment(random: Random, seconds: float, phases: tuple[str, ...]) -> Moment:
    """Choose a moment: most are at starts and ends, of the work or of one of its programs."""
    match random.choices(("start", "phase", "anywhere", "end"), (10, 45, 30, 15))[0]:
        case "start":
            return Moment(random.uniform(0, 2.0), at_once=True)
        case "phase" if phases:
            return Moment(random.uniform(0, SPREAD_S), random.choice(phases), random.choice((1, 1, 2)))
        case "end":
            return Moment(seconds * random.uniform(0.85, 1.05))
        case _:
            return Moment(random.uniform(0, seconds))


def send(number: signal.Signals) -> Callable[[Scene], str]:
    """Return the disturbance that sends a signal to the work itself."""

    def disturb(scene: Scene) -> str:
        scene.process.send_signal(number)
        return ""

    return disturb


def kill_child(scene: Scene) -> str:
    """Kill one of its programs, as soon as it has one."""
    while scene.process.poll() is None:
        if children := scene.children():
            child = scene.random.choice(children)
            with suppress(psutil.Error):
                name = child.name()
                child.kill()
                return name
        scene.wait(POLL_S)
    return "none"


def stop_for_a_while(scene: Scene) -> str:
    """Stop it, as Ctrl-Z does, and let it continue."""
    scene.process.send_signal(signal.SIGSTOP)
    time.sleep(seconds := scene.random.uniform(0.1, 2.5))
    scene.process.send_signal(signal.SIGCONT)
    return f"{seconds:.1f} s"


def fill_disk(scene: Scene) -> str:
    """Fill the disk under test, or the file system that holds the run folder and the journal."""
    full = scene.random.choice((scene.folder / "disk", scene.folder))
    scene.debris.append(full / "filler")
    fill(full / "filler")
    return full.name


def fill(file: Path) -> None:
    """Make a file that takes all room of its disk."""
    with file.open("wb") as filler:
        for size in (2**28, 2**24, 2**20, 2**16, 2**12):
            with suppress(OSError):
                while True:
                    os.posix_fallocate(filler.fileno(), filler.seek(0, os.SEEK_END), size)


def delete_folder(scene: Scene) -> str:
    """Delete one of the folders that it works with, but no mount and never the journal."""
    tmp = Path("/tmp")
    names = ("disk/place", "runs", "runs/.golden", "runs/study")
    folders = [scene.folder / name for name in names] + list(tmp.glob("diskproof-*"))
    there = [folder for folder in folders if folder.is_dir() and not folder.is_mount()]
    if not there:
        return "none"
    folder = scene.random.choice(there)
    scene.debris.append(folder)  # a mount in it outlasts the first attempt
    shutil.rmtree(folder, ignore_errors=True)
    return str(folder)


DISTURBANCES: dict[str, tuple[int, Callable[[Scene], str]]] = {
    "SIGKILL": (40, send(signal.SIGKILL)),
    "SIGTERM": (7, send(signal.SIGTERM)),
    "SIGINT": (7, send(signal.SIGINT)),
    "SIGHUP": (5, send(signal.SIGHUP)),
    "kill a child": (18, kill_child),
    "stop": (7, stop_for_a_while),
    "full disk": (8, fill_disk),
    "deleted folder": (8, delete_folder),
}
"""By name, with its weight."""

SIGNALS = ("SIGKILL", "SIGTERM", "SIGINT", "SIGHUP")
