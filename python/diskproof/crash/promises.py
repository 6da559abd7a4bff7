"""The load of a program of the user's own: it prints what it asks for and what it promises, to a pipe.

The program does not wait for us, so it may be ahead of what was read. It is therefore stopped just before
the cut (SIGSTOP to its session): a call that returns after that runs no further instruction of the program.
So all that the pipe then holds was printed before the cut and is a promise. Nothing is printed after the cut,
such as an `ack` by a program that ignores the errors of a dead disk.
"""

import os
import signal
import threading
import time
from contextlib import suppress
from pathlib import Path

from diskproof.crash.clients import ACKNOWLEDGEMENTS, Committing, NobodyAnsweredError, Waited
from diskproof.refusal import RefusalError
from diskproof.server.lifecycle import describe_end
from diskproof.server.program import LOAD, MOST_OUTPUT_BYTES, ProgramRunning, is_id
from diskproof.system.dilation import REAL
from diskproof.system.programs import PIPE, TimedOut, kill

CHUNK_BYTES = 64 * 1024

DRAIN_S = 5.0
"""How long the rest of the pipe may take to be read."""


class PromiseError(RefusalError):
    """A load that does not speak as it must."""


class Promises(Committing):
    """The running load, and what it has printed."""

    def __init__(self, running: ProgramRunning, folder: Path) -> None:
        """Hold the program; `folder` takes what the load prints, and does not lie on a disk that is cut."""
        self.first_answer_s = running.choice.limit_s
        self._time = REAL
        self._running = running
        self._file = folder / ACKNOWLEDGEMENTS
        self._lines: list[str] = []
        self._begun: set[str] = set()
        self._told: set[str] = set()
        self._last: int | None = None
        self._reader: threading.Thread | None = None
        self._frozen_us: int | None = None
        self._wrong = ""
        self._synced_us: int | None = None

    def _go_on(self) -> None:
        self._process = self._running.begin(self._running.choice.load, PIPE, what=LOAD)
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    def begin(self) -> None:
        """Start the load and wait for its first `ack`; refuse one that has left its session."""
        try:
            super().begin()
        except NobodyAnsweredError as error:
            raise PromiseError(f"{error}; its messages end with:\n{self._running.log_tail(10)}") from None
        self._check_together()

    def wait(self, seconds: float) -> Waited:
        """Wait for the moment; half-way, `sync` makes durable what was acknowledged."""
        sync = self._running.choice.sync
        if sync is None:
            return super().wait(seconds)
        self._time.sleep(seconds / 2)
        self._synced_us = self._now_us()
        self._running.run("sync", sync)
        return super().wait(seconds / 2)

    def _check_together(self) -> None:
        if strays := self._running.strays(self._process.pid):
            raise PromiseError(
                f"process {strays[0]} of `load` has left its process group and cannot be stopped with "
                "it: keep it in the foreground, without `setsid`, `set -m` or a daemon's fork"
            )

    def freeze(self) -> None:
        """Stop the load: what it has printed by now is promised."""
        self._check_together()
        with suppress(ProcessLookupError):
            os.killpg(self._process.pid, signal.SIGSTOP)
        self._frozen_us = self._now_us()

    @property
    def has_ended(self) -> bool:
        """Whether the load has ended."""
        return self._process.poll() is not None

    @property
    def pids(self) -> list[int]:
        """Its processes are the program's."""
        return []

    def kill(self) -> None:
        """Kill the load, if it was begun, and read the rest of its pipe."""
        if self._reader is None:
            return
        with suppress(ProcessLookupError):
            os.killpg(self._process.pid, signal.SIGKILL)
        kill(self._process)
        self._reader.join(DRAIN_S)
        if self._reader.is_alive():
            self._wrong = self._wrong or f"what `load` printed could not be read within {DRAIN_S:g} s"

    def ask_to_end(self, limit_s: float) -> None:
        """Let the load end in good order, and kill it if it does not."""
        with suppress(ProcessLookupError):
            os.killpg(self._process.pid, signal.SIGTERM)
        with suppress(TimedOut):
            self._process.wait(limit_s)
        self.kill()

    def told(self) -> str:
        """Return the lines `begin ID MICROSECONDS` and `ack ID MICROSECONDS`, which a file keeps."""
        if self._wrong:
            raise PromiseError(self._wrong)
        synced = [] if self._synced_us is None else [f"sync {self._synced_us}\n"]
        text = "".join([*self._lines, *synced])
        self._file.write_text(text, encoding="utf-8")
        return text

    def _last_us(self) -> int | None:
        return self._last

    def _check_alive(self) -> None:
        self._running.check_alive()
        has_ended = self.has_ended  # before: what is wrong may have ended it
        if self._wrong:
            raise PromiseError(self._wrong)
        if has_ended:
            raise PromiseError(
                f"`load` ended before the cut ({describe_end(self._process.returncode)}); its messages end "
                f"with:\n{self._running.log_tail(10)}"
            )

    def _now_us(self) -> int:
        return time.monotonic_ns() // 1000

    def _read(self) -> None:
        """Read the pipe to its end; a line's time is when it was read, or when the load was stopped."""
        assert self._process.stdout is not None
        rest, size = b"", 0
        with self._process.stdout as pipe:
            while not self._wrong and (chunk := os.read(pipe.fileno(), CHUNK_BYTES)):
                now_us = self._frozen_us or self._now_us()
                size += len(chunk)
                if size > MOST_OUTPUT_BYTES:
                    self._wrong = f"`load` printed more than {MOST_OUTPUT_BYTES >> 20} MiB before the cut"
                *lines, rest = (rest + chunk).split(b"\n")
                for line in lines:
                    self._take(line.decode(errors="replace"), now_us)

    def _take(self, line: str, now_us: int) -> None:
        if self._wrong:
            return
        verb, _, name = line.partition(" ")
        before = self._told if verb == "ack" else self._begun
        if verb not in ("begin", "ack") or not is_id(name):
            said = f"{line[:80]!r}: write `begin ID` and `ack ID` there, and all else to stderr"
        elif name in before:
            said = f"a second `{line[:80]}`: each id is for one promise"
        elif verb == "ack" and name not in self._begun:
            said = f"`{line[:80]}` without `begin` before it"
        else:
            before.add(name)
            self._lines.append(f"{line} {now_us}\n")
            if verb == "ack":
                self._last = now_us
            return
        self._wrong = f"line {len(self._lines) + 1} of what `load` printed is {said}"
