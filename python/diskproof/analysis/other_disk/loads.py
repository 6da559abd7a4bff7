"""A recorded cell as a load for the simulation: its demands per transaction, as they were counted."""

import math

from diskproof.analysis.limits.disks import DATA, MICRO, Disk, holding
from diskproof.analysis.limits.observed import Observed
from diskproof.analysis.limits.split import split_of
from diskproof.analysis.limits.thresholds import LOG_IS_FULL
from diskproof.analysis.other_disk.records import Load, Log
from diskproof.families import of
from diskproof.families.durability import flushed_logs, flushes_alone
from diskproof.results.plan import Phases
from diskproof.wording import Message, say, share

LOG_BYTES = 4096
"""Of a commit in a log, if the disks' counters do not say: small beside what a disk does in the time of one
request."""

MOST_BURSTS = 12
"""Pieces of CPU time: more statements change nothing but the time of the simulation."""

LONGEST_S = 20.0
"""Virtual seconds at most. A recorded phase is simulated at its own length: a volume's credits run out with
time."""

TRANSACTIONS = 6000
"""Enough for a mean within 1 to 2%."""

PAGES_TOGETHER = 16

IDLE_CPUS = 0.025
"""CPUs that a server and its load use while nothing happens: background threads, timers, counters.

Measured: one client of `commits` in studies/limits.toml used 1,685 us of CPU time a transaction at 35.0/s
(hard disk) and 1,192 us at 100.7/s (SSD): (1,685 - 1,192) us / (1/35.0 - 1/100.7) s = 0.026.
"""

EMPTY_LOG, HALF_FULL = 0.1, 0.5
"""Age of InnoDB's checkpoint, as a share of what the log can hold: at the start of a trial, and when pages
begin to be written. Trials that ended below 0.45 wrote none, those that ended above 0.6 did."""

FILLED, WAITED = 0.5, 0.1
"""Share of the memory that a trial must have filled with pages, and share of a transaction's time from which
reads count. MariaDB 10.11 keeps a third of a small buffer pool free."""

LEAST_CPU = 0.4
"""Share of the counted CPU time that is a transaction's own at least."""

COMMIT_US, READ_US = 75.0, 10.0
"""CPU time to sleep and wake at a commit or a read that waits; in main memory nothing waits.

Measured as the CPU time on a disk, without `IDLE_CPUS`, minus that in main memory. In
studies/star-ssd-sas-dram.toml: 61 to 83 us a commit (8 and 64 clients), 12 to 16 us a read (64 clients,
uniform). In studies/limits.toml: 181 to 214 us a commit (8 clients), where CPUs were idle most of the time.
"""


def load_of(seen: Observed, phases: Phases, disk_bytes: int, *, preloaded: bool) -> Load | Message:
    """Return the demands of a mean transaction, or why one of them is not known and what to do.

    `seen` is a cell for which `why_not` says nothing; `preloaded` if its data were read before the warm-up.
    """
    assert seen.family is not None and seen.per_s is not None and seen.cpu.count is not None
    reads = _reads(seen)
    if reads is None:
        return say(
            "reads of pages were not counted in main memory, and the data are larger than the server's; "
            "record this load on a disk"
        )
    split, facts = split_of(seen), of(seen.family)
    read_bytes = round(_mean_bytes(holding(seen.disks, DATA)) or facts.page_bytes)
    waited_us = split.part("data reads") if split else 0.0
    if not preloaded and waited_us >= WAITED * (seen.latency_us or math.inf):
        seconds = phases.warm_up_s + phases.measure_s
        if seen.per_s * reads * read_bytes * seconds < FILLED * _cached_bytes(seen):
            return say(
                "the memory was still filling with pages, so it read more from the disk than it will later; "
                "record it with a longer warm-up, or with `preload = true` in the workload"
            )
    locks_us = split.part("locks") if split else 0.0
    latency_us = seen.latency_us or 0.0
    commits = (seen.commits_per_s or 0.0) / seen.per_s
    logs = _logs(seen, commits)
    page_writes, page_writes_after = _pages(seen, phases)
    used = seen.cpu.used_us
    counted_us = (0.0 if seen.embedded else used.get("server", 0.0)) + used.get("load", 0.0)
    own_us = max(counted_us - IDLE_CPUS / seen.per_s * MICRO, LEAST_CPU * counted_us)
    return Load(
        clients=seen.inside,
        cores=seen.cpu.count,
        cpu_us=own_us,
        behind_us=used.get("disks", 0.0) * ("disks" in seen.cpu.shares) + _of_the_kernel(seen),
        bursts=min(max(round(seen.statement_count or 1), 1), MOST_BURSTS),
        lock_share=min(locks_us / max(latency_us - locks_us, 1.0), 10.0),
        reads=reads,
        read_bytes=read_bytes,
        data_bytes=seen.data_bytes or 1 << 30,
        disk_bytes=disk_bytes,
        commits=commits if logs else 0.0,
        logs=logs,
        page_writes=page_writes,
        page_writes_after=page_writes_after,
        page_bytes=facts.page_bytes,
        page_batch=PAGES_TOGETHER,
        doublewrite=seen.family == "mysql"
        and (seen.settings.get("innodb_doublewrite") or "").upper() != "OFF",
        warm_up_s=min(phases.warm_up_s, LONGEST_S / 10),
        measure_s=min(phases.measure_s, LONGEST_S),
        transactions=TRANSACTIONS,
    )


def moved(load: Load, *, from_memory: bool, to_memory: bool) -> Load:
    """Return a load on another kind of storage: in main memory it never sleeps, so it computes less."""
    if from_memory == to_memory:
        return load
    sleeping_us = COMMIT_US * load.commits + READ_US * load.reads
    awake_us = max(load.cpu_us - sleeping_us, LEAST_CPU * load.cpu_us)
    return load.model_copy(update={"cpu_us": awake_us if to_memory else load.cpu_us + sleeping_us})


def why_not(seen: Observed) -> Message | None:
    """Say why a cell's record is not enough; None if it is."""
    if seen.bare:
        return say(
            "a load on bare files has no transactions; `diskproof-disk simulate` runs a disk's model alone"
        )
    if not seen.transactional:
        return say("a job is a sequence of different work, not one kind of transaction")
    if seen.family is None:
        return say("the server is not known")
    if seen.rates:
        return say("the study sets its rate; record it without `rate`")
    if any(one.load.replay for one in seen.trials):
        return say("a log's sessions rest between transactions; replay it on a virtual disk instead")
    if seen.elsewhere:
        return say(
            "nothing was counted on the server's machine; record it with a server that diskproof starts"
        )
    if seen.loaders is not None:
        return say("its load ran on other machines; record it with the load beside the server")
    if seen.embedded and seen.inside < seen.clients:
        return say("SQLite's writers wait for each other by sleeping; record it with one client")
    if not seen.per_s or seen.cpu.count is None or not {"server", "load"} & set(seen.cpu.used_us):
        return say("its CPU time was not counted")
    age = seen.account.checkpoint_age_mean
    if age is not None and age >= LOG_IS_FULL:
        return say(
            "its log was {age} full, so clients waited for page writes; how many pages those are depends on "
            "the disk's speed. Record it with a larger log",
            age=share(age),
        )
    return None


def _reads(seen: Observed) -> float | None:
    """Return the pages that a transaction waits for from the disk; None if nothing counted them.

    A disk also gets reads that nobody waits for, such as read-ahead, so the server's lower count is taken.
    """
    counted = [one.read.per_s for one in holding(seen.disks, DATA)]
    asked = seen.account_each.page_reads
    if counted and seen.per_s:
        on_disk = sum(counted) / seen.per_s
        return on_disk if asked is None else min(on_disk, asked)
    if asked is not None:
        return asked
    fits = seen.data_bytes is not None and seen.data_bytes <= (seen.cell.memory_bytes or math.inf)
    return 0.0 if fits else None


def _cached_bytes(seen: Observed) -> float:
    """Return how much of the data memory holds in the end: the kernel caches files too, but not InnoDB's."""
    memory_bytes = seen.cell.memory_bytes if seen.family == "mysql" else math.inf
    return min(seen.data_bytes or math.inf, memory_bytes or math.inf)


def _logs(seen: Observed, commits: float) -> list[Log]:
    """Return the logs whose flush a commit waits for; the binary log's file grows, the others are reused."""
    if not commits or seen.family is None or seen.no_commit_waits or not seen.covers_tables:
        return []
    roles = flushed_logs(seen.family, seen.settings)
    each = _log_bytes(seen, commits, len(roles))
    alone = seen.server is not None and flushes_alone(seen.server, seen.settings)
    logs = [Log(bytes=each, grows=role == "binlog", alone=alone and role == "binlog") for role in roles]
    # Without group commit of the binary log, the redo log is flushed again after it.
    return [*logs, logs[0]] if alone and len(logs) > 1 else logs


def _pages(seen: Observed, phases: Phases) -> tuple[float, float]:
    """Return pages written a transaction, and the transactions after which they begin to be.

    A trial begins with an empty log. InnoDB writes few pages until it is half full. How fast it fills follows
    from the age of the checkpoint while it was measured: it grows evenly up to its maximum and stays there.
    """
    each, per_s = seen.account_each.page_writes or 0.0, seen.per_s or 0.0
    mean, most = seen.account.checkpoint_age_mean, seen.account.checkpoint_age_max
    if not each or mean is None or most is None or most <= EMPTY_LOG:
        return each, 0.0
    rising = min(max(2 * (most - mean) / (most - EMPTY_LOG), 0.0), 1.0)
    before, measured = per_s * phases.warm_up_s, per_s * phases.measure_s
    filled = before + rising * measured
    after = filled * max(HALF_FULL - EMPTY_LOG, 0.0) / (most - EMPTY_LOG)
    writing = min(max(before + measured - after, 0.1 * measured), measured)
    return each * measured / writing, after


def _log_bytes(seen: Observed, commits: float, logs: int) -> int:
    """Return the bytes of a commit in one log: all that was written, without pages, at least a little."""
    disks = holding(seen.virtual or seen.disks, seen.log_roles)
    written = sum(one.write.per_s * (one.write.mean_bytes or 0.0) for one in disks) / (seen.per_s or 1.0)
    pages = 2 * (seen.account_each.page_writes or 0.0) * of(seen.family or "mysql").page_bytes
    known = (written - pages) / commits / max(logs, 1) / 2
    return round(min(max(known, 512.0), 1e6)) if written else LOG_BYTES


def _of_the_kernel(seen: Observed) -> float:
    """Return the CPU time that nobody's process used: the kernel's own threads write for a transaction, too.

    Other work may be in it, so it counts only as far as it is little.
    """
    others, everything = seen.cpu.others_share, seen.cpu.all_us
    return everything * others / (1 - others) if everything and others and others < 0.2 else 0.0


def _mean_bytes(disks: list[Disk]) -> float | None:
    known = [(one.read.per_s, one.read.mean_bytes) for one in disks if one.read.mean_bytes]
    total = sum(rate for rate, _ in known)
    return sum(rate * size for rate, size in known) / total if total else None
