"""The head of a report: what a run is, how much of it there is, how it was made."""

from diskproof.analysis.answers import Analysis, ScatterAnswer
from diskproof.report.compose import names, safety_words
from diskproof.report.document import Paragraph, Section
from diskproof.report.intervals import confidence
from diskproof.results.plan import Phases, Plan
from diskproof.wording.numbers import count, duration, listed, percent

MOST_SOURCES = 4
"""Files of an imported run that its head names."""


def has_speed(plan: Plan) -> bool:
    """Report whether there is anything to say of speed: a study may ask for cuts alone."""
    return bool(plan.trials) or plan.crash is None


def lead(analysis: Analysis) -> tuple[Paragraph, ...]:
    """Return what is shown below the question."""
    state = "" if analysis.complete else "Incomplete"
    whole, made = measured(analysis), made_on(analysis)
    named = names.names(analysis)
    return (
        Paragraph(f"{whole}{f' {made}.' if made else ''}", lead=state),
        *([Paragraph(f"Names: {named}")] if named else []),
    )


def measured(analysis: Analysis) -> str:
    """Return what was measured: ``MariaDB 10.11 on 2 CPUs; 40 of 40 trials, all valid; 8 cells in …``."""
    tested = names.tested(analysis)
    scaled = f", at scale `{analysis.plan.scale.name}`" if analysis.plan.scale else ""
    return f"{f'{tested}. ' if tested else ''}{progress(analysis)}; {design(analysis.plan)}{scaled}."


def made_on(analysis: Analysis) -> str:
    """Return where and when a run was made: ``On bench1, started …``; empty if that is not known."""
    if analysis.machine is None or analysis.started_at is None:
        return ""
    crash = analysis.plan.crash
    cutting = [cut.host for cut in crash.trials if cut.host] if crash else []
    hosts = analysis.plan.hosts or sorted(set(cutting))
    on = f"{count(len(hosts), 'host')} ({', '.join(hosts)})" if hosts else analysis.machine.host
    if loads := analysis.plan.load_hosts:
        on = f"host {hosts[0]}, with the load on {', '.join(loads)}"
    return f"On {on}, started {moment(analysis.started_at)}"


def moment(iso_time: str) -> str:
    """Return an ISO 8601 time in UTC to the minute: ``2026-03-14 09:01 UTC``."""
    return f"{iso_time[:16].replace('T', ' ')} UTC"


# ---------------------------------------------------------------- how far it got


def progress(analysis: Analysis) -> str:
    """Return how much of the run there is: ``40 of 40 trials, 39 valid; 118 of 120 cuts, all valid``."""
    if analysis.plan.imported:
        results = count(analysis.trials_run, "result")
        return f"{results}, {_valid(analysis)}"
    parts = [speed_progress(analysis)] if has_speed(analysis.plan) else []
    return "; ".join([*parts, *([safety_words.progress(analysis.safety)] if analysis.safety else [])])


def speed_progress(analysis: Analysis) -> str:
    """Return how many trials were run and are valid: ``40 of 40 trials, 39 valid``."""
    text = f"{analysis.trials_run:,} of {count(len(analysis.plan.trials), 'trial')}"
    return f"{text}, {_valid(analysis)}" if analysis.trials_run else f"{text} run"


def _valid(analysis: Analysis) -> str:
    if analysis.trials_valid == analysis.trials_run:
        return "all valid"
    return f"{analysis.trials_valid:,} valid" if analysis.trials_valid else "none valid"


# ---------------------------------------------------------------- its shape


def design(plan: Plan) -> str:
    """Return the experiment's shape: ``8 cells in 5 blocks, …; 4 cells cut 50 times by power``."""
    if plan.imported:
        return _imported(plan)
    parts = [speed_design(plan)] if has_speed(plan) else []
    return "; ".join([*parts, *([safety_words.design(plan.crash)] if plan.crash else [])])


def speed_design(plan: Plan) -> str:
    """Return the shape of the speed trials: ``8 cells in 5 blocks, 10 s measured after 2 s of warm-up``."""
    shape = f"{count(len(plan.cells), 'cell')} in {_blocks(plan)}"
    if all(plan.metric(cell) == "seconds" for cell in plan.cells):
        return f"{shape}, each a job that ends by itself{left_out(plan)}"
    most, *others = (
        (_measured(phases), workloads) for phases, workloads in plan.workloads_by_phases().items()
    )
    parts = [most[0], *(f"{_named(workloads)} {measured}" for measured, workloads in others)]
    return f"{shape}, {'; '.join(parts)}{left_out(plan)}"


def _blocks(plan: Plan) -> str:
    """Return the number of blocks: ``5 blocks``, or ``5 to 23 blocks`` if decided verdicts need no more."""
    each = {len(plan.blocks(cell)) for cell in plan.cells}
    fewest, most = min(each, default=0), max(each, default=0)
    return count(most, "block") if fewest == most else f"{fewest} to {count(most, 'block')}"


def _measured(phases: Phases) -> str:
    warm_up = f" after {duration(phases.warm_up_s)} of warm-up" if phases.warm_up_s else ", no warm-up"
    return f"{duration(phases.measure_s)} measured{warm_up}"


def _named(workloads: list[str]) -> str:
    return listed([f"`{workload}`" for workload in workloads], 3)


def left_out(plan: Plan) -> str:
    """Return which optional servers the run is without: ``; without the optional server other, …``."""
    if not plan.left_out:
        return ""
    noun = "server" if len(plan.left_out) == 1 else "servers"
    return f"; without the optional {noun} {' and '.join(plan.left_out)}, which the machine did not have"


def _imported(plan: Plan) -> str:
    """Return what was imported: ``4 cells, imported from `old.txt` (sysbench 1.0.17)``."""
    shown = plan.imported_from[:MOST_SOURCES]
    rest = len(plan.imported_from) - len(shown)
    files = listed([*shown, *([f"{rest} more"] if rest else [])])
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
    """Return what the study's author wrote: what was expected, and how to read it."""
    texts = (("What was expected", plan.expectation), ("How to read it", plan.analysis))
    return Section(
        "",
        tuple(
            Section(heading, tuple(map(Paragraph, paragraphs(text))))
            for heading, text in texts
            if text.strip()
        ),
    )


def paragraphs(text: str) -> list[str]:
    """Return the paragraphs of a text, each on one line."""
    return [" ".join(part.split()) for part in text.split("\n\n") if part.strip()]


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


# ---------------------------------------------------------------- how it was measured


def method(analysis: Analysis) -> list[str]:
    """Return a paragraph on how the speed trials were made, and one on the cuts."""
    plan = analysis.plan
    if plan.imported:
        return [_imported_method(analysis)]
    parts = [speed_method(analysis)] if has_speed(plan) else []
    return [*parts, *([safety_words.method(plan.crash)] if plan.crash else [])]


def speed_method(analysis: Analysis) -> str:
    """Return how the trials were made and what their intervals mean."""
    plan = analysis.plan
    blocks, cells = _blocks(plan), count(len(plan.cells), "cell")
    metrics = {plan.metric(cell) for cell in plan.cells}
    measured = "and the job timed" if metrics == {"seconds"} else _phases(plan)
    figure = "throughput" if metrics == {"transactions_per_s"} else "figure"
    begun = "the data set is restored, the server restarted"
    begun += " (one that was there already keeps running)" if names.is_given(analysis) else ""
    if "requests_per_s" in metrics:
        bare = "the files are restored, and fio is started"
        begun = f"{begun} (for a load on bare files: {bare})" if len(metrics) > 1 else bare
    return (
        f"{blocks}, each one pass over all {cells} in a fresh random order (seed {plan.seed}). In every "
        f"trial {begun}, {measured}. {_statistics(analysis, figure)}{_scatter(analysis.scatter)}"
    )


def _scatter(scatter: ScatterAnswer | None) -> str:
    """Say where the scatter comes from, and what each level costs."""
    if scatter is None:
        return ""
    within = f"; {percent(round(scatter.within, 3))} within a trial" if scatter.within is not None else ""
    between = "between starts" if within else "between trials of a block"
    return (
        f" Where the scatter comes from (standard deviation): {percent(round(scatter.block, 3))} "
        f"between blocks, which cancels in ratios; {percent(round(scatter.start, 3))} {between}{within}. "
        f"A start takes {duration(scatter.start_s)} beside {duration(scatter.measure_s)} of measurement."
    )


def _statistics(analysis: Analysis, figure: str) -> str:
    return (
        f"A cell's {figure} is the geometric mean over its blocks, with a {confidence(analysis)} t-interval "
        "on the logarithms. A verdict pairs two cells block by block. “The same” means that the whole "
        f"interval of the ratio lies within ±{percent(analysis.plan.same_within)}. Two cells are called "
        f"different only after Holm's adjustment over all verdicts of the run."
        f"{_at_any_time(analysis.plan)}"
    )


def _at_any_time(plan: Plan) -> str:
    if plan.at_most_s is None:
        return ""
    until = "each verdict was decided"
    if plan.precision is not None:
        until = f"each ratio was known within {percent(plan.precision)}"
    return (
        f" The run went on until {until}, or its trials had taken {duration(plan.at_most_s)}. So ratios have "
        "anytime-valid intervals: they hold however often the run looks at them, and are wider than "
        f"t-intervals of as many blocks.{_of_pilot(plan)}"
    )


def _of_pilot(plan: Plan) -> str:
    """Say what a pilot chose, and why."""
    pilot = plan.pilot
    if pilot is None:
        return ""
    chosen = {"warm_up_s": "the warm-up", "measure_s": "the length of the measurement"}
    what = listed([chosen[key] for key in plan.left_to_a_pilot])
    settled = "had not settled" if pilot.settled_s is None else "had settled"
    after_s = pilot.load_s if pilot.settled_s is None else pilot.settled_s
    second = f", a second within a trial by {percent(round(pilot.second, 3))}" if pilot.second else ""
    return (
        f" A pilot of {count(pilot.trials, 'trial')}, which do not count, chose {what}. Throughput "
        f"{settled} after {duration(after_s)} of load. Starts scatter by "
        f"{percent(round(pilot.start, 3))}{second}. A start takes {duration(pilot.start_s)}."
    )


def _imported_method(analysis: Analysis) -> str:
    results = count(analysis.trials_run, "result")
    was = "was" if analysis.trials_run == 1 else "were"
    return (
        f"diskproof measured none of this: {results} {was} read from other tools' output "
        f"({'; '.join(analysis.plan.imported_from)}). What no file says is shown as “not told”, “-” or n/a. "
        "Not established: whether data and server were put back between the runs, the order of the runs, "
        "and whether there was a warm-up. A cell that was measured again makes another block, in the order "
        f"of reading. {_statistics(analysis, 'figure')}"
    )


def _phases(plan: Plan) -> str:
    """Return how long is measured: what most workloads have, and in brackets what the others do."""
    most, *others = plan.workloads_by_phases().items()
    parts = [f"{_named(workloads)}: {_warmed_and_measured(phases)}" for phases, workloads in others]
    if any(plan.metric(cell) == "seconds" for cell in plan.cells):
        parts.append("a job: timed to its end")
    first = _warmed_and_measured(most[0])
    first = first if most[0].warm_up_s else f"and {first}"
    return f"{first} ({'; '.join(parts)})" if parts else first


def _warmed_and_measured(phases: Phases) -> str:
    warm_up = f"warmed up for {duration(phases.warm_up_s)} and " if phases.warm_up_s else ""
    return f"{warm_up}measured for {duration(phases.measure_s)}"
