"""BenchBase (and OLTP-Bench before it): the JSON summary of a run."""

import re
from collections.abc import Iterator

from diskproof.importers.base import Format, Found, Text, ending
from diskproof.importers.jsontext import Node, objects
from diskproof.importers.numbers import broken
from diskproof.results.imported import ImportedResult
from diskproof.results.load import Derived, Latency, LoadError, LoadResult

RATE = "Throughput (requests/second)"

GOODPUT = "Goodput (requests/second)"

_LATENCY = re.compile(r"(?P<what>\d{1,3}(?:\.\d+)?th Percentile|\w+) Latency \(microseconds\)")

_PLAIN = {"Average": "mean", "Minimum": "min", "Maximum": "max", "Median": "50"}

_WARM_UP = re.compile(r"<warmup>\s{0,9}(\d{1,9})\s{0,9}</warmup>|\[WarmupTime= ?(\d{1,9})\]")

ASKED = ("scalefactor", "isolation")


def _is_benchbase(text: Text) -> bool:
    return f'"{RATE}"' in text.content


def _read(text: Text) -> Iterator[Found]:
    place = 0
    for summary in objects(text):
        if RATE in summary.fields:
            place += 1
            yield _result(text, summary, place)


def _result(text: Text, summary: Node, place: int) -> ImportedResult:
    rate = summary.number(RATE)
    if rate is None:
        raise broken(text, summary.line, f"`{RATE}` is empty")
    kind = summary.word("Benchmark Type") or "BenchBase"
    elapsed_ns = summary.number("Elapsed Time (nanoseconds)")
    measured = summary.count("Measured Requests")
    derived: list[Derived] = []
    if measured is None and elapsed_ns:
        measured, derived = round(rate * elapsed_ns / 1e9), ["transactions"]
    server = " ".join(filter(None, (summary.word(f"DBMS {what}") for what in ("Type", "Version"))))
    return ImportedResult(
        source=text.source(summary.line, "BenchBase", "BenchBase"),
        name=f"BenchBase {place}: {kind}",
        levels={"workload": f"BenchBase {kind}", **({"server": server} if server else {})},
        load=LoadResult(
            workload=f"BenchBase {kind}",
            clients=summary.count("terminals") or None,
            seconds=elapsed_ns / 1e9 if elapsed_ns else None,
            transactions=measured,
            transactions_per_s=rate,
            derived=derived,
            latency_us=_latency(summary, measured),
            errors=[*_errors(summary, measured, rate), *_ended(summary)],
            succeeded_per_s=summary.number(GOODPUT),
        ),
        asked={name: word for name in ASKED if (word := summary.word(name)) is not None},
        warm_up_s=_warm_up_s(text, summary),
        remarks=list(_remarks(summary, rate)),
    )


def _warm_up_s(text: Text, summary: Node) -> float | None:
    """Return the warm-up of a configuration or a log in the same file, or of the summary itself."""
    told = summary.number("warmup")
    found = _WARM_UP.search(text.content)
    return told if told is not None or found is None else float(found[1] or found[2])


def _ended(summary: Node) -> list[LoadError]:
    state = summary.word("Final State")
    return [] if state in {None, "EXIT"} else ending("BenchBase", [f"it ended in the state {state}"])


def _latency(summary: Node, measured: int | None) -> Latency | None:
    told = summary.node("Latency Distribution")
    if told is None:
        return None
    found: dict[str, float] = {}
    for name in told.fields:
        value = told.number(name)
        what = _LATENCY.fullmatch(name)
        if what and value is not None:
            found[_PLAIN.get(what["what"], what["what"].removesuffix("th Percentile"))] = value
    if "mean" not in found:
        return None
    return Latency(
        count=measured,
        mean=found.pop("mean"),
        min=found.pop("min", None),
        max=found.pop("max", None),
        percentiles={name: value for name, value in found.items() if name[0].isdecimal()},
    )


def _errors(summary: Node, measured: int | None, rate: float) -> list[LoadError]:
    """Return what its goodput leaves out of its throughput; the aborts that TPC-C asks for are among them."""
    good = summary.number(GOODPUT)
    if good is None or not 0 <= good < rate:
        return []
    of_all = 1 - good / rate
    return [
        LoadError(
            code="no success",
            statement=None,
            message=f"aborted or failed ({rate:g} - {good:g} of {rate:g} a second)",
            transient=True,
            count=round((measured or 0) * of_all),
            share=None if measured else of_all,
        )
    ]


def _remarks(summary: Node, rate: float) -> Iterator[str]:
    good = summary.number(GOODPUT)
    if good is not None and good < rate:
        yield f"{good:g} of {rate:g} requests a second succeeded; the others were aborted or failed"
    if summary.number("Measured Requests") is None:
        timed = summary.number("Elapsed Time (nanoseconds)") is not None
        derived = ", and derived from rate and time" if timed else ""
        yield f"the number of its requests is not printed{derived}"


BENCHBASE = Format("BenchBase", _is_benchbase, _read)
