"""The tables of a report as plain rows of text: each way of telling lays them out in its own manner."""

from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from diskproof.analysis.answers import Analysis, CellAnswer, Interval, OperationFigure
from diskproof.analysis.words import cell_words, subject
from diskproof.report import words
from diskproof.results.records import FACTORS, Cell, Factor, Machine, Place, Plan, PoolFacts, Trial


@dataclass(frozen=True)
class Column:
    """A column's heading, and whether its entries are figures (to be set flush right)."""

    title: str
    figures: bool = False


@dataclass(frozen=True)
class Table:
    """Headings and rows; every row has as many entries as there are columns."""

    columns: tuple[Column, ...]
    rows: tuple[tuple[str, ...], ...]

    def without(self, title: str) -> "Table":
        """Return the table with one column less."""
        kept = [index for index, column in enumerate(self.columns) if column.title != title]
        return Table(
            tuple(self.columns[index] for index in kept),
            tuple(tuple(row[index] for index in kept) for row in self.rows),
        )

    def renamed(self, title: str, new_title: str) -> "Table":
        """Return the table with another heading over one column."""
        columns = (
            Column(new_title, column.figures) if column.title == title else column for column in self.columns
        )
        return Table(tuple(columns), self.rows)


# ---------------------------------------------------------------- what was found


def cells(analysis: Analysis) -> Table:
    """Return a row a cell: its levels, its figure with interval, latencies, and how many trials count."""
    factors = shown_factors(analysis)
    measures = _measures(analysis)
    percentiles = words.percentiles(analysis.cells)
    columns = [
        *(factor_column(factor) for factor in factors),
        *(column for measure in measures for column in measure.columns(analysis)),
        *(Column(f"p{key} ms", figures=True) for key in percentiles),
        Column("Valid", figures=True),
    ]
    rows = []
    for answer in analysis.cells:
        latencies = [answer.latency_us.get(key) for key in percentiles]
        rows.append(
            (
                *(answer.cell.level(factor) for factor in factors),
                *(entry for measure in measures for entry in measure.entries(answer)),
                *(words.milliseconds(latency.estimate if latency else None) for latency in latencies),
                f"{answer.valid} of {answer.total}",
            )
        )
    return Table(tuple(columns), tuple(rows))


@dataclass(frozen=True)
class _Measure:
    """A figure of cells and how it is shown."""

    title: str
    figure: Callable[[CellAnswer], Interval | None]

    def columns(self, analysis: Analysis) -> tuple[Column, ...]:
        return (
            Column(self.title, figures=True),
            Column(f"{words.confidence(analysis)} interval", figures=True),
        )

    def entries(self, answer: CellAnswer) -> tuple[str, ...]:
        figure = self.figure(answer)
        return words.estimate(figure), words.bounds(figure)


class _Seconds(_Measure):
    """The seconds of a job, marked where some of them are extrapolated."""

    def entries(self, answer: CellAnswer) -> tuple[str, ...]:
        estimate, bounds = super().entries(answer)
        return f"{estimate}{words.extrapolated(answer.extrapolated)}", bounds


class _Span(_Measure):
    """The shortest and the longest iteration, and how much each client did in one."""

    def columns(self, analysis: Analysis) -> tuple[Column, ...]:  # noqa: ARG002 - as every measure
        return tuple(Column(title, figures=True) for title in ("Min s", "Max s", "Queries/client"))

    def entries(self, answer: CellAnswer) -> tuple[str, ...]:
        span = answer.iterations
        figures = (span.min_s, span.max_s, span.queries_per_client) if span else (None, None, None)
        return tuple(map(words.number, figures))


def _measures(analysis: Analysis) -> list[_Measure]:
    """Return what the cells are judged by, and what stands beside it."""
    metrics = {answer.metric for answer in analysis.cells}
    measures = []
    if metrics != {"seconds"}:
        measures.append(_Measure("Transactions/s", lambda answer: answer.throughput_per_s))
    if "latency_mean_us" in metrics:
        measures.append(_Measure("Mean ms", _mean_ms))
    if "seconds" in metrics:
        measures.append(
            _Seconds("Seconds", lambda answer: answer.figure if answer.metric == "seconds" else None)
        )
    if any(answer.iterations for answer in analysis.cells):
        measures.append(_Span("", lambda _: None))
    return measures


def _mean_ms(answer: CellAnswer) -> Interval | None:
    return words.in_milliseconds(answer.latency_mean_us) if answer.latency_mean_us else None


def operations(analysis: Analysis, *, bounds: bool = True) -> Table:
    """Return a row an operation of a job: the seconds that it took in each cell, and the ratio of two.

    As in sql-bench's own tables a ``+`` marks seconds that are extrapolated.
    """
    order = [cell for cell in analysis.plan.cells if any(cell.id in row.cells for row in analysis.operations)]
    ratios = any(row.ratio for row in analysis.operations)
    columns = [
        Column("Test"),
        Column("Operation"),
        Column("Planned", figures=True),
        *(Column(f"{cell_words(cell, analysis.varying)} s", figures=True) for cell in order),
        *([Column("Ratio", figures=True)] if ratios else []),
    ]
    rows = [
        (
            row.test,
            row.name,
            f"{row.planned:,}",
            *(_operation_seconds(row.cells.get(cell.id)) for cell in order),
            *([(words.with_bounds if bounds else words.estimate)(row.ratio)] if ratios else []),
        )
        for row in analysis.operations
    ]
    return Table(tuple(columns), tuple(rows))


def _operation_seconds(figure: OperationFigure | None) -> str:
    if figure is None or (figure.seconds is None and not figure.skipped):
        return words.NOT_OBSERVED
    if figure.seconds is None:
        return "skipped"
    return f"{words.number(figure.seconds.estimate)}{words.extrapolated(figure.extrapolated)}"


def costs(analysis: Analysis) -> Table:
    """Return a row a cell: what one transaction costs, as the median over its valid trials."""
    factors = shown_factors(analysis)
    columns = [
        *(factor_column(factor) for factor in factors),
        Column("Server CPU µs", figures=True),
        Column("Client CPU µs", figures=True),
        Column("Reads", figures=True),
        Column("KiB read", figures=True),
        Column("Writes", figures=True),
        Column("KiB written", figures=True),
        Column("Flushes", figures=True),
        Column("Context switches", figures=True),
    ]
    rows = []
    for answer in analysis.cells:
        cost = answer.cost
        figures = (
            cost.server_cpu_us,
            cost.client_cpu_us,
            cost.reads,
            cost.read_kib,
            cost.writes,
            cost.written_kib,
            cost.flushes,
            cost.context_switches,
        )
        levels = (answer.cell.level(factor) for factor in factors)
        rows.append((*levels, *(words.number(figure) for figure in figures)))
    return Table(tuple(columns), tuple(rows))


def level_differences(analysis: Analysis) -> Table:
    """Return a row a server variable in which tuning levels differ, with the value that each level has."""
    levels = list(dict.fromkeys(level for row in analysis.level_differences for level in row.values))
    columns = (Column("Server"), Column("Variable"), *map(Column, levels), Column("Asked for"))
    rows = tuple(
        (
            row.server,
            row.variable,
            *(row.values.get(level, words.NOT_OBSERVED) for level in levels),
            "yes" if row.declared else "no: a side effect",
        )
        for row in analysis.level_differences
    )
    return Table(columns, rows)


# ---------------------------------------------------------------- where it was found


def machine(facts: Machine) -> Table:
    """Return a row a fact of the machine."""
    rows = (
        ("Host", facts.host),
        ("CPU", f"{facts.cpu_model}, {words.count(facts.cpus, 'CPU')} usable"),
        ("CPU governor", facts.governor or "not visible"),
        *_idle_cores(facts),
        ("Memory", words.size(facts.memory_bytes)),
        ("Virtual machine", facts.virtualised or "no sign of one"),
        ("System", f"{facts.distribution}, {facts.kernel}"),
        ("Privileged", "yes" if facts.privileged else "no"),
        ("diskproof", facts.diskproof_version),
        ("diskproof-load", facts.load_version),
    )
    return Table((Column("Fact"), Column("Value")), rows)


def _idle_cores(facts: Machine) -> list[tuple[str, str]]:
    """Say that idle cores were kept from deep sleep, where they were: no other run need compare."""
    if facts.idle_wake_up_us is None:
        return []
    return [("Idle cores", f"asked to wake within {facts.idle_wake_up_us} us, for virtual disks")]


def servers(facts: Machine) -> Table:
    """Return a row a server under test."""
    rows = tuple(
        (server.name, f"{server.flavour} {server.version}", server.binary or "inside the load generator")
        for server in facts.servers
    )
    return Table((Column("Server"), Column("Version"), Column("Program")), rows)


def places(facts: Machine) -> Table:
    """Return a row a role of a storage: where it lies and on what."""
    columns = ("Storage", "Role", "Path", "File system", "Mounted at", "Options", "Device")
    rows = tuple(
        (
            place.storage,
            place.role,
            place.path,
            place.filesystem,
            place.mount_point,
            place.mount_options,
            f"{_device_name(place)} ({place.device_number})",
        )
        for place in facts.places
    )
    return Table(tuple(map(Column, columns)), rows)


def devices(facts: Machine) -> Table:
    """Return a row a block device that a role lies on."""
    found = {place.device.name: place.device for place in facts.places if place.device}
    columns = ("Device", "Model", "Size", "Kind", "Write cache", "Scheduler", "Logical block")
    kinds = {True: "rotating", False: "not rotating", None: words.NOT_OBSERVED}
    rows = tuple(
        (
            device.name,
            device.model or words.NOT_OBSERVED,
            words.size(device.size_bytes),
            kinds[device.rotational],
            device.write_cache or words.NOT_OBSERVED,
            device.scheduler or words.NOT_OBSERVED,
            words.size(device.logical_block_bytes),
        )
        for device in found.values()
    )
    return Table(tuple(map(Column, columns)), rows)


def settings(plan: Plan, trials: Sequence[Trial]) -> Table:
    """Return a row a server, variable and value read back, with the cells in which it was read."""
    seen: dict[tuple[str, str, str, str, bool], dict[str, Cell]] = defaultdict(dict)
    recorded: dict[tuple[str, str], dict[str, Cell]] = defaultdict(dict)
    order_of_cells = [cell.id for cell in plan.cells]
    for trial in sorted(trials, key=lambda trial: order_of_cells.index(trial.cell)):
        cell = plan.cell(trial.cell)
        for setting in trial.settings:
            observed = "no such variable" if setting.observed is None else setting.observed
            seen[cell.server, setting.name, setting.requested, observed, setting.holds][cell.id] = cell
            recorded[cell.server, setting.name][cell.id] = cell
    columns = (
        Column("Server"),
        Column("Variable"),
        Column("Asked for"),
        Column("Read back"),
        Column("In cells"),
    )
    rows = tuple(
        (
            server,
            name,
            requested,
            observed if holds else f"{observed} (does not hold)",
            _where(list(found.values()), list(recorded[server, name].values())),
        )
        for (server, name, requested, observed, holds), found in sorted(
            seen.items(), key=lambda item: item[0][:2]
        )
    )
    return Table(columns, rows)


# ---------------------------------------------------------------- how it was found


def order(analysis: Analysis) -> Table:
    """Return a row a block: its cells in the order they were run."""
    plan = analysis.plan
    names = {cell.id: cell_words(cell, analysis.varying) for cell in plan.cells}
    rows = []
    for block in plan.blocks():
        trials = sorted(
            (trial for trial in plan.trials if trial.block == block), key=lambda trial: trial.position
        )
        rows.append((str(block), "; ".join(names[trial.cell] for trial in trials)))
    return Table((Column("Block", figures=True), Column("Cells in their order")), tuple(rows))


def load_commands(analysis: Analysis, trials: Sequence[Trial]) -> Table:
    """Return a row a cell: the command that makes its load by hand."""
    commands = {trial.cell: trial.load_command for trial in trials if trial.load_command}
    rows = tuple(
        (cell_words(cell, analysis.varying), commands[cell.id])
        for cell in analysis.plan.cells
        if cell.id in commands
    )
    return Table((Column("Cell"), Column("Command")), rows)


def factor_column(factor: Factor) -> Column:
    """Return the column of a factor's levels."""
    return Column(factor.capitalize(), figures=factor in {"clients", "memory"})


def shown_factors(analysis: Analysis) -> tuple[Factor, ...]:
    """Return the factors that tell the cells apart; storage alone where there is a single cell."""
    return tuple(analysis.varying) or ("storage",)


def _device_name(place: Place) -> str:
    if place.device and place.virtual:
        return f"{place.device.name}, virtual: {place.virtual.title}"
    if place.device:
        return place.device.name
    if place.pool:
        return _pool_name(place.pool)
    if place.virtual:
        return f"virtual: {place.virtual.title}"
    return "main memory" if place.kind == "ram" else "no single device"


def _pool_name(pool: PoolFacts) -> str:
    """Say what a pool is made of: ``zfs-fuse pool: data on loop0 (seagate), log on loop2 (ocz)``."""
    members = ", ".join(f"{member.part} on {member.device.name} ({member.disk})" for member in pool.members)
    return f"{pool.flavour} pool: {members}"


def _where(found: Sequence[Cell], recorded: Sequence[Cell]) -> str:
    """Say which of the recorded cells were found, by one factor's levels where those explain it."""
    if len(found) == len(recorded):
        return "all"
    ids = {cell.id for cell in found}
    for factor in FACTORS:
        levels = list(dict.fromkeys(cell.level(factor) for cell in found))
        if {cell.id for cell in recorded if cell.level(factor) in levels} == ids:
            return ", ".join(subject(factor, level) for level in levels)
    return ", ".join(cell.id for cell in found)
