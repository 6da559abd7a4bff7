"""diskproof-load itself: its JSON lines, and the closing block for a person (docs/protocol.md)."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from diskproof.importers.base import Format, Found, Text, ending
from diskproof.importers.jsontext import Node, objects
from diskproof.importers.numbers import MOST, broken, count, number
from diskproof.load import PROGRAM, interval_rows, to_result
from diskproof.results.factor import Factor
from diskproof.results.imported import ImportedResult
from diskproof.results.load import ClientAccount, Latency, LoadError, LoadResult

RATE = "transactions_per_s"

INTERRUPTED = ending(PROGRAM, ["it was interrupted"])

_END = re.compile(
    r"(?P<workload>[a-z]{1,20}) (?P<mix>\S.{0,80}), (?P<clients>\d{1,9}) clients?, "
    r"(?P<seconds>\d{1,12}\.\d{3}) s measured(?P<interrupted>, INTERRUPTED)?"
)
_BEGIN = re.compile(
    r"[a-z]{1,20} \S.{0,80} on (?P<server>\S.{0,100}): \d{1,9} clients? on (?P<workers>\d{1,9}) "
)
_COUNTED = re.compile(
    r"  (?P<what>transactions|queries|errors|connections lost) +(?P<count>\d{1,18}) +"
    r"(?P<rate>\d{1,18}\.\d\d) per s(?: +\((?P<more>[^)]{1,120})\))?"
)
_HEADS = re.compile(r"  latency in ms +count(?P<names>(?: +\w[\w.]{0,8}){3,20})\s*")
_TRANSACTION = re.compile(r"  transaction +(?P<count>\d{1,18})(?P<values>(?: +~?\d{1,15}\.\d{3}){3,20})\s*")
_CPU = re.compile(
    r"  load generator: .{0,40}\((?P<user>\d{1,12}\.\d\d) user, (?P<system>\d{1,12}\.\d\d) system\)"
)
_INTERVAL = re.compile(
    r" *(?P<at>\d{1,12}\.\d\d) +\d{1,9} +(?P<rate>\d{1,15}\.\d\d) +[\d.]{1,20} +[\d.]{1,20} / [\d.]{1,20} / "
)
_WARM_UP = re.compile(r"  warm-up\s*$")


def _is_json(text: Text) -> bool:
    return f'"program":"{PROGRAM}"' in text.content.replace(": ", ":")


def _read_json(text: Text) -> Iterator[Found]:
    ready = warming = None
    intervals: list[dict[str, Any]] = []
    place = 0
    for event in objects(text):
        match event.word("event"):
            case "ready":
                ready, warming, intervals = event, None, []
            case "warming":
                warming = event.number("seconds")
            case "interval" if event.word("phase") == "measure":
                intervals.append(dict(event.fields))
            case "summary" if ready is not None:
                place += 1
                yield _of_json(event, ready, warming, intervals, place)
                ready = None


def _of_json(
    event: Node, ready: Node, warming: float | None, intervals: list[dict[str, Any]], place: int
) -> ImportedResult:
    try:
        if not _is_bounded(event.fields):
            raise ValueError("a figure is out of bounds")  # noqa: TRY301 - one refusal for all of it
        load = to_result(dict(event.fields))
        rows = [row for one in intervals for row in interval_rows(one) if row[1] == RATE]
    except (ValueError, KeyError, TypeError, AttributeError, ZeroDivisionError) as error:
        why = f"its summary is no summary of {PROGRAM} ({str(error)[:60]})"
        raise broken(event.text, event.line, why) from None
    if event.fields.get("interrupted"):
        load = load.model_copy(update={"errors": [*load.errors, *INTERRUPTED]})
    levels: dict[Factor, str] = {"workload": " ".join(filter(None, (load.workload, load.mix)))}
    if server := ready.word("server_version"):
        levels["server"] = server
    return ImportedResult(
        source=event.text.source(ready.line, PROGRAM, f"{PROGRAM} {ready.word('version') or ''}".strip()),
        name=f"{PROGRAM} {place}: {load.workload}",
        levels=levels,
        load=load,
        asked={"workload": load.workload},
        interval_s=rows[0][0] if rows else None,
        intervals_per_s=[rate for _, _, rate in rows],
        warm_up_s=warming,
    )


def _is_bounded(told: object) -> bool:
    """Tell whether every figure is one that a tool may print: finite, not negative."""
    if isinstance(told, Mapping):
        return all(map(_is_bounded, told.values()))
    if isinstance(told, list):
        return all(map(_is_bounded, told))
    return not isinstance(told, int | float) or 0 <= told <= MOST


# ---------------------------------------------------------------- text


def _is_text(text: Text) -> bool:
    return "  load generator: " in text.content and any(_END.match(line) for line in text.lines)


def _read_text(text: Text) -> Iterator[Found]:
    begun, place = _Told(1), 0
    for line, said in enumerate(text.lines, start=1):
        if begin := _BEGIN.match(said):
            begun = _Told(line, begin["server"], int(begin["workers"]))
        elif interval := _INTERVAL.match(said):
            if not _WARM_UP.search(said):
                begun.intervals.append(number(text, line, interval["rate"], "a rate"))
                begun.ends_s.append(number(text, line, interval["at"], "the time of an interval"))
        elif end := _END.match(said):
            begun.end = end
        elif begun.end and (found := _COUNTED.match(said)):
            begun.counts[found["what"]] = (line, found)
        elif begun.end and (heads := _HEADS.match(said)):
            begun.heads = heads["names"].split()
        elif begun.end and begun.heads and (row := _TRANSACTION.match(said)):
            begun.latency = (line, row)
        elif begun.end and "transactions" in begun.counts and (cpu := _CPU.match(said)):
            place += 1
            yield _of_text(text, begun, line, cpu, place)
            begun = _Told(line + 1)


@dataclass
class _Told:
    """One run, as its lines are read."""

    line: int
    server: str = ""
    workers: int | None = None
    end: re.Match[str] | None = None
    counts: dict[str, tuple[int, re.Match[str]]] = field(default_factory=dict)
    heads: list[str] = field(default_factory=list)
    latency: tuple[int, re.Match[str]] | None = None
    intervals: list[float] = field(default_factory=list)
    ends_s: list[float] = field(default_factory=list)


def _of_text(text: Text, told: _Told, line: int, cpu: re.Match[str], place: int) -> ImportedResult:
    assert told.end is not None
    counts = {what: count(text, at, found["count"], what) for what, (at, found) in told.counts.items()}
    at, done = told.counts["transactions"]
    if "of all operations" in (done["more"] or ""):
        raise broken(text, told.line, "a job's text is not read; its output with --json is")
    reads, writes, others = _numbers(told, "queries", 3)
    retried, failed = _numbers(told, "errors", 2)
    account = None
    if told.workers:
        user_s, system_s = (number(text, line, cpu[name], "CPU time") for name in ("user", "system"))
        account = ClientAccount(
            workers=told.workers,
            cpu_user_s=user_s,
            cpu_system_s=system_s,
        )
    met = counts.get("errors", 0)
    counted = [LoadError(code="counted", statement=None, message="errors", transient=True, count=met)]
    workload, mix = told.end["workload"], told.end["mix"]
    return ImportedResult(
        source=text.source(told.line, PROGRAM, PROGRAM),
        name=f"{PROGRAM} {place}: {workload}",
        levels={"workload": f"{workload} {mix}", **({"server": told.server} if told.server else {})},
        load=LoadResult(
            workload=workload,
            mix=mix,
            clients=int(told.end["clients"]),
            seconds=number(text, line, told.end["seconds"], "the time measured") or None,
            transactions=counts["transactions"],
            transactions_per_s=number(text, at, done["rate"], "transactions a second"),
            half_digit=0.005,
            statements=counts.get("queries"),
            reads=reads,
            writes=writes,
            others=others,
            latency_us=_latency(text, told),
            errors=[*(counted if met else []), *(INTERRUPTED if told.end["interrupted"] else [])],
            failed_transactions=failed,
            retries=retried,
            reconnects=counts.get("connections lost"),
            client=account,
        ),
        asked={"workload": workload},
        interval_s=told.ends_s[0] if told.ends_s else None,
        intervals_per_s=told.intervals,
    )


def _numbers(told: _Told, what: str, wanted: int) -> list[int | None]:
    """Return the counts in brackets behind a figure; None for each if they are not as many."""
    more = told.counts[what][1]["more"] if what in told.counts else None
    found = [int(one) for one in re.findall(r"\b\d{1,18}\b", more or "")]
    return [*found] if len(found) == wanted else [None] * wanted


def _latency(text: Text, told: _Told) -> Latency | None:
    """Return the latency of transactions; a percentile marked ``~`` rests on too few."""
    if told.latency is None:
        return None
    line, row = told.latency
    values = dict(zip(told.heads, row["values"].split(), strict=False))
    us = {
        name: number(text, line, value, "a latency") * 1000
        for name, value in values.items()
        if value[0] != "~"
    }
    if not us.get("mean"):
        return None
    return Latency(
        count=count(text, line, row["count"], "the number of latencies"),
        mean=us["mean"],
        min=us.get("min"),
        max=us.get("max"),
        percentiles={name[1:]: value for name, value in us.items() if name[0] == "p" and value},
    )


OWN_JSON = Format(f"{PROGRAM} (text and JSON)", _is_json, _read_json)
OWN_TEXT = Format(f"{PROGRAM} (text and JSON)", _is_text, _read_text)
