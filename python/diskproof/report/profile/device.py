"""A device file, told: its parameters with unit and source, and what was published of the real one."""

from collections.abc import Iterator
from typing import Any

from diskproof.report import words
from diskproof.report.profile.words import probe as named
from diskproof.report.tables import Column, Table
from diskproof.results.profile import Probe

ASSUMED = "assumed"

UNITS = {
    "bytes_per_s": "bytes/s",
    "mb_per_s": "MB/s",
    "mib_per_s": "MiB/s",
    "per_s": "a second",
    "bytes": "bytes",
    "sectors": "sectors",
    "us": "us",
    "ms": "ms",
    "ns": "ns",
    "s": "s",
    "rpm": "1/min",
    "iops": "requests/s",
    "usd": "US dollars",
}
"""The last words of a parameter's name, and the unit that they stand for."""

MEASURES = {
    "iops": "requests/s",
    "megabytes_per_s": "MB/s",
    "mean_us": "mean us",
    "median_us": "median us",
    "p95_us": "p95 us",
    "p99_us": "p99 us",
    "max_us": "max us",
    "flushes_per_s": "flushes/s",
}


def parameters(device: dict[str, Any]) -> Table:
    """Return a row a parameter; what is assumed says so."""
    rows = tuple(
        (f"{path} {'(assumed)' if source.startswith(ASSUMED) else ''}".strip(), _value(path, value), source)
        for path, value, source in _figures(device, "")
    )
    return Table((Column("Parameter"), Column("Value", figures=True), Column("Source")), rows)


def published(figures: list[dict[str, Any]]) -> Table:
    """Return a row a published figure, held-out ones last: those alone are evidence."""
    ordered = sorted(figures, key=lambda figure: not figure["fitted"])
    rows = tuple(
        (
            named(Probe(**figure["probe"])),
            words.number(value),
            MEASURES.get(measure, measure),
            "fitted" if figure["fitted"] else "held out",
            figure["source"],
        )
        for figure in ordered
        for measure, value in figure["measure"].items()
    )
    columns = (
        Column("Published"),
        Column("Figure", figures=True),
        Column("Unit"),
        Column(""),
        Column("Source"),
    )
    return Table(columns, rows)


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


def _value(path: str, value: object) -> str:
    name = path.rpartition(".")[2]
    unit = next(
        (shown for suffix, shown in UNITS.items() if name.endswith(f"_{suffix}") or name == suffix), ""
    )
    if isinstance(value, bool) or not isinstance(value, int | float):
        return str(value).lower() if isinstance(value, bool) else str(value)
    return f"{value:,} {unit}".strip()
