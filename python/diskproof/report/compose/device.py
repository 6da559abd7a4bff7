"""A device file: its parameters with unit and source, and what was published of the real disk."""

from collections.abc import Iterator
from typing import Any

from diskproof.report.compose.profile import probe as named
from diskproof.report.compose.tables import figures as figures_column
from diskproof.report.compose.tables import table
from diskproof.report.document import Document, Paragraph, Section, Table
from diskproof.results.profile import Probe
from diskproof.wording.numbers import number, size

MEASURES = {
    "iops": "requests/s",
    "megabytes_per_s": "MB/s",
    "mean_us": "mean µs",
    "median_us": "median µs",
    "p95_us": "p95 µs",
    "p99_us": "p99 µs",
    "max_us": "max µs",
    "flushes_per_s": "flushes/s",
}


def compose(facts: dict[str, Any]) -> Document:
    """Return what a device file holds."""
    lead = [" ".join(facts["description"].split())]
    lead.append(f"kind: {facts['kind']}; capacity: {size(facts['capacity_bytes'])}")
    lead.append(f"properties: {'; '.join(properties(facts))}")
    return Document(
        heading=facts["title"],
        lead=tuple(map(Paragraph, lead)),
        sections=(Section("", (parameters(facts["device"]),)), Section("", (published(facts["published"]),))),
    )


def parameters(device: dict[str, Any]) -> Table:
    """Return a row a parameter; the source of what is assumed says so."""
    return table(
        _figures(device, ""),
        ("Parameter", lambda row: row[0]),
        (figures_column("Value"), lambda row: _value(row[1])),
        ("Source", lambda row: row[2]),
    )


def properties(shown: dict[str, Any]) -> Iterator[str]:
    """Yield what the program says of a device apart from its times."""
    yield f"sectors of {shown['sector_bytes']} bytes"
    yield "one request at a time" if shown["one_at_a_time"] else "several requests at a time"
    if shown["turns_us"]:
        yield "turns in " + " and ".join(f"{turn_us / 1e3:.2f} ms" for turn_us in shown["turns_us"])
    if shown["fua"]:
        yield "takes durable writes without a flush (FUA)"
    if not shown["survives_without_power"]:
        yield "loses everything without power"


def published(figures: list[dict[str, Any]]) -> Table:
    """Return a row a published figure, held-out ones last: those alone are evidence."""
    ordered = sorted(figures, key=lambda figure: not figure["fitted"])
    return table(
        [(figure, *measure) for figure in ordered for measure in figure["measure"].items()],
        ("Published", lambda row: named(Probe(**row[0]["probe"]))),
        (figures_column("Figure"), lambda row: number(row[2])),
        ("Unit", lambda row: MEASURES.get(row[1], row[1])),
        ("", lambda row: "fitted" if row[0]["fitted"] else "held out"),
        ("Source", lambda row: row[0]["source"]),
    )


def _figures(tree: Any, path: str) -> Iterator[tuple[str, Any, str]]:  # noqa: ANN401 - any JSON
    """Yield every `{ value, source }` in a device's tree with the path to it."""
    if isinstance(tree, dict) and set(tree) == {"value", "source"}:
        yield path, tree["value"], tree["source"]
    elif isinstance(tree, dict):
        for key, branch in tree.items():
            yield from _figures(branch, f"{path}.{key}" if path else key)
    elif isinstance(tree, list):
        for number, branch in enumerate(tree):
            yield from _figures(branch, f"{path}.{number}")
    elif tree is not None:
        yield path, tree, "chosen"


def _value(value: object) -> str:
    """Return a value; a parameter's name ends with its unit."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return str(value).lower() if isinstance(value, bool) else str(value)
    return f"{value:,}"
