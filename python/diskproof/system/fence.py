"""Foreign files are read by a process of its own, inside a fence of the kernel (`diskproof-load fence`).

It reads what was named, and Python itself. It writes to files in memory that are open when it starts, and to
nothing else; it starts nothing, connects to nothing, and has a limit of time and memory.
"""

import os
import re
import stat
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path

from diskproof.reading import MIB, UnreadableError, read_bytes
from diskproof.refusal import RefusalError
from diskproof.system.programs import Ended, TimedOut, find_program, in_memory, run

INSIDE = "DISKPROOF_FENCED"
"""Environment variable of a process in the fence."""

PROGRAM = "diskproof-load"

LIMIT_S = 1800.0
"""The longest time for all files together: a run of thousands of trials takes minutes."""

MOST_INCLUDED = 1000

AS_NOBODY = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"]
AS_NOBODY += [
    "--inh-caps=-all,+dac_read_search",
    "--ambient-caps=-all,+dac_read_search",
    "--pdeathsig=KILL",
    "--",
]
"""Of root's rights, another user keeps that it may read everything."""

SYSTEM = (
    *(
        "/lib",
        "/lib64",
        "/usr/lib",
        "/usr/lib64",
        "/usr/local/lib",
        "/etc/ld.so.cache",
        "/usr/share/zoneinfo",
    ),
    *("/proc/cpuinfo", "/proc/meminfo", "/sys/devices/system/cpu"),
)
"""What libraries read."""

_INCLUDES = re.compile(
    rb"(?i)^[ \t]*(?:![ \t]*include(?:dir)?|include(?:_if_exists|_dir)?)(?:[ \t=]+'?|')([^'\r\n]{1,4096})",
    re.MULTILINE,
)

CONFIGURATION = re.compile(r".*\.(?:cnf|conf|ini|d)", re.DOTALL)
"""The names that an option file may lead to: what it includes is not to be any file."""


def inside() -> bool:
    """Return whether this process is in the fence."""
    return INSIDE in os.environ


def give(text: str) -> None:
    """Hand a text to the process outside."""
    with os.fdopen(0, "wb", closefd=False) as outside:
        outside.write(text.encode(errors="replace"))


def given() -> bytes:
    """Return what the process outside handed to this one."""
    with os.fdopen(0, "rb", closefd=False) as outside:
        return outside.read()


def run_inside(
    module: str,
    words: Sequence[str],
    named: Iterable[str | Path],
    environment: Mapping[str, str] | None = None,
    hand: bytes = b"",
) -> tuple[Ended, str]:
    """Run a module of ours on files and folders; return how it ended, and what it handed over.

    RefusalError if it did not end by itself.
    """
    argv = python_inside(["-m", module, *words], named)
    with in_memory() as handed:
        handed.write(hand)
        handed.seek(0)
        try:
            ended = run(argv, limit_s=LIMIT_S, stdin=handed, env={**(environment or {}), INSIDE: "1"})
        except TimedOut:
            raise RefusalError(f"these files were not read within {LIMIT_S:.0f} s: name fewer") from None
        if ended.code < 0:
            raise RefusalError(
                f"what reads these files was ended by signal {-ended.code}, perhaps for want of memory: name "
                "fewer, and report it if one file alone does this"
            )
        handed.seek(len(hand))
        return ended, handed.read().decode(errors="replace")


def python_inside(words: Sequence[str], named: Iterable[str | Path]) -> list[str]:
    """Return the command that starts Python in the fence."""
    program = find_program(PROGRAM)
    if program is None:
        raise RefusalError(f"{PROGRAM} is not installed; `make run` or `pip install .` builds it")
    python = [sys.prefix, f"{sys.base_prefix}/lib", *filter(None, sys.path[1:])]
    places = dict.fromkeys([*SYSTEM, *python, *(str(one) for path in named for one in _with_included(path))])
    others_start = all(one.stat().st_mode & stat.S_IXOTH for one in (program, Path(sys.executable)))
    return [
        *(AS_NOBODY if os.geteuid() == 0 and others_start else []),
        *(str(program), "fence", *(f"--read={one}" for one in places)),
        *("--", sys.executable, "-P", *words),
    ]


def _with_included(named: str | Path) -> Iterator[Path]:
    """Yield a file, and the option files and folders of them that it includes."""
    waiting, found = [Path(named)], set[Path]()
    while waiting and len(found) < MOST_INCLUDED:
        path = waiting.pop()
        if path in found:
            continue
        found.add(path)
        yield path
        with suppress(UnreadableError):
            for target in _INCLUDES.findall(read_bytes(path, MIB)):
                with suppress(OSError, ValueError):
                    wanted = path.parent / os.fsdecode(target.strip())
                    if CONFIGURATION.fullmatch(wanted.resolve().name):
                        waiting += [wanted, *(wanted.glob("*.c*nf") if wanted.is_dir() else ())]
