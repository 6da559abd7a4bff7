"""What the cuts showed: a table for each way to die, never one for all."""

from collections.abc import Callable, Sequence

from diskproof.analysis.answers import Analysis
from diskproof.analysis.safety import words as said
from diskproof.analysis.safety.shapes import CutAnswer, Safety, SpeedBeside, Spread
from diskproof.analysis.safety.speed import typical
from diskproof.analysis.safety.worst import worst_way
from diskproof.report import words
from diskproof.report.tables.table import Column, Table, factor_column
from diskproof.results.crash_plan import CrashCell, Way
from diskproof.results.factor import Factor

Told = tuple[Column, Callable[[CutAnswer], str]]


def ways(safety: Safety) -> list[Way]:
    """Return the ways in which something has died, the worst first."""
    return list(dict.fromkeys(one.way for one in safety.answers if one.made))


def cuts(safety: Safety, way: Way) -> Table:
    """Return a row a cell: how many of its cuts lost something, and how much."""
    return _table(safety, way, _LOSSES)


def cuts_in_short(safety: Safety, way: Way) -> Table:
    """Return a row a cell with what fits on a terminal."""
    return _table(safety, way, _IN_SHORT)


def after_cuts(safety: Safety, way: Way) -> Table:
    """Return a row a cell: damage, recovery, the binary log, and what the disks kept."""
    return _table(safety, way, _AFTERWARDS)


def _table(safety: Safety, way: Way, told: Sequence[Told]) -> Table:
    answers = [one for one in safety.answers if one.way == way]
    levels = levels_shown(cells_of(safety))
    # A figure that no cell has (a kill has no torn writes) needs no column.
    told = [one for one in told if any(one[1](answer) != words.NOT_OBSERVED for answer in answers)]
    return Table(
        (*(Column(level.capitalize()) for level in levels), *(column for column, _ in told)),
        tuple(
            (
                *(str(getattr(answer.cell, level)) for level in levels),
                *(entry(answer) for _, entry in told),
            )
            for answer in answers
        ),
    )


def levels_shown(cells: Sequence[CrashCell]) -> list[str]:
    """Return what tells the cells that are cut apart; storage and tuning stand in every table."""
    servers = {cell.server for cell in cells}
    return [*(["server"] if len(servers) > 1 else []), "storage", "tuning"]


def heads(safety: Safety) -> int:
    """Return how many columns of a table say which cell a row is about."""
    return len(levels_shown(cells_of(safety)))


def _figure(title: str) -> Column:
    return Column(title, figures=True)


def _count(figure: float | None) -> str:
    return words.NOT_OBSERVED if figure is None else f"{figure:,.0f}"


def _of(spread: Spread | None, which: str) -> str:
    """Return a number of transactions: whole, but for a mean or a median between two cuts."""
    if spread is None:
        return words.NOT_OBSERVED
    value: float = getattr(spread, which)
    return _count(value) if value == int(value) or value >= 100 else f"{value:.1f}"


def _seconds(spread: Spread | None, which: str) -> str:
    return words.NOT_OBSERVED if spread is None else said.seconds(getattr(spread, which)).removesuffix(" s")


def _window(answer: CutAnswer, which: str) -> str:
    """Return a window; with a ``+`` where the load was too short to see all of it."""
    shown = _seconds(answer.window_s, which)
    return f"{shown}+" if answer.open_windows else shown


def _worst_lost(answer: CutAnswer) -> str:
    return "all" if answer.gone else _of(answer.lost, "worst")


def _damaged(answer: CutAnswer) -> str:
    return _count(answer.damaged) if answer.telling else words.NOT_OBSERVED


def _share(answer: CutAnswer) -> str:
    return said.interval(answer.loss_share) if answer.loss_share else words.NOT_OBSERVED


def _kept(answer: CutAnswer) -> str:
    drawn = [f"{keep} {one.cuts}" for keep, one in answer.kept.items()]
    return ", ".join(drawn) or words.NOT_OBSERVED


def _at_risk(answer: CutAnswer) -> str:
    return _count(answer.at_risk) if answer.telling else words.NOT_OBSERVED


def _binlog(answer: CutAnswer) -> str:
    if answer.binlog is None:
        return words.NOT_OBSERVED
    return f"{answer.binlog.cuts_binlog_only}, {answer.binlog.cuts_engine_only}"


def _damage(answer: CutAnswer) -> str:
    return said.kinds(answer.damage) or "none"


_LOSSES: tuple[Told, ...] = (
    (_figure("Cuts"), lambda one: f"{one.telling} of {one.planned}"),
    (_figure("At risk"), _at_risk),
    (_figure("With loss"), lambda one: _count(one.with_loss) if one.telling else words.NOT_OBSERVED),
    (_figure("Share, 95%"), _share),
    (_figure("Damaged"), _damaged),
    (_figure("Median lost"), lambda one: _of(one.lost, "median")),
    (_figure("Mean lost"), lambda one: _of(one.lost, "mean")),
    (_figure("Worst lost"), _worst_lost),
    (_figure("Median window s"), lambda one: _window(one, "median")),
    (_figure("Worst s"), lambda one: _window(one, "worst")),
)

_IN_SHORT: tuple[Told, ...] = (
    (_figure("At risk"), _at_risk),
    (_figure("With loss"), lambda one: f"{one.with_loss} of {one.telling}"),
    (_figure("Share, 95%"), _share),
    (_figure("Damaged"), _damaged),
    (_figure("Median lost"), lambda one: _of(one.lost, "median")),
    (_figure("Worst"), _worst_lost),
    (_figure("Window s"), lambda one: _window(one, "worst")),
    (_figure("Recovery s"), lambda one: _seconds(one.recovery_s, "median")),
)

_AFTERWARDS: tuple[Told, ...] = (
    (_figure("Acknowledged"), lambda one: _count(one.acknowledged) if one.telling else words.NOT_OBSERVED),
    (_figure("There unasked"), lambda one: _count(one.unacknowledged_present)),
    (Column("Damage, by cuts"), _damage),
    (_figure("Binlog ahead, behind"), _binlog),
    (_figure("Recovery median s"), lambda one: _seconds(one.recovery_s, "median")),
    (_figure("worst s"), lambda one: _seconds(one.recovery_s, "worst")),
    (
        _figure("Torn writes"),
        lambda one: words.NOT_OBSERVED if one.way == "kill" else _count(one.torn_writes),
    ),
    (
        _figure("Lost in the disks"),
        lambda one: words.NOT_OBSERVED if one.way == "kill" else words.size(one.lost_bytes),
    ),
    (Column("Drawn"), _kept),
    (_figure("Silent"), lambda one: _count(sum(one.silent.values()))),
    (_figure("Broke off"), lambda one: _count(sum(one.unfinished.values()))),
)


# ---------------------------------------------------------------- speed beside safety


def speed_and_safety(analysis: Analysis, safety: Safety) -> Table:
    """Return a row a measured cell that was cut as well: its speed, and what the worst way tried took."""
    return _beside(safety, safety.speeds, f"{words.confidence(analysis)} interval")


def speed_and_safety_in_short(safety: Safety) -> Table:
    """Return a row a cell that was cut, with the speed that stands for it, and no intervals."""
    chosen = [typical(safety.speeds, cell) for cell in cells_of(safety)]
    return _beside(safety, [one for one in chosen if one is not None], None)


def cells_of(safety: Safety) -> list[CrashCell]:
    """Return the cells that are cut, in the order of the plan."""
    return list({one.cell.id: one.cell for one in safety.answers}.values())


def _beside(safety: Safety, speeds: Sequence[SpeedBeside], interval: str | None) -> Table:
    levels = levels_shown(cells_of(safety))
    told: tuple[Factor, ...] = ("workload", "memory", "clients")
    shown = [factor for factor in told if len({one.cell.level(factor) for one in speeds}) > 1]
    columns = [
        *(Column(level.capitalize()) for level in levels),
        *(factor_column(factor) for factor in shown),
        _figure("Transactions/s"),
        *([_figure(interval)] if interval else []),
        _figure("Ratio"),
        Column("Dies by"),
        _figure("With loss"),
        _figure("Damaged"),
        _figure("Worst lost"),
        _figure("Window s"),
    ]
    rows = []
    for speed in speeds:
        answer = worst_way(one for one in safety.answers if one.cell.id == speed.crash_cell)
        rows.append(
            (
                *(str(getattr(answer.cell, level)) for level in levels),
                *(speed.cell.level(factor) for factor in shown),
                words.estimate(speed.throughput_per_s),
                *([words.bounds(speed.throughput_per_s)] if interval else []),
                _ratio(speed, bounds=interval is not None),
                answer.way,
                f"{answer.with_loss} of {answer.telling}",
                _damaged(answer),
                _worst_lost(answer),
                _window(answer, "worst"),
            )
        )
    return Table(tuple(columns), tuple(rows))


def _ratio(speed: SpeedBeside, *, bounds: bool) -> str:
    if speed.ratio is None:
        return "1" if speed.is_first else words.NOT_OBSERVED
    return words.with_bounds(speed.ratio) if bounds else words.estimate(speed.ratio)


# ---------------------------------------------------------------- documentation


def documented(safety: Safety) -> Table:
    """Return a row a cell and way: what documentation says, what was observed, and how they stand."""
    levels = levels_shown(cells_of(safety))
    return Table(
        (
            *(Column(level.capitalize()) for level in levels),
            Column("Dies by"),
            Column("Documented"),
            Column("Observed"),
            Column("Outcome"),
            Column("Source and note"),
        ),
        tuple(
            (
                *(str(getattr(one.cell, level)) for level in levels),
                one.way,
                _says(one.documented.says, one.documented.within_s),
                one.observed,
                one.outcome,
                "; ".join(text.rstrip(".") for text in (one.documented.source, one.documented.note) if text),
            )
            for one in safety.documented
        ),
    )


def _says(says: str, within_s: float | None) -> str:
    return f"{says}, up to {within_s:g} s" if within_s is not None else says
