"""How figures, intervals and cells are worded: the same in every report."""

import re
from collections.abc import Sequence

from diskproof.analysis.answers import Analysis, CellAnswer, Interval, Outcome, RunFinding, Verdict
from diskproof.analysis.words import listed, percent
from diskproof.results.plan import Phases, Plan
from diskproof.results.record import format_bytes, format_printed
from diskproof.results.trial import Severity

NOT_OBSERVED = "n/a"

OUTCOME_MARKS: dict[Outcome, str] = {
    "faster": "▲",
    "slower": "▼",
    "the same": "=",
    "inconclusive": "?",
    "not comparable": "✕",
}
"""A mark stands beside the word that it abbreviates, never alone."""

PLAIN_OUTCOME_MARKS: dict[Outcome, str] = {
    **OUTCOME_MARKS,
    "faster": "+",
    "slower": "-",
    "not comparable": "x",
}
"""For terminals that cannot show more than ASCII."""

OPERATIONS = (
    "Seconds of each operation, the geometric mean over the valid trials. +: a time limit cut it short, and "
    "the time of all that was planned is extrapolated; skipped: not run, and in no total. A ratio is that "
    "of speeds, the second cell's over the first's."
)

UNADJUSTED = (
    "Each ratio's interval stands for itself: unlike the verdicts it is not adjusted for the number of "
    "ratios, so among twenty operations that are equally fast about one excludes 1 by chance."
)

_OUTCOME_ORDER: tuple[Outcome, ...] = ("faster", "slower", "the same", "inconclusive", "not comparable")
_CONTROL = re.compile(r"[\x00-\x09\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")
"""C0 and C1 controls but the line feed, and what turns the direction of writing."""

_SEVERITY_ORDER: tuple[Severity, ...] = ("invalid", "warning", "note")


# ---------------------------------------------------------------- numbers


def number(value: float | None) -> str:
    """Return a figure with about three significant digits; a whole number from 100 on."""
    if value is None:
        return NOT_OBSERVED
    size = abs(value)
    if size == 0:
        return "0"
    if size >= 99.95:
        return f"{value:,.0f}"
    if size >= 9.995:
        return f"{value:.1f}"
    if size >= 0.9995:
        return f"{value:.2f}"
    return f"{value:#.3g}" if size >= 1e-4 else f"{value:.1e}"


def as_printed(value: float) -> str:
    """Return a figure of a publication with the digits that stand there, and no more: ``0.057``."""
    return format_printed(value)


def count(value: int, noun: str, plural: str | None = None) -> str:
    """Return a count with its noun: ``1 trial``, ``40 trials``."""
    return f"{value:,} {noun if value == 1 else plural or noun + 's'}"


def milliseconds(microseconds: float | None) -> str:
    """Return a latency in milliseconds, without its unit."""
    return NOT_OBSERVED if microseconds is None else number(microseconds / 1000)


def duration(seconds: float) -> str:
    """Return a time as people say it: ``0.25 s``, ``6 min 12 s``, ``2 h 5 min``."""
    if seconds < 60:
        return f"{seconds:.3g} s"
    minutes, rest_s = divmod(round(seconds), 60)
    if minutes < 60:
        return f"{minutes} min {rest_s} s" if rest_s else f"{minutes} min"
    hours, minutes = divmod(minutes, 60)
    return f"{hours} h {minutes} min" if minutes else f"{hours} h"


def size(size_bytes: float | None) -> str:
    """Return a size in binary units."""
    return NOT_OBSERVED if size_bytes is None else format_bytes(size_bytes)


def extrapolated(is_so: bool) -> str:
    """Return the mark of seconds that were not all measured, as in sql-bench's own tables."""
    return "+" if is_so else ""


# ---------------------------------------------------------------- intervals


def bounds(interval: Interval | None) -> str:
    """Return only the interval's ends, or why there are none."""
    if interval is None:
        return NOT_OBSERVED
    if interval.low is None or interval.high is None:
        return "none: one block" if interval.n == 1 else "none"
    return f"{number(interval.low)} to {number(interval.high)}"


def in_milliseconds(interval_us: Interval) -> Interval:
    """Return an interval of microseconds in milliseconds."""
    return interval_us.scaled(1 / 1000)


def estimate(interval: Interval | None) -> str:
    """Return only the estimate."""
    return NOT_OBSERVED if interval is None else number(interval.estimate)


def with_bounds(interval: Interval | None) -> str:
    """Return an estimate with its interval in brackets, saying so where it has none."""
    if interval is None:
        return NOT_OBSERVED
    if interval.low is None or interval.high is None:
        return f"{number(interval.estimate)} ({'one block, ' if interval.n == 1 else ''}no interval)"
    return f"{number(interval.estimate)} ({bounds(interval)})"


def confidence(analysis: Analysis) -> str:
    """Return the confidence that the run's intervals have: ``95%``."""
    intervals = [answer.figure for answer in analysis.cells]
    levels = [interval.confidence for interval in intervals if interval is not None]
    return percent(levels[0] if levels else 0.95)


# ---------------------------------------------------------------- text


def visible(text: str) -> str:
    """Return a text whose control characters, which could steer a terminal, are shown instead of obeyed."""
    return _CONTROL.sub("\N{REPLACEMENT CHARACTER}", text.replace("\r\n", "\n").replace("\t", "    "))


# ---------------------------------------------------------------- the run


def progress(analysis: Analysis) -> str:
    """Return how much of the run there is: ``40 of 40 trials, 39 valid``."""
    planned = len(analysis.plan.trials)
    text = f"{analysis.trials_run:,} of {count(planned, 'trial')}"
    if analysis.trials_valid == analysis.trials_run:
        return f"{text}, all valid" if analysis.trials_run else f"{text} run"
    return f"{text}, {analysis.trials_valid:,} valid" if analysis.trials_valid else f"{text}, none valid"


def design(plan: Plan) -> str:
    """Return the experiment's shape: ``8 cells in 5 blocks, 10 s measured after 2 s of warm-up``."""
    shape = f"{count(len(plan.cells), 'cell')} in {count(len(plan.blocks()), 'block')}"
    if only_jobs(plan):
        return f"{shape}, each a job that ends by itself{_left_out(plan)}"
    most, *others = (
        (_measured(phases), workloads) for phases, workloads in plan.workloads_by_phases().items()
    )
    told = [most[0], *(f"{_named(workloads)} {measured}" for measured, workloads in others)]
    return f"{shape}, {'; '.join(told)}{_left_out(plan)}"


def _measured(phases: Phases) -> str:
    warm_up = f" after {duration(phases.warm_up_s)} of warm-up" if phases.warm_up_s else ", no warm-up"
    return f"{duration(phases.measure_s)} measured{warm_up}"


def _named(workloads: list[str]) -> str:
    return listed([f"`{workload}`" for workload in workloads], 3)


def _left_out(plan: Plan) -> str:
    """Tell of the study's servers that the machine did not have."""
    if not plan.left_out:
        return ""
    noun = "server" if len(plan.left_out) == 1 else "servers"
    return f"; without the optional {noun} {' and '.join(plan.left_out)}, which the machine did not have"


def scale(plan: Plan) -> str:
    """Say what the run's scale makes smaller and can still tell; nothing for the study as it stands."""
    if plan.scale is None:
        return ""
    shrinks, carries = (
        " ".join(text.split()).rstrip(".") for text in (plan.scale.shrinks, plan.scale.carries)
    )
    return f"Scale `{plan.scale.name}`: {shrinks}. What it can still tell: {carries}."


def cells_note(analysis: Analysis) -> str:
    """Say how the figures of the cells are made."""
    metrics = {answer.metric for answer in analysis.cells}
    if metrics <= {"transactions_per_s"}:
        first = "Throughput is the geometric mean over the blocks; latencies are of whole transactions."
    elif metrics == {"requests_per_s"}:
        first = (
            "Requests are reads and writes, of which latencies are too; syncs take their time and are not "
            "counted. Every figure is the geometric mean over the blocks."
        )
    elif metrics == {"seconds"}:
        first = "Seconds of the whole job: the geometric mean over the blocks; latencies are of statements."
    else:
        first = "Every figure is the geometric mean over the blocks."
    plus = " +: seconds of operations that a time limit cut short are extrapolated."
    marked = plus if any(answer.extrapolated for answer in analysis.cells) else ""
    return f"{first}{marked} n/a: not observed."


def operations_note(analysis: Analysis) -> str:
    """Say how the figures of operations are made, and what their ratios cannot carry."""
    return f"{OPERATIONS} {UNADJUSTED}" if any(row.ratio for row in analysis.operations) else OPERATIONS


def work(plan: Plan) -> str:
    """Return what latencies and costs are of: a job and a load on files have no transactions of their own."""
    metrics = {plan.metric(cell) for cell in plan.cells}
    if metrics == {"seconds"}:
        return "statement"
    if metrics == {"requests_per_s"}:
        return "request"
    others = {"seconds": "in a job: a statement", "requests_per_s": "on bare files: a request"}
    told = [words for metric, words in others.items() if metric in metrics]
    return f"transaction ({', '.join(told)})" if told else "transaction"


def ratio_axis(plan: Plan) -> str:
    """Return what the ratios of verdicts are of."""
    metrics = {plan.metric(cell) for cell in plan.cells}
    return f"ratio of {'throughputs' if metrics == {'transactions_per_s'} else 'speeds'} with its interval"


def only_jobs(plan: Plan) -> bool:
    """Tell whether nothing in a run is measured by the clock."""
    return all(plan.metric(cell) == "seconds" for cell in plan.cells)


def where(found: RunFinding, analysis: Analysis, most: int = 4) -> str:
    """Return the trials that a finding concerns, the first few by name."""
    if not found.trials:
        return "the whole run"
    if len(found.trials) == analysis.trials_run > 1:
        return "every trial"
    return listed(found.trials, most)


def has_verdict(analysis: Analysis) -> bool:
    """Tell whether there is anything to say; where no trial is valid, every verdict would say the same."""
    return bool(analysis.verdicts) and analysis.trials_valid > 0


def why_no_verdict(analysis: Analysis) -> str:
    """Return the reason why a run has no verdict, and what would give one."""
    if not analysis.trials_run:
        return "No verdict: no trial has finished. Go on with `diskproof run --resume`."
    if not analysis.trials_valid:
        return "No verdict: no trial is valid. The findings say why."
    if not analysis.varying and analysis.plan.imported:
        return "No verdict: the results are of a single cell. Those of another storage or server give it one."
    if not analysis.varying:
        return "No verdict: the study has a single cell. A second storage or tuning level gives it one."
    return "No verdict: no two levels of a factor could be compared."


def by_importance(verdicts: Sequence[Verdict]) -> list[Verdict]:
    """Order verdicts: the largest effects first, then the same, the inconclusive and the not comparable."""
    return sorted(verdicts, key=_importance)


def further_reasons(sentence: str, reasons: Sequence[str]) -> list[str]:
    """Return the reasons that the sentence does not give itself."""
    return [reason for reason in reasons if reason not in sentence]


def by_severity(findings: Sequence[RunFinding]) -> list[RunFinding]:
    """Order findings: what invalidates trials first, notes last."""
    return sorted(findings, key=lambda found: _SEVERITY_ORDER.index(found.finding.severity))


def _importance(verdict: Verdict) -> tuple[int, float]:
    ratio = verdict.ratio.estimate if verdict.ratio else 1.0
    effect = max(ratio, 1 / ratio) if ratio > 0 else float("inf")
    rank = _OUTCOME_ORDER.index(verdict.outcome)
    return max(rank, 1), -effect  # faster and slower rank alike: the size of the effect decides


def percentiles(cells: Sequence[CellAnswer], wanted: Sequence[str] = ("50", "95", "99")) -> list[str]:
    """Return the wanted percentiles that at least one cell has, in ascending order."""
    return [key for key in wanted if any(key in answer.latency_us for answer in cells)]


def method(analysis: Analysis) -> str:
    """Return in a few sentences how the run was made and what its intervals mean."""
    plan = analysis.plan
    blocks, cells = count(len(plan.blocks()), "block"), count(len(plan.cells), "cell")
    metrics = {plan.metric(cell) for cell in plan.cells}
    measured = "and the job timed" if metrics == {"seconds"} else _phases(plan)
    figure = "throughput" if metrics == {"transactions_per_s"} else "figure"
    begun = "the data set is restored, the server started anew"
    if "requests_per_s" in metrics:
        bare = "the files are restored, and fio is started"
        begun = f"{begun} (of a load on bare files: {bare})" if len(metrics) > 1 else bare
    return (
        f"{blocks}, each one pass over all {cells} in a fresh random order (seed {plan.seed}). In every "
        f"trial {begun}, {measured}. "
        f"A cell's {figure} is the geometric mean over its blocks, with a "
        f"{confidence(analysis)} t-interval on the logarithms. A verdict pairs two cells block by block; "
        f"“the same” means that the whole interval of the ratio lies within ±{percent(plan.same_within)}, "
        f"and two cells are called different only after Holm's adjustment over all verdicts of the run."
    )


def _phases(plan: Plan) -> str:
    """Say how long is measured: what most workloads have, and in brackets what the others do."""
    most, *others = plan.workloads_by_phases().items()
    told = [f"{_named(workloads)}: {_warmed_and_measured(phases)}" for phases, workloads in others]
    if any(plan.metric(cell) == "seconds" for cell in plan.cells):
        told.append("a job: timed to its end")
    first = _warmed_and_measured(most[0])
    first = first if most[0].warm_up_s else f"and {first}"
    return f"{first} ({'; '.join(told)})" if told else first


def _warmed_and_measured(phases: Phases) -> str:
    warm_up = f"warmed up for {duration(phases.warm_up_s)} and " if phases.warm_up_s else ""
    return f"{warm_up}measured for {duration(phases.measure_s)}"


def moment(iso_time: str) -> str:
    """Return an ISO 8601 time in UTC to the minute: ``2026-03-14 09:01 UTC``."""
    return f"{iso_time[:16].replace('T', ' ')} UTC"
