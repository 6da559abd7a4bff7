"""The kinds of work that are disturbed: short studies of every kind of place, and the verbs beside them."""

import os
import shutil
from dataclasses import dataclass
from pathlib import Path

from diskproof.storage import zfs
from diskproof.system.cpu_quota import why_no_quota

SEARCHED = f"{os.environ.get('PATH', '')}:/usr/sbin:/sbin"

STUDY = """question = "What is left of it?"
[design]
repeat_disturbed = false
blocks = 1
warm_up_s = 0
measure_s = 0.5
clients = [2]
memory = ["16 MiB"]
[servers.db]
family = "{family}"
[storages.it]
{storage}
[tunings.safest]
"""

LOAD = """[workloads.load]
mix = "write-only"
tables = 1
rows = 500
"""

CUTS = """[crash]
cuts = 1
ways = {ways}
clients = 2
accounts = 500
"""

DIRECTORY = 'directory = "disk/place"'
VIRTUAL = 'virtual = "null"\nsize = "400 MiB"\nbelow_floor = true'
COMPOSED = (
    'composed = { how = "write-cache", front = "laptop-ssd-2012", back = "desktop-7200" }\n'
    'size = "600 MiB"\nbelow_floor = true'
)
POOL = 'zpool.data = [{ file = "disk/member", size = "300 MiB" }]'
FILES = """question = "What is left of it?"
[design]
repeat_disturbed = false
blocks = 1
warm_up_s = 0
measure_s = 0.5
clients = [2]
[storages.it]
directory = "disk/place"
[workloads.files]
kind = "fileio"
mode = "rndrw"
total_size = "16 MiB"
files = 4
"""

FAULTS = """[faults.flush]
kind = "error"
on = "flush"
times = 1
after_s = 0.2
""" + CUTS.format(ways='["kill", "power"]').replace("cuts = 1", "cuts = 2\nat_once = 3")
"""Several tries at once, half of them with a disk that errs."""

PROGRAM = """question = "What is left of it?"
[program]
start = "setsid sleep 1000 & sleep 1000"
load = "n=0; while :; do n=$((n+1)); echo begin $n; echo $n >>{directory}/log; sync; echo ack $n; done"
check = "cat {directory}/log"
[storages.it]
virtual = "null"
size = "600 MiB"
below_floor = true
[crash]
cuts = 1
ways = ["kill", "power"]
"""
"""A program whose server leaves its session."""

RAM = 'ram = "600 MiB"'
TIED = ("cp", "diskproof-load")
DISKS = ("diskproof-disk", "losetup", "mkfs.ext4", "mount", "umount", "diskproof-load")


@dataclass(frozen=True)
class Work:
    """One kind of work."""

    name: str
    seconds: float
    """How long it takes on a quiet machine, from the beginning of its journal."""
    phases: tuple[str, ...]
    """Programs whose starts are moments to aim at."""
    study: str = ""
    verb: tuple[str, ...] = ("run", "study.toml")
    again: tuple[str, ...] = ("--resume",)
    """What is added to the verb for the attempt after `clean`."""
    needs: tuple[str, ...] = ()
    """Programs without which it is left out."""


def _study(family: str, storage: str, part: str = LOAD) -> str:
    return STUDY.format(family=family, storage=storage) + part


WORKS = (
    Work("sqlite on a directory", 2.6, TIED, _study("sqlite", DIRECTORY)),
    Work("mariadb on a directory", 4.0, (*TIED, "mariadbd"), _study("mysql", DIRECTORY), needs=("mariadbd",)),
    Work(
        "mariadb in memory",
        3.5,
        (*TIED, "mariadbd", "mount"),
        _study("mysql", 'ram = "300 MiB"'),
        needs=("mariadbd",),
    ),
    Work(
        "mariadb on a virtual disk", 4.5, (*DISKS, "mariadbd"), _study("mysql", VIRTUAL), needs=("mariadbd",)
    ),
    Work(
        "postgresql on a directory",
        4.0,
        (*TIED, "initdb", "postgres"),
        _study("postgresql", DIRECTORY),
        needs=("initdb",),
    ),
    Work(
        "postgresql on a virtual disk",
        5.0,
        (*DISKS, "initdb", "postgres"),
        _study("postgresql", VIRTUAL),
        needs=("initdb",),
    ),
    Work("sqlite on a composed disk", 3.5, DISKS, _study("sqlite", COMPOSED)),
    Work(
        "sqlite in slow time",
        6.0,
        DISKS,
        _study("sqlite", VIRTUAL).replace("blocks = 1", "blocks = 1\ndilation = 2\ncpus_count = 1"),
        needs=("quota",),
    ),
    Work(
        "sqlite on a pool",
        4.0,
        ("zfs-fuse", "zpool", "zfs", "losetup", "diskproof-load"),
        _study("sqlite", POOL),
        needs=("zfs",),
    ),
    Work("sqlite in main memory", 2.6, ("mount", "umount", *TIED), _study("sqlite", RAM)),
    Work("bare files", 3.0, ("fio",), FILES, needs=("fio",)),
    Work(
        "cuts of sqlite",
        6.0,
        DISKS,
        _study("sqlite", VIRTUAL, CUTS.format(ways='["kill", "stop", "power"]')),
        ("crash", "study.toml"),
    ),
    Work(
        "cuts of postgresql",
        7.0,
        (*DISKS, "initdb", "postgres"),
        _study("postgresql", VIRTUAL, CUTS.format(ways='["power"]')),
        ("crash", "study.toml"),
        needs=("initdb",),
    ),
    Work("faults under sqlite", 9.0, DISKS, _study("sqlite", VIRTUAL, FAULTS), ("crash", "study.toml")),
    Work("cuts of a program", 7.0, (*DISKS[:-1], "sleep"), PROGRAM, ("crash", "study.toml")),
    Work(
        "states of a program", 9.0, (*DISKS[:-1], "sleep"), PROGRAM, ("crash", "study.toml", "--states", "12")
    ),
    Work(
        "proof of mariadb",
        12.0,
        (*TIED, "mariadbd"),
        _study("mysql", DIRECTORY),
        ("run", "study.toml", "--prove", "--pairs", "1"),
        needs=("mariadbd",),
    ),
    Work(
        "disk attach",
        2.5,
        DISKS,
        verb=("disk", "attach", "null", "--size", "300 MiB", "--below-floor"),
        again=(),
    ),
    Work(
        "disk profile",
        8.0,
        ("fio",),
        verb=("disk", "profile", "disk", "--quick", "--size", "16 MiB", "--only", "4k"),
        again=(),
        needs=("fio",),
    ),
)
"""Each with its own moments; `clean` itself is a work too, see `CLEAN`."""

CLEAN = Work("clean", 1.0, ("umount", "losetup", "zpool"), verb=("clean",), again=())
"""After any other work was killed."""


def is_possible(work: Work) -> bool:
    """Return whether this machine has what a kind of work needs."""
    there = {"quota": why_no_quota() is None, "zfs": zfs.flavour() == "zfs-fuse"}
    return all(there.get(need, is_found(need)) for need in work.needs)


def is_found(program: str) -> bool:
    """Return whether a program is on PATH or where Debian keeps servers."""
    return bool(
        shutil.which(program, path=SEARCHED) or any(Path("/usr/lib/postgresql").glob(f"*/bin/{program}"))
    )
