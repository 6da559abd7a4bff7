"""What recorded loads would do on other disks: rows a disk."""

from collections.abc import Sequence

from diskproof.analysis.other_disk.errors import CONFIDENCE
from diskproof.analysis.other_disk.records import Predicted, Predictions
from diskproof.report.document import Paragraph, Section
from diskproof.report.intervals import bounds, estimate
from diskproof.report.one_screen import Block, OneScreen, Row, absolute_scale
from diskproof.results.limit import IN_WORDS
from diskproof.results.plan import NO_LEVEL
from diskproof.stats.grouping import grouped
from diskproof.wording import Message, counted, say, together, without_figures
from diskproof.wording.numbers import NOT_OBSERVED, count, milliseconds, number, percent, size

MOST_NAMED = 5

HOW = (
    f"Nothing was measured on disks whose figures are predicted. The {percent(CONFIDENCE)} intervals come "
    "from the errors of earlier predictions (docs/prediction.md). They hold for the CPUs and the memory of "
    "the recorded run: another machine needs a record of its own."
)

SHORT = f"{percent(CONFIDENCE)} intervals, for the CPUs and the memory of the recorded run."


def basis(one: Predicted) -> str:
    """Return whether figures were measured or predicted, and what disturbed the trials below them."""
    found = "measured" if one.measured else "predicted"
    return f"{found}, disturbed: {', '.join(one.weakened_by)}" if one.weakened_by else found


def weakened(figures: Sequence[Predicted]) -> list[str]:
    """Return what disturbed the trials that figures rest on; what differs only in figures is one."""
    every = [why for one in figures for why in one.weakened_by.values()]
    return [together(alike).text for alike in grouped(every, without_figures).values()]


def compose(found: Predictions) -> OneScreen:
    """Return a row a load and disk, its throughput with its interval, then what is not predicted and why."""
    answered = [one for one in found.cells if one.per_s is not None]
    scale = absolute_scale([one.per_s for one in answered if one.per_s])
    columns = ("recorded", "p95 ms", "held back by", "mean ms", "basis", "memory")
    blocks = [
        Block(
            f"predicted on {device}; transactions/s", tuple(map(_row, cells)), columns, scale, most_figures=2
        )
        for device, cells in grouped(answered, lambda one: one.device).items()
    ]
    lines = (
        ("Not predicted", "; ".join(one.text for one in [*_missing(found.cells), *found.left_out])),
        ("Beware", "; ".join(weakened(answered))),
    )
    return OneScreen(
        f"Predictions from the run of `{found.run}`",
        SHORT,
        tuple(blocks),
        tuple((lead, text) for lead, text in lines if text),
        rest=(Section("What the intervals hold for", (Paragraph(HOW),)),),
    )


def _row(one: Predicted) -> Row:
    assert one.per_s
    cell, limit = one.cell, IN_WORDS[one.limit] if one.limit else ""
    host = () if cell.host == NO_LEVEL else (cell.host,)
    return Row(
        (cell.server, cell.tuning, cell.workload, *host, count(cell.clients, "client")),
        estimate(one.per_s),
        "plain",
        one.per_s,
        (
            _recorded(one),
            milliseconds(one.p95_us),
            limit,
            milliseconds(one.mean_us),
            basis(one),
            size(cell.memory_bytes),
        ),
        is_weak=bool(one.weakened_by),
        interval=bounds(one.per_s),
    )


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


def _recorded(one: Predicted) -> str:
    """Return the recorded throughput, that of the storage first where the prediction comes from."""
    first = sorted(one.recorded, key=lambda storage: storage != one.cell.storage)
    return f"{first[0]} {number(one.recorded[first[0]])}" if first else NOT_OBSERVED
