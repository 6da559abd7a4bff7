"""The figures of a published run, as JSON with a schema: what an overview shows and a check holds to."""

import math
from collections.abc import Iterator, Sequence
from typing import Any, Literal

from pydantic import ConfigDict

from diskproof import __version__
from diskproof.analysis.answers import Analysis
from diskproof.analysis.audited.shapes import AuditAnswer, SubjectAnswer
from diskproof.analysis.audited.shared import failures
from diskproof.audit.run import varying_factors
from diskproof.report.compose import audited, names, verdict_words
from diskproof.report.compose.answer import answer
from diskproof.report.compose.rows import UNITS
from diskproof.report.intervals import as_shown, bounds
from diskproof.results.factor import Factor
from diskproof.results.plan import NO_LEVEL, Metric
from diskproof.results.record import Record
from diskproof.results.trial import SEVERITIES, Severity
from diskproof.stats.intervals import Interval
from diskproof.wording import numbers

FALLBACK: tuple[Factor, ...] = ("storage",)
"""What tells a single cell."""


class Part(Record):
    """A part of an entry; its schema has the words that stand below its fields."""

    model_config = ConfigDict(use_attribute_docstrings=True)


class Figure(Part):
    """One cell: a combination of the factors."""

    cell: str
    levels: dict[Factor, str]
    """The level of each factor that applies."""
    metric: Metric
    unit: str
    estimate: float
    """Geometric mean over the blocks."""
    low: float | None
    """Ends of the 95% interval; none of a single block."""
    high: float | None
    blocks: int

    @property
    def interval(self) -> Interval:
        """The estimate with its ends."""
        return Interval(estimate=self.estimate, low=self.low, high=self.high, n=self.blocks)


class Ratio(Part):
    """One level against another, all else equal: a ratio of speeds."""

    factor: str
    level: str
    baseline: str
    cell: str
    baseline_cell: str
    outcome: str
    estimate: float | None
    low: float | None
    high: float | None


class Losses(Part):
    """Cuts of one cell in one way."""

    cell: str
    way: str
    cuts: int
    """Those that are evidence."""
    harmed: int
    """Those after which something was lost or damaged."""


class Found(Part):
    """What a check of the audit found."""

    check: str
    severity: Severity
    says: str
    """In words, with its figures."""


class Entry(Part):
    """A published run: what it asked, what it found, and what an audit says of it."""

    format: Literal[1] = 1
    id: str
    """Its permanent address below `runs/`; it ends with a part of `sha256`."""
    study: str
    question: str
    answer: str
    measured: str
    """When its first trial began, in UTC; empty if nobody recorded it."""
    measured_by: str
    """diskproof, or another tool whose output was read."""
    entered_by: str = f"diskproof {__version__}"
    """What made this file: another version may word or check something in another way."""
    system: str
    """CPUs, memory, servers and places; empty if nobody recorded it."""
    printed: str
    """The figure as another tool printed it, whatever the audit says; empty of a run of ours."""
    figures: list[Figure]
    ratios: list[Ratio]
    losses: list[Losses]
    trials: int
    """That were run; invalid ones have no figure."""
    audit: str
    """What the run supports, in a sentence or two."""
    found: list[Found]
    """The gravest first; empty: no check failed."""
    sha256: str
    """Of the records: their names and contents, with the rows of the series."""

    @property
    def gravest(self) -> Severity | None:
        """The gravest thing that the audit found."""
        return min((one.severity for one in self.found), key=SEVERITIES.index, default=None)

    @property
    def headline(self) -> str:
        """Its largest figure, or its losses: ``1,831 transactions/s (1,790 to 1,870)``."""
        speeds = [one for one in self.figures if one.metric in ("transactions_per_s", "requests_per_s")]
        if speeds:
            best = max(speeds, key=lambda one: one.estimate)
            known = best.interval.low is not None and best.interval.high is not None
            return (
                f"{numbers.number(best.estimate)} {best.unit}{f' ({bounds(best.interval)})' if known else ''}"
            )
        if self.figures:
            first = self.figures[0]
            return f"{numbers.number(first.estimate)} {first.unit}"
        harmed, cuts = sum(one.harmed for one in self.losses), sum(one.cuts for one in self.losses)
        return f"{harmed} of {numbers.count(cuts, 'cut')} did harm" if cuts else self.printed or "no figure"

    @property
    def speed(self) -> float:
        """What a list is sorted by: the largest throughput, 0 without one."""
        return max((one.estimate for one in self.figures if one.metric.endswith("_per_s")), default=0.0)


def make_entry(
    name: str,
    analysis: Analysis,
    subjects: Sequence[SubjectAnswer],
    *,
    sha256: str,
    measured: str,
    by: str,
    printed: str,
) -> Entry:
    """Return the entry of a run; `name` is what its id begins with."""
    plan, safety = analysis.plan, analysis.safety
    audit = AuditAnswer(subjects=list(subjects))
    return Entry(
        id=f"{name}-{sha256[:8]}",
        study=plan.study,
        question=plan.question,
        answer=answer(analysis),
        measured=measured,
        measured_by=by,
        system=_system(analysis),
        printed=printed,
        figures=[
            Figure(
                cell=one.cell.id,
                levels={
                    factor: level
                    for factor in varying_factors(plan.cells) or FALLBACK
                    if (level := one.cell.level(factor)) != NO_LEVEL
                },
                metric=one.metric,
                unit=unit_of(one.metric),
                blocks=figure.n,
                **_ends(figure),
            )
            for one in analysis.cells
            if (figure := as_shown(one.metric, one.figure))
        ],
        ratios=[
            Ratio(**one.model_dump(include=set(Ratio.model_fields)), **_ends(one.ratio))
            for one in analysis.verdicts
        ],
        losses=[
            Losses(cell=one.cell.id, way=one.way, cuts=one.telling, harmed=one.harmed)
            for one in (safety.answers if safety else [])
        ],
        trials=analysis.trials_run,
        audit=" ".join(dict.fromkeys(one.sentence for one in audited.verdicts(audit))),
        found=[
            Found(
                check=one.check.check, severity=one.raised.severity, says=audited.lines(one, len(subjects))[0]
            )
            for one in failures(audit)
        ],
        sha256=sha256,
    )


def unit_of(metric: Metric) -> str:
    """Return the unit of an entry's figure."""
    return "ms, mean latency" if metric == "latency_mean_us" else UNITS[metric]


def _ends(interval: Interval | None) -> dict[str, Any]:
    return {part: getattr(interval, part, None) for part in ("estimate", "low", "high")}


def _system(analysis: Analysis) -> str:
    """Return what it was measured on, in a line."""
    facts = analysis.machine
    if facts is None:
        return ""
    servers = dict.fromkeys(f"{one.flavour} {one.version}" for one in facts.servers)
    places = (f"{name}: {what}" for name, what in names.storages(analysis).items())
    machine = f"{facts.cpus} x {facts.cpu_model}, {numbers.size(facts.memory_bytes)}, {facts.kernel}"
    return "; ".join([*servers, machine, *places])


def cell_words(figure: Figure) -> str:
    """Return a cell by what tells it from others: ``disk, safest, 8 clients``."""
    said = (verdict_words.subject(factor, level) for factor, level in figure.levels.items())
    return ", ".join(said) or figure.cell


WORDS = ("answer", "audit", "printed", "says", "system", "unit", "entered_by")
"""Fields that another version may word in another way."""

TOLERANCE = 1e-6
"""Relative; libraries of other versions may round the last digits in another way."""


def differences(told: Entry, again: Entry) -> Iterator[str]:
    """Yield where an entry differs from what its records give."""
    exact = told.entered_by == again.entered_by
    yield from _differences(told.model_dump(mode="json"), again.model_dump(mode="json"), "", exact)


def _differences(told: Any, again: Any, at: str, exact: bool) -> Iterator[str]:  # noqa: ANN401 - any JSON
    if isinstance(told, dict) and isinstance(again, dict):
        for key in {**told, **again}:
            if exact or key not in WORDS:
                yield from _differences(told.get(key), again.get(key), f"{at}.{key}" if at else key, exact)
    elif isinstance(told, list) and isinstance(again, list) and len(told) == len(again):
        for number, (one, other) in enumerate(zip(told, again, strict=True)):
            yield from _differences(one, other, f"{at}[{number}]", exact)
    elif not _same(told, again):
        yield f"`{at}` is {_short(told)}, but its records give {_short(again)}"


def _same(told: object, again: object) -> bool:
    numbers_both = all(isinstance(one, int | float) and not isinstance(one, bool) for one in (told, again))
    if numbers_both:
        return math.isclose(float(told), float(again), rel_tol=TOLERANCE)  # type: ignore[arg-type]
    return told == again


def _short(value: object) -> str:
    if isinstance(value, list):
        return numbers.count(len(value), "entry")
    return f"{value:.6g}" if isinstance(value, float) else f"{value!r:.80}"
