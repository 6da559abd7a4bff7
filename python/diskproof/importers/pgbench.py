"""pgbench, the text of PostgreSQL 9 to 17: the summary, and progress lines."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import pairwise
from operator import mul
from statistics import median

from diskproof.importers.base import NO_SUMMARY, Format, Found, Text, ending
from diskproof.importers.numbers import broken, count, number
from diskproof.results.imported import ImportedResult
from diskproof.results.load import Derived, Latency, LoadError, LoadResult

FIRST = "transaction type: "

PROCESSED = "number of transactions actually processed"

_PROGRESS = re.compile(
    r"progress: (?P<at>\d{1,12}(?:\.\d{1,9})?) s, (?P<tps>[\d.]+) tps, lat (?P<ms>[\d.]+|NaN) ms\b.*"
)
_TPS = re.compile(r"tps = (?P<tps>\S{1,40}) \((?P<which>[a-z ]+)\)")
_FIGURE = re.compile(r"(?P<name>[a-z][a-z ]+?)(?: =|:) (?P<value>\S.*)")
_STARTED = re.compile(r"pgbench \(\d")
"""The first line of a run; `--version` has PostgreSQL's name in it."""
_VERSION = re.compile(r"pgbench \((?:PostgreSQL\) )?(?P<version>\d[\w.]*)")

ASKED = (
    "scaling factor",
    "query mode",
    "number of clients",
    "number of threads",
    "duration",
    "number of transactions per client",
    "maximum number of tries",
)

READS_ONLY = "select only"
"""The script of pgbench's own that writes nothing; ``SELECT only`` up to PostgreSQL 9.5."""

PREFERRED = ("without initial connection time", "excluding connections establishing", "including")
"""Which of its two rates is of clients at work; with ``-C`` there is only one, which includes connecting."""

CONNECTING = 0.02
"""Share of the duration above which the initial connection time is visible: the rate leaves it out, and the
duration does not. Also the share of the rate by which the two rates may differ: with more, clients connected
for a visible part of the time (before version 14 nothing else shows ``-C``), and only the rate that includes
it is count over time."""

SLOWEST = 10.0
"""Means that the last transactions may take, and standard deviations above it. A judgement."""

LATE = 0.05
"""Share of the time by which any run may end late. A judgement."""

LIMITED = "rate limit schedule lag"
"""Printed only with ``--rate``: transactions then come at set times, and clients rest between them."""

REMARKED = (
    "number of transactions above",
    "number of transactions skipped",
    "number of serialization failures",
    "number of deadlock failures",
    LIMITED,
)


_ERROR = re.compile(r"pgbench: (?:error|fatal): (?P<said>.{1,200})")
_BEGIN = re.compile(r"starting vacuum|(?:.{0,80}[$#>%] )?(?:\S{0,80}/)?pgbench\s+-")
"""What stands where pgbench is started: its command, or its first line."""

_ABORTED = "Run was aborted; the above results are incomplete"
"""What pgbench says below its summary; other errors stand above it."""


@dataclass(frozen=True)
class _Moment:
    """One progress line."""

    line: int
    at_s: float
    tps: str
    latency_ms: str


@dataclass
class _Told:
    """One run of pgbench, as its lines are read."""

    line: int
    figures: dict[str, tuple[int, str]] = field(default_factory=dict)
    """By name: the line, and what stands behind it."""
    rates: dict[str, tuple[int, str]] = field(default_factory=dict)
    progress: list["_Moment"] = field(default_factory=list)
    errors: list[str] = field(default_factory=list)
    """What pgbench said was wrong, above its summary or behind it."""

    @property
    def whole(self) -> bool:
        """Whether it has what a result needs."""
        return bool(self.rates) and PROCESSED in self.figures


def _is_pgbench(text: Text) -> bool:
    if FIRST in text.content and PROCESSED in text.content:
        return True
    lines = map(_plain, text.lines)
    forms = (_PROGRESS.match, _ERROR.match, _STARTED.match)
    return any(form(said) for said in lines for form in forms)


def _plain(line: str) -> str:
    """Return a line without its indent and the mark of a comment: notes in SQL have outputs as comments."""
    return line.strip().removeprefix("--").strip()


def _read(text: Text) -> Iterator[Found]:
    version = _VERSION.search(text.content)
    tool = f"pgbench {version['version']}" if version else None
    runs, rest = _runs(text)
    told = [one for one in runs if one.whole or one.errors] or runs
    for place, one in enumerate(told, start=1):
        yield _result(text, one, place, tool)
    if told:
        return
    parts = _apart(rest.progress) if rest.progress else [[]]
    for place, moments in enumerate(parts, start=1):
        said = rest.errors if place == len(parts) else []
        if not said and tool and place == len(parts):  # its version comes from where its summary would
            said = [NO_SUMMARY]
        errors = ending("pgbench", said)
        if moments or errors:
            yield _of_progress(text, moments, place, tool, errors)


def _apart(progress: list[_Moment]) -> list[list[_Moment]]:
    """Separate the progress lines of several runs: the time of each begins anew."""
    begins = [at for at, (one, after) in enumerate(pairwise(progress), start=1) if after.at_s <= one.at_s]
    return [progress[start:end] for start, end in pairwise([0, *begins, len(progress)])]


def _of_progress(
    text: Text, progress: list[_Moment], place: int, tool: str | None, errors: list[LoadError]
) -> ImportedResult:
    """Return what progress lines alone say: rates over time, without clients and counts."""
    rates = [number(text, one.line, one.tps, "a rate") for one in progress]
    ends_s = [one.at_s for one in progress]
    interval_s = _interval_s(progress)
    begin_s = max(ends_s[0] - interval_s, 0.0) if interval_s else 0.0
    weights = [max(after - before, 0.0) for before, after in pairwise([begin_s, *ends_s])]
    seconds = sum(weights)
    rate = sum(map(mul, rates, weights)) / seconds if seconds else 0.0
    return ImportedResult(
        source=text.source(progress[0].line if progress else 1, "pgbench", tool),
        name=f"pgbench {place}: its progress",
        levels={"workload": "pgbench"},
        load=LoadResult(
            workload="pgbench",
            clients=None,
            seconds=seconds or None,
            transactions=None,
            transactions_per_s=rate,
            derived=["transactions_per_s"],
            errors=errors,
            intervals_only=True,
        ),
        interval_s=interval_s,
        intervals_per_s=rates,
        intervals_latency_us=_interval_latencies(text, progress),
        interval_percentile="mean",
        remarks=["its summary is missing: the rate is the mean of its progress lines"] if progress else [],
    )


def _runs(text: Text) -> tuple[list[_Told], _Told]:
    """Return the runs, and what stands below all of them: progress lines and errors.

    Progress lines above a summary are its own.
    """
    found: list[_Told] = []
    progress: list[_Moment] = []
    errors: list[str] = []
    for line, said in enumerate(map(_plain, text.lines), start=1):
        if _BEGIN.match(said):
            errors = []  # those of a command before this one
        if moment := _PROGRESS.match(said):
            progress.append(_Moment(line, float(moment["at"]), moment["tps"], moment["ms"]))
        elif said.startswith(FIRST):
            found.append(_Told(line, progress=progress, errors=errors))
            progress, errors = [], []
        elif found and _ABORTED in said:
            found[-1].errors.append(said.partition(_ABORTED)[1])
        elif wrong := _ERROR.match(said):
            errors.append(wrong["said"])
        rate = _TPS.match(said)
        if rate and found and rate["which"] not in found[-1].rates:
            found[-1].rates[rate["which"]] = (line, rate["tps"])
        elif found and not rate and (figure := _FIGURE.match(said)):
            found[-1].figures.setdefault(figure["name"], (line, figure["value"]))
    return found, _Told(1, progress=progress, errors=errors)


def _result(text: Text, told: _Told, place: int, tool: str | None) -> ImportedResult:
    script = told.figures["transaction type"][1].removeprefix("<builtin: ").removesuffix(">")
    done = _count(text, told, PROCESSED)
    clients = _count(text, told, "number of clients")
    rate, connecting = _rate(text, told)
    remarks = [f"{name} {value}" for name, (_, value) in told.figures.items() if name.startswith(REMARKED)]
    if LIMITED in told.figures:
        remarks.append("it was held to a rate: the number of clients at work at a time is not known")
    if connecting:
        remarks.append("clients connected for a visible part of the time, which its rate includes")
    seconds = _figure(text, told, "duration")
    connecting_s = (_figure(text, told, "initial connection time") or 0.0) / 1000
    derived: list[Derived] = []
    took_s = done / rate if done and rate else None
    asked_s = seconds
    if took_s and (
        seconds is None
        or connecting_s > CONNECTING * seconds
        or seconds * (1 + CONNECTING) < took_s <= seconds + _longest_end_s(text, told, clients, rate, seconds)
    ):
        seconds = took_s
        derived = ["seconds"]
        remarks.append(f"measured for {seconds:.4g} s, computed: {done} transactions / {rate:g} a second")
        if asked_s and seconds > asked_s * (1 + CONNECTING):
            remarks.append(f"pgbench finishes the transactions that are under way after its {asked_s:g} s")
    return ImportedResult(
        source=text.source(told.line, "pgbench", tool),
        name=f"pgbench {place}: {script}",
        levels={"workload": f"pgbench {script}"},
        load=LoadResult(
            workload="pgbench",
            mix=script,
            clients=None if LIMITED in told.figures else clients or None,
            seconds=seconds or None,
            transactions=done,
            transactions_per_s=rate,
            writes=0 if script.casefold() == READS_ONLY else None,
            derived=derived,
            latency_us=_latency(text, told, done, remarks),
            errors=ending("pgbench", told.errors),
            failed_transactions=_failed(text, told, done),
            retries=_count(text, told, "total number of retries"),
        ),
        asked={
            **{name: told.figures[name][1] for name in ASKED if name in told.figures},
            **({"rate limit": "set"} if LIMITED in told.figures else {}),
            **({"connecting": "in the rate"} if connecting else {}),
        },
        interval_s=_interval_s(told.progress),
        intervals_per_s=[number(text, one.line, one.tps, "a rate") for one in told.progress],
        intervals_latency_us=_interval_latencies(text, told.progress),
        interval_percentile="mean" if told.progress else None,
        remarks=remarks,
    )


def _longest_end_s(text: Text, told: _Told, clients: int | None, rate: float, asked_s: float) -> float:
    """Return how long the transactions may last that are under way when the time is over.

    Without measured latencies their mean follows from clients and rate; a few take far longer.
    """
    measured_s = (_figure(text, told, "latency average") or 0.0) / 1000
    mean_s = max(measured_s, (clients or 1) / rate)
    stdev_s = (_figure(text, told, "latency stddev") or 0.0) / 1000
    return max(SLOWEST * mean_s, mean_s + SLOWEST * stdev_s, LATE * asked_s)


def _interval_latencies(text: Text, progress: list[_Moment]) -> list[float]:
    """Return the mean latency of each progress line; none at all if one is NaN (nothing was done)."""
    if any(one.latency_ms == "NaN" for one in progress):
        return []
    return [number(text, one.line, one.latency_ms, "a latency") * 1000 for one in progress]


def _interval_s(progress: list[_Moment]) -> float | None:
    """Return the time between two progress lines; None if it varies."""
    steps = [after.at_s - before.at_s for before, after in pairwise(progress)]
    if not steps or min(steps) <= 0 or max(steps) > 2 * min(steps):
        return None
    return round(median(steps), 3)


def _rate(text: Text, told: _Told) -> tuple[float, bool]:
    """Return the rate, and whether it includes a visible time of connecting."""
    rates = [
        number(text, line, tps, "tps")
        for wanted in PREFERRED
        for which, (line, tps) in told.rates.items()
        if which.startswith(wanted)
    ]
    if not rates and told.errors:  # every client was aborted
        return 0.0, False
    if not rates:
        raise broken(text, told.line, "pgbench's summary that begins here has no rate (`tps = ...`)")
    if len(rates) > 1 and rates[0] > rates[-1] * (1 + CONNECTING):
        return rates[-1], True
    return rates[0], "average connection time" in told.figures


def _latency(text: Text, told: _Told, done: int | None, remarks: list[str]) -> Latency | None:
    mean_ms, stdev_ms = (_figure(text, told, f"latency {name}") for name in ("average", "stddev"))
    if mean_ms is None or not done:
        return None
    if stdev_ms is None:
        remarks.append(
            f"its mean latency ({mean_ms:g} ms) is left out: without a stddev beside it pgbench has worked "
            "it out from clients and rate, and measured none"
        )
        return None
    return Latency(count=done, mean=mean_ms * 1000, stdev=stdev_ms * 1000, percentiles={})


def _failed(text: Text, told: _Told, done: int | None) -> int | None:
    """Return the transactions that failed: as printed, or as many as are missing.

    ``actually processed: 4000/8000`` leaves out transactions that failed, that an aborted client never began,
    or that ``--latency-limit`` skipped. pgbench prints the skipped ones separately; they are no failures.
    """
    failed = _count(text, told, "number of failed transactions")
    if done is None:
        return failed
    line, value = told.figures[PROCESSED]
    _, slash, asked = value.split()[0].partition("/")
    if not slash:
        return failed
    skipped = _count(text, told, "number of transactions skipped") or 0
    missing = count(text, line, asked, "the number of transactions asked for") - done - skipped
    return max(failed or 0, missing)


def _figure(text: Text, told: _Told, name: str) -> float | None:
    """Return a figure without its unit or share; None if it is not printed."""
    if name not in told.figures:
        return None
    line, value = told.figures[name]
    return number(text, line, value.split()[0].partition("/")[0], name)


def _count(text: Text, told: _Told, name: str) -> int | None:
    if name not in told.figures:
        return None
    line, value = told.figures[name]
    return count(text, line, value.split()[0].partition("/")[0], name)


PGBENCH = Format("pgbench", _is_pgbench, _read)
