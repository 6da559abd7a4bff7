"""fio's output for people, of version 2 and 3: each job as its JSON would have it, as far as printed."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from diskproof.importers.base import Format, Found, Text
from diskproof.importers.fio.options import size_of
from diskproof.importers.fio.results import jobs_of, signals_in
from diskproof.importers.jsontext import Node
from diskproof.importers.numbers import count, number

_HEAD = re.compile(r"\s{0,40}(?P<name>\S[^\n]{0,200}?): \(g=(?P<group>\d{1,6})\): (?P<options>rw=\S.{0,300})")
_JOB = re.compile(
    r"\s{0,40}(?P<name>\S[^\n]{0,200}?): \(groupid=(?P<group>\d{1,6}), jobs= ?(?P<jobs>\d{1,6})\): "
    r"err= ?(?P<error>\d{1,6})(?:: pid=(?P<pid>\d{1,12}))?"
)
_VERSION = re.compile(r"fio-\d[\w.-]{0,30}")
_COMMAND = re.compile(r"(?:^|[\s$#/])fio\s(?=.*--?\w)")
_OPTION = re.compile(r"(?<!\S)--?([a-z][\w-]{0,40})(?:=([^\s$]\S{0,199}))?(?!\S)")
"""An option with its value; one that a shell works out is not known."""
_KIND = re.compile(r"\s*(?P<kind>read|write|trim) ?: ?(?:IOPS|io)=")
_RATE = re.compile(r"(?:IOPS|iops)= *(?P<rate>[\d.]{1,15})(?P<times>[kKMG]?)(?![\w.])")
_TIME = re.compile(r"(?:/|runt= *)(?P<ms>\d{1,15})msec")
_MOVED = re.compile(r"(?:io= *|\()(?P<moved>[\d.]{1,20} ?[KMGTP]?i?B)(?=/\d|,)")
_WAITS = re.compile(
    r"\s*(?P<clock>clat|lat|sync) \((?P<unit>[num]?sec)\) ?: "
    r"min= *(?P<min>[\d.]{1,15}[kKMG]?) *, max= *(?P<max>[\d.]{1,15}[kKMG]?) *, "
    r"avg= *(?P<avg>[\d.]{1,15}[kKMG]?) *, stdev= *(?P<stdev>[\d.]{1,15}[kKMG]?)"
)
_TABLE = re.compile(r"\s*(?P<clock>clat|lat|sync) percentiles \((?P<unit>[num]?sec)\):")
_PERCENTILE = re.compile(r"(?P<name>\d{1,3}\.\d{1,6})th=\[ *(?P<value>\d{1,15})\]")
_CPU = re.compile(r"\s*cpu +: usr=(?P<usr>[\d.]{1,10})%, sys=(?P<sys>[\d.]{1,10})%")
_ISSUED = re.compile(
    r"\s*issued *(?:rwts?)? *: total=(?:r=)?(?P<read>\d{1,15})[,/](?:w=)?(?P<write>\d{1,15})"
    r"(?:[,/](?:d=)?\d{1,15})?(?:,(?P<sync>\d{1,15}))?"
)

NS = {"nsec": 1, "usec": 1_000, "msec": 1_000_000, "sec": 1_000_000_000}
_TIMES = {"": 1.0, "k": 1e3, "M": 1e6, "G": 1e9}


@dataclass
class _Job:
    """One job's lines, as fio's JSON has them."""

    told: dict[str, Any]
    options: dict[str, str]
    kind: str = ""
    """The direction that the next lines are of."""
    table: dict[str, float] | None = None
    unit_ns: int = 1
    pid: str | None = None


@dataclass
class _Run:
    """One start of fio."""

    line: int
    version: str = ""
    command: dict[str, str] = field(default_factory=dict)
    heads: dict[tuple[str, str], dict[str, str]] = field(default_factory=dict)
    """By group and name: the options in which a job begins."""
    jobs: list[_Job] = field(default_factory=list)


def _is_for_people(text: Text) -> bool:
    # With `--output-format=json,normal` the same jobs stand there twice.
    return '"fio version"' not in text.content and any(_JOB.match(line) for line in text.lines)


def _read(text: Text) -> Iterator[Found]:
    runs = list(_runs(text))
    ended = signals_in(text, [run.line for run in runs])
    for at, run in enumerate(runs):
        source = text.source(run.line, "fio for people", run.version.replace("fio-", "fio ", 1) or None)
        nodes = [Node(text, run.line, _finished(job)) for job in run.jobs]
        yield from jobs_of(source, nodes, None, ended[at], all_options=bool(run.command))


def _runs(text: Text) -> Iterator[_Run]:
    """Yield each start of fio: another head after a job's figures begins one."""
    run: _Run | None = None
    command: dict[str, str] = {}
    for line, said in enumerate(text.lines, start=1):
        if _COMMAND.search(said):
            command = {name: value or "1" for name, value in _OPTION.findall(said)}
            command |= {new: command[old] for old, new in _SHORT.items() if old in command}
            command = command if "rw" in command else {}  # the options stand in a job file
        head, begun = _HEAD.match(said), _JOB.match(said)
        if (head or begun) and (run is None or (head and run.jobs) or (begun and _again(run, begun))):
            if run is not None:
                yield run
            run, command = _Run(line, command=command), {}
        if run is None:
            continue
        if head:
            run.heads[head["group"], head["name"]] = _options(head["options"])
        elif begun:
            # With `--status-interval` each report of a process replaces the one before.
            pid = begun["pid"]
            run.jobs = [job for job in run.jobs if pid is None or pid != job.pid]
            run.jobs.append(_begun(run, begun))
        elif _VERSION.fullmatch(said.strip()) and not run.jobs:
            run.version = said.strip()
        elif run.jobs:
            _take(run.jobs[-1], text, line, said)
    if run is not None:
        yield run


def _again(run: _Run, begun: re.Match[str]) -> bool:
    """Tell whether a job stands there a second time without the lines in which runs begin: an excerpt."""
    known = {(job.told["groupid"], job.told["jobname"]) for job in run.jobs}
    return not run.heads and (begun["group"], begun["name"]) in known


_SHORT = {"readwrite": "rw", "blocksize": "bs", "io_limit": "io_size"}


def _options(told: str) -> dict[str, str]:
    """Return the options of a head; a size of `bs=(R) 4096B-4096B, (W) ...` or `4K-4K/4K-4K` if it is one."""
    found = dict(re.findall(r"(rw|ioengine|iodepth)=([\w.-]{1,40})", told))
    sizes = set(
        re.findall(r"(\d[\d.]*[KMG]?i?B?)(?=[-/,]|$)", told.partition("bs=")[2].partition("ioengine")[0])
    )
    if len(sizes) == 1:
        found["bs"] = re.sub(r"\.0+(?=\D|$)", "", sizes.pop())
    return found


def _begun(run: _Run, begun: re.Match[str]) -> _Job:
    """Return a job with its options; a group's jobs of unlike options are reported as one without any."""
    of_group = [told for (group, _), told in run.heads.items() if group == begun["group"]]
    own = run.heads.get((begun["group"], begun["name"]), {})
    several = int(begun["jobs"]) > 1
    options = {} if several and any(other != own for other in of_group) else {**run.command, **own}
    if options and several:
        options["numjobs"] = begun["jobs"]
    told: dict[str, Any] = {
        "jobname": begun["name"],
        "groupid": begun["group"],
        "error": begun["error"],
        "read": {},
        "write": {},
    }
    job = {**told, "sync": {}, "jobs": int(begun["jobs"])}
    return _Job(job, options, pid=begun["pid"])


def _take(job: _Job, text: Text, line: int, said: str) -> None:
    """Add a line to the job that it belongs to."""
    if kind := _KIND.match(said):
        job.kind = kind["kind"]
        own = job.told.setdefault(job.kind, {})
        if time := _TIME.search(said):
            own["runtime"] = count(text, line, time["ms"], "the time")
        if moved := _MOVED.search(said):
            own["moved"] = moved["moved"]
        if rate := _RATE.search(said):
            own["iops"] = number(text, line, rate["rate"], "a rate") * _times(rate["times"])
    elif job.table is not None and said.lstrip().startswith("|"):
        for found in _PERCENTILE.finditer(said):
            if int(found["value"]):  # 0 is below the unit
                job.table[found["name"]] = int(found["value"]) * job.unit_ns
    elif waits := _WAITS.match(said):
        ns = NS[waits["unit"]]
        low, high, mean, deviation = (
            number(text, line, told.rstrip("kKMG"), "a latency") * _times(told) * ns
            for told in waits.group("min", "max", "avg", "stdev")
        )
        # The fraction of a unit is cut off the maximum.
        told = {"min": low, "max": high + ns, "mean": mean, "stddev": deviation}
        _of_clock(job, waits["clock"]).update(told)
    elif table := _TABLE.match(said):
        clock = _of_clock(job, table["clock"])
        job.table = clock.setdefault("percentile", {})
        clock["percentile_unit"] = job.unit_ns = NS[table["unit"]]
    else:
        _take_end(job, text, line, said)


def _times(told: str) -> float:
    """Return what a figure's suffix multiplies it by; version 2 has a large K."""
    return _TIMES[told.lstrip("0123456789.").replace("K", "k")]


def _of_clock(job: _Job, clock: str) -> dict[str, Any]:
    """Return where the latencies of a clock stand: those of syncs apart, the others with their direction."""
    if clock == "sync":
        return job.told["sync"].setdefault("lat_ns", {})  # type: ignore[no-any-return]
    return job.told.setdefault(job.kind, {}).setdefault(f"{clock}_ns", {})  # type: ignore[no-any-return]


def _take_end(job: _Job, text: Text, line: int, said: str) -> None:
    """Add a line about all directions: CPU time, numbers of requests."""
    if cpu := _CPU.match(said):
        for name in ("usr", "sys"):
            job.told[f"{name}_cpu"] = number(text, line, cpu[name], "the share of a CPU")
    elif issued := _ISSUED.match(said):
        for kind in ("read", "write", "sync"):
            if issued[kind]:
                job.told[kind]["total_ios"] = count(text, line, issued[kind], f"the number of {kind}s")


def _finished(job: _Job) -> dict[str, Any]:
    """Return a job as fio's JSON has it; its bytes are requests of one size, or as printed: rounded."""
    block = size_of(job.options.get("bs"))
    for kind in ("read", "write"):
        told = job.told[kind]
        if not told.get("runtime"):
            job.told[kind] = {}
            continue
        rate_per_s = told.pop("iops", None)
        requests = told.get("total_ios")
        if rate_per_s and requests is None:  # an excerpt without the line of the requests issued
            requests = told["total_ios"] = round(rate_per_s * told["runtime"] / 1000)
        told["io_kbytes"] = 0
        told["io_bytes"] = (
            requests * block if block and requests is not None else _bytes(told.pop("moved", ""))
        )
    return {**job.told, "job options": job.options} if job.options else job.told


def _bytes(told: str) -> int:
    found = re.fullmatch(r"([\d.]+) ?([KMGTP]?)i?B", told)
    return round(float(found[1]) * 1024 ** " KMGTP".index(found[2] or " ")) if found else 0


PEOPLE = Format("fio for people", _is_for_people, _read)
