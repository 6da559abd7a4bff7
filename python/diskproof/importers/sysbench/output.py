"""sysbench's output in parts: each run, and every figure with its line.

The order in which sysbench prints is the same in all versions: head, interval lines, statistics of the test,
general statistics, latency, fairness. A line of an earlier part than the line before it begins another
run. So several runs in one file are separate, with or without their heads.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from diskproof.importers.base import Text
from diskproof.importers.numbers import number

HEAD, INTERVALS, STATISTICS, GENERAL, LATENCY, FAIRNESS = range(6)

_BANNER = re.compile(r"\s*sysbench (\d{1,3}\.\d{1,3}[\w.+~-]{0,40})(?: \(|:|\s*$)")
_OPTION = re.compile(r"(?:--|\u2014)([a-z][\w-]{0,60})(?:[= ](?!-)([^\s'\"]{0,200}))?")
_SECRET = re.compile(r"password|user|host|socket|ssl|cert|-(?:port|key)$")
_TEST = re.compile(r"\b(oltp_[a-z_]{1,40}|select_random_[a-z]{1,20}|bulk_insert|fileio|oltp|tpcc)\b")

_FIGURE = r"([-+]?(?:\d(?:[\w.]|,(?=\w)|(?<=e)[-+](?=\d)){0,60}|nan\b|inf\b))"
"""A figure, and all that stands at it without a space: a unit, or what makes it none (``34,753``), which
`number` then refuses whole. Nothing is cut off."""

_LIKELY = re.compile(
    r"\s*(?:[\[\d+-]|(?:sysbench|running|number|report|target|extra|block|periodic|calling|using|doing|sql|oltp|file|"
    r"operations|reads?|writes?|written|others?|total|transactions|deadlocks|queries|ignored|reconnects|fsyncs?|events|"
    r"time|min|avg|max|sum|approx|execution|fatal|alert|warning|warmup|warming)\b)",
    re.IGNORECASE,
)
"""How a line of sysbench's begins: two million lines of something else are passed over in seconds."""

_INTERVAL = re.compile(
    rf"\s*\[\s*{_FIGURE}\s*\]\s*(?:thds|threads): *\d+,? *tps: *{_FIGURE}",
    re.IGNORECASE,
)
_FILE_INTERVAL = re.compile(
    rf"\s*\[\s*{_FIGURE}\s*\]\s*reads: *{_FIGURE} Mi?B/s,? *writes: *{_FIGURE} Mi?B/s", re.IGNORECASE
)
_INTERVAL_LATENCY = (
    re.compile(rf"lat(?:ency)? ?\(ms, ?(\d{{1,3}})%\): *{_FIGURE}", re.IGNORECASE),
    re.compile(rf"(response time): *{_FIGURE} *\((\d{{1,3}})%\)", re.IGNORECASE),
)
_LABELLED = re.compile(rf"\s*([A-Za-z0-9][\w/.,() -]{{0,60}}?): +{_FIGURE}(?:\s*\({_FIGURE} per sec\.\))?")
_PERCENTILE = re.compile(r"(?:approx\. *)?(\d{1,3}(?:\.\d{1,2})?)(?:th|st|nd|rd)? percentile")
_OPERATIONS = re.compile(
    r"\s*Operations performed: +(\d{1,18}) reads?, +(\d{1,18}) writes?, +(\d{1,18}) other"
    r" = +(\d{1,18}) total",
    re.IGNORECASE,
)
_MOVED = re.compile(r"\s*Read ([\d.]{1,20})(\w{1,3})\s+Written ([\d.]{1,20})(\w{1,3})\s")
_REQUESTS = re.compile(rf"\s*{_FIGURE} Requests/sec executed", re.IGNORECASE)
_IOPS = re.compile(rf"\s*(read|write|fsync): +IOPS={_FIGURE}(?: +{_FIGURE} MiB/s)?")
_SEVERE = re.compile(r"\s*((?:FATAL|ALERT|WARNING): .{1,300})")

_LABELS = {
    STATISTICS: (
        *("read", "write", "other", "total", "transactions", "deadlocks", "read/write requests"),
        *("other operations", "queries", "ignored errors", "reconnects"),
        *("reads/s", "writes/s", "fsyncs/s", "read, mib/s", "written, mib/s"),
    ),
    GENERAL: (
        *("total time", "total number of events", "total time taken by event execution"),
        *("events/s (eps)", "time elapsed"),
    ),
    LATENCY: ("min", "avg", "max", "sum"),
    FAIRNESS: ("events (avg/stddev)", "execution time (avg/stddev)"),
}
"""The labels of all versions, by the part that they stand in."""

_PARTS = {label: part for part, labels in _LABELS.items() for label in labels}

_STATISTICS = ("SQL statistics:", "OLTP test statistics:", "File operations:")

_HEAD = {
    "threads": re.compile(r"\s*Number of threads: (\d{1,9})(?![\w,.])"),
    "warmup-time": re.compile(r"\s*Warm(?:up time:|ing up for) (\d{1,9}) ?s"),
    "report-interval": re.compile(r"\s*Report intermediate results every (\d{1,9}) second"),
    "rate": re.compile(r"\s*Target transaction rate: (\d{1,12})(?![\w,.])"),
    "file-extra-flags": re.compile(r"\s*Extra file open flags: (.{1,40})"),
    "file-num": re.compile(r"\s*(\d{1,9}) files, [\d.]+ ?[KMGT]?i?[bB] each"),
    "file-total-size": re.compile(r"\s*([\d.]{1,20} ?[KMGT]?i?[bB]) total file size"),
    "file-block-size": re.compile(r"\s*Block size ([\d.]{1,20} ?[KMGT]?i?[bB])"),
    "file-rw-ratio": re.compile(r"\s*Read/Write ratio for combined random IO test: ([\d.]{1,20})"),
    "file-fsync-freq": re.compile(r"\s*Periodic FSYNC enabled, calling fsync\(\) each (\d{1,12}) requests"),
    "file-fsync-all": re.compile(r"\s*(Calling fsync\(\)) after each write"),
    "file-io-mode": re.compile(r"\s*Using (.{1,40}) I/O mode"),
    "file-test": re.compile(r"\s*Doing ((?:sequential|random|combined random) .{1,40}) test"),
    "oltp-test": re.compile(r"\s*Running (simple|mixed|non-transactional|stored procedure) (?:OLTP )?test"),
    "oltp-read-only": re.compile(r"\s*Doing (read-only|write-only) test"),
    "distribution": re.compile(r"\s*Using (Uniform|Normal|Gaussian|Special|Pareto) distribution"),
}
"""The head's lines, by the option that asks for them."""


@dataclass(frozen=True)
class Interval:
    """One line of ``--report-interval``: when, and what a second of it had."""

    at_s: float
    per_s: float | None = None
    """Transactions; None of a load on files."""
    mib_per_s: float | None = None
    """Read and written together; None of a database's load."""
    latency_ms: float | None = None


@dataclass
class Output:
    """One run of sysbench, as printed."""

    line: int
    """Its first line, from 1."""
    version: str | None = None
    whole: bool = False
    """Whether it has its head."""
    head: dict[str, str] = field(default_factory=dict)
    options: dict[str, str] = field(default_factory=dict)
    """Of the command above it, if any; never user, host or password."""
    test: str | None = None
    """What that command runs."""
    intervals: list[Interval] = field(default_factory=list)
    interval_percentile: str | None = None
    figures: dict[str, float] = field(default_factory=dict)
    """By label, lower case; ``LABEL per s`` is the rate in brackets behind it. Units as printed."""
    percentiles_ms: dict[str, float] = field(default_factory=dict)
    moved: dict[str, tuple[str, str]] = field(default_factory=dict)
    """``read`` and ``written`` with their units, as sysbench 0.4 and 0.5 print them."""
    complaints: list[str] = field(default_factory=list)
    counts_statements: bool = False
    """Whether it has the heading of a database's statistics, so that what follows is a result."""
    stage: int = HEAD
    said_more: bool = False
    """Whether something that is not sysbench's follows its interval lines: a script's own report."""


def outputs(text: Text) -> Iterator[Output]:
    """Yield every run in the text; ImportRefusedError if a figure is not one."""
    current: Output | None = None
    for at, line in enumerate(text.lines, start=1):
        stage = _stage(line, current) if _LIKELY.match(line) or "sysbench " in line else None
        if stage is None:
            if current is not None and current.intervals and line.strip(" \t^C"):
                current.said_more = True
            continue
        if current is None or _begins_another(current, stage, line):
            if current is not None:
                yield current
            current = Output(at)
        current.stage = stage
        _take(current, text, at, line)
    if current is not None:
        yield current


def _begins_another(current: Output, stage: int, line: str) -> bool:
    """Tell whether a line of that part is of another run than the one before it."""
    if stage == HEAD:
        return current.stage > HEAD or (bool(_BANNER.match(line)) and current.version is not None)
    heading = line.strip() in _STATISTICS or bool(_OPERATIONS.match(line))
    return (
        stage < current.stage or _label(line) in current.figures or (heading and current.stage == STATISTICS)
    )


def _stage(line: str, current: Output | None) -> int | None:
    """Return which part of an output a line belongs to; None of a line that is none of sysbench's."""
    if any(one.match(line) for one in (_INTERVAL, _FILE_INTERVAL)):
        return INTERVALS
    label = _label(line)
    if label is not None:
        return _PARTS.get(label, LATENCY if _PERCENTILE.fullmatch(label) else STATISTICS)
    if line.strip() in _STATISTICS or _OPERATIONS.match(line) or _MOVED.match(line) or _REQUESTS.match(line):
        return STATISTICS
    if _BANNER.match(line) or _is_command(line) or line.strip().startswith("Running the test with"):
        return HEAD
    if current is None or current.stage == HEAD:
        return HEAD if any(found.match(line) for found in _HEAD.values()) else _later(line, current)
    return _later(line, current)


def _later(line: str, current: Output | None) -> int | None:
    """Return the part of a complaint, which may stand anywhere within a run."""
    if current is not None and _SEVERE.match(line):
        return current.stage
    return None


def _is_command(line: str) -> bool:
    """Tell whether a line starts sysbench; with a prompt before it, if need be."""
    return "sysbench " in line and line.rstrip().endswith((" run", "\trun"))


def _label(line: str) -> str | None:
    """Return the label of a line that sysbench could have printed, lower case; None of any other."""
    if iops := _IOPS.match(line):
        return f"{iops[1]} iops"
    found = _LABELLED.match(line)
    if found is None:
        return None
    label = " ".join(found[1].lower().split())
    return label if label in _PARTS or _PERCENTILE.fullmatch(label) else None


def _take(run: Output, text: Text, at: int, line: str) -> None:
    """Add a line to the run that it belongs to."""
    if severe := _SEVERE.match(line):
        run.complaints.append(severe[1].strip())
        return
    if _take_head(run, line) or _take_interval(run, text, at, line):
        return
    if line.strip() in _STATISTICS:
        run.counts_statements = run.counts_statements or "File" not in line
    elif operations := _OPERATIONS.match(line):
        names = ("read ops", "write ops", "other ops", "total ops")
        run.figures |= {
            name: number(text, at, told, name) for name, told in zip(names, operations.groups(), strict=True)
        }
    elif moved := _MOVED.match(line):
        run.moved = {"read": (moved[1], moved[2]), "written": (moved[3], moved[4])}
    elif requests := _REQUESTS.match(line):
        run.figures["requests/s"] = number(text, at, requests[1], "the rate of requests")
    elif iops := _IOPS.match(line):
        run.figures[f"{iops[1]} iops"] = number(text, at, iops[2], f"{iops[1]} IOPS")
        if iops[3]:
            run.figures[f"{iops[1]} mib/s"] = number(text, at, iops[3], f"{iops[1]} MiB/s")
    else:
        _take_labelled(run, text, at, line)


def _take_head(run: Output, line: str) -> bool:
    if run.stage != HEAD:
        return False
    if banner := _BANNER.match(line):
        run.version, run.whole = banner[1].rstrip("."), True
    elif _is_command(line):
        command = line[line.index("sysbench") :]
        run.options = {
            name.removeprefix("oltp-"): value or "on"
            for name, value in _OPTION.findall(command)
            if not _SECRET.search(name)
        }
        tested = _TEST.findall(re.sub(r"--(?!test)[\w-]+(?:=\S*)?", " ", command.replace(".lua", " ")))
        run.test = tested[-1] if tested else None
    else:
        for name, pattern in _HEAD.items():
            if told := pattern.match(line):
                run.head[name], run.whole = told[1].strip(), True
    return True


def _take_interval(run: Output, text: Text, at: int, line: str) -> bool:
    rate, moved = _INTERVAL.match(line), _FILE_INTERVAL.match(line)
    if rate is None and moved is None:
        return False
    latency = next((found for one in _INTERVAL_LATENCY if (found := one.search(line))), None)
    latency_ms = None
    if latency is not None:
        micro = latency[2].endswith("us")
        latency_ms = number(text, at, latency[2].removesuffix("us").removesuffix("ms"), "a latency")
        latency_ms /= 1000 if micro else 1
        run.interval_percentile = latency[3] if latency.lastindex == 3 else latency[1]
    if rate is not None:
        per_s = number(text, at, rate[2], "transactions a second")
        at_s = number(text, at, rate[1].rstrip("s"), "the time of an interval")
        run.intervals.append(Interval(at_s, per_s=per_s, latency_ms=latency_ms))
    elif moved is not None:
        at_s = number(text, at, moved[1].rstrip("s"), "the time of an interval")
        both = sum(number(text, at, moved[i], "what was moved in a second") for i in (2, 3))
        run.intervals.append(Interval(at_s, mib_per_s=both, latency_ms=latency_ms))
    return True


def _take_labelled(run: Output, text: Text, at: int, line: str) -> None:
    label, found = _label(line), _LABELLED.match(line)
    if label is None or found is None:
        return
    value = number(text, at, found[2].split("/")[0].removesuffix("ms").removesuffix("s"), label)
    if percentile := _PERCENTILE.fullmatch(label):
        run.percentiles_ms[percentile[1]] = value
        return
    run.figures[label] = value
    if found[3]:
        run.figures[f"{label} per s"] = number(text, at, found[3], f"{label} per second")
