"""Starts diskproof-load and reads what it reports: the lab's end of docs/protocol.md."""

import json
import os
import queue
import threading
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

from diskproof.refusal import RefusalError
from diskproof.results.load import ClientAccount, LoadResult, Operation, Rate
from diskproof.results.record import Record
from diskproof.results.tpcc import Checked
from diskproof.system.dilation import REAL, TrialTime
from diskproof.system.processes import Starter, children, waits_of_threads
from diskproof.system.programs import (
    ANSWER_S,
    NOT_INHERITED,
    PIPE,
    Ended,
    TimedOut,
    find_program,
    first_line,
    kill,
    run,
    start,
)

PROGRAM = "diskproof-load"

WORKERS = "worker "
"""The names of the program's threads that work for clients begin with this."""

PROTOCOL = 1
"""The version of docs/protocol.md that this end reads."""

WATCH_S = 0.5

SILENCE_S = 60.0
"""A load that reports nothing for this long beyond its own time hangs."""

Event = dict[str, Any]


READING_S = 3600.0
"""How long a dump may be read before a run: 100 GB take less."""


class LoadFailedError(RefusalError):
    """The load generator failed; the message is its own."""


class StatementError(LoadFailedError):
    """The server's parser refused statements of a script: every other trial would fail alike."""


def is_installed() -> bool:
    """Return whether there is a load generator."""
    return find_program(PROGRAM) is not None


def program() -> Path:
    """Return the load generator of this installation; LoadFailedError if there is none."""
    found = find_program(PROGRAM)
    if found is None:
        raise LoadFailedError("diskproof-load is not installed; `make run` or `pip install .` builds it")
    return found


def version() -> str:
    """Return the load generator's version."""
    match run([str(program()), "--version"]):
        case Ended(code=0, out=out):
            return out.split()[1]  # diskproof-load 0.1.0 (SQLite 3.50.2)
        case ended:
            raise LoadFailedError(f"diskproof-load did not say its version: {ended.complaint}")


def prepare(
    starter: Starter,
    url: str,
    kind: str,
    arguments: list[str],
    log_file: Path,
    watch: Callable[[], str | None],
    password: str | None = None,
) -> None:
    """Load a data set; LoadFailedError carries the program's last messages.

    `watch` is called now and then and returns a reason to stop, if any: a server with a full disk may wait
    for space forever.
    """
    argv = [str(program()), "prepare", kind, "--url", url, *arguments]
    process = starter.start(argv, log_file=log_file, env=_with(password))
    while True:
        try:
            process.wait(timeout=WATCH_S)
            break
        except TimedOut:
            if reason := watch():
                kill(process)
                raise LoadFailedError(reason) from None
    if process.returncode != 0:
        words = log_file.read_text(errors="replace").strip().splitlines()
        raise LoadFailedError("\n".join(words[-5:]) or f"diskproof-load ended with {process.returncode}")


def check(
    starter: Starter,
    url: str,
    kind: str,
    arguments: list[str],
    password: str | None = None,
) -> Checked:
    """Hold the tables to the workload's rules; LoadFailedError if they cannot be read."""
    argv = [str(program()), "check", kind, "--url", url, *arguments, "--json"]
    process = starter.start(argv, env=_with(password), stdout=PIPE)
    assert process.stdout is not None
    event = json.loads(process.stdout.readline() or b"{}")
    process.wait()
    if event.get("event") != "checked":
        raise LoadFailedError(
            str(event.get("message", "diskproof-load ended before it had checked the tables"))
        )
    return Checked.model_validate(_known(Checked, event))


def check_statements(url: str, arguments: list[str], password: str | None = None) -> None:
    """Have the server's parser read a script, which is not run; StatementError if it refuses one."""
    argv = [str(program()), "check", "script", "--url", url, *arguments]
    _complaining(run(argv, env=_with(password)), StatementError)


def rehearse(kind: str, arguments: list[str], url: str = "null:") -> Event:
    """Let the load generator check the arguments of `run` without a server; return its `ready` event.

    LoadFailedError says what is wrong with them, or with a script.
    """
    argv = [str(program()), "run", kind, "--url", url, *arguments, "--json", "--lockstep"]
    process = start(argv, stdin=PIPE, stdout=PIPE, stderr=PIPE)
    assert process.stdout is not None
    first = first_line(process.stdout, ANSWER_S)
    _, complaint = process.communicate()  # the end of its input ends it
    said = complaint.decode(errors="replace").strip()
    event: Event = json.loads(first) if first.strip() else {"event": "failed", "message": said}
    if event["event"] == "ready":
        return event
    raise LoadFailedError(str(event["message"]) or _wordless(process.returncode))


def rehearse_prepare(arguments: list[str], url: str) -> list[str]:
    """Let the load generator read a file that makes tables, without a server; return what it leaves out.

    LoadFailedError says what it refuses.
    """
    ended = run([str(program()), "prepare", "script", "--url", url, *arguments], limit_s=READING_S)
    return [line for line in _complaining(ended) if ": left out: " in line]


def check_script(arguments: list[str]) -> list[str]:
    """Let the load generator load a Lua script with its options; LoadFailedError if it refuses them.

    Return what it says of the kernel's fence around the script, if that has a gap.

    `rehearse` would call the script's `thread_init`, which may need rows of a server. `help` does not.
    """
    try:
        ended = run([str(program()), "prepare", "lua", "--url", "null:", *arguments, "--command", "help"])
    except TimedOut as late:
        raise LoadFailedError(f"the script did not load within {late.timeout:g} s") from None
    return [line.removeprefix(f"{PROGRAM}: ") for line in _complaining(ended) if "Landlock" in line]


def import_log(arguments: list[str], output: Path, *, shows_progress: bool) -> str:
    """Let the load generator read a server's log as a load; return what it says of it.

    LoadFailedError says why it cannot.
    """
    argv = [str(program()), "import", *arguments, "--output", str(output)]
    process = start(argv, stdout=PIPE, stderr=2 if shows_progress else PIPE)
    try:
        said, complaint = process.communicate()
    except BaseException:
        kill(process)
        output.with_name(f"{output.name}.part").unlink(missing_ok=True)
        raise
    if process.returncode:
        words = (complaint or b"").decode(errors="replace").strip()
        raise LoadFailedError(words.removeprefix(f"{PROGRAM}: ") or _wordless(process.returncode))
    return said.decode(errors="replace")


def why_no_fence() -> str | None:
    """Return what the kernel's fence around a Lua script does not hold here; None if it holds everything."""
    ended = run([str(program()), "fence"])
    return None if ended.code == 0 else ended.complaint.removeprefix(f"{PROGRAM}: ")


def _complaining(ended: Ended, failed: type[LoadFailedError] = LoadFailedError) -> list[str]:
    """Return the lines of its complaints; raise them if it `failed`."""
    said = ended.err.strip()
    if ended.code != 0:
        raise failed(said.removeprefix(f"{PROGRAM}: ") or _wordless(ended.code))
    return said.splitlines()


def _wordless(code: int) -> str:
    """Say how the program ended that should have said why."""
    how = f"was ended by signal {-code}" if code < 0 else f"ended with exit code {code}"
    return f"diskproof-load {how}, without a message"


class Load:
    """One running load, in lockstep: it waits twice until `go_on` is called."""

    def __init__(
        self,
        starter: Starter,
        url: str,
        kind: str,
        arguments: list[str],
        log_file: Path,
        password: str | None = None,
    ) -> None:
        """Start the load; it connects and then waits."""
        self.argv = [str(program()), "run", kind, "--url", url, *arguments]
        self._log_file = log_file
        self._process = starter.start(
            [*self.argv, "--json", "--lockstep"],
            log_file=log_file,
            env=_with(password),
            stdin=PIPE,
            stdout=PIPE,
        )
        # A pipe has no read with a time limit, but a queue has.
        self._lines: queue.SimpleQueue[bytes] = queue.SimpleQueue()
        threading.Thread(target=self._read, daemon=True).start()

    @property
    def pid(self) -> int:
        """The program's process id."""
        return self._process.pid

    @property
    def pids(self) -> list[int]:
        """Its processes on this machine: a script has one of its own."""
        return [self.pid, *children(self.pid)]

    @property
    def alive(self) -> bool:
        """Whether the program runs."""
        return self._process.poll() is None

    def go_on(self, at_ns: int | None = None) -> None:
        """Let the program pass the point at which it waits; it begins at `at_ns` of the monotonic clock."""
        assert self._process.stdin is not None
        word = b"\n" if at_ns is None else b"%d\n" % at_ns
        with suppress(BrokenPipeError):  # it has failed; its `failed` line says why
            os.write(self._process.stdin.fileno(), word)  # past the buffer, which `end` could not empty

    def events(self, longest_s: float) -> Iterator[Event]:
        """Yield the program's events until its summary; LoadFailedError if it fails, ends early or hangs.

        `longest_s` is the longest time for which it may be silent.
        """
        while True:
            try:
                line = self._lines.get(timeout=longest_s + SILENCE_S)
            except queue.Empty:
                waits = ", ".join(waits_of_threads(self.pids[-1]))
                raise LoadFailedError(
                    f"diskproof-load reported nothing for {longest_s + SILENCE_S:.0f} s; its threads: "
                    f"{waits}. Run it again, and report it if it comes back"
                ) from None
            if not line:
                raise LoadFailedError(self._last_words())
            event = self._parse(line)
            if event["event"] == "ready" and event["protocol"] != PROTOCOL:
                raise LoadFailedError(
                    f"{program()} has version {event['protocol']} of the protocol, this lab version "
                    f"{PROTOCOL}: they come from two installations; build again with `make run`"
                )
            if event["event"] == "failed":
                kind = StatementError if event["code"] == "statement" else LoadFailedError
                raise kind(str(event["message"]))
            if event["event"] == "summary":
                self._process.wait()
                if last := self._lines.get():  # it failed after the measurement
                    raise LoadFailedError(str(self._parse(last)["message"]))
            yield event
            if event["event"] == "summary":
                return

    def _parse(self, line: bytes) -> Event:
        try:
            event: Event = json.loads(line)
        except ValueError:  # killed in the middle of a line
            raise LoadFailedError(self._last_words()) from None
        return event

    def end(self) -> None:
        """Kill the program if it still runs."""
        kill(self._process)
        for pipe in (self._process.stdin, self._process.stdout):
            if pipe:
                pipe.close()

    def _read(self) -> None:
        assert self._process.stdout is not None
        try:
            for line in self._process.stdout:
                self._lines.put(line)
        except ValueError:
            pass  # `end` closed it while this thread was reading
        self._lines.put(b"")

    def _last_words(self) -> str:
        words = self._log_file.read_text(errors="replace").strip().splitlines()
        code = self._process.poll()
        return f"diskproof-load ended early (exit code {code}): {words[-1] if words else 'no message'}"


def _with(password: str | None) -> dict[str, str]:
    """Return the environment in which the program finds a password, which no argument may have."""
    return {} if password is None else {NOT_INHERITED: password}


def to_result(summary: Event, own_time: TrialTime = REAL) -> LoadResult:
    """Turn the `summary` event into a record; CPU time, which is the machine's in it, becomes the trial's."""
    account = dict(summary["client"])
    for name, divisor in (
        ("cpu_user_s", own_time.cpus_count),
        ("cpu_system_s", own_time.cpus_count),
        ("waited_for_cpu_s", own_time.dilation),
    ):
        if account.get(name) is not None:
            account[name] /= divisor
    delay_us = account["delay_us"] or {"mean": None, "max": None}
    client = _known(ClientAccount, account) | {
        "workers": summary["workers"],
        "delay_mean_us": delay_us["mean"],
        "delay_max_us": delay_us["max"],
    }
    rate = summary.get("rate")
    if rate is not None:
        start_us = rate["start_delay_us"]
        rate = _known(Rate, rate) | {"start_delay_mean_us": start_us["mean"] if start_us else None}
    operations = [_known(Operation, operation) for operation in summary.get("operations", [])]
    parts = {"client": client, "rate": rate, "operations": operations}
    return LoadResult.model_validate(_known(LoadResult, summary) | parts)


def interval_rows(event: Event) -> list[tuple[float, str, float]]:
    """Turn an `interval` event into rows of the series (t_s, metric, value).

    `t_s` is the interval's end, counted from the start of its phase; the caller shifts the warm-up.
    """
    seconds = event["end_s"] - event["start_s"]
    if not seconds:
        return []
    rows = [
        (event["end_s"], "transactions_per_s", event["transactions"] / seconds),
        (event["end_s"], "errors_per_s", event["errors"] / seconds),
    ]
    if backlog := event.get("backlog"):
        rows.append((event["end_s"], "waiting_transactions", backlog["waiting"]))
        rows.append((event["end_s"], "behind_s", backlog["behind_s"]))
    latency = event["latency_us"]
    if latency:
        rows.append((event["end_s"], "latency_mean_us", latency["mean"]))
        rows += [
            (event["end_s"], f"latency_p{name}_us", value) for name, value in latency["percentiles"].items()
        ]
    return rows


def _known(record: type[Record], fields: Event) -> Event:
    """Return the fields of an event that a record has."""
    return {name: fields[name] for name in record.model_fields if name in fields}
