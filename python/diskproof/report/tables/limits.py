"""What holds each cell back: limits, the time of a transaction, demands, sweeps, proofs."""

from diskproof.analysis.answers import Analysis
from diskproof.analysis.limits.shapes import CellLimit, Limits, Split, Sweep
from diskproof.analysis.limits.words import share
from diskproof.report import words
from diskproof.report.limits import words as said
from diskproof.report.tables.table import Column, Table, factor_column, shown_factors

LAW = ("One client/s", "Contention", "Coherency", "Peak", "Residual")
"""What the Universal Scalability Law, fitted to a sweep, tells of it."""


def limits(analysis: Analysis, found: Limits) -> Table:
    """Return a row a cell: its limit, the signals that name it, the bound, and what a change would do."""
    columns = (
        *_levels_of(analysis),
        Column("Held back by"),
        Column("What names it"),
        Column("Bound/s", figures=True),
        Column("What would free it"),
    )
    rows = tuple(
        (
            *_levels(analysis, one),
            one.limit or said.NOT_ESTABLISHED,
            said.named_by(one),
            words.number(one.bound_per_s),
            one.what_if.says if one.what_if else "",
        )
        for one in found.cells
    )
    return Table(columns, rows)


def in_short(analysis: Analysis, found: Limits) -> Table:
    """Return a row a cell: its limit, and what names it or is missing."""
    columns = (*_levels_of(analysis), Column("Held back by"), Column("What names it, or is missing"))
    rows = tuple(
        (
            *_levels(analysis, one),
            one.limit or said.NOT_ESTABLISHED,
            said.named_by(one) if one.limit else said.missing(one),
        )
        for one in found.cells
    )
    return Table(columns, rows)


def signals(analysis: Analysis, found: Limits) -> Table:
    """Return a row a signal, those against a limit among them."""
    columns = (
        *_levels_of(analysis),
        Column("Limit"),
        Column("Speaks"),
        Column("Who says it"),
        Column("Signal"),
    )
    rows = tuple(
        (
            *_levels(analysis, cell),
            one.limit,
            "for it" if one.supports else "against it",
            one.instrument,
            one.says,
        )
        for cell in found.cells
        for one in cell.signals
    )
    return Table(columns, rows)


def splits(analysis: Analysis, found: Limits) -> Table:
    """Return a row a cell whose transactions can be split: their latency and its parts."""
    names = said.part_names(found.cells)
    columns = (
        *_levels_of(analysis),
        Column("Mean ms", figures=True),
        *(Column(f"{name[0].upper()}{name[1:]}", figures=True) for name in names),
        Column("Unexplained", figures=True),
    )
    rows = tuple(
        (
            *_levels(analysis, one),
            words.milliseconds(one.split.latency_us),
            *(_part(one.split, name) for name in names),
            _time(one.split, said.unexplained_us(one.split)),
        )
        for one in found.cells
        if one.split
    )
    return Table(columns, rows)


def sources(analysis: Analysis, found: Limits) -> Table:
    """Return a row a part of a cell's time: what was measured, and how the part follows from it."""
    columns = (
        *_levels_of(analysis),
        Column("Part"),
        Column("ms", figures=True),
        Column("How it follows"),
    )
    rows = tuple(
        (*_levels(analysis, cell), part.name, words.milliseconds(part.mean_us), part.source)
        for cell in found.cells
        if cell.split
        for part in cell.split.parts
    )
    return Table(columns, rows)


def demands(analysis: Analysis, found: Limits) -> Table:
    """Return a row a centre that serves a cell's transactions: demand, utilisation, bound."""
    columns = (
        *_levels_of(analysis),
        Column("Centre"),
        Column("Servers", figures=True),
        Column("Demand ms", figures=True),
        Column("Utilisation", figures=True),
        Column("Bound/s", figures=True),
    )
    rows = tuple(
        (
            *_levels(analysis, cell),
            one.centre,
            f"{one.servers}",
            words.milliseconds(one.demand_us),
            share(one.utilisation),
            words.number(one.bound_per_s),
        )
        for cell in found.cells
        for one in cell.demands
    )
    return Table(columns, rows)


def sweeps(analysis: Analysis, found: Limits) -> Table:
    """Return a row a sweep of clients: its bounds, its knee, and the law where one was fitted."""
    has_law = any(one.scaling for one in found.sweeps)
    columns = (
        Column("Cells"),
        Column("Clients"),
        Column("Smallest ms", figures=True),
        Column("Bound/s", figures=True),
        Column("Knee", figures=True),
        *(Column(title, figures=True) for title in (LAW if has_law else ())),
    )
    rows = tuple(
        (
            said.sweep_name(analysis, one),
            ", ".join(map(str, one.clients)),
            words.milliseconds(one.smallest_latency_us),
            words.number(one.bound_per_s),
            words.number(one.knee_clients),
            *(_law(one) if has_law else ()),
        )
        for one in found.sweeps
    )
    return Table(columns, rows)


def proofs(analysis: Analysis, found: Limits) -> Table:
    """Return a row a proof: what was changed, what was predicted, and what came of it."""
    columns = (
        Column("Cell"),
        Column("Limit"),
        Column("What was changed"),
        Column("Predicted ratio", figures=True),
        Column("Measured ratio", figures=True),
        Column("Outcome"),
        Column("How it was predicted"),
    )
    rows = tuple(
        (
            said.proof_name(analysis, one),
            one.limit,
            one.intervention.says,
            said.predicted(one),
            words.with_bounds(one.measured),
            one.outcome,
            one.basis,
        )
        for one in found.proofs
    )
    return Table(columns, rows)


def _levels_of(analysis: Analysis) -> list[Column]:
    return [factor_column(factor) for factor in shown_factors(analysis)]


def _levels(analysis: Analysis, one: CellLimit) -> list[str]:
    return [one.cell.level(factor) for factor in shown_factors(analysis)]


def _part(split: Split, name: str) -> str:
    found = said.part(split, name)
    return _time(split, found.mean_us) if found else ""


def _time(split: Split, time_us: float) -> str:
    of_all = f" ({share(time_us / split.latency_us)})" if split.latency_us > 0 else ""
    return f"{words.milliseconds(time_us)}{of_all}"


def _law(sweep: Sweep) -> tuple[str, ...]:
    law = sweep.scaling
    if law is None:
        return (words.NOT_OBSERVED,) * len(LAW)
    return (
        words.with_bounds(law.per_client_per_s),
        words.with_bounds(law.contention),
        words.with_bounds(law.coherency),
        "none shown" if law.peak_clients is None else words.number(law.peak_clients),
        share(law.residual),
    )
