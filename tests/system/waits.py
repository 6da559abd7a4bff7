"""Waits in every way that servers do, each for 20 ms of this program's own time; `test_clock.py` starts it.

Prints how long each took: by the clock that the program sees, and by the machine's.
"""

import ctypes
import json
import os
import select
import signal
import socket
import threading
import time
from collections.abc import Callable

C = ctypes.CDLL(None, use_errno=True)
OWN_S = 0.02
OWN_NS = int(OWN_S * 1e9)
REALTIME, MONOTONIC, CPU = 0, 1, 2
EPOLL = select.epoll()
SIGNALS = {signal.SIGALRM}
CLOCK_GETTIME, FUTEX = {"x86_64": (228, 202)}.get(os.uname().machine, (113, 98))
WAIT, WAIT_BITSET, ANY = 0, 9, -1


class Time(ctypes.Structure):
    _fields_ = [("seconds", ctypes.c_long), ("parts", ctypes.c_long)]


class Timer(ctypes.Structure):
    _fields_ = [("interval", Time), ("value", Time)]


def short(parts_in_second: int = 10**9) -> Time:
    return Time(0, int(OWN_S * parts_in_second))


def end(clock: int) -> Time:
    at_ns = time.clock_gettime_ns(clock) + OWN_NS
    return Time(at_ns // 10**9, at_ns % 10**9)


def by(of: object) -> object:
    return ctypes.byref(of)  # type: ignore[arg-type]


def room() -> ctypes.Array[ctypes.c_char]:
    """Return zeros: an initialised mutex, condition variable, lock or semaphore."""
    return ctypes.create_string_buffer(128)


def condition(clock: int, *how: int) -> None:
    made, attributes, mutex = room(), room(), room()
    C.pthread_condattr_init(attributes)
    C.pthread_condattr_setclock(attributes, clock)
    C.pthread_cond_init(made, None if how else attributes)
    C.pthread_mutex_lock(mutex)
    wait = C.pthread_cond_clockwait if how else C.pthread_cond_timedwait
    assert wait(made, mutex, *how, by(end(clock))) != 0


def locked(lock: str, wait: str, clock: int, *how: int) -> None:
    held = room()
    owner = threading.Thread(target=C[lock], args=(held,))
    owner.start()
    owner.join()
    assert C[wait](held, *how, by(end(clock))) != 0


def interval_timer() -> None:
    signal.pthread_sigmask(signal.SIG_BLOCK, SIGNALS)
    signal.setitimer(signal.ITIMER_REAL, OWN_S)
    assert OWN_S / 2 < signal.getitimer(signal.ITIMER_REAL)[0] <= OWN_S
    signal.sigwait(SIGNALS)


def posix_timer(flags: int, value: Time) -> None:
    signal.pthread_sigmask(signal.SIG_BLOCK, SIGNALS)
    timer, left = ctypes.c_void_p(), Timer()
    assert C.timer_create(MONOTONIC, None, by(timer)) == 0
    assert C.timer_settime(timer, flags, by(Timer(Time(), value)), None) == 0
    assert C.timer_gettime(timer, by(left)) == 0
    assert OWN_S / 2 < left.value.parts / 1e9 <= OWN_S
    signal.sigwait(SIGNALS)
    C.timer_delete(timer)


def timer_file(flags: int, value: Time) -> None:
    file = C.timerfd_create(MONOTONIC, 0)
    assert C.timerfd_settime(file, flags, by(Timer(Time(), value)), None) == 0
    os.read(file, 8)


def receive() -> None:
    ours, _theirs = socket.socketpair()
    ours.setsockopt(socket.SOL_SOCKET, socket.SO_RCVTIMEO, bytes(short(10**6)))
    kept = Time.from_buffer_copy(ours.getsockopt(socket.SOL_SOCKET, socket.SO_RCVTIMEO, 16))
    assert abs(kept.parts - OWN_S * 1e6) < 5000, "as the kernel rounds"
    try:
        ours.recv(1)
    except BlockingIOError:
        return
    raise AssertionError


def interrupted() -> None:
    """Sleep much longer than the alarm that ends it, which leaves the rest."""
    signal.signal(signal.SIGALRM, lambda *_: None)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, SIGNALS)
    signal.setitimer(signal.ITIMER_REAL, OWN_S)
    left = Time()
    assert C.nanosleep(by(Time(5, 0)), by(left)) == -1
    assert 4.5 < left.seconds + left.parts / 1e9 < 5 - OWN_S / 2


def futex(operation: int, wait: Time) -> None:
    word = ctypes.c_int(0)
    assert C.syscall(FUTEX, by(word), operation, 0, by(wait), None, ANY) == -1


WAITS: dict[str, Callable[[], object]] = {
    "nanosleep": lambda: C.nanosleep(by(short()), None),
    "nanosleep, interrupted": interrupted,
    "clock_nanosleep": lambda: C.clock_nanosleep(MONOTONIC, 0, by(short()), None),
    "clock_nanosleep until": lambda: C.clock_nanosleep(MONOTONIC, 1, by(end(MONOTONIC)), None),
    "clock_nanosleep until a date": lambda: C.clock_nanosleep(REALTIME, 1, by(end(REALTIME)), None),
    "usleep": lambda: C.usleep(int(OWN_S * 1e6)),
    "poll": lambda: C.poll(None, 0, int(OWN_S * 1e3)),
    "ppoll": lambda: C.ppoll(None, 0, by(short()), None),
    "select": lambda: C.select(0, None, None, None, by(short(10**6))),
    "pselect": lambda: C.pselect(0, None, None, None, by(short()), None),
    "epoll_wait": lambda: EPOLL.poll(OWN_S),
    "epoll_pwait": lambda: C.epoll_pwait(EPOLL.fileno(), by(Timer()), 1, int(OWN_S * 1e3), None),
    "sigtimedwait": lambda: signal.sigtimedwait([signal.SIGUSR2], OWN_S),
    "condition": lambda: condition(REALTIME),
    "condition of a monotonic clock": lambda: condition(MONOTONIC),
    "condition by clock": lambda: condition(MONOTONIC, MONOTONIC),
    "mutex": lambda: locked("pthread_mutex_lock", "pthread_mutex_timedlock", REALTIME),
    "mutex by clock": lambda: locked("pthread_mutex_lock", "pthread_mutex_clocklock", MONOTONIC, MONOTONIC),
    "lock for reading": lambda: locked("pthread_rwlock_wrlock", "pthread_rwlock_timedrdlock", REALTIME),
    "lock for writing": lambda: locked("pthread_rwlock_rdlock", "pthread_rwlock_timedwrlock", REALTIME),
    "semaphore": lambda: C.sem_timedwait(room(), by(end(REALTIME))),
    "semaphore by clock": lambda: C.sem_clockwait(room(), MONOTONIC, by(end(MONOTONIC))),
    "futex": lambda: futex(WAIT, short()),
    "futex until": lambda: futex(WAIT_BITSET, end(MONOTONIC)),
    "setitimer": interval_timer,
    "timer_settime": lambda: posix_timer(0, short()),
    "timer_settime until": lambda: posix_timer(1, end(MONOTONIC)),
    "timerfd_settime": lambda: timer_file(0, short()),
    "timerfd_settime until": lambda: timer_file(1, end(MONOTONIC)),
    "receive": receive,
}


def machine_s(clock: int = MONOTONIC) -> float:
    """Return a clock of the machine, which the kernel shows without the C library."""
    now = Time()
    assert C.syscall(CLOCK_GETTIME, clock, by(now)) == 0
    return float(now.seconds + now.parts / 1e9)


def clocks() -> dict[str, tuple[float, float]]:
    """Return what each clock counts while the machine's counts, which is the second number."""
    shown: dict[str, Callable[[], float]] = {
        "clock_gettime": time.monotonic,
        "clock_gettime, date": time.time,
        "gettimeofday": lambda: of_day(C.gettimeofday),
        "timespec_get": lambda: of_day(lambda out, _: C.timespec_get(out, 1), 10**9),
        "times": lambda: os.times().elapsed,
    }
    before, machine_before_s = {name: read() for name, read in shown.items()}, machine_s()
    time.sleep(0.1)
    after, machine_after_s = {name: read() for name, read in shown.items()}, machine_s()
    return {name: (after[name] - before[name], machine_after_s - machine_before_s) for name in shown}


def of_day(read: Callable[[object, None], object], parts_in_second: int = 10**6) -> float:
    now = Time()
    read(by(now), None)
    assert abs(C.time(None) - now.seconds) <= 1
    return float(now.seconds + now.parts / parts_in_second)


def waited(wait: Callable[[], object]) -> tuple[float, float]:
    began_s, machine_began_s = time.monotonic(), machine_s()
    wait()
    return time.monotonic() - began_s, machine_s() - machine_began_s


def forked() -> tuple[float, float]:
    """Return this process's date and a child's, read one after the other."""
    read, write = os.pipe()
    if os.fork() == 0:
        os.write(write, str(time.time()).encode())
        os._exit(0)
    return float(os.read(read, 64)), time.time()


def seconds() -> int:
    """Return how many whole seconds of a sleep an alarm leaves, which comes after one."""
    signal.pthread_sigmask(signal.SIG_UNBLOCK, SIGNALS)
    C.alarm(2)
    assert C.alarm(1) == 2
    left: int = C.sleep(3)
    return left


def main() -> None:
    said = {"waits": {name: waited(wait) for name, wait in WAITS.items()}}
    print(
        json.dumps(
            {
                **said,
                "clocks": clocks(),
                "cpu_s": (time.process_time(), machine_s(CPU)),
                "dates": forked(),
                "seconds_left": seconds(),
            }
        )
    )


if __name__ == "__main__":
    main()
