"""Every check, in the order of the findings: the table of contents of this room."""

from collections.abc import Sequence

from diskproof.audit import (
    durability,
    effect,
    figures,
    files,
    host,
    hosts,
    in_force,
    intervals,
    kinds,
    load,
    options,
    places,
    run,
    server,
    storage,
    unequal,
    virtual,
)
from diskproof.audit.check import Check, Configuration, Evidence, Run
from diskproof.results.trial import Finding, Severity

TRIAL_CHECKS: tuple[Check[Evidence], ...] = (
    load.finished,
    server.settings,
    server.placement,
    host.held_cpus,
    server.put_back,
    server.engine,
    load.rows,
    load.errors,
    kinds.operations,
    load.littles_law,
    kinds.rate,
    kinds.late_start,
    load.client,
    hosts.load_hosts,
    storage.physics,
    files.arrived,
    storage.pool_devices,
    virtual.lateness,
    virtual.disk_errors,
    virtual.virtual_bytes,
    host.host_busy,
    intervals.steady,
    load.tail,
    load.short,
    files.whole_phase,
    storage.data_size,
    kinds.same_data,
    kinds.sent,
    kinds.replayer,
    kinds.order,
    kinds.consistency,
)

RUN_CHECKS: tuple[Check[Run], ...] = (
    run.confounding,
    places.same_storage,
    places.unused_place,
    virtual.virtual_label,
    run.levels,
    run.common_settings,
    run.order,
    run.repeats,
    hosts.unlike_hosts,
    hosts.equal_hosts,
    unequal.unequal_runs,
)

CONFIGURATION_CHECKS: tuple[Check[Configuration], ...] = (
    options.misspelt_option,
    options.repeated_option,
    durability.mixed_durability,
    durability.unflushed_doublewrite,
    effect.took_effect,
)

RESULT_CHECKS: tuple[Check[Evidence], ...] = (
    figures.rate_arithmetic,
    figures.statement_arithmetic,
    figures.latency_order,
    figures.mean_bounds,
    intervals.warm_up,
    intervals.stalls,
    files.cached_reads,
    in_force.durable_commits,
)
"""What a reviewer also asks of one result: of other tools' results always, of our own trials in an audit."""

BARS_FROM: dict[str, Severity] = {
    name: mildest
    for name, mildest in (
        *((one.name, one.bars_from) for one in TRIAL_CHECKS),
        *((one.name, one.bars_from) for one in RUN_CHECKS),
    )
    if mildest
}
"""The checks that make cells incomparable, each with the mildest of its findings that does."""


def bars_comparison(finding: Finding) -> bool:
    """Tell whether one such finding in one trial is enough to make its cell incomparable."""
    mildest = BARS_FROM.get(finding.check)
    return mildest is not None and finding.severity in {"invalid", mildest}


def audit_trial(evidence: Evidence) -> list[Finding]:
    """Return what all checks say about one trial; of a trial without figures only that it has none."""
    measured = evidence.trial.finished and evidence.trial.load is not None
    checks: Sequence[Check[Evidence]] = TRIAL_CHECKS if measured else (load.finished,)
    if measured and evidence.imported:
        checks = (*TRIAL_CHECKS, *RESULT_CHECKS)
    return [finding for one in checks for finding, _ in one.findings(evidence)]


def all_findings(evidence: Evidence) -> list[Finding]:
    """Return what a trial says of itself, and what its checks find that it does not say."""
    said = evidence.trial.findings
    return [*said, *(one for one in audit_trial(evidence) if one not in said)]


def audit_run(whole: Run) -> list[tuple[Finding, Sequence[str]]]:
    """Return what the checks say about a run, each with the cells concerned (none: the whole run)."""
    return [finding for one in RUN_CHECKS for finding in one.findings(whole)]
