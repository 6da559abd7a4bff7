"""The head of a report: what a run is, how much of it there is, how it was made."""

from diskproof.analysis.answers import Analysis
from diskproof.report.compose import names
from diskproof.report.document import Paragraph, Section
from diskproof.results.plan import Phases, Plan
from diskproof.wording.numbers import count, duration, listed

MOST_SOURCES = 4
"""Files of an imported run that its head names."""


def has_speed(plan: Plan) -> bool:
    """Report whether there is anything to say of speed: a study may ask for cuts alone."""
    return bool(plan.trials) or plan.crash is None


def lead(analysis: Analysis) -> tuple[Paragraph, ...]:
    """Return what is shown below the question."""
    state = "" if analysis.complete else "Incomplete"
    named = names.names(analysis)
    return (
        Paragraph(f"{measured(analysis)}{made_on(analysis)}", lead=state),
        *([Paragraph(f"Names: {named}")] if named else []),
    )


def about(analysis: Analysis) -> str:
    """Return what was tested, and how much of it there is: ``MariaDB 10.11 on 2 CPUs. 40 of 40 trials …``."""
    known = (names.tested(analysis), names.loads(analysis), names.slow_time(analysis))
    return ". ".join(filter(None, (*known, progress(analysis))))


def measured(analysis: Analysis) -> str:
    """Return it with the shape of the run: ``…; 8 cells in 5 blocks, 10 s measured after 2 s``."""
    scaled = f", at scale `{analysis.plan.scale.name}`" if analysis.plan.scale else ""
    shape = f"; {speed_design(analysis.plan)}" if has_speed(analysis.plan) else ""
    known = (names.tested(analysis), names.slow_time(analysis), progress(analysis))
    return f"{'. '.join(filter(None, known))}{shape}{scaled}."


def made_on(analysis: Analysis) -> str:
    """Return where and when a run was made: `` On bench1, started ….``; empty if that is not known."""
    if analysis.machine is None or analysis.started_at is None:
        return ""
    crash = analysis.plan.crash
    hosts = analysis.plan.hosts or sorted({cut.host for cut in crash.trials if cut.host} if crash else ())
    on = f"{count(len(hosts), 'host')} ({', '.join(hosts)})" if hosts else analysis.machine.host
    load = f", the load on {', '.join(analysis.plan.load_hosts)}" if analysis.plan.load_hosts else ""
    return f" On {on}{load}, started {moment(analysis.started_at)}."


def moment(iso_time: str) -> str:
    """Return an ISO 8601 time in UTC to the minute: ``2026-03-14 09:01 UTC``."""
    return f"{iso_time[:16].replace('T', ' ')} UTC"


# ---------------------------------------------------------------- how far it got


def progress(analysis: Analysis) -> str:
    """Return how much of the run there is: ``40 of 40 trials, 39 valid; 118 of 120 cuts, all valid``."""
    plan, safety = analysis.plan, analysis.safety
    if plan.imported:
        results = count(analysis.trials_run, "result")
        return f"{results}, {_valid(analysis.trials_valid, analysis.trials_run)}"
    parts = [speed_progress(analysis)] if has_speed(plan) else []
    parts += [_so_far(safety.made, safety.planned, "cut", safety.telling)] if safety else []
    return "; ".join(parts)


def speed_progress(analysis: Analysis) -> str:
    """Return how many trials were run and are valid: ``40 of 40 trials, 39 valid``."""
    return _so_far(analysis.trials_run, len(analysis.plan.trials), "trial", analysis.trials_valid)


def _so_far(made: int, planned: int, noun: str, valid: int) -> str:
    return f"{made:,} of {count(planned, noun)}{f', {_valid(valid, made)}' if made else ''}"


def _valid(valid: int, made: int) -> str:
    if valid == made:
        return "all valid"
    return f"{valid:,} valid" if valid else "none valid"


# ---------------------------------------------------------------- its shape


def speed_design(plan: Plan) -> str:
    """Return the shape of the speed trials: ``8 cells in 5 blocks, 10 s measured after 2 s of warm-up``."""
    if plan.imported:
        return _imported(plan)
    return f"{count(len(plan.cells), 'cell')} in {blocks(plan)}, {measured_for(plan)}"


def measured_for(plan: Plan) -> str:
    """Return how long trials are measured: ``10 s measured after 2 s of warm-up``."""
    if all(plan.metric(cell) == "seconds" for cell in plan.cells):
        return "each a job that ends by itself"
    most, *others = (
        (_measured(phases), workloads) for phases, workloads in plan.workloads_by_phases().items()
    )
    of_others = (
        f"{listed([f'`{one}`' for one in workloads], 3)} {measured}" for measured, workloads in others
    )
    return "; ".join([most[0], *of_others])


def blocks(plan: Plan) -> str:
    """Return the number of blocks: ``5 blocks``, or ``5 to 23 blocks`` if decided verdicts need no more."""
    each = {len(plan.blocks(cell)) for cell in plan.cells}
    fewest, most = min(each, default=0), max(each, default=0)
    return count(most, "block") if fewest == most else f"{fewest} to {count(most, 'block')}"


def _measured(phases: Phases) -> str:
    warm_up = f" after {duration(phases.warm_up_s)} of warm-up" if phases.warm_up_s else ", no warm-up"
    return f"{duration(phases.measure_s)} measured{warm_up}"


def left_out(plan: Plan) -> str:
    """Return which servers that the study names were not measured; empty if all were."""
    if not plan.left_out or plan.imported:
        return ""
    return f"{listed(plan.left_out)} not measured: this machine does not have it"


def _imported(plan: Plan) -> str:
    """Return what was imported: ``4 cells, imported from `old.txt` (sysbench 1.0.17)``."""
    files = listed(plan.imported_from, MOST_SOURCES)
    repeats = len(plan.blocks())
    often = f", measured up to {repeats} times" if repeats > 1 else ""
    left_out = f"; left out: {'; '.join(plan.left_out)}" if plan.left_out else ""
    return f"{count(len(plan.cells), 'cell')}{often}, imported from {files}{left_out}"


def scale(plan: Plan) -> str:
    """Return what the run's scale makes smaller, and what it can still show; empty for the whole study."""
    if plan.scale is None:
        return ""
    return (
        f"Scale `{plan.scale.name}` makes smaller: {_one_line(plan.scale.shrinks)}. "
        f"It can show: {_one_line(plan.scale.carries)}."
    )


def _one_line(text: str) -> str:
    return " ".join(text.split()).rstrip(".")


def prose(plan: Plan) -> Section:
    """Return what the study's author wrote before the run: what was expected, and how to read it."""
    texts = (("Expected before the run", plan.expectation), ("How to read it", plan.analysis))
    parts = ((lead, " ".join(part.split())) for lead, text in texts for part in text.split("\n\n"))
    said = tuple(Paragraph(part, lead) for lead, part in parts if part)
    return Section("Notes of the study's author, not results", said)


def work(plan: Plan) -> str:
    """Return what latencies and costs are of: a job and a load on files have no transactions of their own."""
    metrics = {plan.metric(cell) for cell in plan.cells}
    if metrics == {"seconds"}:
        return "statement"
    if metrics == {"requests_per_s"}:
        return "request"
    others = {"seconds": "in a job: a statement", "requests_per_s": "on bare files: a request"}
    parts = [words for metric, words in others.items() if metric in metrics]
    return f"transaction ({', '.join(parts)})" if parts else "transaction"
