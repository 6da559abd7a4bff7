"""The cuts of one cell in one way, counted."""

from collections.abc import Iterable, Sequence
from statistics import median

from diskproof.analysis.safety.shapes import Binlog, Cause, CutAnswer, Damage, Gravest, Spread
from diskproof.results.crash import OF_DISKS, Way
from diskproof.results.cut import CutTrial, Recovery
from diskproof.results.plan import Cell
from diskproof.stats.grouping import grouped
from diskproof.stats.intervals import Interval, geometric_mean_interval
from diskproof.stats.proportions import share
from diskproof.wording import Message, as_message, say, together, without_figures


def count(cell: Cell, way: Way, planned: int, cuts: Sequence[CutTrial], dilation: int = 1) -> CutAnswer:
    """Return what the cuts of one cell in one way say together; `dilation`: the plan's."""
    telling = [cut for cut in cuts if why_silent(cut) is None and cut.finished]
    with_loss = sum(cut.has_loss for cut in telling)
    damaged = sum(cut.is_damaged for cut in telling)
    losses = [cut.lost for cut in telling if cut.lost is not None]
    ledgers = [cut.ledger for cut in telling if cut.ledger]
    return CutAnswer(
        cell=cell,
        way=way,
        planned=planned,
        made=len(cuts),
        telling=len(telling),
        silent=_causes(why_silent(cut) for cut in cuts if cut.finished),
        unfinished=_causes(why_unfinished(cut) for cut in cuts if not cut.finished),
        settings={
            one.name: one.observed
            for cut in telling[:1]
            for one in cut.settings
            if one.level and one.observed is not None
        },
        with_loss=with_loss,
        loss_share=share(with_loss, len(telling)) if telling else None,
        gone=sum(cut.is_gone for cut in telling),
        damaged=damaged,
        damage=_damage(telling),
        harmed=sum(cut.has_harm for cut in telling),
        at_risk=None
        if way not in OF_DISKS
        else sum(cut.had_something_at_risk(cell.clients) for cut in telling),
        damage_reports=list(dict.fromkeys(one for cut in telling if (one := _first_report(cut.recovery)))),
        lost=spread(losses),
        acknowledged=sum(_acknowledged(cut) for cut in telling),
        commits_per_s=_commits_per_s([cut for cut in telling if not cut.states], dilation),
        window_s=spread([window for cut in telling if (window := window_s(cut)) is not None]),
        open_windows=sum(one.lost > 0 and one.last_kept_before_s is None for one in ledgers),
        recovery_s=spread([time for cut in telling if (time := _recovery_s(cut.recovery)) is not None]),
        binlog=_binlog([cut.recovery for cut in telling if cut.recovery]),
        torn_writes=sum(disk.torn_writes for cut in telling for disk in cut.disks),
        states=[cut.states for cut in telling if cut.states],
        most_lost=max((one.lost for one in ledgers if one.lost), default=None),
        gravest=_gravest(telling),
    )


def why_silent(cut: CutTrial) -> Message | None:
    """Return why a finished cut proves nothing of its cell; None if it does prove something.

    A server that ran with another value than the level's is another level.
    """
    if cut.silent_because:
        return cut.silent_because
    return next((say("`{name}` did not hold", name=one.name) for one in cut.settings if not one.holds), None)


def why_unfinished(cut: CutTrial) -> Message:
    """Return what a cut says of its breaking off."""
    return cut.findings[-1].message if cut.findings else say("it does not say why")


def window_s(cut: CutTrial) -> float | None:
    """Return for how many seconds before the cut commits are missing: 0 if none is.

    None if nothing can be read: everything is gone, and that has no window.
    """
    if cut.ledger is None:
        return None
    return cut.ledger.first_lost_before_s or 0.0


def spread(values: Sequence[float]) -> Spread | None:
    """Return the middle and the largest of some values; None of none."""
    if not values:
        return None
    return Spread(median=median(values), worst=max(values), n=len(values))


def _causes(whys: Iterable[Message | None]) -> list[Cause]:
    """Count causes, the most frequent first; causes that differ in figures alone are one."""
    alike = grouped((why for why in whys if why is not None), without_figures)
    causes = [Cause(why=together(some), cuts=len(some)) for some in alike.values()]
    return sorted(causes, key=lambda one: -one.cuts)


def _acknowledged(cut: CutTrial) -> int:
    return cut.ledger.acknowledged if cut.ledger else cut.acknowledged or 0


def _commits_per_s(cuts: Sequence[CutTrial], dilation: int) -> Interval | None:
    """Return how fast commits were acknowledged; the seconds of the load begin as its clients connect."""
    rates = [_acknowledged(cut) / cut.timings.load_s * dilation for cut in cuts if cut.timings.load_s > 0]
    return geometric_mean_interval(known) if (known := [rate for rate in rates if rate > 0]) else None


def _recovery_s(recovery: Recovery | None) -> float | None:
    if recovery is None or recovery.server_s is None:
        return None
    return (recovery.mount_s or 0.0) + recovery.server_s


def _damage(telling: Sequence[CutTrial]) -> Damage:
    recoveries = [cut.recovery for cut in telling if cut.recovery]
    ledgers = [cut.ledger for cut in telling if cut.ledger]
    return Damage(
        refused=sum(bool(one.refused) for one in recoveries),
        complaints=sum(bool(one.complaints) for one in recoveries),
        damaged_tables=sum(bool(one.damaged_tables) for one in recoveries),
        half_applied=sum(bool(one.half_applied or one.invariant_off_by) for one in ledgers),
        duplicated=sum(bool(one.duplicated) for one in ledgers),
        never_sent=sum(bool(one.never_sent) for one in ledgers),
    )


def _first_report(recovery: Recovery | None) -> Message | None:
    if recovery is None:
        return None
    # The log's own words first: a refusal only says that the server ended, and where its log is.
    reports = [*recovery.complaints, recovery.refused, *recovery.damaged_tables]
    return next((as_message(one) for one in reports if one), None)


def _binlog(recoveries: Sequence[Recovery]) -> Binlog | None:
    asked = [one for one in recoveries if one.binlog_only is not None and one.engine_only is not None]
    if not asked:
        return None
    of_log = [one.binlog_only or 0 for one in asked]
    of_engine = [one.engine_only or 0 for one in asked]
    return Binlog(
        asked=len(asked),
        cuts_binlog_only=sum(map(bool, of_log)),
        worst_binlog_only=max(of_log),
        cuts_engine_only=sum(map(bool, of_engine)),
        worst_engine_only=max(of_engine),
    )


def _gravest(telling: Sequence[CutTrial]) -> Gravest | None:
    """Return the cut that harmed most; no amount of lost transactions outweighs a damaged database."""
    harmed = [cut for cut in telling if cut.has_harm]
    if not harmed:
        return None
    cut = max(harmed, key=lambda cut: (cut.is_gone, cut.is_damaged, cut.lost or 0, window_s(cut) or 0.0))
    return Gravest(id=cut.id, evidence=cut.evidence)
