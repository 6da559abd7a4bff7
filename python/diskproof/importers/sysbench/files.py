"""A run of sysbench's fileio, as a result.

sysbench 0.4 and 0.5 write Kb, Mb and Gb for KiB, MiB and GiB (`sb_print_value_size`), and count every fsync
of a file as one "Other". Since 1.0 only rates are printed, and an fsync is an event like a read.
"""

import re

from diskproof.importers.base import Text
from diskproof.importers.numbers import broken, number, whole
from diskproof.importers.sysbench.figures import (
    MODES,
    clients_of,
    fatal_errors,
    latency_of,
    remarks_of,
    result_of,
    seconds_of,
    version_of,
)
from diskproof.importers.sysbench.output import Output
from diskproof.reading import MIB
from diskproof.results.imported import ImportedResult
from diskproof.results.load import FileRequests, LoadResult

_SIZE = re.compile(r"([\d.]{1,20}) ?([KMGTP]?)i?b", re.IGNORECASE)
_POWER = {"": 0, "K": 1, "M": 2, "G": 3, "T": 4, "P": 5}
SECTOR_BYTES = 512
"""Blocks are whole sectors: what lets a block's size follow from a rounded sum."""


def file_result(text: Text, run: Output, place: int) -> ImportedResult:
    """Return the result of one run; ImportRefusedError if it has no rate."""
    remarks = remarks_of(run)
    rate_per_s = _rate_per_s(text, run)
    newer = "reads/s" in run.figures or "read iops" in run.figures
    seconds = seconds_of(run)
    reads, writes, syncs = _worked_out(run, seconds, remarks) if newer else _counted(run)
    requests = None if reads is None or writes is None else reads + writes
    block_bytes = _block_bytes(text, run, reads, writes, remarks)
    mode = mode_of(run)
    if newer:
        remarks.append("its latencies are of reads, writes and fsyncs together")
    if run.intervals and block_bytes:
        remarks.append(f"requests of each interval, derived: its MiB a second / {block_bytes} bytes")
    workload = " ".join(filter(None, ("fileio", mode, _block_name(block_bytes))))
    events = run.figures.get("total number of events" if newer else "total ops")
    load = LoadResult(
        workload="fileio",
        mix=mode,
        clients=clients_of(run, remarks),
        seconds=seconds,
        transactions=requests,
        transactions_per_s=rate_per_s,
        derived=["transactions"] if newer else [],
        statements=None if events is None else int(events),
        reads=reads,
        writes=writes,
        others=syncs,
        latency_us=latency_of(run, None if newer else requests, remarks),
        errors=fatal_errors(run),
        file_requests=FileRequests(
            files=whole(run.head.get("file-num") or run.options.get("file-num")),
            block_bytes=block_bytes,
            direct=_direct(run),
            one_pass=bool(mode and mode.startswith("seq") and version_of(run) < "1"),
            read_bytes=_moved(text, run, "read", reads, block_bytes, seconds, remarks),
            written_bytes=_moved(text, run, "written", writes, block_bytes, seconds, remarks),
            syncs=syncs,
        ),
    )
    return result_of(text, run, place, "fileio", workload, load, remarks)


def _worked_out(
    run: Output, seconds: float | None, remarks: list[str]
) -> tuple[int | None, int | None, int | None]:
    """Return (reads, writes, fsyncs) of sysbench 1.0 and later, which only prints their rates."""
    names = (
        ("reads/s", "writes/s", "fsyncs/s")
        if "reads/s" in run.figures
        else ("read iops", "write iops", "fsync iops")
    )
    rates = [run.figures.get(name) for name in names]
    counts = [None if rate is None or not seconds else round(rate * seconds) for rate in rates]
    told = [
        f"{count:,} {kind} ({rate:,.10g}/s)"
        for count, kind, rate in zip(counts, ("reads", "writes", "fsyncs"), rates, strict=True)
        if count is not None
    ]
    if told and seconds:
        remarks.append(f"{', '.join(told)}, derived: rate x {seconds:g} s")
    reads, writes, syncs = counts
    return reads, writes, syncs


def _counted(run: Output) -> tuple[int | None, int | None, int | None]:
    """Return (reads, writes, fsyncs) of sysbench before 1.0, which counts them."""
    told = [run.figures.get(f"{kind} ops") for kind in ("read", "write", "other")]
    reads, writes, others = (None if one is None else int(one) for one in told)
    return reads, writes, others


def _rate_per_s(text: Text, run: Output) -> float:
    """Return reads and writes a second together."""
    for names in (("requests/s",), ("reads/s", "writes/s"), ("read iops", "write iops")):
        told = [run.figures.get(name) for name in names]
        if all(one is not None for one in told):
            return sum(one for one in told if one is not None)
    raise broken(text, run.line, "sysbench's fileio output that begins here has no requests a second")


def _block_bytes(
    text: Text, run: Output, reads: int | None, writes: int | None, remarks: list[str]
) -> int | None:
    """Return the size of a request: as printed, or the only size of whole sectors that fits the sums."""
    if (told := block_of_head(text, run)) is not None:
        return told
    for kind, requests in (("read", reads), ("written", writes)):
        if not requests or kind not in run.moved:
            continue
        size = _bytes(text, run.line, "".join(run.moved[kind]))
        if size is None:
            continue
        value, half_digit = size
        least, most = (value - half_digit) / requests, (value + half_digit) / requests
        sectors = round(value / requests / SECTOR_BYTES)
        fits = [n for n in (sectors - 1, sectors, sectors + 1) if n > 0 and least <= n * SECTOR_BYTES <= most]
        if len(fits) == 1:
            block = fits[0] * SECTOR_BYTES
            remarks.append(
                f"blocks of {block} bytes, derived: {' '.join(run.moved[kind])} {kind} in {requests} requests"
                f", and no other multiple of {SECTOR_BYTES} fits"
            )
            return block
    return None


def block_of_head(text: Text, run: Output) -> int | None:
    """Return the size of a request as the head or the command says it."""
    told = run.head.get("file-block-size") or run.options.get("file-block-size")
    size = _bytes(text, run.line, told) if told else None
    return round(size[0]) if size else None


def _moved(
    text: Text,
    run: Output,
    kind: str,
    requests: int | None,
    block_bytes: int | None,
    seconds: float | None,
    remarks: list[str],
) -> int | None:
    """Return the bytes read or written: requests times block, or rate times seconds."""
    if requests is not None and block_bytes:
        return requests * block_bytes
    if kind in run.moved and (size := _bytes(text, run.line, "".join(run.moved[kind]))):
        remarks.append(f"bytes {kind} as rounded in print: {' '.join(run.moved[kind])}")
        return round(size[0])
    newest = "read mib/s" if kind == "read" else "write mib/s"
    mib_per_s = run.figures.get(f"{kind}, mib/s", run.figures.get(newest))
    if mib_per_s is None or not seconds:
        return None
    remarks.append(f"bytes {kind}, derived: {mib_per_s:g} MiB/s x {seconds:g} s")
    return round(mib_per_s * MIB * seconds)


def _bytes(text: Text, line: int, told: str) -> tuple[float, float] | None:
    """Return a printed size in bytes, and half a unit of its last digit; None of what is no size."""
    found = _SIZE.fullmatch(told)
    if found is None:
        return None
    unit = 1024.0 ** _POWER[found[2].upper()]
    digits = len(found[1].partition(".")[2])
    return number(text, line, found[1], "a size") * unit, 0.5 * 10.0**-digits * unit


def mode_of(run: Output) -> str | None:
    """Return the test mode; if the head is missing, only one mode has reads beside writes."""
    if told := run.options.get("file-test-mode"):
        return told
    if doing := run.head.get("file-test"):
        return MODES.get(doing, doing)
    reads, writes = (
        run.figures.get(f"{kind} ops", run.figures.get(f"{kind}s/s", run.figures.get(f"{kind} iops", 0)))
        for kind in ("read", "write")
    )
    return "rndrw" if reads and writes else None


def _direct(run: Output) -> bool | None:
    """Return whether the page cache was passed by.

    0.4 prints the flags of open(2) in hexadecimal (O_DIRECT is 4000 on x86 and 10000 on ARM), 0.5 a number of
    its own, 1.0 words.
    """
    told = run.head.get("file-extra-flags") or run.options.get("file-extra-flags")
    if told is None:
        return None
    if told in ("0", "(none)", "none") or told.startswith(("sync", "dsync")):
        return False
    return True if told.startswith("direct") or told in ("3", "4000", "10000") else None


def _block_name(block_bytes: int | None) -> str | None:
    if block_bytes is None:
        return None
    return f"{block_bytes // 1024} KiB" if block_bytes % 1024 == 0 else f"{block_bytes} B"
