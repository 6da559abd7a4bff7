"""The audit of runs, results, settings and articles: every check asked, and what it says put together."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from diskproof.analysis.audited.outcomes import ask, recorded_findings
from diskproof.analysis.audited.shapes import CheckAnswer, SubjectAnswer
from diskproof.analysis.audited.support import Support, support
from diskproof.analysis.gather import Audited, Gathered
from diskproof.analysis.words import listed
from diskproof.audit import conditions
from diskproof.audit.check import Configuration, Evidence, Run
from diskproof.audit.configuration import with_its_series
from diskproof.audit.durability import after_a_power_cut
from diskproof.audit.imported import evidence_of
from diskproof.audit.registry import (
    ARTICLE_CHECKS,
    CONFIGURATION_CHECKS,
    FIGURE_CHECKS,
    RESULT_CHECKS,
    RUN_CHECKS,
    SWEEP_CHECKS,
    TRIAL_CHECKS,
)
from diskproof.audit.run import compared_cells
from diskproof.importers.beside import servers_given
from diskproof.refusal import RefusalError
from diskproof.results.article import Article
from diskproof.results.imported import Beside, ImportedResult, Settings, Source
from diskproof.results.load import LoadResult
from diskproof.results.machine import Machine
from diskproof.results.plan import Plan
from diskproof.results.trial import Trial

MOST_NAMED = 6

OWN_FORMAT = "a run of diskproof"

IMPORTED_FORMAT = "imported results"


def audit_run_folder(
    name: str,
    plan: Plan,
    machine: Machine | None,
    trials: Sequence[Trial],
    series: Mapping[str, Sequence[float]],
) -> SubjectAnswer:
    """Return what all checks say of a recorded run: of its trials, each once, and of the whole."""
    gathered = Gathered(plan, machine, trials, series)
    audited = gathered.all()
    measured = [
        (
            one.trial.id,
            Evidence(one.trial, plan.cell(one.trial.cell), plan, machine, series.get(one.trial.id, ())),
        )
        for one in audited
        if one.trial.finished and one.trial.load
    ]
    whole = Run(plan, machine, [one.trial for one in audited if one.valid])
    answers = [
        *recorded_findings([(one.trial.id, found) for one in audited for found in one.trial.findings]),
        *ask((*TRIAL_CHECKS, *RESULT_CHECKS), measured, imported=plan.imported),
        *ask((*RUN_CHECKS, *SWEEP_CHECKS), [("", whole)] if measured else [], imported=plan.imported),
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

    `repeats` counts those of the same cell, `beside` is what was given of its server.
    """
    try:
        evidence = evidence_of(result, beside)
    except RefusalError:
        answers, said = [], Support(instead="It tells no figure that anything could be concluded from.")
    else:
        answers = ask((*TRIAL_CHECKS, *RESULT_CHECKS), [("", evidence)], imported=True)
        said = support(evidence, answers, repeats)
    return SubjectAnswer(
        kind="result",
        name=result.name,
        place=place(result.source),
        known_as=result.source.tool or result.source.format,
        verdict=said.sentence,
        figure=said.figure,
        uses=said.uses,
        remarks=[*_settings_of(beside), *result.remarks],
        checks=answers,
    )


def _settings_of(beside: Beside | None) -> list[str]:
    """Tell what was taken for a result's server."""
    if beside is None or not beside.files:
        return []
    return [f"measured with the settings of {listed(beside.files, MOST_NAMED)}, as they were given beside it"]


def audit_results(
    results: Sequence[ImportedResult], trials: Sequence[Trial], besides: Sequence[Beside] = ()
) -> list[SubjectAnswer]:
    """Return what the checks say of each of several results, of which `trials` were made.

    `besides` are, one for each result, what was given of its server.
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
    """Yield each trial with the result that it was made of."""
    known: dict[object, list[ImportedResult]] = {}
    for result in results:
        known.setdefault(_identity(result.source, result.load), []).append(result)
    for trial in trials:
        if trial.imported and trial.load:
            alike = known.get(_identity(trial.imported, trial.load), [])
            yield from ((trial, one) for one in alike[:1] if trial.load == one.load)


def _identity(source: Source, load: LoadResult) -> object:
    """Return what tells a result from others; one place of a file may hold several jobs of fio."""
    return source.file, source.line, source.format, load.workload, load.transactions_per_s, load.seconds


def audit_experiment(
    plan: Plan,
    trials: Sequence[Trial],
    results: Sequence[ImportedResult],
    besides: Sequence[Beside] = (),
) -> SubjectAnswer | None:
    """Return what the checks say of results that are compared; None where there is nothing to compare.

    `besides` are, one for each result, what was given of its server.
    """
    if len(trials) < 2:
        return None
    read = {trial.id: result for trial, result in pairs(trials, results)}
    told = {id(result): beside for result, beside in zip(results, besides, strict=bool(besides))}
    beside = {trial: told[id(result)] for trial, result in read.items() if id(result) in told}
    run = Run(plan, None, trials, read, beside)
    answers = ask((*RUN_CHECKS, *SWEEP_CHECKS), [("", run)], imported=True)
    files = list(dict.fromkeys(trial.imported.file for trial in trials if trial.imported))
    failed = [one.check for one in answers if one.state == "failed"]
    cells = f"its {len(plan.cells)} cells"
    if len(plan.cells) == 1:
        said = "They are one cell, measured again: there is nothing to compare."
    elif not any(compared_cells(plan.cells)):
        said = f"No two of {cells} differ in one thing alone, as far as told: it supports no comparison."
    elif failed:
        said = f"A comparison of {cells} is threatened (see {listed(failed, MOST_NAMED)})."
    else:
        said = f"Nothing that was recorded speaks against a comparison of {cells}."
    return SubjectAnswer(
        kind="experiment",
        name="all together",
        place=listed(files, MOST_NAMED),
        known_as=f"{len(trials)} results of {len(plan.cells)} cell{'' if len(plan.cells) == 1 else 's'}",
        verdict=said,
        checks=answers,
    )


def audit_configuration(configuration: Configuration) -> SubjectAnswer:
    """Return what the checks say of a server's settings."""
    configuration = with_its_series(configuration)
    settings = configuration.settings
    answers = ask(CONFIGURATION_CHECKS, [("", configuration)], imported=True)
    failed = [one.check for one in answers if one.state == "failed"]
    count = len(settings.values)
    said = f"It sets {count} variables" if not settings.observed else f"A server answered {count} variables"
    return SubjectAnswer(
        kind="configuration",
        name=configuration.level or settings.source.format,
        place=place(settings.source),
        known_as=settings.version or settings.source.format,
        verdict=f"{said}, and {f'is not what it seems: see {listed(failed, MOST_NAMED)}' if failed else OK}. "
        + after_a_power_cut(configuration),
        checks=answers,
    )


OK = "nothing in them failed a check"


def audit_article(article: Article) -> SubjectAnswer:
    """Return what the checks say of an article: its claims, procedure, printed figures and settings."""
    counted = [result for result in article.results if result.load.latency_us]
    printed = [(result.name, evidence_of(result)) for result in counted]
    settings = [(one.level, one) for one in conditions.configurations(article)]
    answers = [
        *ask(ARTICLE_CHECKS, [("", article)], imported=True),
        *ask(FIGURE_CHECKS, printed, imported=True),
        *ask(CONFIGURATION_CHECKS, settings, imported=True),
    ]
    graves = (("errors", _graved(answers, "invalid")), ("threats", _graved(answers, "warning")))
    has = [f"{what} ({listed(names, MOST_NAMED)})" for what, names in graves if names]
    lacks = [what for what, names in graves if not names]
    lacking = [f"no {' and no '.join(lacks)}"] if lacks else []
    said = " but ".join([*([" and ".join(has)] if has else []), *lacking])
    return SubjectAnswer(
        kind="article",
        name=article.title,
        place=article.source.file,
        known_as=article.by,
        verdict=f"It has {said}; {_untold(answers)}.",
        checks=answers,
    )


def configurations(settings: Sequence[Settings]) -> list[Configuration]:
    """Return the settings as they are to be checked: what was asked for beside what a server answered.

    Which belong together `servers_given` tells; what stands for itself is beside the others of its kind.
    """
    told = [
        Configuration(one.settings, one.observed, level=place(one.settings.source))
        for one in servers_given(settings)
        if one.settings
    ]
    return [
        replace(
            one, beside=tuple(other for other in told if other is not one and _is_of_its_kind(one, other))
        )
        for one in told
    ]


def _is_of_its_kind(one: Configuration, other: Configuration) -> bool:
    return one.settings.observed == other.settings.observed


def place(source: Source) -> str:
    """Return where an imported thing stands: ``old.txt``, ``old.txt, line 120``."""
    return source.file if source.line <= 1 else f"{source.file}, line {source.line}"


def _run_verdict(audited: Sequence[Audited], answers: Sequence[CheckAnswer]) -> str:
    """Say what a recorded run can support: its trials that count, and what threatens them."""
    counting = sum(one.valid for one in audited)
    trials = f"{counting} of {len(audited)} trials count"
    if not audited:
        return "It has no trials: it supports nothing."
    if not counting:
        return f"{trials}: it supports nothing (see {listed(_graved(answers, 'invalid'), MOST_NAMED)})."
    if threats := [one.check for one in answers if one.state == "failed"]:
        return f"{trials}; what they support is limited by {listed(threats, MOST_NAMED)}."
    return f"{trials}, and no check of them failed: its verdicts stand as they are, with their intervals."


def _graved(answers: Sequence[CheckAnswer], severity: str) -> list[str]:
    return [one.check for one in answers if any(raised.severity == severity for raised in one.raised)]


def _untold(answers: Sequence[CheckAnswer]) -> str:
    count = sum(one.state == "cannot be told" for one in answers)
    return (
        f"{count} checks cannot be told for want of what was not reported"
        if count
        else "everything was reported"
    )


def _by_name(answers: Sequence[CheckAnswer]) -> list[CheckAnswer]:
    """Put what the trials' records hold together with what the check of that name says."""
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
