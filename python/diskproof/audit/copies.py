"""Checks of a copy by dd: that its time was the disk's, and that there was something to write."""

from collections.abc import Iterator

from diskproof.audit.check import Apart, Evidence, Problem, Said, Untold, check
from diskproof.results.record import format_bytes

SHORTEST_S = 1.0
"""A disk's cache takes tens of megabytes at once: what is over sooner may never have left it."""

WAITS = frozenset({"fsync", "fdatasync", "direct", "sync", "dsync"})
"""Of `conv` and `oflag`: what makes dd wait for the disk, at the end or at each block."""


@check(
    "buffered-copy",
    reason="dd ends when the system has taken its bytes, which it keeps in the page cache for half a minute: "
    "without a flush its time is that of memory, for as long as memory lasts.",
    remedy="`conv=fsync`, or `oflag=direct`, with several times as much data as the machine has memory",
    source="dd(1), coreutils: conv=fdatasync and fsync, oflag=direct, dsync and sync",
)
def buffered_copy(evidence: Evidence) -> Iterator[Said]:
    """Find copies to a disk whose time ends before the disk has them, or before it has shown anything."""
    told, moved = evidence.trial.imported, evidence.load.file_requests
    if told is None or told.format != "dd" or moved is None:
        yield Apart("no copy by dd")
        return
    if evidence.result is None:  # a run folder keeps the figures of a copy, and not its command
        yield Untold("dd's command")
        return
    asked = evidence.result.asked
    if moved.written_bytes is None:
        yield Apart("the disk was read") if moved.read_bytes is not None else Untold("dd's command")
        return
    size, seconds = format_bytes(moved.written_bytes), evidence.load.known_seconds
    if not WAITS & set(f"{asked.get('conv', '')},{asked.get('oflag', '')}".split(",")):
        yield Problem(
            "warning",
            f"{size} were written to the page cache: the time ends before the disk has it (neither "
            "`conv=fsync` nor `oflag=direct` or `dsync` in its command)",
        )
    if seconds < SHORTEST_S:
        yield Problem(
            "warning", f"{seconds:.2g} s is too short: a disk's own cache may have taken all of {size}"
        )
    if asked.get("if") == "/dev/zero":
        yield Problem(
            "note",
            "zeros were written: a disk or a file system that compresses stores next to nothing of them",
        )
