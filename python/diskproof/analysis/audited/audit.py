"""The audit of runs, results and settings: what all checks say of each."""

from collections import Counter
from collections.abc import Hashable, Iterator, Sequence

from diskproof.analysis.audited.outcomes import ask, recorded_findings
from diskproof.analysis.audited.shapes import CheckAnswer, SubjectAnswer
from diskproof.analysis.audited.support import Support, support
from diskproof.analysis.gather import Audited, Gathered
from diskproof.audit.check import Configuration, Run
from diskproof.audit.configuration import with_its_groups
from diskproof.audit.durability import after_a_power_cut
from diskproof.audit.imported import evidence_of, without_figure
from diskproof.audit.load import finished
from diskproof.audit.registry import (
    CONFIGURATION_CHECKS,
    RESULT_CHECKS,
    RUN_CHECKS,
    TRIAL_CHECKS,
)
from diskproof.audit.run import ENOUGH_BLOCKS, compared
from diskproof.importers.belonging import servers_given
from diskproof.refusal import RefusalError
from diskproof.results.imported import Beside, ImportedResult, Settings, Source
from diskproof.results.load import LoadResult
from diskproof.results.plan import Cell, Plan
from diskproof.results.trial import Severity, Trial
from diskproof.stats.grouping import grouped
from diskproof.wording import Item, Message, as_message, counted, say
from diskproof.wording.numbers import count, listed

OWN_FORMAT = "a run of diskproof"

IMPORTED_FORMAT = "imported results"


def audit_run_folder(name: str, gathered: Gathered) -> SubjectAnswer:
    """Return what all checks say of a recorded run: of its trials, each once, and of the whole."""
    plan, audited = gathered.plan, gathered.all()
    measured = [(one.trial.id, one.evidence) for one in audited if one.trial.finished and one.trial.load]
    whole = Run(plan, gathered.machine, [one.trial for one in audited if one.valid])
    answers = [
        *recorded_findings([(one.trial.id, found) for one in audited for found in one.trial.findings]),
        *ask((*TRIAL_CHECKS, *RESULT_CHECKS), measured, imported=plan.imported),
        *ask(RUN_CHECKS, [("", whole)] if measured else [], imported=plan.imported),
    ]
    return SubjectAnswer(
        kind="run",
        own=not plan.imported,
        name=plan.study,
        place=name,
        known_as=IMPORTED_FORMAT if plan.imported else OWN_FORMAT,
        verdict=_run_verdict(audited, answers),
        checks=_by_name(answers),
    )


def audit_result(result: ImportedResult, repeats: int = 1, beside: Beside | None = None) -> SubjectAnswer:
    """Return what the checks say of one imported result.

    `repeats` counts those of the same cell, `beside` has its server's settings.
    """
    try:
        evidence = evidence_of(result, beside)
    except RefusalError:
        answers, said = [], Support(instead=say("It has no figure that supports anything."))
        if any(error.ended for error in result.load.errors):
            evidence = without_figure(result)
            answers = ask((finished,), [("", evidence)], imported=True)
            said = support(evidence, answers, repeats)
    else:
        answers = ask((*TRIAL_CHECKS, *RESULT_CHECKS), [("", evidence)], imported=True)
        said = support(evidence, answers, repeats)
    return SubjectAnswer(
        kind="result",
        name=result.name,
        place=place(result.source),
        known_as=result.source.tool or result.source.format,
        verdict=said.verdict,
        figure=said.figure,
        uses=said.uses,
        remarks=[*_settings_of(beside), *map(as_message, result.remarks)],
        checks=answers,
    )


def _settings_of(beside: Beside | None) -> list[Message]:
    """Return which files were taken for the settings of a result's server."""
    if beside is None or not beside.files:
        return []
    return [say("measured with the settings of {files}, which were given beside it", files=beside.files)]


def audit_results(
    results: Sequence[ImportedResult], trials: Sequence[Trial], besides: Sequence[Beside] = ()
) -> list[SubjectAnswer]:
    """Return what the checks say of each of several results, from which `trials` were made.

    `besides` has, for each result, its server's settings.
    """
    cells = Counter(trial.cell for trial in trials)
    times = {id(result): cells[trial.cell] for trial, result in pairs(trials, results)}
    return [
        audit_result(result, times.get(id(result), 1), beside)
        for result, beside in zip(results, besides or [Beside()] * len(results), strict=True)
    ]


def pairs(
    trials: Sequence[Trial], results: Sequence[ImportedResult]
) -> Iterator[tuple[Trial, ImportedResult]]:
    """Yield each trial with the result that it was made from."""
    known = grouped(results, lambda result: _identity(result.source, result.load))
    for trial in trials:
        if trial.imported and trial.load:
            alike = known.get(_identity(trial.imported, trial.load), [])
            yield from ((trial, one) for one in alike[:1] if trial.load == one.load)


def _identity(source: Source, load: LoadResult) -> Hashable:
    """Return what identifies a result; one place of a file may hold several jobs of fio."""
    return source.file, source.line, source.format, load.workload, load.transactions_per_s, load.seconds


def audit_experiment(
    plan: Plan,
    trials: Sequence[Trial],
    results: Sequence[ImportedResult],
    besides: Sequence[Beside] = (),
) -> SubjectAnswer | None:
    """Return what the checks say of compared results; None if there is nothing to compare.

    `besides` has, for each result, its server's settings.
    """
    if len(trials) < 2:
        return None
    read = {trial.id: result for trial, result in pairs(trials, results)}
    told = {id(result): beside for result, beside in zip(results, besides, strict=bool(besides))}
    beside = {trial: told[id(result)] for trial, result in read.items() if id(result) in told}
    run = Run(plan, None, trials, read, beside)
    answers = ask(RUN_CHECKS, [("", run)], imported=True)
    files = list(dict.fromkeys(trial.imported.file for trial in trials if trial.imported))
    return SubjectAnswer(
        kind="experiment",
        name="all together",
        place=listed(files),
        known_as=f"{len(trials)} results of {count(len(plan.cells), 'cell')}",
        verdict=_of_comparison(run, [one.check for one in answers if one.state == "failed"]),
        checks=answers,
    )


def _of_comparison(run: Run, failed: Sequence[str]) -> Message:
    """Return whether results can be compared; if not, what is missing."""
    cells = run.plan.cells
    if len(cells) == 1:
        return say(
            "These outputs have the same options, so they are read as repeats. If they are of different "
            "disks, give each its own file."
        )
    pairs = [pair for _, *pair in compared(run)]
    if not pairs:
        return say(
            "It supports no comparison: {missing}. A comparison needs the same work on both sides, one thing "
            "that differs, and {runs} or more runs of each.",
            missing=_missing_to_compare(cells),
            runs=ENOUGH_BLOCKS,
        )
    of_pairs = counted(len({cell.id for pair in pairs for cell in pair}), "cell")
    if failed:
        return say("A comparison of its {cells} is threatened (see {checks}).", cells=of_pairs, checks=failed)
    return say("No check threatens a comparison of its {cells}.", cells=of_pairs)


def _missing_to_compare(cells: Sequence[Cell]) -> Message:
    """Return why no two cells are the sides of a comparison."""
    if len({cell.workload.partition(" #")[0] for cell in cells}) > 1:
        works = list(dict.fromkeys(cell.workload for cell in cells))
        return say("its cells do unlike work ({works:/; })", works=works)
    if any(not cell.clients for cell in cells):
        return say("the number of clients is not recorded, and may be what differs")
    if len({cell.workload for cell in cells}) > 1:
        return say("nothing shows that its cells do the same work")
    return say("no two of its {n} cells are known to differ in one thing alone", n=len(cells))


def audit_configuration(configuration: Configuration) -> SubjectAnswer:
    """Return what the checks say of a server's settings."""
    configuration = with_its_groups(configuration)
    settings = configuration.settings
    answers = ask(CONFIGURATION_CHECKS, [("", configuration)], imported=True)
    failed = [one.check for one in answers if one.state == "failed"]
    number = counted(len(settings.values), "variable")
    included = settings.included
    more = f" and {len(included) - 1} more" if len(included) > 1 else ""
    including = say(", with what it includes ({file}{more})", file=included[0], more=more) if included else ""
    return SubjectAnswer(
        kind="configuration",
        name=configuration.level or settings.source.format,
        place=place(settings.source),
        known_as=settings.version or settings.source.format,
        verdict=say(
            "{what}, and {outcome}. {power_cut}",
            what=say("A server answered {n}", n=number)
            if settings.observed
            else say("It sets {n}{including}", n=number, including=including),
            outcome=say("some are not what they seem: see {checks}", checks=failed)
            if failed
            else say("no check of them failed"),
            power_cut=after_a_power_cut(configuration),
        ),
        checks=answers,
    )


def configurations(settings: Sequence[Settings]) -> list[Configuration]:
    """Return the settings for the checks: what was asked for beside what a server answered."""
    return [
        Configuration(one.settings, one.observed, level=place(one.settings.source))
        for one in servers_given(settings)
        if one.settings
    ]


def place(source: Source) -> str:
    """Return where an imported thing was read: ``old.txt``, ``old.txt, line 120``."""
    return source.file if source.line <= 1 else f"{source.file}, line {source.line}"


def _run_verdict(audited: Sequence[Audited], answers: Sequence[CheckAnswer]) -> Message:
    """Return what a recorded run supports: its trials that count, and what threatens them."""
    if not audited:
        return say("It has no trial that measures speed, and audit looks at no other; `report` has its cuts.")
    counting = sum(one.valid for one in audited)
    counts: dict[str, Item | float] = {"counting": counting, "trials": len(audited)}
    if not counting:
        return say(
            "{counting} of {trials} trials count: it supports nothing (see {checks}).",
            checks=_with(answers, "invalid"),
            **counts,
        )
    if failed := [one.check for one in answers if one.state == "failed"]:
        return say(
            "{counting} of {trials} trials count; these checks limit what they support: {checks}.",
            checks=failed,
            **counts,
        )
    return say(
        "{counting} of {trials} trials count, and no check failed: its verdicts hold, with their intervals.",
        **counts,
    )


def _with(answers: Sequence[CheckAnswer], severity: Severity) -> list[str]:
    return [one.check for one in answers if any(raised.severity == severity for raised in one.raised)]


def _by_name(answers: Sequence[CheckAnswer]) -> list[CheckAnswer]:
    """Merge the findings that trials recorded with what the check of that name says."""
    merged: dict[str, CheckAnswer] = {}
    for one in answers:
        before = merged.get(one.check)
        if before is None:
            merged[one.check] = one
            continue
        known = {(raised.severity, raised.message) for raised in one.raised}
        kept = [raised for raised in before.raised if (raised.severity, raised.message) not in known]
        failed = "failed" in {before.state, one.state}
        merged[one.check] = one.model_copy(
            update={"raised": [*kept, *one.raised], "state": "failed" if failed else one.state}
        )
    return list(merged.values())
