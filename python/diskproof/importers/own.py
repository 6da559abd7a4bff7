"""diskproof-load itself: its JSON lines (docs/protocol.md)."""

from collections.abc import Iterator, Mapping
from typing import Any

from diskproof.importers.base import Format, Found, Text, ending
from diskproof.importers.jsontext import Node, objects
from diskproof.importers.numbers import MOST, broken
from diskproof.load import PROGRAM, interval_rows, to_result
from diskproof.results.factor import Factor
from diskproof.results.imported import ImportedResult

RATE = "transactions_per_s"

INTERRUPTED = ending(PROGRAM, ["it was interrupted"])


def _recognises(text: Text) -> bool:
    return f'"program":"{PROGRAM}"' in text.content.replace(": ", ":")


def _read(text: Text) -> Iterator[Found]:
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


OWN = Format(f"{PROGRAM} (JSON)", _recognises, _read)
