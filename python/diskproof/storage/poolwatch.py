"""What a pool reports about its own disks during a trial: `zpool iostat`, once a second."""

import re
from collections.abc import Mapping
from pathlib import Path

from diskproof.results.machine import PoolPart
from diskproof.results.usage import PoolUse
from diskproof.system.processes import Starter

PERIOD_S = 1

COLUMNS = 7
"""Columns of a disk's line: name, allocated, free, reads/s, writes/s, bytes read/s, bytes written/s."""

UNITS = {"": 1, "K": 2**10, "M": 2**20, "G": 2**30, "T": 2**40}


class PoolWatch:
    """A running `zpool iostat`; its output is kept with the trial."""

    def __init__(self, pool: str, parts: Mapping[str, PoolPart], log_folder: Path, starter: Starter) -> None:
        """Watch a pool; `parts` are by kernel name of the disk."""
        self._parts = parts
        self._said = log_folder / f"zpool-iostat-{pool}.txt"
        self._process = starter.start(["zpool", "iostat", "-v", pool, str(PERIOD_S)], log_file=self._said)

    def abandon(self) -> None:
        """Stop watching."""
        self._process.kill()
        self._process.wait()

    def end(self) -> list[PoolUse]:
        """Stop watching; return what each disk did, to the three digits that the pool reports."""
        self.abandon()
        return read_uses(self._said.read_text(errors="replace"), self._parts)


def read_uses(said: str, parts: Mapping[str, PoolPart]) -> list[PoolUse]:
    """Sum the reports of `zpool iostat -v` without the first, which covers the time before.

    Rates are multiplied by the period. A disk that was never reported has no entry.
    """
    reports = re.split(r"^\s+capacity\s+operations\s+bandwidth.*$", said, flags=re.MULTILINE)[2:]
    sums: dict[str, list[int]] = {}
    for report in reports:
        for line in report.splitlines():
            words = line.split()
            name = words[0].rpartition("/")[2] if words else ""
            if len(words) == COLUMNS and name in parts:
                rates = [_number(word) * PERIOD_S for word in words[3:]]
                before = sums.get(name, [0, 0, 0, 0])
                sums[name] = [one + other for one, other in zip(before, rates, strict=True)]
    return [
        PoolUse(
            part=parts[name], device=name, reads=reads, writes=writes, read_bytes=read, written_bytes=written
        )
        for name, (reads, writes, read, written) in sums.items()
    ]


def _number(word: str) -> int:
    """Return a number that ZFS abbreviates: ``4.97K``; 0 for a dash."""
    found = re.fullmatch(r"([0-9.]+)([KMGT]?)", word)
    return round(float(found[1]) * UNITS[found[2]]) if found else 0
