"""One case: a short piece of work is disturbed, `diskproof clean` follows, and nothing may be left.

Runs in namespaces of its own (processes, mounts, shared memory), which `campaign.py` makes. So all that it
finds is its own, and ends with it. Writes its outcome to stdout as a line of JSON.
"""

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Set as AbstractSet
from contextlib import suppress
from dataclasses import asdict, dataclass, field
from functools import partial
from pathlib import Path
from random import Random

import psutil

from disturbances import DISTURBANCES, SIGNALS, Moment, Scene, choose_moment
from left import CONNECTIONS, ROOTS, Seen, Things, differences, everything, mounts, processes
from works import CLEAN, WORKS, is_possible

CLEAN_LIMIT_S = 30.0
SIGNAL_LIMIT_S = 30.0
"""Limit for an orderly end: a server stops, file systems are unmounted."""

SLOW = 4.0
"""How many times as long as undisturbed work may take."""

FIO_ITSELF_S = 1.5
"""How long fio may take to start and to end on a busy machine: the counters include it."""

SETTLE_S = 3.0
"""How long the kernel may take to release what was detached."""

OF_PROGRAMS = (Path("/run/mount"), Path("/run/lock"), Path("/run/zfs"))
"""Folders in which mount and zfs-fuse keep what they need."""

MEMORY = "1700m"
DISK_BYTES = 900 * 2**20
CALM = "nothing"
"""The first case of each kind of work: it must be sound, and leaves its loaded data to later cases."""

SOUND = frozenset({0, 10, 12})
"""Exit codes of work that nothing disturbs: docs/commands.md."""

KNOWN_ENDS = SOUND | {2}
"""Exit codes of work that nobody ended."""

ENDS = {
    name: KNOWN_ENDS | ({-signal.SIGKILL} if name == "SIGKILL" else {130} if name in SIGNALS else set())
    for name in DISTURBANCES
}
"""Exit codes of disturbed work."""

BROKEN = ("Traceback (most recent call last)", "panicked at")


@dataclass
class Outcome:
    """What came of a case."""

    work: str
    disturbance: str
    moment: str
    kills: int = 0
    """Signals and other disturbances that hit running work."""
    found: list[str] = field(default_factory=list)
    said: str = ""
    """Output of the programs."""


class Case:
    """One case."""

    def __init__(self, seed: int, number: int, kept: list[Path]) -> None:
        """Choose the work, the disturbance and the moment by seed."""
        self.random = Random(f"{seed} {number}")
        self.work = WORKS[number % len(WORKS)]  # each kind in turn
        names = list(DISTURBANCES)
        self.disturbance = self.random.choices(names, [DISTURBANCES[name][0] for name in names])[0]
        if number < len(WORKS):
            self.disturbance = CALM
        self.then_clean = self.disturbance == "SIGKILL" and self.random.random() < 0.25
        self.kept = kept
        self.golden = kept[0] / self.work.name.replace(" ", "-")
        self.length = self.golden.with_suffix(".seconds")
        self.seconds = float(self.length.read_text()) if self.length.exists() else self.work.seconds
        self.moment = choose_moment(self.random, self.seconds, self.work.phases)
        self.resumes = self.random.random() < 0.3
        self.fresh = self.random.random() < 0.3
        self.folder = Path("/tmp") / f"torture-{seed}-{number}"
        self.seen = Seen()
        self.outcome = Outcome(self.work.name, self.disturbance, str(self.moment))
        self.strangers: frozenset[int] = frozenset()
        self.output: list[str] = []

    def run(self) -> Outcome:
        """Do it all."""
        if not is_possible(self.work):
            self.outcome.disturbance = "left out"
            return self.outcome
        self._prepare()
        before = self._everything()
        scene = self._start(*self.work.verb)
        ends = ENDS.get(self.disturbance, SOUND)
        if self.disturbance != CALM:
            if self.moment.wait(scene):
                ends |= self._strike(scene)
            self._end(scene, SIGNAL_LIMIT_S if self.disturbance in SIGNALS else self._limit(), ends)
        elif Moment(0).wait(scene):
            began = time.monotonic()
            self._end(scene, self._limit(), ends)
            self.length.write_text(f"{time.monotonic() - began:.2f}")
        if self.disturbance == "full disk" and self.random.random() < 0.5:
            self._clean(full=True)
        self._check_trials()
        for path in scene.debris:
            if path.is_dir():
                shutil.rmtree(path, ignore_errors=True)
            else:
                path.unlink(missing_ok=True)
        if self.then_clean:
            self._kill_clean()
        if self.work.name == "disk attach":
            self._end(self._start("disk", "detach", "--all", "--force"), CLEAN_LIMIT_S, {0, 2})
        if self.disturbance not in {"SIGKILL", "deleted folder"}:
            self._compare(before, "before `clean`: ")
        self._clean()
        self._compare(before)
        if self.resumes and self.work.again and not self.outcome.found:
            self._end(self._start(*self.work.verb, *self.work.again), self._limit(), KNOWN_ENDS)
            self._compare(before, "after the resumed run: ")
        self._keep_golden()
        self.outcome.said = "\n".join(self.output)
        return self.outcome

    def _prepare(self) -> None:
        """Make the case's folder, the strangers' things in it and beside it, and the study."""
        for folder in ("disk", "empty", "state/disks", "state/composed", "runs", "else"):
            (self.folder / folder).mkdir(parents=True)
        for kept in OF_PROGRAMS:
            kept.mkdir(exist_ok=True)
        image = self.folder / "disk.img"
        image.touch()
        os.truncate(image, DISK_BYTES)
        _command("mkfs.ext4", "-q", "-O", "^has_journal", str(image))
        _command("mount", "-o", "loop", str(image), str(self.folder / "disk"))
        for path in (self.folder, self.folder / "disk"):
            path.chmod(0o755)
            (path / "foreign.txt").write_text("This is not diskproof's.\n")
            (path / "diskproof-00000000").mkdir()
            (path / "diskproof-00000000" / "kept").write_text("Nor is this.\n")
        (self.folder / "disk" / "empty").mkdir()
        (self.folder / "state" / "notes.txt").write_text("A user's notes.\n")
        for path in (self.folder / "else", self.folder / "disk" / "empty"):
            _command("mount", "-t", "tmpfs", "elsewhere", str(path))
            (path / "foreign.txt").write_text("On a mount of its own.\n")
        Path("/dev/shm/foreign").write_bytes(b"segment")
        _command("ipcmk", "-M", "4096")
        if self.work.study:
            (self.folder / "study.toml").write_text(self.work.study)
        if self.golden.is_dir() and not self.fresh:
            _command("cp", "-a", str(self.golden), str(self.folder / "runs" / ".golden"))
        beside = ("tail", "-f", str(self.folder / "disk" / "foreign.txt"))
        subprocess.Popen(beside, cwd=self.folder / "disk", stdout=subprocess.DEVNULL)
        time.sleep(0.02)
        self.strangers = frozenset(processes())

    def _start(self, *words: str) -> Scene:
        """Start `diskproof` in the case's folder."""
        output = os.memfd_create("output")  # no disturbance reaches it
        process = subprocess.Popen(
            [sys.executable, "-m", "diskproof", *words],
            cwd=self.folder,
            env={**os.environ, "DISKPROOF_STATE": str(self.folder / "state"), "COLUMNS": "200"},
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
        )
        self.output.append(f"$ diskproof {' '.join(words)}")
        look = partial(self.seen.look, self.folder / "state")
        return Scene(process, output, self.folder, self.random, look, self.strangers)

    def _strike(self, scene: Scene) -> set[int]:
        """Disturb it; return which other exit codes are right: Python's own start handles no signal."""
        self.outcome.kills += 1
        starting = "_pydantic_core" not in Path(f"/proc/{scene.process.pid}/maps").read_text()
        detail = DISTURBANCES[self.disturbance][1](scene)
        if detail:
            self.outcome.disturbance += f" ({detail})"
        return {-signal.Signals[self.disturbance]} if starting and self.disturbance in SIGNALS else set()

    def _kill_clean(self) -> None:
        """Kill `clean` itself, at any moment of its short life."""
        scene = self._start(*CLEAN.verb)
        if choose_moment(self.random, CLEAN.seconds, CLEAN.phases).wait(scene):
            self.outcome.kills += 1
            self.outcome.disturbance += ", SIGKILL of clean"
            scene.process.kill()
        self._end(scene, CLEAN_LIMIT_S, {0, 2, -signal.SIGKILL})

    def _clean(self, *, full: bool = False) -> None:
        """Clean; only on a full disk may something be left to do."""
        self._end(self._start(*CLEAN.verb), CLEAN_LIMIT_S, {0, 2} if full else {0})

    def _limit(self) -> float:
        return 20.0 + self.seconds * SLOW

    def _end(self, scene: Scene, limit_s: float, codes: AbstractSet[int]) -> None:
        """Wait for the end of a program: in time, with a known exit code, and with words if it failed."""
        words = self.output[-1].removeprefix("$ diskproof ")
        if scene.wait(limit_s):
            self._find(f"hung: `{words}` has not ended after {limit_s:.0f} s: {_where(scene.process.pid)}")
            for process in scene.children():
                with suppress(psutil.Error):
                    process.kill()
            scene.process.kill()
            scene.wait(1)
        code = scene.process.poll()
        said = os.pread(scene.output, 100_000, 0).decode(errors="replace")
        os.close(scene.output)
        self.output.append(f"{said}\nexit code {code}")
        if any(sign in said for sign in BROKEN):
            self._find(f"traceback: `{words}`: {said.strip().splitlines()[-1][:200]}")
        elif code is not None and code not in codes:
            self._find(f"exit code {code}: `{words}`: {' '.join(said.split())[-200:]}")

    def _check_trials(self) -> None:
        """Find trials that count although their counters cover more time than their load: it was stopped."""
        if self.disturbance != "stop":
            return
        for file in (self.folder / "runs").glob("study/*/trials.jsonl"):
            for trial in map(json.loads, file.read_text().splitlines()):
                if not trial["finished"] or any(one["check"] == "stopped" for one in trial["findings"]):
                    continue
                counted_s = trial["usage"]["counted_s"] or trial["usage"]["seconds"]
                if counted_s > trial["load"]["seconds"] + FIO_ITSELF_S:
                    self._find(f"counted: {counted_s:.1f} s beside {trial['load']['seconds']:.1f} s of load")

    def _find(self, what: str) -> None:
        self.outcome.found.append(what)

    def _everything(self) -> Things:
        state = self.folder / "state"
        return everything(
            self.folder,
            self.seen,
            (
                self.folder / "runs",
                self.folder / "disk.img",
                state / "lock",
                state / "disks" / "lock",
                *OF_PROGRAMS,
                *self.kept,
            ),
        )

    def _compare(self, before: Things, when: str = "") -> None:
        """Find what is not as it was; the kernel gets some time for what was detached."""
        end = time.monotonic() + SETTLE_S
        while (found := differences(before, self._everything())) and time.monotonic() < end:
            time.sleep(0.1)
        for one in found:
            self._find(when + one)

    def _keep_golden(self) -> None:
        """Keep the loaded data of the first sound run for later cases."""
        made = self.folder / "runs" / ".golden"
        untouched = self.disturbance not in {"deleted folder", "full disk"}
        if untouched and made.is_dir() and any(made.iterdir()) and not self.golden.exists():
            _command("cp", "-a", str(made), f"{self.golden}.new")
            Path(f"{self.golden}.new").rename(self.golden)

    def release(self) -> None:
        """Release what namespaces do not end: FUSE connections that hang, loop devices."""
        for number in self.seen.connections:
            with suppress(OSError):
                (CONNECTIONS / str(number) / "abort").write_text("1")
        for name in self._everything():
            if name.startswith("loop device "):
                subprocess.run(("losetup", "--detach", f"/dev/{name.split()[-1]}"), check=False)


def _command(*argv: str) -> None:
    """Run a command of the preparation; it must work."""
    subprocess.run(argv, check=True, stdout=subprocess.DEVNULL)


def _where(pid: int) -> str:
    """Say where each live process waits in the kernel."""
    lines = []
    for one, name in {pid: "diskproof", **processes()}.items():
        with suppress(OSError):
            state = Path(f"/proc/{one}/stat").read_text().rpartition(")")[2].split()[0]
            stack = Path(f"/proc/{one}/stack").read_text().split()[1::2][:4]
            lines.append(f"{name[:60]} [{state} {' '.join(stack)}]")
    return "; ".join(lines)


def main() -> None:
    """Run the case that the arguments name: seed, number, a folder for later cases, others to keep."""
    seed, number, *kept = sys.argv[1:]
    signal.signal(signal.SIGINT, signal.SIG_DFL)  # a shell's background jobs ignore it
    if Path("/proc/1/comm").read_text().strip() not in {"sh", "dash", "bash"} or os.getppid() != 1:
        sys.exit("a case runs in namespaces of its own: use campaign.py")
    case = Case(int(seed), int(number), [Path(path) for path in kept])
    hide(ROOTS, case.kept)
    try:
        outcome = case.run()
    finally:
        case.release()
    print(json.dumps(asdict(outcome)))


def hide(roots: tuple[Path, ...], kept: list[Path]) -> None:
    """Mount an empty tmpfs over each folder that runs write to; what is kept below it shows through."""
    for mount in reversed(mounts()):  # those of others would stay in use as long as the case
        point = Path(mount.point)
        if point.is_relative_to(roots[0]) and not any(path.is_relative_to(point) for path in kept):
            ended = subprocess.run(("umount", "--lazy", mount.point), check=False).returncode
            # The file that it lies on may have been removed meanwhile: the kernel then takes the mount away.
            if ended and mount in mounts():
                sys.exit(f"{mount.point} cannot be unmounted")
    held = {path: os.open(path, os.O_PATH) for path in kept if path.is_relative_to(roots[0])}
    for root in roots:
        _command("mount", "-t", "tmpfs", "-o", f"size={MEMORY},mode=1777", "torture", str(root))
    for path, descriptor in held.items():
        path.mkdir(parents=True, exist_ok=True)  # one may lie in another
        subprocess.run(
            ("mount", "--no-canonicalize", "--bind", f"/proc/self/fd/{descriptor}", str(path)),
            check=True,
            pass_fds=[descriptor],
        )


if __name__ == "__main__":
    main()
