"""Starting diskproof-load and reading what it reports: the lab's end of docs/protocol.md."""

import json
import queue
import subprocess
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from diskproof.refusal import RefusalError
from diskproof.results.load import (
    ClientAccount,
    Iterations,
    Latency,
    LoadError,
    LoadResult,
    Operation,
    Rate,
    StatementType,
)
from diskproof.system.processes import Starter
from diskproof.system.programs import find_program

PROGRAM = "diskproof-load"

WORKERS = "worker "
"""How the names of the program's threads begin that do what clients do."""

PROTOCOL = 1
"""The version of docs/protocol.md that this end speaks."""

WATCH_S = 0.5

SILENCE_S = 60.0
"""A load that reports nothing for this long beyond what it was asked to do has hung."""

Event = dict[str, Any]


class LoadFailedError(RefusalError):
    """The load generator could not do what was asked; the message is its own."""


def is_installed() -> bool:
    """Tell whether there is a load generator."""
    return find_program(PROGRAM) is not None


def program() -> Path:
    """Return the load generator that was installed with this lab; LoadFailedError if there is none."""
    found = find_program(PROGRAM)
    if found is None:
        raise LoadFailedError(
            "diskproof-load is not installed; `make run` builds it, as does `pip install .`"
        )
    return found


def version() -> str:
    """Return the load generator's version."""
    result = subprocess.run([str(program()), "--version"], capture_output=True, text=True, check=True)
    return result.stdout.split()[1]  # diskproof-load 0.1.0 (SQLite 3.50.2)


def prepare(
    starter: Starter,
    url: str,
    kind: str,
    arguments: list[str],
    log_file: Path,
    watch: Callable[[], str | None],
) -> None:
    """Load a data set; LoadFailedError carries the program's last words.

    `watch` is asked now and then whether there is a reason to end it: a server whose disk is full
    may wait for room for ever.
    """
    argv = [str(program()), "prepare", kind, "--url", url, *arguments]
    process = starter.start(argv, log_file=log_file)
    while True:
        try:
            process.wait(timeout=WATCH_S)
            break
        except subprocess.TimeoutExpired:
            if reason := watch():
                process.kill()
                process.wait()
                raise LoadFailedError(reason) from None
    if process.returncode != 0:
        words = log_file.read_text(errors="replace").strip().splitlines()
        raise LoadFailedError("\n".join(words[-5:]) or f"diskproof-load ended with {process.returncode}")


def rehearse(kind: str, arguments: list[str], url: str = "null:") -> Event:
    """Let the load generator look at the arguments of `run` without a server; return its `ready` event.

    LoadFailedError says in its words what is wrong with them, or with a script.
    """
    argv = [str(program()), "run", kind, "--url", url, *arguments, "--json", "--lockstep"]
    piped = subprocess.PIPE
    with subprocess.Popen(argv, stdin=piped, stdout=piped, stderr=piped, text=True) as process:
        assert process.stdout is not None
        first = process.stdout.readline()
        _, complaint = process.communicate()  # at the end of its input it ends
    event: Event = json.loads(first) if first.strip() else {"event": "failed", "message": complaint.strip()}
    if event["event"] == "ready":
        return event
    raise LoadFailedError(str(event["message"]) or "diskproof-load said nothing")


class Load:
    """One load under way, in lockstep: it waits twice until `go_on` is called."""

    def __init__(self, starter: Starter, url: str, kind: str, arguments: list[str], log_file: Path) -> None:
        """Start the load; it connects and then waits."""
        self.argv = [str(program()), "run", kind, "--url", url, *arguments]
        self._log_file = log_file
        self._process = starter.start(
            [*self.argv, "--json", "--lockstep"],
            log_file=log_file,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
        )
        # A pipe has no read with a time limit; a thread that feeds a queue has.
        self._lines: queue.SimpleQueue[bytes] = queue.SimpleQueue()
        threading.Thread(target=self._read, daemon=True).start()

    @property
    def pid(self) -> int:
        """The program's process id."""
        return self._process.pid

    @property
    def alive(self) -> bool:
        """Whether the program is at work."""
        return self._process.poll() is None

    def go_on(self) -> None:
        """Let the program pass the point at which it waits."""
        assert self._process.stdin is not None
        try:
            self._process.stdin.write(b"\n")
            self._process.stdin.flush()
        except BrokenPipeError:
            pass  # it has failed; its `failed` line says why

    def events(self, longest_s: float) -> Iterator[Event]:
        """Yield the program's events until its summary; LoadFailedError if it fails, ends early or hangs.

        `longest_s` is the longest time for which it may rightly be silent.
        """
        while True:
            try:
                line = self._lines.get(timeout=longest_s + SILENCE_S)
            except queue.Empty:
                raise LoadFailedError(
                    f"diskproof-load has been silent for {longest_s + SILENCE_S:.0f} s"
                ) from None
            if not line:
                raise LoadFailedError(self._last_words())
            event = self._parse(line)
            if event["event"] == "ready" and event["protocol"] != PROTOCOL:
                raise LoadFailedError(
                    f"{program()} speaks version {event['protocol']} of the protocol and this lab version "
                    f"{PROTOCOL}: they come from two installations; build again with `make run`"
                )
            if event["event"] == "failed":
                raise LoadFailedError(str(event["message"]))
            if event["event"] == "summary":
                self._process.wait()
                if last := self._lines.get():  # measured, and no good all the same
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
        """End the program if it is still there."""
        if self._process.poll() is None:
            self._process.kill()
        self._process.wait()
        for pipe in (self._process.stdin, self._process.stdout):
            if pipe:
                pipe.close()

    def _read(self) -> None:
        assert self._process.stdout is not None
        try:
            for line in self._process.stdout:
                self._lines.put(line)
        except ValueError:
            pass  # closed by `end` while this thread was reading
        self._lines.put(b"")

    def _last_words(self) -> str:
        words = self._log_file.read_text(errors="replace").strip().splitlines()
        code = self._process.poll()
        return f"diskproof-load ended early (exit code {code}): {words[-1] if words else 'no message'}"


def to_result(summary: Event) -> LoadResult:
    """Turn the `summary` event into a record."""
    client = summary["client"]
    delay_us = client["delay_us"] or {"mean": None, "max": None}
    return LoadResult(
        workload=summary["workload"],
        mix=summary.get("mix"),
        clients=summary["clients"],
        seconds=summary["seconds"],
        transactions=summary["transactions"],
        transactions_per_s=summary["transactions_per_s"],
        statements=summary["statements"],
        reads=summary["reads"],
        writes=summary["writes"],
        others=summary["others"],
        latency_us=_latency(summary["latency_us"]),
        statement_types=[
            StatementType(**{**statement, "latency_us": _latency(statement["latency_us"])})
            for statement in summary["statement_types"]
        ],
        errors=[LoadError(**error) for error in summary["errors"]],
        failed_transactions=summary["failed_transactions"],
        retries=summary["retries"],
        reconnects=summary["reconnects"],
        client=ClientAccount(
            workers=summary["workers"],
            cpu_user_s=client["cpu_user_s"],
            cpu_system_s=client["cpu_system_s"],
            max_rss_bytes=client["max_rss_bytes"],
            delay_mean_us=delay_us["mean"],
            delay_max_us=delay_us["max"],
            waited_for_cpu_s=client.get("waited_for_cpu_s"),
        ),
        operations=[_operation(operation) for operation in summary.get("operations", [])],
        rate=_rate(summary.get("rate")),
        iterations=Iterations(**summary["iterations"]) if summary.get("iterations") else None,
    )


def interval_rows(event: Event) -> list[tuple[float, str, float]]:
    """Turn an `interval` event into series rows (t_s, metric, value); the warm-up's times are negative.

    `t_s` is the interval's end, counted from the start of its phase: the caller moves the warm-up.
    """
    seconds = event["end_s"] - event["start_s"]
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


def _rate(fields: Event | None) -> Rate | None:
    if fields is None:
        return None
    known = {name: fields[name] for name in Rate.model_fields if name in fields}
    delay_us = fields["start_delay_us"]
    return Rate(**known, start_delay_mean_us=delay_us["mean"] if delay_us else None)


def _operation(fields: Event) -> Operation:
    known = {name: fields[name] for name in Operation.model_fields if name in fields}
    return Operation(**{**known, "latency_us": _latency(fields["latency_us"])})


def _latency(fields: Event | None) -> Latency | None:
    return None if fields is None else Latency(**fields)
