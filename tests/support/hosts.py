"""Hosts on one machine: a network namespace with an address of its own each, and a mount namespace."""

import importlib.util
import os
import shutil
import subprocess
import sys
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

import psutil

BRIDGE = f"dp{os.getpid() % 100_000}"
NET = "10.231.99"


@dataclass
class Host:
    """A machine as the tests see it."""

    name: str
    number: int
    scratch: Path
    holder: subprocess.Popen[bytes]
    env: dict[str, str] = field(default_factory=dict)

    @property
    def address(self) -> str:
        return f"{NET}.{self.number}"

    @property
    def state(self) -> Path:
        return self.scratch / f"state-{self.name}"

    @property
    def out(self) -> Path:
        return self.scratch / f"out-{self.name}"

    def argv(self, *command: str) -> list[str]:
        return ["nsenter", "-t", str(self.holder.pid), "-m", "-n", f"--wdns={self.scratch}", "--", *command]

    def start(self, *arguments: str) -> subprocess.Popen[str]:
        """Start diskproof on the host."""
        variables = {
            **os.environ,
            "DISKPROOF_STATE": str(self.state),
            **self.env,
        }
        return subprocess.Popen(
            self.argv(sys.executable, "-m", "diskproof", *arguments),
            env=variables,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    def run(self, *arguments: str, expect: int = 0) -> str:
        """Run diskproof on the host; return what it said."""
        process = self.start(*arguments)
        out, err = process.communicate(timeout=150)
        assert process.returncode == expect, f"{process.returncode}: {out}\n{err}"
        return out + err

    def head(self) -> None:
        self.run(
            *("host", "start", "--head", "--token-file", "token", "--label", self.name),
            *("--address", self.address, "--out", str(self.out)),
        )

    def joins(self, head: "Host") -> list[str]:
        """Return the arguments with which it joins."""
        here = ["--token-file", "token", "--label", self.name, "--out", str(self.out)]
        return ["host", "join", head.address, *here]

    def join(self, head: "Host") -> None:
        self.run(*self.joins(head))

    def processes(self) -> list[psutil.Process]:
        """Return the processes that this host has started."""
        entry = f"DISKPROOF_STATE={self.state}".encode()
        found = []
        for process in psutil.process_iter():
            with suppress(psutil.Error, OSError):
                if entry in Path(f"/proc/{process.pid}/environ").read_bytes().split(b"\0"):
                    found.append(process)
        return found


def why_no_hosts() -> str | None:
    if importlib.util.find_spec("ray") is None:
        return "Ray is not installed"
    if os.geteuid() != 0:
        return "network namespaces need root"
    if shutil.which("ip") is None or shutil.which("nsenter") is None:
        return "ip and nsenter are missing"
    return None
