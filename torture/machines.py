"""Machines on this one: a network namespace with an address of its own each, and a mount namespace."""

import importlib.util
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path

import psutil

from diskproof.results.folder import RunFolder

BRIDGE = f"dp{os.getpid() % 100_000}"
NET = "10.231.99"
LIMIT_S = 150.0

AT_ONCE = 4
"""So many machines join or leave at a time: it takes seconds of CPU time, and Ray's start has time limits."""

OTHERS_MOUNTS = 'awk \'$1 ~ "^/dev/loop" || $3 ~ "^fuse" {print $2}\' /proc/self/mounts | sort -r'
"""A copy of another's mount would keep its disk in use after it is unmounted there."""

PARTS = {"diskproof.hosts.part", "diskproof.hosts.loader"}

INSIDE = f"{OTHERS_MOUNTS} | xargs -r umount -l; mount -t tmpfs -o size=1g tmpfs /dev/shm && echo up"


@dataclass
class Host:
    """A machine, as its user sees it."""

    name: str
    number: int
    scratch: Path
    """Working directory of all machines."""
    holder: subprocess.Popen[bytes]
    """Keeps its namespaces."""
    env: dict[str, str] = field(default_factory=dict)

    @property
    def address(self) -> str:
        """Its address."""
        return f"{NET}.{self.number}"

    @property
    def link(self) -> str:
        """Name of its namespace, and of the bridge's end of its cable."""
        return f"{BRIDGE}-{self.number}"

    @property
    def state(self) -> Path:
        """Its folder of journals."""
        return self.scratch / f"state-{self.name}"

    @property
    def out(self) -> Path:
        """The folder of its parts of runs."""
        return self.scratch / f"out-{self.name}"

    def start(self, *arguments: str, module: str = "diskproof") -> subprocess.Popen[str]:
        """Start diskproof on the machine; another module must take the same arguments."""
        into = ("nsenter", "-t", str(self.holder.pid), "-m", "-n", f"--wdns={self.scratch}", "--")
        return subprocess.Popen(
            [*into, sys.executable, "-m", module, *arguments],
            env={**os.environ, "DISKPROOF_STATE": str(self.state), "COLUMNS": "200", **self.env},
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    def run(self, *arguments: str, expect: int = 0, module: str = "diskproof") -> str:
        """Run diskproof on the machine; return what it said."""
        process = self.start(*arguments, module=module)
        out, err = process.communicate(timeout=LIMIT_S)
        assert process.returncode == expect, f"{process.returncode}: {out}\n{err}"
        return out + err

    def head(self) -> None:
        """Make it the head of a cluster."""
        self.run("host", "start", "--head", "--address", self.address, *self._member())

    def join(self, head: "Host") -> None:
        """Join the cluster of a head."""
        self.run("host", "join", head.address, *self._member())

    def _member(self) -> list[str]:
        return ["--token-file", "token", "--label", self.name, "--out", str(self.out)]

    @property
    def is_member(self) -> bool:
        """Whether it is in a cluster."""
        return (self.state / "host.json").exists()

    def processes(self) -> list[psutil.Process]:
        """Return the processes on the machine."""
        network = (Path("/proc") / str(self.holder.pid) / "ns/net").readlink()
        found = []
        for pid in psutil.pids():
            with suppress(psutil.Error, OSError):
                here = (Path("/proc") / str(pid) / "ns/net").readlink() == network
                if here and pid != self.holder.pid:
                    found.append(psutil.Process(pid))
        return found

    def parts(self) -> list[psutil.Process]:
        """Return the parts of runs that it has under way: of trials, or of the load of another's."""
        return [one for one in self.processes() if PARTS & {*words_of(one)}]

    def write(self, study: str, text: str) -> str:
        """Write a study for all machines; return the name of its file."""
        (self.scratch / f"{study}.toml").write_text(text)
        return f"{study}.toml"

    def run_folder(self, study: str) -> RunFolder:
        """Return the only run of a study."""
        (path,) = (self.scratch / "runs" / study).glob("*-*")
        return RunFolder.open(path)


def words_of(process: psutil.Process) -> list[str]:
    """Return a process's command; nothing if it is gone."""
    try:
        return process.cmdline()
    except psutil.Error:
        return []


def why_no_machines() -> str | None:
    """Return what is missing for them."""
    if importlib.util.find_spec("ray") is None:
        return "Ray is not installed"
    if os.geteuid() != 0:
        return "network namespaces need root"
    if shutil.which("ip") is None or shutil.which("nsenter") is None:
        return "ip and nsenter are missing"
    return None


@contextmanager
def machines(names: Sequence[str], scratch: Path) -> Iterator[list[Host]]:
    """Yield machines that reach each other; none is in a cluster yet."""
    made: list[Host] = []
    _command(f"ip link add {BRIDGE} type bridge && ip link set {BRIDGE} up")
    try:
        for number, name in enumerate(names, start=1):
            made.append(_machine(name, number, scratch))
        yield made
    finally:
        leave(made)
        for host in made:
            host.holder.kill()
            host.holder.wait()
            subprocess.run(["ip", "netns", "del", host.link], check=False, capture_output=True)
        time.sleep(0.1)
        subprocess.run(["ip", "link", "del", BRIDGE], check=False, capture_output=True)


def _machine(name: str, number: int, scratch: Path) -> Host:
    space = f"{BRIDGE}-{number}"
    _command(
        f"ip netns add {space} && ip link add {space} type veth peer name eth0 netns {space}"
        f" && ip link set {space} master {BRIDGE} up"
        f" && ip -n {space} addr add {NET}.{number}/24 dev eth0"
        f" && ip -n {space} link set eth0 up && ip -n {space} link set lo up"
    )
    within = ["ip", "netns", "exec", space, "unshare", "-m", "sh", "-c", f"{INSIDE} && exec sleep infinity"]
    holder = subprocess.Popen(within, stdout=subprocess.PIPE)
    assert holder.stdout is not None
    assert holder.stdout.readline() == b"up\n"
    host = Host(name, number, scratch, holder)
    host.state.mkdir()
    return host


def _command(line: str) -> None:
    subprocess.run(line, shell=True, check=True)


def make_cluster(hosts: Sequence[Host]) -> None:
    """Join the machines to a cluster, the first as its head."""
    first, *others = hosts
    first.head()
    with ThreadPoolExecutor(AT_ONCE) as pool:
        list(pool.map(lambda host: host.join(first), others))


def leave(hosts: Sequence[Host]) -> None:
    """Let all machines leave the cluster that they may be in."""

    def end(host: Host) -> None:
        with suppress(subprocess.TimeoutExpired):
            host.start("host", "leave").communicate(timeout=LIMIT_S)

    with ThreadPoolExecutor(AT_ONCE) as pool:
        list(pool.map(end, (host for host in hosts if host.is_member)))


def is_quiet(hosts: Sequence[Host]) -> bool:
    """Return whether no part of a run is under way, and none has left anything to undo."""
    return not any(host.parts() or [*host.state.glob("*.jsonl")] for host in hosts)


def wrong_in(folder: RunFolder, hosts: Sequence[Host]) -> Iterator[str]:
    """Say what is missing in a run that has ended."""
    plan, trials, machine = folder.plan(), folder.trials(), folder.machine()
    if sorted(trial.id for trial in trials) != sorted(planned.id for planned in plan.trials):
        yield f"{len(trials)} of {len(plan.trials)} trials are there"
    planned = plan.crash.trials if plan.crash else []
    if {cut.id for cut in folder.cuts() if cut.finished} != {cut.id for cut in planned}:
        yield f"{len(folder.cuts())} of {len(planned)} cuts are there"
    if machine is None or set(machine.others) != {host.name for host in hosts}:
        yield "the facts of a machine are missing"
    for trial in trials:
        if not trial.finished:
            yield f"{trial.id} broke off"
        if folder.series(trial.id) is None:
            yield f"{trial.id} has no series"
