"""What recorded loads would do on other disks: a table a disk."""

from collections.abc import Sequence

from diskproof.analysis.other_disk.errors import CONFIDENCE
from diskproof.analysis.other_disk.records import Predicted, Predictions
from diskproof.report.compose.tables import figures, table
from diskproof.report.document import Document, Item, Items, Paragraph, Section
from diskproof.report.intervals import bounds, estimate
from diskproof.report.one_screen import Block, OneScreen, Row, absolute_scale
from diskproof.results.limit import IN_WORDS
from diskproof.results.plan import NO_LEVEL, Cell
from diskproof.stats.grouping import grouped
from diskproof.wording import Message, counted, say, together, without_figures
from diskproof.wording.numbers import NOT_OBSERVED, count, milliseconds, number, percent, size

MOST_SHOWN = 40
MOST_RECORDED = 2
MOST_NAMED = 5

INTERVALS = (
    f"The {percent(CONFIDENCE)} intervals come from the errors of "
    "earlier predictions (docs/prediction.md). They hold for the CPUs and the memory of the recorded run: "
    "another machine needs a record of its own."
)


SHORT = f"{percent(CONFIDENCE)} intervals, for the CPUs and the memory of the recorded run."


def how(figures: Sequence[Predicted]) -> str:
    """Return where figures come from."""
    if any(one.measured for one in figures):
        return f"Measured figures are those of the run's report. The others are predicted. {INTERVALS}"
    return f"Nothing was measured on these disks. {INTERVALS}"


def basis(one: Predicted) -> str:
    """Return whether figures were measured or predicted, and what disturbed the trials below them."""
    found = "measured" if one.measured else "predicted"
    return f"{found}, disturbed: {', '.join(one.weakened_by)}" if one.weakened_by else found


def disturbances(figures: Sequence[Predicted]) -> tuple[Items, ...]:
    """Return what disturbed the trials that figures rest on, each once."""
    found = dict.fromkeys((check, why.text) for one in figures for check, why in one.weakened_by.items())
    return (Items(tuple(Item(why, name=check, tone="warning") for check, why in found)),) if found else ()


def weakened(figures: Sequence[Predicted]) -> list[str]:
    """Return what disturbed the trials that figures rest on; what differs only in figures is one."""
    every = [why for one in figures for why in one.weakened_by.values()]
    return [together(alike).text for alike in grouped(every, without_figures).values()]


def screen(found: Predictions) -> OneScreen:
    """Return the predictions on one screen: a row a load and disk, its throughput with its interval."""
    answered = [one for one in found.cells if one.per_s is not None]
    scale = absolute_scale([one.per_s for one in answered if one.per_s])
    blocks = [
        Block(
            f"on {device}",
            tuple(map(_row, cells)),
            ("predicted", "recorded", "p95 ms"),
            scale,
            "transactions/s",
        )
        for device, cells in grouped(answered, lambda one: one.device).items()
    ]
    lines = (
        ("Not predicted", "; ".join(one.text for one in [*_missing(found.cells), *found.left_out])),
        ("Beware", "; ".join([*weakened(answered), *(one.text for one in found.notes)])),
    )
    return OneScreen(
        f"Predictions from the run of `{found.run}`",
        SHORT,
        "",
        tuple(blocks),
        tuple((lead, text) for lead, text in lines if text),
        "--format markdown",
    )


def _row(one: Predicted) -> Row:
    assert one.per_s
    levels = (one.cell.server, one.cell.tuning, one.cell.workload, count(one.cell.clients, "client"))
    return Row(
        levels,
        IN_WORDS[one.limit] if one.limit else "",
        "plain",
        one.per_s.estimate,
        one.per_s.low,
        one.per_s.high,
        (estimate(one.per_s), _recorded(one).partition(", ")[0], milliseconds(one.p95_us)),
        is_weak=bool(one.weakened_by),
        interval=bounds(one.per_s),
    )


def compose(found: Predictions) -> Document:
    """Return the predictions of each disk, then what is not predicted and why."""
    answered = [one for one in found.cells if one.per_s is not None]
    by_device = grouped(answered, lambda one: one.device)
    return Document(
        name="",
        heading=f"Predictions from the run of `{found.run}`",
        lead=(Paragraph(how(found.cells)),),
        sections=(
            *(_device(device, answered) for device, answered in by_device.items()),
            Section("What disturbed the record", disturbances(found.cells)),
            Section("Not predicted", _items([*_missing(found.cells), *found.left_out])),
            Section("What must be known", _items(found.notes)),
        ),
    )


def _items(messages: Sequence[Message]) -> tuple[Items, ...]:
    return (Items(tuple(Item(one.text, tone="note") for one in messages)),) if messages else ()


def _missing(cells: Sequence[Predicted]) -> list[Message]:
    """Return each reason once, with the loads and the disks that it is about."""
    by_reason = grouped(cells, lambda one: one.missing)
    return [
        say(
            "{loads} on {disks} ({names:/, }): {why}",
            loads=counted(len({one.cell.id for one in alike}), "load"),
            disks=counted(len(named := list(dict.fromkeys(one.device for one in alike))), "disk"),
            names=[*named[:MOST_NAMED], *(["…"] if len(named) > MOST_NAMED else [])],
            why=why,
        )
        for why, alike in by_reason.items()
        if why is not None
    ]


def _device(device: str, answered: Sequence[Predicted]) -> Section:
    rows = table(
        answered,
        ("Load", lambda one: _load(one.cell)),
        (figures("Clients"), lambda one: str(one.cell.clients)),
        ("Measured TPS", _recorded),
        (figures("Transactions/s"), lambda one: estimate(one.per_s)),
        (figures("Interval"), lambda one: bounds(one.per_s)),
        ("Basis", basis),
        (figures("Mean ms"), lambda one: milliseconds(one.mean_us)),
        (figures("p95 ms"), lambda one: milliseconds(one.p95_us)),
        ("Limit", lambda one: IN_WORDS[one.limit] if one.limit else "none takes half of the time"),
    )
    return Section(f"On {device}", (rows,))


def _load(cell: Cell) -> str:
    """Return a cell's load without its storage, as words that a narrow table can break between."""
    parts = [cell.server, cell.tuning, cell.workload, size(cell.memory_bytes)]
    return ", ".join([*parts, cell.host] if cell.host != NO_LEVEL else parts)


def _recorded(one: Predicted) -> str:
    """Return the recorded throughput by storage, first where the prediction comes from."""
    first = sorted(one.recorded, key=lambda storage: storage != one.cell.storage)
    shown = [f"{storage} {number(one.recorded[storage])}" for storage in first[:MOST_RECORDED]]
    more = len(first) - len(shown)
    return ", ".join([*shown, *([f"{more} more"] if more else [])]) or NOT_OBSERVED
