"""What the trials of a run say: cells, verdicts, findings, and what the tuning levels really set."""

from collections.abc import Iterator, Mapping, Sequence

from diskproof.analysis.answers import Analysis, LevelDifference, LevelRisk
from diskproof.analysis.cells import answer_cell
from diskproof.analysis.dials import Curve, curves_of
from diskproof.analysis.gather import Gathered
from diskproof.analysis.limits.analyse import answer_limits
from diskproof.analysis.limits.observed import observe
from diskproof.analysis.operations import answer_operations
from diskproof.analysis.prices.analyse import answer_prices
from diskproof.analysis.published.compare import answer_published
from diskproof.analysis.rankings import make_rankings
from diskproof.analysis.safety.analyse import answer_safety
from diskproof.analysis.statements import answer_replays, statement_verdicts
from diskproof.analysis.tpcc import answer_tpcc
from diskproof.analysis.verdicts import make_verdicts
from diskproof.audit.durability import risks_where
from diskproof.audit.levels import observed_by_level
from diskproof.audit.run import varying_factors
from diskproof.results.cut import CutTrial
from diskproof.results.dial import Dials
from diskproof.results.limit import ProofPair
from diskproof.results.machine import Machine
from diskproof.results.plan import Plan
from diskproof.results.trial import Trial


def analyse(
    plan: Plan,
    machine: Machine | None,
    trials: Sequence[Trial],
    series: Mapping[str, Sequence[float]],
    cuts: Sequence[CutTrial] = (),
    proofs: Sequence[ProofPair] = (),
    dials: Dials | None = None,
) -> Analysis:
    """Return everything that the recorded trials of one run say, its cuts and its proofs.

    `series` maps a trial's id to its transactions per second in each interval of the measured phase;
    a trial without one is not asked whether it was steady. Every trial is audited here, so that a
    run recorded by an older version is judged by today's checks.
    """
    gathered = Gathered(plan, machine, trials, series)
    audited = gathered.all()
    run = {one.trial.id for one in audited}
    cells = [answer_cell(gathered, cell) for cell in plan.cells]
    verdicts = make_verdicts(gathered)
    safety = answer_safety(plan, cuts, cells)
    limits = answer_limits(gathered, proofs)
    varying = varying_factors(plan.cells)
    dials = dials or Dials()
    started = [*(trial.started_at for trial in trials), *(cut.started_at for cut in cuts)]
    return Analysis(
        plan=plan,
        machine=machine,
        started_at=min(filter(None, started), default=None),
        complete=all(planned.id in run for planned in plan.trials) and (safety is None or safety.complete),
        trials_run=len(audited),
        trials_valid=sum(one.valid for one in audited),
        varying=varying,
        cells=cells,
        verdicts=verdicts,
        rankings=make_rankings(gathered),
        curves=curves_of(plan, cells, limits.cells if limits else [], dials, varying),
        marks=dials.marks,
        findings=gathered.findings(),
        operations=answer_operations(gathered),
        beside=answer_published(gathered),
        level_differences=_level_differences(plan, [one.trial for one in audited if one.valid]),
        level_risks=list(_level_risks(gathered)),
        tpcc=answer_tpcc(gathered),
        replays=answer_replays(gathered),
        statements=statement_verdicts(gathered),
        prices=answer_prices(gathered),
        safety=safety,
        limits=limits,
    )


def curves_in(gathered: Gathered) -> list[Curve]:
    """Return the curves of a run alone, without what holds their points back."""
    plan = gathered.plan
    cells = [answer_cell(gathered, cell) for cell in plan.cells]
    return curves_of(plan, cells, [], Dials(), varying_factors(plan.cells))


def _level_risks(gathered: Gathered) -> Iterator[LevelRisk]:
    """Yield what each level of a server may lose, by the first cell of it that says."""
    told = set()
    for cell in gathered.plan.cells:
        if (
            (cell.server, cell.tuning) in told
            or not (seen := gathered.once(observe, cell))
            or not seen.family
        ):
            continue
        risks = risks_where(seen.family, seen.settings)
        if risks.sure or not risks.untold:
            told.add((cell.server, cell.tuning))
            yield LevelRisk(server=cell.server, tuning=cell.tuning, losses=risks.losses)


def _level_differences(plan: Plan, valid: Sequence[Trial]) -> list[LevelDifference]:
    """Return the variables in which the tuning levels of each server differ, as read back."""
    differences = []
    for server in dict.fromkeys(cell.server for cell in plan.cells):
        of_server = {cell.id: cell.tuning for cell in plan.cells if cell.server == server}
        seen = {of_server[trial.cell] for trial in valid if trial.cell in of_server}
        tunings = [tuning for tuning in dict.fromkeys(of_server.values()) if tuning in seen]
        for one in observed_by_level(plan, valid, server):
            values = {tuning: one.value(tuning) for tuning in tunings}
            if len(set(values.values())) > 1:
                differences.append(
                    LevelDifference(
                        server=server, variable=one.variable, values=values, declared=one.declared
                    )
                )
    return differences
