"""What a thread that sleeps in a system call waits for, by the call's number."""

import platform
from typing import Literal

Purpose = Literal[
    "flush", "read", "write", "client", "select", "poll", "set", "clock", "queue", "signal", "futex"
]
"""``flush``, ``read`` and ``write`` have a file as their first argument, ``set`` an epoll set.

- ``client``: the other end of a socket. So do ``select`` and ``poll``, unless they have no descriptor and
  only sleep (PostgreSQL's pg_usleep, InnoDB's sleeps).
- ``queue``: completions of the thread's own asynchronous requests.
- ``signal``: a signal, or the end of a child.
- ``futex`` and all others: an event inside the program.

``sync_file_range`` is a write: it writes pages and flushes no disk."""

_CALLS: tuple[tuple[Purpose, str, int | None, int | None], ...] = (
    ("flush", "fsync", 74, 82),
    ("flush", "fdatasync", 75, 83),
    ("flush", "syncfs", 306, 267),
    ("read", "read", 0, 63),
    ("read", "pread64", 17, 67),
    ("read", "readv", 19, 65),
    ("read", "preadv", 295, 69),
    ("read", "preadv2", 327, 286),
    ("write", "write", 1, 64),
    ("write", "pwrite64", 18, 68),
    ("write", "writev", 20, 66),
    ("write", "pwritev", 296, 70),
    ("write", "pwritev2", 328, 287),
    ("write", "ftruncate", 77, 46),
    ("write", "fallocate", 285, 47),
    ("write", "sync_file_range", 277, 84),
    ("poll", "poll", 7, None),
    ("poll", "ppoll", 271, 73),
    ("select", "select", 23, None),
    ("select", "pselect6", 270, 72),
    ("client", "accept", 43, 202),
    ("client", "accept4", 288, 242),
    ("client", "recvfrom", 45, 207),
    ("client", "recvmsg", 47, 212),
    ("client", "recvmmsg", 299, 243),
    ("client", "sendto", 44, 206),
    ("client", "sendmsg", 46, 211),
    ("set", "epoll_wait", 232, None),
    ("set", "epoll_pwait", 281, 22),
    ("set", "epoll_pwait2", 441, 441),
    ("clock", "nanosleep", 35, 101),
    ("clock", "clock_nanosleep", 230, 115),
    ("queue", "io_getevents", 208, 4),
    ("queue", "io_pgetevents", 333, 292),
    ("queue", "io_uring_enter", 426, 426),
    ("futex", "futex", 202, 98),
    ("signal", "rt_sigtimedwait", 128, 137),
    ("signal", "rt_sigsuspend", 130, 133),
    ("signal", "pause", 34, None),
    ("signal", "wait4", 61, 260),
    ("signal", "waitid", 247, 95),
)
"""Purpose, name, and number on x86_64 and on aarch64 (None: aarch64 has only a newer call).

From arch/x86/entry/syscalls/syscall_64.tbl and include/uapi/asm-generic/unistd.h of the Linux kernel."""

_COLUMNS = {"x86_64": 2, "aarch64": 3}


def purposes(machine: str | None = None) -> dict[bytes, Purpose] | None:
    """Return purposes by number, as ``/proc/PID/syscall`` writes it; None for an unknown machine.

    A 32-bit program on a 64-bit kernel has other numbers, but no measured server is one.
    """
    column = _COLUMNS.get(machine or platform.machine())
    if column is None:
        return None
    return {str(call[column]).encode(): call[0] for call in _CALLS if call[column] is not None}
