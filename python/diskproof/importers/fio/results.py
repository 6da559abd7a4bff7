"""fio's JSON (``--output-format=json``, ``json+``), of version 2 and 3."""

import re
from bisect import bisect
from collections import defaultdict
from collections.abc import Iterable, Iterator
from itertools import zip_longest
from typing import Any, Literal

from diskproof.fio.figures import Requests, as_latency, reads_of, seconds_of, syncs_of, writes_of
from diskproof.importers.base import Format, Found, Text, ending
from diskproof.importers.fio.figures import (
    SUBMITTED,
    errors_of,
    latency_of,
    of_one_clock,
    together,
)
from diskproof.importers.fio.options import (
    ASKED,
    CAPS,
    MODES,
    ONE_AT_A_TIME,
    asks_for_syncs,
    in_flight,
    seconds_asked,
    size_of,
)
from diskproof.importers.jsontext import Node, objects
from diskproof.importers.numbers import broken, number, whole
from diskproof.results.imported import ImportedResult, Source
from diskproof.results.load import (
    ClientAccount,
    Derived,
    FileRequests,
    LoadResult,
    StatementType,
)
from diskproof.stats.grouping import grouped

MOST_JOBS = 10_000

MOST_NAMED = 5
"""Other jobs that a remark names."""


SAME_START_MS = 100
"""Two runs of fio do not begin within so short a time. A judgement."""

WHOLE_TIME = 0.98
"""Share of its `runtime` that a job takes if nothing ended it before. A judgement."""


def _read_json(text: Text) -> Iterator[Found]:
    answers = [one for one in objects(text) if one.word("fio version") is not None]
    # With `--status-interval` each report has all that the one before had.
    answers = [one for one, after in zip_longest(answers, answers[1:]) if not _begun_together(one, after)]
    ended = signals_in(text, [one.line for one in answers])
    for at, answer in enumerate(answers):
        version = answer.word("fio version") or ""
        jobs = answer.nodes("jobs") or answer.nodes("client_stats")
        if not jobs:
            raise broken(text, answer.line, "fio's answer has no jobs")
        if len(jobs) > MOST_JOBS:
            raise broken(text, answer.line, f"fio's answer has {len(jobs):,} jobs, and fio runs some 4,000")
        common = answer.node("global options")
        source = text.source(answer.line, "fio JSON", version.replace("fio-", "fio ", 1))
        yield from jobs_of(source, jobs, common, ended[at])


def _begun_together(one: Node, after: Node | None) -> bool:
    """Report whether two answers are of one run: it began at the same moment."""
    begun_ms = []
    for answer in [one, after] if after else []:
        took_ms = [one.number("runtime") or 0.0 for one in _directions(answer.nodes("jobs"))]
        if (ended_ms := answer.number("timestamp_ms")) is None or not any(took_ms):
            return False
        begun_ms.append(ended_ms - max(took_ms))
    return len(begun_ms) == 2 and abs(begun_ms[1] - begun_ms[0]) < SAME_START_MS


_SIGNAL = re.compile(r"\s*(fio: terminating on signal \d{1,3})")


def signals_in(text: Text, begins: list[int]) -> dict[int, list[str]]:
    """Return the signals that ended fio, by the number of the output that each belongs to.

    `begins` has the first line of each output. fio prints the line into its output for people, and above or
    below its JSON.
    """
    signals: dict[int, list[str]] = defaultdict(list)
    for line, said in enumerate(text.lines, start=1):
        if begins and (found := _SIGNAL.match(said)):
            signals[max(bisect(begins, line) - 1, 0)].append(found[1])
    return signals


def _some(names: list[str]) -> str:
    more = f" and {len(names) - MOST_NAMED} more" if len(names) > MOST_NAMED else ""
    return ", ".join(names[:MOST_NAMED]) + more


def jobs_of(
    source: Source, jobs: Iterable[Node], common: Node | None, ended: list[str], *, all_options: bool = True
) -> Iterator[ImportedResult]:
    """Yield the jobs of one start of fio.

    Its output for people prints few of its options: without `all_options` the others are not known. `ended`
    says what ended it.
    """
    groups = grouped(jobs, lambda job: (job.word("groupid") or "", job.word("jobname") or "fio"))
    for (group, name), clones in groups.items():
        beside = [other for other_group, other in groups if other_group == group and other != name]
        yield _job(source, name, clones, common, beside, ended, all_options=all_options)


def _job(
    source: Source,
    name: str,
    clones: list[Node],
    common: Node | None,
    beside: list[str],
    ended: list[str],
    *,
    all_options: bool,
) -> ImportedResult:
    """Return a job as one, though fio may list each of its clones."""
    own = clones[0].node("job options")
    told = {**(common.words() if common else {}), **(own.words() if own else {})}
    waited_for = told.get("ioengine", "psync") in ONE_AT_A_TIME if told else False
    figures = [_as_of_today(job, waited_for) for job in clones]
    remarks = [f"{len(clones)} jobs of this name, added up"] if len(clones) > 1 else []
    if beside:
        remarks.append(f"ran at the same time as {_some(beside)}")
    reads, writes, syncs = (together(figures, kind) for kind in (reads_of, writes_of, syncs_of))
    seconds = max(seconds_of(job) for job in figures)
    if not any(options is not None for options in (common, own)):
        remarks.append("fio does not print the options")
    capped = [cap for cap in CAPS if told.get(cap)]
    if capped:
        remarks.append(f"it was held back ({', '.join(f'{cap}={told[cap]}' for cap in capped)})")
    latency = latency_of(of_one_clock(figures), figures, remarks)
    requests = reads.requests + writes.requests
    clients = None if capped else in_flight(told, len(clones))
    unsynced = asks_for_syncs(told) and not syncs.requests and writes.requests > 0
    uncounted = unsynced and not any(_counts_syncs(job) for job in clones)
    if unsynced:
        clients = None
        if uncounted:
            remarks.append("its syncs are not counted, so the number under way at a time is not known")
    if (merged := _merged(clones, told)) > 1:
        clients = None
        remarks.append(f"{merged} jobs in one report, which prints the options of the first")
    if told and not all_options:
        remarks.append(f"of its options only {', '.join(sorted(told))} are printed")
    read_bytes, written_bytes = (sum(job[kind]["bytes"] for job in figures) for kind in ("read", "write"))
    if not ended and (early := _too_early(told, seconds, read_bytes + written_bytes)):
        ended = [early]
    rate_per_s = _printed_rate(clones)
    derived: list[Derived] = [] if rate_per_s else ["transactions_per_s"]
    if any(_is_counted_by_its_rate(job) for job in clones):
        derived.append("transactions")
    return ImportedResult(
        source=source,
        name=name,
        levels={"workload": name},
        load=LoadResult(
            workload=name,
            mix=MODES.get(told.get("rw", "read").partition(":")[0]) if told else None,
            clients=clients,
            seconds=seconds or None,
            transactions=requests,
            transactions_per_s=rate_per_s or (requests / seconds if seconds else 0.0),
            derived=derived,
            statements=requests + syncs.requests,
            reads=reads.requests,
            writes=writes.requests,
            others=syncs.requests,
            latency_us=latency,
            client=_account(clones, told, seconds),
            statement_types=_statements(reads, writes, syncs),
            errors=[*errors_of([job.word("error") or "" for job in clones]), *ending("fio", ended)],
            file_requests=FileRequests(
                block_bytes=size_of(told.get("bs")),
                direct=told.get("direct", "0") not in {"0", "false"} if all_options and told else None,
                one_pass=all_options
                and bool(told)
                and not ended
                and _ends_by_itself(told, seconds, requests),
                read_bytes=read_bytes,
                written_bytes=written_bytes,
                syncs=None if uncounted else syncs.requests,
            ),
        ),
        asked={option: told[option] for option in ASKED if option in told},
        warm_up_s=seconds_asked(told.get("ramp_time")),
        remarks=remarks,
    )


def _counts_syncs(job: Node) -> bool:
    """Tell whether fio prints a number of syncs, as it does since version 3."""
    sync = job.node("sync")
    return sync is not None and sync.number("total_ios") is not None


def _merged(clones: list[Node], told: dict[str, str]) -> int:
    """Return the jobs whose figures one entry holds beyond its own: ``group_reporting`` adds up sections.

    Its `job_runtime` is the sum of their times.
    """
    spent, took = ((clones[0].number(name) or 0.0) for name in ("job_runtime", "elapsed"))
    took_each_ms = [one.number("runtime") or 0.0 for one in _directions(clones[:1])]
    took_ms = max(took_each_ms, default=0.0) or took * 1000
    own = whole(told.get("numjobs", "1")) or 1
    return round(spent / took_ms / own) if len(clones) == 1 and took_ms else 1


def _ends_by_itself(told: dict[str, str], seconds: float, requests: int) -> bool:
    """Tell whether a job can have ended with its files: `runtime` is the longest that it may take."""
    if told.get("time_based", "0") not in {"0", "false"} or {"io_size", "loops"} & told.keys():
        return False
    if "runtime" not in told:
        return True
    asked_s = seconds_asked(told["runtime"])
    sizes = size_of(told.get("bs")), size_of(told.get("size")), whole(told.get("numjobs", "1"))
    early = asked_s is not None and seconds < asked_s * WHOLE_TIME
    block, size, jobs = sizes
    done = bool(block and size and jobs) and requests * (block or 0) == (size or 0) * (jobs or 0)
    return early or done


FAR_BELOW = 0.9
"""Share of its `runtime` below which a job broke off, if nothing explains it. A judgement."""

ENDS_EARLY = frozenset(
    {"number_ios", "io_size", "io_limit", "steadystate", "ss", "exitall", "loops", "filesize"}
)
"""Options by which a job may end before its `runtime`, or its files may be of another size."""


def _too_early(told: dict[str, str], seconds: float, moved: int) -> str | None:
    """Say of a job that ended well before its `runtime`, but not with its files; None of any other."""
    asked_s = seconds_asked(told.get("runtime"))
    if not asked_s or not seconds or seconds >= asked_s * FAR_BELOW or ENDS_EARLY & told.keys():
        return None
    early = f"it ended after {seconds:.3g} s of the {asked_s:g} s asked for"
    if told.get("time_based", "0") not in {"0", "false"}:
        return early
    size, jobs = size_of(told.get("size")), whole(told.get("numjobs", "1"))
    passes = moved / (size * jobs) if size and jobs else 1.0
    if WHOLE_TIME <= passes <= 2 - WHOLE_TIME:
        return None
    return f"{early}, and after {passes:.2f} passes over its files"


def _account(clones: list[Node], told: dict[str, str], seconds: float) -> ClientAccount | None:
    """Return fio's own CPU time: it prints each job's share, and of a group their mean."""
    shares = [(job.number("usr_cpu"), job.number("sys_cpu")) for job in clones]
    jobs = whole(told.get("numjobs", "1")) if told else len(clones)
    if jobs is None or not seconds or any(user is None or system is None for user, system in shares):
        return None
    workers = max(jobs, len(clones))
    each_s = workers * seconds / len(clones) / 100
    return ClientAccount(
        workers=workers,
        cpu_user_s=sum(user or 0.0 for user, _ in shares) * each_s,
        cpu_system_s=sum(system or 0.0 for _, system in shares) * each_s,
    )


def _as_of_today(job: Node, waited_for: bool) -> dict[str, Any]:
    """Return a job's figures as fio 3 prints them: in ns, each with its count."""
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
    """Tell whether requests are computed from their rate: fio 2 does not count some kinds."""
    return any(told.number("iops") and not told.count("total_ios") for told in _directions([job]))


def _printed_rate(clones: list[Node]) -> float | None:
    """Return fio's own rate; None of several directions or jobs, each over its own time."""
    told = [rate for one in _directions(clones) if (rate := one.number("iops"))]
    return told[0] if len(told) == 1 else None


def _directions(jobs: Iterable[Node]) -> list[Node]:
    """Return what jobs say of their reads and of their writes."""
    return [found for job in jobs for kind in ("read", "write") if (found := job.node(kind))]


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
    """Return the first account of latencies in ns; empty if fio kept none."""
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

    fio keeps percentiles of completion unless ``lat_percentiles`` is set. If the system call is the waited
    request, or submitting takes almost no time, mean and extremes of completion stand beside them. Else they
    would describe another time than the percentiles, and the percentiles are left out.
    """
    waited = _waits(nodes[:1], requests)
    kept = [(node, ns) for node, ns in nodes if node.node("percentile") or node.node("bins")]
    if not kept:
        return {"one_clock_ns": waited, "percentiles_ns": {}}
    own = _waits(kept[:1], requests)
    if kept[0] is not nodes[0] and not waited_for and own["mean"] < waited["mean"] * (1 - SUBMITTED):
        return {"one_clock_ns": waited, "percentiles_ns": {}, "submitted_ns": waited["mean"] - own["mean"]}
    node, ns = kept[0]
    bins = node.node("bins")
    return {
        "one_clock_ns": {**own, "bins": _bins(bins) if bins else {}},
        "percentiles_ns": _percentiles(node, ns),
        "percentile_unit_ns": node.number("percentile_unit") or ns,
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
    names = {f"{number(table.text, table.line, key, 'a percentile'):g}": key for key in table.fields}
    values = {name: table.number(key) for name, key in names.items()}  # ``99.9`` for ``99.900000``
    return {name: value * ns for name, value in values.items() if value is not None and name != "0"}


def _statements(reads: Requests, writes: Requests, syncs: Requests) -> list[StatementType]:
    both = [_statement("read", "read", reads), _statement("write", "write", writes)]
    return [one for one in (*both, _statement("sync", "other", syncs)) if one.count]


def _statement(name: str, kind: Literal["read", "write", "other"], told: Requests) -> StatementType:
    return StatementType(
        name=name,
        kind=kind,
        count=told.requests,
        latency_us=as_latency(told, {}),
    )


JSON = Format("fio JSON", lambda text: '"fio version"' in text.content, _read_json)
