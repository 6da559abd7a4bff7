"""What holds each cell back: limits, the time of a transaction, demands, sweeps, proofs."""

from collections.abc import Iterator, Sequence

from diskproof.analysis.answers import Analysis
from diskproof.analysis.limits.records import Limits, ProofAnswer, Split, Sweep, Trouble
from diskproof.report.compose import limits_words as words
from diskproof.report.compose.head import work
from diskproof.report.compose.tables import Of, cells_table, figures, table
from diskproof.report.compose.verdict_words import cell_words
from diskproof.report.document import Figure, Item, Items, Paragraph, Section, Table
from diskproof.report.intervals import with_bounds
from diskproof.stats.grouping import grouped
from diskproof.wording.numbers import NOT_OBSERVED, milliseconds, number, sentence_case, whole_percent

NOTE = (
    "A limit is named only if two instruments show it, each by its own means, and fewer contradict it; "
    "otherwise it is not established. What a change would do is predicted, not measured."
)

SPLIT_NOTE = (
    "The parts of the mean time, in ms and as shares; empty: none was found. Unexplained: what is left of "
    "the latency; below 0 the parts overlap."
)

SWEEP_NOTE = (
    "A sweep: cells that differ only in their clients. Knee: the number of clients from which they begin to "
    "wait for each other, which is the most per second times the smallest latency."
)

LAW_NOTE = (
    " One client, contention, coherency, and the number of clients with the most throughput: the Universal "
    "Scalability Law (Gunther 2007), fitted to the throughputs, with its intervals. Residual: how far the "
    "throughputs lie from it, relative to them."
)

LAW = ("One client/s", "Contention", "Coherency", "Peak", "Residual")
"""The columns of the law, fitted to a sweep."""

PROOF_NOTE = (
    "To prove a limit, one thing is changed that should matter if the limit is right. Each changed trial is "
    "compared with one of the cell as it is. The prediction was made before either was run."
)

MOST_CELLS_NAMED = 3


def section(analysis: Analysis, drawn: Sequence[Figure] = ()) -> Section:
    """Return the section about limits; an empty one if nothing was counted."""
    limits = analysis.limits
    if limits is None or not limits.cells:
        return Section("", ())
    return Section(
        words.TITLE,
        (
            Paragraph(NOTE),
            limits_table(analysis, limits),
            *_troubles(analysis, limits),
            *drawn,
            _sweeps(analysis, limits),
            _proofs(analysis, limits),
            _folded(words.split_title(analysis), SPLIT_NOTE, splits(analysis, limits)),
            _folded("Demands", _demands_note(analysis), demands(analysis, limits)),
            _folded("All signals", "", signals(analysis, limits)),
        ),
        anchor="limits",
        contents="Limits",
    )


def _folded(heading: str, note: str, content: Table) -> Section:
    notes = (Paragraph(note),) if note else ()
    return Section(heading, (*notes, content) if content.rows else (), folded=True)


# ---------------------------------------------------------------- troubles, sweeps, proofs


def _troubles(analysis: Analysis, limits: Limits) -> Iterator[Section]:
    """Yield each trouble with the cells that have it: the remedy of many cells is said once."""
    found = [(words.name(analysis, cell), one) for cell in limits.cells for one in cell.troubles]
    items = tuple(map(_trouble, grouped(found, lambda one: (one[1].name, one[1].remedy)).values()))
    made = Items(items)
    yield Section("Known shapes of trouble", (made,))


def _trouble(found: Sequence[tuple[str, Trouble]]) -> Item:
    _, first = found[0]
    more = len(found) - MOST_CELLS_NAMED
    where = [*(cell for cell, _ in found[:MOST_CELLS_NAMED]), *([f"{more} more"] if more > 0 else [])]
    others = [Paragraph(one.says.text, lead=cell) for cell, one in found[1:] if one.says != first.says]
    remedy = Paragraph(first.remedy.text, lead="Remedy")
    source = Paragraph(first.source, lead="Source")
    return Item(
        first.says.text,
        lead=first.name,
        name=f"({'; '.join(where)})",
        tone="warning",
        lines=(*others, remedy, source),
    )


def _sweeps(analysis: Analysis, limits: Limits) -> Section:
    note = SWEEP_NOTE + (LAW_NOTE if any(one.scaling for one in limits.sweeps) else "")
    return Section("Clients", (Paragraph(note), sweeps(analysis, limits)) if limits.sweeps else ())


def _proofs(analysis: Analysis, limits: Limits) -> Section:
    blocks = (Paragraph(PROOF_NOTE), proofs(analysis, limits))
    return Section("Proofs", blocks if limits.proofs else ())


def _proof_name(analysis: Analysis, proof: ProofAnswer) -> str:
    return cell_words(analysis.plan.cell(proof.cell), analysis.varying)


# ---------------------------------------------------------------- tables of cells


def limits_table(analysis: Analysis, found: Limits) -> Table:
    """Return a row a cell: its limit, the bound, the evidence, and what a change would do."""
    return cells_table(
        analysis,
        found.cells,
        ("Held back by", lambda one: one.limit or words.NOT_ESTABLISHED),
        ("Why, and what would free it", lambda one: one.sentence.text),
        label="What holds each cell back",
    )


def signals(analysis: Analysis, found: Limits) -> Table:
    """Return a row a signal, those that contradict a limit among them."""
    return cells_table(
        analysis,
        [Of(cell.cell, one) for cell in found.cells for one in cell.signals],
        ("Limit", lambda row: row.it.limit),
        ("Signal", lambda row: "supports it" if row.it.supports else "contradicts it"),
        ("Instrument", lambda row: row.it.instrument),
        ("What it says", lambda row: row.it.says.text),
        label="Signals that support or contradict a limit",
    )


def splits(analysis: Analysis, found: Limits) -> Table:
    """Return a row a cell whose transactions can be split: their latency and its parts."""
    names = words.part_names(found.cells)
    return cells_table(
        analysis,
        [Of(one.cell, one.split) for one in found.cells if one.split],
        (figures("Mean ms"), lambda row: milliseconds(row.it.latency_us)),
        *((figures(sentence_case(name)), lambda row, name=name: _part(row.it, name)) for name in names),
        (figures("Unexplained"), lambda row: _time(row.it, words.unexplained_us(row.it))),
        label="Parts of the mean time in every cell",
    )


def demands(analysis: Analysis, found: Limits) -> Table:
    """Return a row a centre that serves a cell's transactions: demand, utilisation, bound."""
    return cells_table(
        analysis,
        [Of(cell.cell, one) for cell in found.cells for one in cell.demands],
        ("Centre", lambda row: row.it.centre),
        (figures("Servers"), lambda row: f"{row.it.servers}"),
        (figures("Demand ms"), lambda row: milliseconds(row.it.demand_us)),
        (figures("Utilisation"), lambda row: whole_percent(row.it.utilisation)),
        (figures("At most/s"), lambda row: number(row.it.bound_per_s)),
        label="Service demands in every cell",
    )


def _demands_note(analysis: Analysis) -> str:
    return (
        f"How long a {work(analysis.plan)} keeps each centre busy (Denning and Buzen 1978), how busy one of "
        "its servers was, and what it could serve. n/a: the demand shrinks with load, as that of a flush "
        "which commits share."
    )


def _part(split: Split, name: str) -> str:
    found = words.part(split, name)
    return _time(split, found.mean_us) if found else ""


def _time(split: Split, time_us: float) -> str:
    of_all = f" ({whole_percent(time_us / split.latency_us)})" if split.latency_us > 0 else ""
    return f"{milliseconds(time_us)}{of_all}"


# ---------------------------------------------------------------- tables of sweeps and proofs


def sweeps(analysis: Analysis, found: Limits) -> Table:
    """Return a row a sweep of clients: its bounds, its knee, and the law if one was fitted."""
    has_law = any(one.scaling for one in found.sweeps)
    return table(
        found.sweeps,
        ("Cells", lambda one: words.sweep_name(analysis, one)),
        ("Clients", lambda one: ", ".join(map(str, one.clients))),
        (figures("Smallest ms"), lambda one: milliseconds(one.smallest_latency_us)),
        (figures("At most/s"), lambda one: number(one.bound_per_s)),
        (figures("Knee"), lambda one: number(one.knee_clients)),
        *(
            (figures(title), lambda one, at=at: _law(one)[at])
            for at, title in enumerate(LAW if has_law else ())
        ),
        label="Bounds, knee and scalability of each sweep of clients",
    )


def _law(sweep: Sweep) -> tuple[str, ...]:
    law = sweep.scaling
    if law is None:
        return (NOT_OBSERVED,) * len(LAW)
    return (
        with_bounds(law.per_client_per_s),
        with_bounds(law.contention),
        with_bounds(law.coherency),
        "none shown" if law.peak_clients is None else number(law.peak_clients),
        whole_percent(law.residual),
    )


def proofs(analysis: Analysis, found: Limits) -> Table:
    """Return a row a proof: what was changed, what was predicted, and what came of it."""
    return table(
        found.proofs,
        ("Cell", lambda one: _proof_name(analysis, one)),
        ("Limit", lambda one: one.limit),
        ("What was changed", lambda one: one.intervention.says.text),
        (figures("Predicted ratio"), _predicted),
        (figures("Measured ratio"), lambda one: with_bounds(one.measured)),
        ("Outcome", lambda one: one.outcome),
        ("How it was predicted", lambda one: one.basis.text),
        *([("Left out", _left_out)] if any(one.left_out for one in found.proofs) else []),
        label="Interventions, what was predicted, and what was measured",
    )


def _left_out(proof: ProofAnswer) -> str:
    return "; ".join(why.text for why in proof.left_out)


def _predicted(proof: ProofAnswer) -> str:
    band = f"{number(proof.predicted_low)} to {number(proof.predicted_high)}"
    return f"{number(proof.predicted_ratio)} ({band})"
