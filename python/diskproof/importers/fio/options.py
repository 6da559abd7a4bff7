"""What fio was asked for: its options, as its JSON repeats them."""

from diskproof.importers.numbers import whole

MODES = {
    "read": "seqrd",
    "write": "seqwr",
    "rw": "seqrw",
    "readwrite": "seqrw",
    "randread": "rndrd",
    "randwrite": "rndwr",
    "randrw": "rndrw",
}
"""fio's ``rw`` by sysbench's name of the same, as a load on bare files is called here."""

ONE_AT_A_TIME = {"sync", "psync", "vsync", "pvsync", "pvsync2", "mmap"}
"""Engines with one request of a job under way, whatever ``iodepth`` says (fio's manual)."""

ASKED = (
    *("rw", "rwmixread", "bs", "size", "io_size", "runtime", "time_based", "ramp_time", "loops"),
    *("ioengine", "iodepth", "numjobs", "direct", "buffered", "sync", "fsync", "fdatasync", "end_fsync"),
    *("nrfiles", "filename", "invalidate", "rate", "rate_iops", "thinktime"),
)

CAPS = ("rate", "rate_iops", "rate_min", "rate_iops_min", "thinktime")


def in_flight(told: dict[str, str], entries: int) -> int | None:
    """Return the requests under way at a time: jobs times their depth; None if nothing says them."""
    if not told:
        return None
    jobs = whole(told.get("numjobs", "1"))
    depth = 1 if told.get("ioengine", "psync") in ONE_AT_A_TIME else whole(told.get("iodepth", "1"))
    return None if jobs is None or depth is None else max(jobs, entries) * depth or None


def asks_for_syncs(told: dict[str, str]) -> bool:
    """Return whether files are synced after some requests."""
    return any(told.get(one, "0") != "0" for one in ("fsync", "fdatasync"))


_SUFFIXES = {"": 1, "b": 1, "k": 2**10, "m": 2**20, "g": 2**30}


def size_of(told: str | None) -> int | None:
    """Return one size of fio's (``4k``, ``64KiB``) in bytes; None of ranges and splits."""
    if told is None:
        return None
    plain = told.lower().removesuffix("ib") if told.lower().endswith("ib") else told.lower()
    digits = plain.rstrip("kmgb")
    suffix = plain[len(digits) :].removesuffix("b") if len(plain) - len(digits) > 1 else plain[len(digits) :]
    amount = whole(digits)
    return None if amount is None or suffix not in _SUFFIXES else amount * _SUFFIXES[suffix] or None


_SECONDS = {"": 1, "s": 1, "m": 60, "h": 3600}


def seconds_asked(told: str | None) -> float | None:
    """Return a time without a unit, or in seconds, minutes or hours; None of any other."""
    unit = told[-1] if told and told[-1] in _SECONDS else ""
    amount = None if told is None else whole(told.removesuffix(unit))
    return None if amount is None else float(amount * _SECONDS[unit])
