"""Threads of a small real program that flushes, reads, serves clients and waits for locks."""

import os
import platform
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from diskproof.system import threads as module
from diskproof.system.mounts import mount_of
from diskproof.system.syscalls import purposes
from diskproof.system.threads import Sight, Threads

needs_sight = pytest.mark.skipif(
    purposes() is None or not Path("/proc/self/syscall").exists(),
    reason=f"this kernel on {platform.machine()} does not show what threads are at",
)

BEGINNING = """
import ctypes, os, select, socket, sys, threading, time
here, there = socket.socketpair()
lock = threading.Lock()
lock.acquire()
def start(work, name="other"):
    def named():
        ctypes.CDLL(None).prctl(15, name.encode(), 0, 0, 0)  # PR_SET_NAME
        work()
    threading.Thread(target=named, daemon=True).start()
"""

END = """
print("ready", flush=True)
for line in sys.stdin:
    there.send(b"x")
    print("sent", flush=True)
"""


@contextmanager
def program(*parts: str, argument: Path | None = None) -> Iterator[subprocess.Popen[str]]:
    code = "\n".join([BEGINNING, *parts, END])
    argv = [sys.executable, "-c", code, *([str(argument)] if argument else [])]
    pipe = subprocess.PIPE
    with subprocess.Popen(argv, stdin=pipe, stdout=pipe, text=True) as process:
        assert process.stdout
        assert process.stdout.readline() == "ready\n"
        try:
            yield process
        finally:
            process.kill()


def tell(process: subprocess.Popen[str]) -> None:
    """Let the program's clients say something."""
    assert process.stdin
    assert process.stdout
    process.stdin.write("\n")
    process.stdin.flush()
    assert process.stdout.readline() == "sent\n"


def until(threads: Threads, condition: Callable[[list[Sight]], bool], seconds: float = 10) -> list[Sight]:
    """Look until what is seen is as it should be, and return it."""
    end = time.monotonic() + seconds
    while True:
        sights = threads.look()
        assert sights is not None
        if condition(sights):
            return sights
        assert time.monotonic() < end, f"it never came: {sights}"
        time.sleep(0.001)


def always(threads: Threads, expected: list[Sight]) -> None:
    """See that this is where it settles."""
    until(threads, lambda sights: sights == expected)
    for _ in range(20):
        assert threads.look() == expected
        time.sleep(0.005)


@needs_sight
def test_who_flushes_a_file_is_seen_at_it(tmp_path: Path) -> None:
    if mount_of(tmp_path).filesystem == "tmpfs":
        pytest.skip("files in memory are flushed at once")
    file = tmp_path / "log"
    flush = """
def flush():
    with open(sys.argv[1], "wb", buffering=0) as log:
        while True:
            log.write(b"x" * 4096)
            os.fdatasync(log.fileno())
start(flush)"""
    with program(flush, argument=file) as process:
        threads = Threads(lambda: [process.pid])
        until(threads, lambda sights: Sight("flushing", str(file)) in sights)
        threads.close()


@needs_sight
def test_who_reads_or_writes_by_a_name_is_seen_at_it(tmp_path: Path) -> None:
    """Pipes with names: who reads an empty one, or writes a full one, waits for ever."""
    for name in ("empty", "full"):
        os.mkfifo(tmp_path / name)
    work = """
folder = sys.argv[1]
empty = os.open(folder + "/empty", os.O_RDWR)
full = os.open(folder + "/full", os.O_RDWR)
start(lambda: os.read(empty, 1))
start(lambda: os.write(full, b"x" * 2**20))"""
    with program(work, argument=tmp_path) as process:
        threads = Threads(lambda: [process.pid])
        expected = {Sight("reading", str(tmp_path / "empty")), Sight("writing", str(tmp_path / "full"))}
        until(threads, lambda sights: set(sights) == expected)
        threads.close()


@needs_sight
def test_who_computes_is_seen_and_who_sleeps_by_the_clock_is_idle() -> None:
    with program("start(lambda: time.sleep(60))") as process:
        threads = Threads(lambda: [process.pid])
        always(threads, [])
        threads.close()
    burn = "start(lambda: [None for _ in iter(int, 1)])"
    with program(burn) as process:
        threads = Threads(lambda: [process.pid])
        until(threads, lambda sights: Sight("computing") in sights)
        threads.close()


@needs_sight
@pytest.mark.parametrize("wait", ["here.recv(1)", "epoll.poll()"], ids=["recv", "epoll"])
def test_a_thread_in_a_lock_waits_only_if_it_serves_a_client(wait: str) -> None:
    work = f"""
epoll = select.epoll()
epoll.register(here, select.EPOLLIN)
def serve():
    {wait}
    lock.acquire()
start(serve)
start(lock.acquire)  # the idle thread of a background"""
    with program(work) as process:
        threads = Threads(lambda: [process.pid])
        always(threads, [])  # the client is waited for
        tell(process)
        until(threads, lambda sights: sights == [Sight("waiting", serves=True)])
        always(threads, [Sight("waiting", serves=True)])
        threads.close()


@needs_sight
def test_a_set_without_a_socket_is_some_event_inside() -> None:
    """As PostgreSQL waits for a row lock: it would be taken for a client otherwise."""
    work = """
reading, writing = os.pipe()
latch = select.epoll()
latch.register(reading, select.EPOLLIN)
def serve():
    here.recv(1)
    latch.poll()
start(serve)
start(latch.poll)"""
    with program(work) as process:
        threads = Threads(lambda: [process.pid])
        always(threads, [])
        tell(process)
        until(threads, lambda sights: sights == [Sight("waiting", serves=True)])
        threads.close()


@needs_sight
@pytest.mark.parametrize("nap", ["select.select([], [], [], 60)", "select.poll().poll(60_000)"])
def test_a_wait_without_descriptors_is_a_sleep(nap: str) -> None:
    """As PostgreSQL's checkpointer between two writes: it would count as a client's from then on."""
    work = f"""
def sleep():
    here.recv(1)
    {nap}
start(sleep)"""
    with program(f"start(lambda: {nap})") as process:
        threads = Threads(lambda: [process.pid])
        always(threads, [])
        assert threads.serving == 0
        threads.close()
    with program(work) as process:
        threads = Threads(lambda: [process.pid])
        always(threads, [])
        assert threads.serving == 1
        tell(process)
        always(threads, [])
        threads.close()


@needs_sight
def test_threads_that_serve_clients_are_known() -> None:
    burn = "[None for _ in iter(int, 1)]"
    work = f"""
def serve():
    here.recv(1)
    {burn}
start(serve)
start(lambda: {burn})"""
    with program(work) as process:
        threads = Threads(lambda: [process.pid])
        until(threads, lambda _: threads.serving == 1)
        tell(process)
        both = {Sight("computing", serves=True), Sight("computing")}
        until(threads, lambda sights: set(sights) == both)
        threads.close()


@needs_sight
def test_an_embedded_database_counts_only_workers() -> None:
    work = """
start(lambda: time.sleep(60), "worker 0")
start(lambda: lock.acquire(timeout=60), "worker 1")
start(lambda: lock.acquire(), "worker 2")
start(lambda: time.sleep(60), "other")"""
    with program(work) as process:
        threads = Threads(lambda: [process.pid], embedded_workers="worker ")
        # Asleep until the next try, and in a mutex; not the one that waits for a time of its own.
        until(threads, lambda sights: sights == [Sight("waiting", serves=True)] * 2)
        always(threads, [Sight("waiting", serves=True)] * 2)
        threads.close()


@needs_sight
def test_threads_that_come_are_found_and_those_that_go_are_let_go() -> None:
    work = """
def serve():
    here.recv(1)
    start(lambda: time.sleep(60))
start(serve)"""
    with program(work) as process:
        threads = Threads(lambda: [process.pid])
        threads.look()
        before = set(threads._threads)
        tell(process)
        end = time.monotonic() + 10
        while set(threads._threads) == before or len(threads._threads) != len(before):
            threads.look()
            assert time.monotonic() < end
            time.sleep(0.01)
        threads.close()
        assert threads._threads == {}
    assert threads.look() is None, "there is nobody"


@needs_sight
def test_with_many_threads_descriptors_are_not_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MOST_KEPT_OPEN", 3)
    work = "for _ in range(10): start(lambda: time.sleep(60))\nstart(lambda: [None for _ in iter(int, 1)])"
    with program(work) as process:
        before = len(list(Path("/proc/self/fd").iterdir()))
        threads = Threads(lambda: [process.pid])
        until(threads, lambda sights: sights == [Sight("computing")])
        assert len(list(Path("/proc/self/fd").iterdir())) == before
        threads.close()


def test_without_access_there_is_no_activity(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> int:
        raise PermissionError

    threads = Threads(lambda: [os.getpid()])
    monkeypatch.setattr(os, "open", refuse)
    assert threads.look() is None
    assert threads.look() is None


def test_another_architecture_is_not_guessed_at(monkeypatch: pytest.MonkeyPatch) -> None:
    assert purposes("riscv64") is None
    monkeypatch.setattr(module, "purposes", lambda: None)
    assert Threads(lambda: [os.getpid()]).look() is None


def test_the_numbers_of_two_architectures() -> None:
    x86, arm = purposes("x86_64"), purposes("aarch64")
    assert x86 is not None
    assert arm is not None
    assert (x86[b"75"], arm[b"83"]) == ("flush", "flush")
    assert (x86[b"17"], arm[b"67"]) == ("read", "read")
    assert (x86[b"202"], arm[b"98"]) == ("futex", "futex")
    assert b"None" not in x86.keys() | arm.keys()
    assert b"-1" not in x86, "asleep outside of any call"
