"""This machine as a host: the processes of Ray that it runs, with a token always and ports in a named range.

They carry a mark in their environment, by which they are ended: `ray stop` would end those of others too.
"""

import importlib.util
import os
import platform
import re
import secrets
import shutil
import socket
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import suppress
from importlib.metadata import version
from pathlib import Path

import psutil
from pydantic import ValidationError

from diskproof import __version__
from diskproof.reading import read_text
from diskproof.refusal import RefusalError, why_not_written
from diskproof.results.durable import write_whole, writing
from diskproof.results.record import Record
from diskproof.study.part import NAME_PATTERN
from diskproof.system import programs
from diskproof.system.journal import state_folder
from diskproof.system.run_processes import wait_for_end

MARK = "DISKPROOF_HOST"
"""Environment variable of every process of a host."""

OUT = "DISKPROOF_HOST_OUT"
"""Environment variable with the folder of a host's parts of runs."""

NAME, VERSIONS = "diskproof-host", "diskproof-versions"
"""Labels of a node of Ray."""

FIRST_PORT, PORTS = 26400, 60
"""The range if none is named: below those that Linux gives to connections (32768 and above)."""

STORE_BYTES = 80_000_000
"""Room of Ray's own for what is passed on: files pass in pieces of at most a MiB. Ray's least is 75 MiB."""

ENDING_S = 3.0
KILLING_S = 20.0
STARTING_S = 60.0

REFUSED_S = 8
"""How long a host tries to join a head that refuses its token: Ray's own value is 20 s."""

BUSY = ("Deadline Exceeded", "timed out during startup")
"""What Ray prints if a busy machine misses the time limits that Ray has for its start."""

PATIENCE = {
    "RAY_health_check_initial_delay_ms": "5000",
    "RAY_health_check_period_ms": "3000",
    "RAY_health_check_timeout_ms": "4000",
    "RAY_health_check_failure_threshold": "3",
}
"""A host that does not answer for about 20 s is gone: Ray's own values take more than a minute."""

UNTOUCHED = {
    "RAY_worker_niceness": "0",
    "RAY_worker_oom_score_adjustment": "0",
    "RAY_memory_monitor_refresh_ms": "0",
    "RAY_debug_dump_period_milliseconds": "0",
    "RAY_enable_metrics_collection": "0",
}
"""What a worker of Ray starts is as any other program: Ray's own values would slow it, or have it killed.

Ray's monitor kills its workers if a server fills the memory. Its dumps and metrics take time beside a trial.
"""


class Membership(Record):
    """How this machine belongs to a cluster that `diskproof host` made."""

    name: str
    head: str
    """Address and port of the head."""
    address: str
    """Of this machine."""
    token_file: str
    mark: str
    is_head: bool

    @property
    def folder(self) -> Path:
        """Where Ray keeps its sockets and logs: for this user alone, with a short path, as sockets need."""
        return Path("/tmp") / f"diskproof-{self.mark}"  # noqa: S108 - made new, with mode 0700


def require_ray() -> None:
    """Refuse to go on without Ray."""
    if importlib.util.find_spec("ray") is None:
        raise RefusalError(
            f"many hosts need Ray, which is not installed: {sys.executable} -m pip install 'diskproof[hosts]'"
        )


def versions() -> str:
    """Return the versions that must be equal on all hosts, fit for a label of Ray."""
    return f"python-{platform.python_version()}_ray-{version('ray')}_diskproof-{__version__}"


def membership() -> Membership | None:
    """Return how this machine belongs to a cluster; None if it does not."""
    path = state_folder() / "host.json"
    try:
        return Membership.model_validate_json(read_text(path, 100_000)) if path.exists() else None
    except ValidationError:
        raise RefusalError(
            f"{path} is of another version of diskproof, or damaged: run `diskproof host leave` of that "
            "version, or end the processes of Ray and remove the file"
        ) from None


def start_head(
    name: str | None, token_file: Path, address: str | None, first_port: int, out: Path
) -> Membership:
    """Make this machine the head, and a host. The token is made if the file does not exist."""
    require_ray()
    _check_free(first_port)
    if not token_file.exists():
        _write_token(token_file)
    address = address or _own_address("192.0.2.1")
    head = f"{address}:{first_port}"
    return _start(_as_member(name, head, address, token_file, is_head=True), first_port, out)


def join(
    head: str, name: str | None, token_file: Path, address: str | None, first_port: int, out: Path
) -> Membership:
    """Join the cluster of a head, `ADDRESS` or `ADDRESS:PORT`."""
    require_ray()
    _check_free(first_port)
    where, _, port = head.partition(":")
    if port and not (port.isdecimal() and 0 < int(port) < 65_536):
        raise RefusalError(f"{head} is no address of a head: write ADDRESS or ADDRESS:PORT")
    head = f"{where}:{port or FIRST_PORT}"
    check_reachable(where, int(port or FIRST_PORT))
    address = address or _own_address(where)
    return _start(_as_member(name, head, address, token_file, is_head=False), first_port, out)


def leave() -> str:
    """End this machine's processes of Ray, and return the name that it had."""
    known = membership()
    if known is None:
        raise RefusalError("this machine is no host: `diskproof host join` makes it one")
    found = list(_processes(known.mark))
    if not known.is_head:
        # First the one that tells the head that this machine leaves.
        first = [one for one in found if _called(one) == "raylet"]
        for process in first:
            with suppress(psutil.Error):
                process.terminate()
        wait_for_end(first, time.monotonic() + ENDING_S)
    _kill(known.mark, found)
    _forget(known)
    return known.name


def _forget(member: Membership) -> None:
    """Remove what is kept of a host whose processes have ended; RefusalError if one has not."""
    if left := sorted({process.pid for process in _processes(member.mark)}):
        raise RefusalError(
            f"processes of Ray do not end: {', '.join(map(str, left))}. They may wait for a disk: run "
            "`diskproof host leave` again later"
        )
    shutil.rmtree(member.folder, ignore_errors=True)
    (state_folder() / "host.json").unlink(missing_ok=True)


def check_token(path: Path) -> None:
    """Refuse a file that holds no token, or one that others can read: it lets them run programs here."""
    text = read_text(path, 10_000).strip()
    if not re.fullmatch(r"[!-~]{16,4096}", text):
        raise RefusalError(f"{path} holds no token: copy the file from the head")
    found = path.stat()
    if found.st_mode & 0o077 or found.st_uid != os.geteuid():
        raise RefusalError(
            f"{path}: others can read the token, and whoever has it can run programs on every host: "
            "`chown` it to yourself, then `chmod 600`"
        )


def token_variables(token_file: Path) -> dict[str, str]:
    """Return the environment in which Ray uses a token."""
    return {"RAY_AUTH_MODE": "token", "RAY_AUTH_TOKEN_PATH": str(token_file.absolute())}


def _as_member(name: str | None, head: str, address: str, token_file: Path, *, is_head: bool) -> Membership:
    name = name or socket.gethostname()
    if not NAME_PATTERN.fullmatch(name):
        raise RefusalError(f"`{name}` is no name for a host: use letters, digits, dots and dashes (--label)")
    check_token(token_file)
    return Membership(
        name=name,
        head=head,
        address=address,
        token_file=str(token_file.absolute()),
        mark=secrets.token_hex(8),
        is_head=is_head,
    )


def _start(member: Membership, first_port: int, out: Path) -> Membership:
    """Start the processes of Ray, which are recorded first; RefusalError says why they did not start."""
    path = state_folder() / "host.json"
    with writing(path):
        path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        write_whole(path, member.model_dump_json(indent=1))
        member.folder.mkdir(mode=0o700)
    try:
        _start_ray(member, first_port, out)
    except BaseException:
        _kill(member.mark)
        _forget(member)
        raise
    return member


def _start_ray(member: Membership, first_port: int, out: Path) -> None:
    env = {
        MARK: member.mark,
        OUT: str(out.absolute()),
        **PATIENCE,
        **UNTOUCHED,
        **token_variables(Path(member.token_file)),
        "RAY_USAGE_STATS_ENABLED": "0",
    }
    argv = [sys.executable, "-m", "ray.scripts.scripts", "start", f"--node-ip-address={member.address}"]
    argv += ["--head", f"--port={first_port}", "--include-dashboard=false"]
    if not member.is_head:
        argv = [*argv[:5], f"--address={member.head}"]
        env["RAY_gcs_server_port_wait_time_s"] = str(REFUSED_S)
    argv += [
        f"--node-manager-port={first_port + 1}",
        f"--object-manager-port={first_port + 2}",
        f"--runtime-env-agent-port={first_port + 3}",
        f"--dashboard-agent-grpc-port={first_port + 4}",
        f"--dashboard-agent-listen-port={first_port + 5}",
        f"--metrics-export-port={first_port + 6}",
        f"--min-worker-port={first_port + 10}",
        f"--max-worker-port={first_port + PORTS - 1}",
        f"--temp-dir={member.folder / 'ray'}",  # Ray opens its own folders to all users
        "--num-cpus=1",
        f"--object-store-memory={STORE_BYTES}",
        "--disable-usage-stats",
        f"--labels={NAME}={member.name},{VERSIONS}={versions()}",
    ]
    if importlib.util.find_spec("grpc") is not None:  # else Ray refuses the option; with it, it opens 10001
        argv.append(f"--ray-client-server-port={first_port + 7}")
    complaint = _run_ray(argv, env, member.mark)
    if complaint and any(sign in complaint for sign in BUSY):
        complaint = _run_ray(argv, env, member.mark)
    if complaint:
        raise RefusalError(_why_not_started(member, complaint))


def _run_ray(argv: Sequence[str], env: dict[str, str], mark: str) -> str | None:
    """Run a command of Ray that starts processes; return what it said if it failed, and leave none."""
    process = programs.start(argv, stdout=programs.PIPE, stderr=programs.PIPE, env=env, outlives=True)
    try:
        said, complained = process.communicate(timeout=STARTING_S)
    except programs.TimedOut:
        said, complained = b"", b"it took longer than a minute"
    if process.returncode == 0:
        return None
    programs.kill(process)
    _kill(mark)
    return (said + b"\n" + complained).decode(errors="replace")


def _why_not_started(member: Membership, said: str) -> str:
    """Say in words why Ray did not start, from what it printed."""
    if "nauthenticated" in said or "InvalidAuthToken" in said:
        return f"{member.head} refuses the token in {member.token_file}: copy the head's own token file"
    if "ersion mismatch" in said:
        found = re.findall(r"(Ray|Python): (\S+)", said)
        theirs, ours = " and ".join(map(" ".join, found[:2])), " and ".join(map(" ".join, found[2:4]))
        return f"{member.head} runs {theirs}, this machine {ours}: install the same versions on all hosts"
    if "http2 header" in said:
        return f"{member.head} answers, but not as a head of diskproof: check address and proxies"
    if "already in use" in said:
        return "a port of the range is in use: name another range with --first-port"
    lines = [line.strip() for line in said.splitlines() if "Error" in line or "error" in line]
    return f"Ray did not start: {(lines or said.strip().splitlines() or ['it said nothing'])[-1]}"


def _write_token(path: Path) -> None:
    try:
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    except OSError as error:
        raise RefusalError(why_not_written(path, error)) from None
    with os.fdopen(descriptor, "w") as file:
        file.write(secrets.token_hex(32))


def _check_free(first: int) -> None:
    """Refuse ports that are none, and a machine that is a host already."""
    known = membership()
    if known is not None:
        if any(_processes(known.mark)):
            raise RefusalError(
                f"this machine is already the host `{known.name}` of {known.head}: `diskproof host leave` "
                "first"
            )
        _forget(known)
    if not 1024 <= first <= 65_536 - PORTS:
        raise RefusalError(f"--first-port is a number from 1024 to {65_536 - PORTS}, not {first}")


def _own_address(towards: str) -> str:
    """Return the address from which this machine reaches another: no packet is sent for it."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        try:
            probe.connect((towards, 9))
        except OSError as error:
            raise RefusalError(
                f"this machine's address is not known ({error.strerror}): name it with --address"
            ) from None
        return str(probe.getsockname()[0])


def check_reachable(address: str, port: int) -> None:
    """Refuse a head that does not answer."""
    try:
        socket.create_connection((address, port), timeout=5).close()
    except OSError as error:
        raise RefusalError(
            f"nothing answers at {address}:{port} ({error.strerror or error}): run `diskproof host start "
            f"--head` there, and open ports {port} to {port + PORTS - 1} between the hosts"
        ) from None


def _kill(mark: str, known: Sequence[psutil.Process] = ()) -> None:
    """Kill all processes of a host, until none is found: one may have started another meanwhile."""
    until = time.monotonic() + KILLING_S
    left = {*known, *_processes(mark)}
    while left and time.monotonic() < until:
        for process in left:
            with suppress(psutil.Error):
                process.kill()
        left = {*wait_for_end(left, time.monotonic() + ENDING_S), *_processes(mark)}


def _called(process: psutil.Process) -> str:
    try:
        return process.name()
    except psutil.Error:
        return ""


def _processes(mark: str) -> Iterator[psutil.Process]:
    """Yield the processes of a host: those with its mark, and what they started.

    Some processes of Ray write a title over a part of their environment.
    """
    entry = f"{MARK}={mark}".encode()
    for process in psutil.process_iter():
        with suppress(psutil.Error, OSError):
            found = Path(f"/proc/{process.pid}/environ").read_bytes().split(b"\0")
            if process.pid != os.getpid() and entry in found:
                yield process
                yield from process.children(recursive=True)
