"""fio: its JSON (``--output-format=json``, ``json+``), of version 2 and 3, and its terse lines."""

import errno
import os
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator
from typing import Any, Literal

from diskproof.fio.figures import Requests, reads_of, seconds_of, syncs_of, writes_of
from diskproof.fio.program import Result
from diskproof.importers.base import Format, Found, Text
from diskproof.importers.jsontext import Node, objects
from diskproof.importers.numbers import broken, number
from diskproof.results.imported import ImportedResult, Source
from diskproof.results.load import Derived, FileRequests, Latency, LoadError, LoadResult, StatementType
from diskproof.stats.quantiles import known_percentiles

PERCENTILES = ("50", "75", "90", "95", "99", "99.9")

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

SUBMITTED = 0.02
"""Share of a mean latency that submitting may take for percentiles of completion to be told: below the 3 % to
which Little's law is held. A judgement."""

CAPS = ("rate", "rate_iops", "rate_min", "rate_iops_min", "thinktime")


# ---------------------------------------------------------------- JSON


def _is_json(text: Text) -> bool:
    return '"fio version"' in text.content


def _read_json(text: Text) -> Iterator[Found]:
    for whole in objects(text):
        version = whole.word("fio version")
        if version is None:
            continue
        jobs = whole.nodes("jobs") or whole.nodes("client_stats")
        if not jobs:
            raise broken(text, whole.line, "fio's answer has no jobs")
        common = whole.node("global options")
        groups: dict[tuple[str, str], list[Node]] = defaultdict(list)
        for job in jobs:
            groups[job.word("groupid") or "", job.word("jobname") or "fio"].append(job)
        source = Source(
            file=text.file,
            line=whole.line,
            format="fio JSON",
            tool=version.replace("fio-", "fio ", 1),
            sha256=text.sha256,
        )
        for (group, name), clones in groups.items():
            beside = [other for at, other in groups if at == group and other != name]
            yield _job(source, name, clones, common, beside)


def _job(
    source: Source, name: str, clones: list[Node], common: Node | None, beside: list[str]
) -> ImportedResult:
    """Return a job; its clones, which fio tells apart unless their group is reported together, are one."""
    own = clones[0].node("job options")
    told = {**(common.words() if common else {}), **(own.words() if own else {})}
    waited_for = told.get("ioengine", "psync") in ONE_AT_A_TIME if told else False
    figures = [_as_of_today(job, waited_for) for job in clones]
    remarks = [f"{len(clones)} jobs of this name, added up"] if len(clones) > 1 else []
    if beside:
        remarks.append(f"ran at the same time as {', '.join(beside)}")
    reads, writes, syncs = (_together(figures, kind) for kind in (reads_of, writes_of, syncs_of))
    seconds = max(seconds_of(job) for job in figures)
    if not any(options is not None for options in (common, own)):
        remarks.append("fio does not tell the options")
    capped = [cap for cap in CAPS if told.get(cap)]
    if capped:
        remarks.append(f"it was held back ({', '.join(f'{cap}={told[cap]}' for cap in capped)})")
    latency = _latency(_of_one_clock(figures), figures, remarks)
    requests = reads.requests + writes.requests
    rate_per_s = _printed_rate(clones)
    derived: list[Derived] = [] if rate_per_s else ["transactions_per_s"]
    if any(_is_counted_by_its_rate(job) for job in clones):
        derived.append("transactions")
    read_bytes, written_bytes = (sum(job[kind]["bytes"] for job in figures) for kind in ("read", "write"))
    return ImportedResult(
        source=source,
        name=name,
        levels={"workload": name},
        load=LoadResult(
            workload=name,
            mix=MODES.get(told.get("rw", "read").partition(":")[0]) if told else None,
            clients=None if capped else _in_flight(told, len(clones)),
            seconds=seconds or None,
            transactions=requests,
            transactions_per_s=rate_per_s or (requests / seconds if seconds else 0.0),
            derived=derived,
            half_digit=_HALF_DIGIT if rate_per_s else None,
            statements=requests + syncs.requests,
            reads=reads.requests,
            writes=writes.requests,
            others=syncs.requests,
            latency_us=latency,
            statement_types=_statements(reads, writes, syncs),
            errors=_errors([job.word("error") or "" for job in clones]),
            file_requests=FileRequests(
                files=None,
                block_bytes=_size(told.get("bs")),
                direct=None if not told else told.get("direct", "0") not in {"0", "false"},
                sync_every=_sync_every(told),
                one_pass=bool(told) and not ({"runtime", "time_based", "io_size", "loops"} & told.keys()),
                read_bytes=read_bytes,
                written_bytes=written_bytes,
                syncs=syncs.requests,
            ),
        ),
        asked={option: told[option] for option in ASKED if option in told},
        warm_up_s=_seconds(told.get("ramp_time")),
        remarks=remarks,
    )


def _errors(told: list[str]) -> list[LoadError]:
    """Return the errors that ended jobs: fio tells them by the system's number."""
    found = Counter(error for error in told if error not in {"", "0"})
    return [
        LoadError(code=error, statement=None, message=_error(error), transient=False, count=count)
        for error, count in found.items()
    ]


def _error(told: str) -> str:
    number = _whole(told)
    known = number is not None and number in errno.errorcode
    return f"error {told[:40]}" + (f" ({os.strerror(number)})" if known and number else "")


def _as_of_today(job: Node, waited_for: bool) -> dict[str, Any]:
    """Return a job's figures as fio 3 tells them: in ns, each with its count."""
    found: dict[str, Any] = {}
    for kind in ("read", "write"):
        told = job.node(kind)
        requests = (told.count("total_ios") if told else None) or 0
        seconds = ((told.number("runtime") if told else None) or 0.0) / 1000
        if told and not requests:
            requests = round((told.number("iops") or 0.0) * seconds)
        nodes = _clocks(told)
        found[kind] = {
            "total_ios": requests,
            "runtime": seconds * 1000,
            "bytes": _moved_bytes(told),
            "lat_ns": _waits(nodes[:1], requests),
            **_with_percentiles(nodes, requests, waited_for),
        }
    sync = job.node("sync")
    found["sync"] = {"lat_ns": _waits(_clocks(sync)[:1], (sync.count("total_ios") if sync else None) or 0)}
    return found


def _is_counted_by_its_rate(job: Node) -> bool:
    """Tell whether requests are worked out of their rate: fio 2 tells none of some kinds."""
    kinds = [told for kind in ("read", "write") if (told := job.node(kind))]
    return any(told.number("iops") and not told.count("total_ios") for told in kinds)


def _printed_rate(clones: list[Node]) -> float | None:
    """Return the rate that fio itself tells; None of several directions or jobs, each over its own time."""
    told = [rate for job in clones for kind in ("read", "write") if (rate := _iops(job.node(kind)))]
    return told[0] if len(told) == 1 else None


def _iops(told: Node | None) -> float | None:
    return told.number("iops") if told else None


def _moved_bytes(told: Node | None) -> int:
    if told is None:
        return 0
    # fio 2 has `io_bytes` in KiB, and no `io_kbytes` beside it.
    return (told.count("io_bytes") or 0) * (1 if "io_kbytes" in told.fields else 1024)


def _clocks(told: Node | None) -> list[tuple[Node, int]]:
    """Return the accounts of latency that were kept, each with its unit in ns: of all, then of completion."""
    names = (("lat_ns", 1), ("clat_ns", 1), ("lat", 1000), ("clat", 1000))
    return [(node, ns) for name, ns in names if told and (node := told.node(name)) and node.number("max")]


def _waits(nodes: list[tuple[Node, int]], requests: int) -> dict[str, Any]:
    """Return the first account of latencies in ns; empty where fio was told to keep none."""
    nothing: dict[str, Any] = {"N": 0, "mean": 0.0, "stddev": 0.0, "min": 0.0, "max": 0.0}
    if not nodes:
        return nothing
    node, ns = nodes[0]
    count = requests if node.count("N") is None else node.count("N")
    if not count:
        return nothing
    return {"N": count, **{one: (node.number(one) or 0.0) * ns for one in ("mean", "stddev", "min", "max")}}


def _with_percentiles(nodes: list[tuple[Node, int]], requests: int, waited_for: bool) -> dict[str, Any]:
    """Return mean, extremes and percentiles of one clock.

    fio keeps percentiles of completion unless it is told otherwise (``lat_percentiles``). Where the system
    call is the whole request, or submitting takes next to nothing, mean and extremes of completion stand
    beside them. Else they would describe another time than the percentiles, and these are left out.
    """
    whole = _waits(nodes[:1], requests)
    kept = [(node, ns) for node, ns in nodes if node.node("percentile") or node.node("bins")]
    if not kept:
        return {"one_clock_ns": whole, "percentiles_ns": {}}
    own = _waits(kept[:1], requests)
    if kept[0] is not nodes[0] and not waited_for and own["mean"] < whole["mean"] * (1 - SUBMITTED):
        return {"one_clock_ns": whole, "percentiles_ns": {}, "submitted_ns": whole["mean"] - own["mean"]}
    node, ns = kept[0]
    bins = node.node("bins")
    return {
        "one_clock_ns": {**own, "bins": _bins(bins) if bins else {}},
        "percentiles_ns": _percentiles(node, ns),
        "of_completion": kept[0] is not nodes[0],
    }


def _bins(told: Node) -> dict[str, int]:
    found = {name: told.count(name) or 0 for name in told.fields}
    if any(not name.isdecimal() or len(name) > 18 for name in found):
        raise broken(told.text, told.line, "fio's histogram has a bin that is no time")
    return found


def _percentiles(node: Node, ns: int) -> dict[str, float]:
    table = node.node("percentile")
    if table is None:
        return {}
    values = {_short(table, key): table.number(key) for key in table.fields}
    return {key: value * ns for key, value in values.items() if value is not None and key != "0"}


def _short(table: Node, key: str) -> str:
    """Return ``99.9`` for ``99.900000``."""
    return f"{number(table.text, table.line, key, 'a percentile'):g}"


def _at_work(figures: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return the figures of each job's reads and writes, where there were any."""
    return [job[kind] for job in figures for kind in ("read", "write") if job[kind]["total_ios"]]


def _of_one_clock(figures: list[dict[str, Any]]) -> Requests:
    """Return reads and writes together, their latencies of the clock that their percentiles are of."""
    clocked = [
        {kind: {**job[kind], "lat_ns": job[kind]["one_clock_ns"]} for kind in ("read", "write")}
        for job in figures
    ]
    return _together(clocked, reads_of).with_(_together(clocked, writes_of))


def _together(figures: list[dict[str, Any]], kind: Callable[[Result], Requests]) -> Requests:
    whole = kind(figures[0])
    for job in figures[1:]:
        whole = whole.with_(kind(job))
    return whole


def _latency(told: Requests, figures: list[dict[str, Any]], remarks: list[str]) -> Latency | None:
    """Return the latency of all requests, with percentiles where they are of the same requests and clock."""
    if not told.count:
        return None
    parts = _at_work(figures)
    table_ns: dict[str, float] = parts[0]["percentiles_ns"] if len(parts) == 1 else {}
    if submitted := [part["submitted_ns"] for part in parts if "submitted_ns" in part]:
        table_ns = {}
        remarks.append(
            f"its percentiles are of completion alone and are left out: submitting took "
            f"{max(submitted) / 1000:.4g} us of the mean latency"
        )
    elif told.bins and sum(told.bins.values()) == told.count:
        names = known_percentiles(told.count, PERCENTILES)
        table_ns = {name: told.percentile_ns(float(name)) for name in names}
    elif not table_ns:
        remarks.append("percentiles of reads and writes together, or of several jobs, cannot be told")
    if table_ns and any(part.get("of_completion") for part in parts):
        remarks.append("its latencies are of completion, without the time of submission")
    return _as_latency(told, table_ns)


def _as_latency(told: Requests, table_ns: dict[str, float]) -> Latency | None:
    if not told.count:
        return None
    return Latency(
        count=told.count,
        mean=told.mean_ns / 1000,
        stdev=told.stdev_ns / 1000,
        min=told.min_ns / 1000,
        max=told.max_ns / 1000,
        percentiles={name: ns / 1000 for name, ns in table_ns.items()},
    )


def _statements(reads: Requests, writes: Requests, syncs: Requests) -> list[StatementType]:
    whole = [_statement("read", "read", reads), _statement("write", "write", writes)]
    return [one for one in (*whole, _statement("sync", "other", syncs)) if one.count]


def _statement(name: str, kind: Literal["read", "write", "other"], told: Requests) -> StatementType:
    return StatementType(
        name=name,
        kind=kind,
        count=told.requests,
        rows=0,
        affected=0,
        errors=0,
        latency_us=_as_latency(told, {}),
    )


# ---------------------------------------------------------------- options


def _in_flight(told: dict[str, str], entries: int) -> int | None:
    """Return the requests that are kept under way: jobs times their depth; None where nothing tells them."""
    if not told:
        return None
    jobs = _whole(told.get("numjobs", "1"))
    depth = 1 if told.get("ioengine", "psync") in ONE_AT_A_TIME else _whole(told.get("iodepth", "1"))
    return None if jobs is None or depth is None else max(jobs, entries) * depth or None


def _sync_every(told: dict[str, str]) -> int | None:
    """Return the requests after which all was synced; fio counts a job's writes, and syncs its file alone."""
    if not told:
        return None
    asked = [told[one] for one in ("fsync", "fdatasync") if told.get(one, "0") != "0"]
    if not asked:
        return 0
    one_writer = told.get("rw", "").partition(":")[0] in {"write", "randwrite"} and (
        told.get("numjobs", "1") == told.get("nrfiles", "1") == "1"
    )
    return _whole(asked[0]) if one_writer and len(asked) == 1 else None


_SUFFIXES = {"": 1, "b": 1, "k": 2**10, "m": 2**20, "g": 2**30}


def _size(told: str | None) -> int | None:
    """Return one size of fio's (``4k``, ``64KiB``) in bytes; None of ranges and splits."""
    if told is None:
        return None
    plain = told.lower().removesuffix("ib") if told.lower().endswith("ib") else told.lower()
    digits = plain.rstrip("kmgb")
    suffix = plain[len(digits) :].removesuffix("b") if len(plain) - len(digits) > 1 else plain[len(digits) :]
    amount = _whole(digits)
    return None if amount is None or suffix not in _SUFFIXES else amount * _SUFFIXES[suffix] or None


def _whole(told: str) -> int | None:
    return int(told) if told.isascii() and told.isdecimal() and len(told) < 16 else None


def _seconds(told: str | None) -> float | None:
    """Return a time without a unit, or in seconds; None of any other, and where none is told."""
    amount = None if told is None else _whole(told.removesuffix("s"))
    return None if amount is None else float(amount)


# ---------------------------------------------------------------- terse

TERSE = ("3;fio-", "4;fio-", "5;fio-")

WIDTH = {"3": 41, "4": 41, "5": 47}
"""Fields of one direction: requests 4, submission 4, completion 4 and 20 percentiles, both 4, bandwidth 5;
version 5 adds the number of its samples and five about requests a second (fio's manual, TERSE OUTPUT)."""

DIRECTIONS = {"3": 2, "4": 3, "5": 3}
"""Version 4 added trims."""

FIRST = 5

_HALF_DIGIT, _HALF_WHOLE = 0.5e-6, 0.5
"""Half of the last digit of a rate: JSON prints six decimals, a terse line none."""


def _is_terse(text: Text) -> bool:
    return any(line.startswith(TERSE) for line in text.lines)


def _read_terse(text: Text) -> Iterator[Found]:
    for line, told in enumerate(text.lines, start=1):
        if told.startswith(TERSE):
            yield _terse(text, line, told.split(";"))


def _terse(text: Text, line: int, fields: list[str]) -> ImportedResult:
    version, name = fields[0], fields[2] or "fio"
    width = WIDTH[version]
    if len(fields) < FIRST + width * DIRECTIONS[version]:
        raise broken(text, line, f"a terse line of version {version} has more fields than {len(fields)}")
    reads = _direction(text, line, fields[FIRST : FIRST + width])
    writes = _direction(text, line, fields[FIRST + width : FIRST + 2 * width])
    figures = {"read": reads, "write": writes}
    seconds = seconds_of(figures)
    remarks = [
        f"the number of {kind}s is worked out: {one['iops']:g}/s x {one['runtime'] / 1000:g} s"
        for kind, one in figures.items()
        if one["total_ios"]
    ]
    remarks.append("terse output tells neither block size nor kind of access")
    return ImportedResult(
        source=Source(
            file=text.file,
            line=line,
            format=f"fio terse {version}",
            tool=fields[1].replace("fio-", "fio ", 1),
            sha256=text.sha256,
        ),
        name=name,
        levels={"workload": name},
        load=LoadResult(
            workload=name,
            clients=None,
            seconds=seconds or None,
            transactions=None,
            transactions_per_s=reads["iops"] + writes["iops"],
            half_digit=_HALF_WHOLE,
            latency_us=_latency(_of_one_clock([figures]), [figures], remarks),
            errors=_errors([fields[4]]),
            file_requests=FileRequests(
                files=None,
                block_bytes=None,
                direct=None,
                sync_every=None,
                one_pass=False,
                read_bytes=reads["bytes"],
                written_bytes=writes["bytes"],
                syncs=None,
            ),
        ),
        remarks=remarks,
    )


def _direction(text: Text, line: int, fields: list[str]) -> dict[str, Any]:
    """Return one direction's figures as fio's JSON has them."""
    kib, _, iops, runtime_ms = (number(text, line, told, "a figure of fio") for told in fields[:4])
    requests = round(iops * runtime_ms / 1000)
    completion, whole = (_terse_waits(text, line, fields[at : at + 4], requests) for at in (8, 32))
    table = {}
    for told in fields[12:32]:
        percentile, _, value_us = told.partition("%=")
        name = f"{number(text, line, percentile, 'a percentile'):g}"
        value_ns = number(text, line, value_us, "a percentile") * 1000
        if name != "0" and value_ns:  # a percentile of 0 us was below the last digit
            table[name] = value_ns
    submitted = _terse_waits(text, line, fields[4:8], requests)
    apart = bool(submitted["N"]) and completion["mean"] < whole["mean"] * (1 - SUBMITTED)
    return {
        "total_ios": requests,
        "iops": iops,
        "runtime": runtime_ms,
        "bytes": int(kib) * 1024,
        "lat_ns": whole,
        "one_clock_ns": whole if apart else completion,
        "percentiles_ns": {} if apart else table,
        "of_completion": not apart,
        **({"submitted_ns": whole["mean"] - completion["mean"]} if apart else {}),
    }


def _terse_waits(text: Text, line: int, fields: list[str], requests: int) -> dict[str, Any]:
    low, high, mean, stdev = (number(text, line, told, "a latency") * 1000 for told in fields)
    return {"N": requests if high else 0, "mean": mean, "stddev": stdev, "min": low, "max": high}


JSON = Format("fio JSON", _is_json, _read_json)
TERSE_LINES = Format("fio terse", _is_terse, _read_terse)
