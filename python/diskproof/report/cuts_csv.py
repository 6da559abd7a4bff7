"""The cuts as rows of a CSV file."""

from collections.abc import Iterable, Sequence

from diskproof.analysis.safety.count import why_silent, window_s
from diskproof.results.crash import OF_DISKS
from diskproof.results.cut import CutTrial, DiskAtCut, LedgerOutcome, Recovery
from diskproof.results.fault import Trouble
from diskproof.results.plan import Cuts
from diskproof.results.record import Record
from diskproof.results.trial import Finding, Trial

Value = str | int | float | None
Row = dict[str, Value]

LEDGER = tuple(name for name in LedgerOutcome.model_fields if name not in ("acknowledged", "lost"))


def cut_rows(crash: Cuts, cuts: Sequence[CutTrial]) -> list[Row]:
    """Return a row a cut that was made, in the order of the run; a cut of no planned cell is left aside.

    Their first columns are those of the speed trials; only rows of cuts have a `way`. What disks
    held and lost is the sum over a cut's disks.
    """
    known = {cell.id for cell in crash.cells}
    return [_row(crash, cut) for cut in cuts if cut.cell in known]


def _row(crash: Cuts, cut: CutTrial) -> Row:
    cell, why = crash.cell(cut.cell), why_silent(cut)
    finished = cut.finished
    return {
        **place_in_run(cut),
        "cell": cell.id,
        **values(cell, ("server", "storage", "tuning", "fault", "memory_bytes", "clients")),
        **values(cut, ("way", "seed")),
        "telling": int(finished and why is None),
        "silent_because": why.text if why else None,
        "put_off_s": cut.put_off_s,
        "with_loss": int(cut.has_loss) if finished else None,
        "damaged": int(cut.is_damaged) if finished else None,
        "acknowledged": cut.ledger.acknowledged if cut.ledger else cut.acknowledged,
        "unflushed_acknowledgements": cut.unflushed_acknowledgements,
        "something_at_risk": int(cut.had_something_at_risk(cell.clients)) if cut.way in OF_DISKS else None,
        "lost": cut.lost,
        "window_s": window_s(cut) if finished else None,
        **values(cut.ledger, LEDGER),
        **_trouble(cut.trouble),
        **_recovery(cut.recovery),
        **_disks(cut.disks),
        **values(cut.timings, type(cut.timings).model_fields),
        "evidence": cut.evidence,
        "findings": findings(cut.findings),
    }


TOLD = ("hits", "silent_s", "serves_again_s", "stopped", "gave_up", "read_only")


def _trouble(trouble: Trouble | None) -> Row:
    errors = " ".join(f"{code}:{times}" for code, times in trouble.errors.items()) if trouble else None
    return {**values(trouble, TOLD), "errors": errors or None}


def place_in_run(one: Trial | CutTrial) -> Row:
    """Return the columns that say when a trial or a cut was made."""
    return {
        "trial": one.id,
        **values(one, ("block", "position", "started_at")),
        "finished": int(one.finished),
    }


def findings(found: Sequence[Finding]) -> str:
    """Return what was found, in one field."""
    return "; ".join(f"{one.severity} {one.check}" for one in found)


def _recovery(recovery: Recovery | None) -> Row:
    return {
        "mount_s": recovery.mount_s if recovery else None,
        "server_recovery_s": recovery.server_s if recovery else None,
        "refused": recovery.refused.text if recovery and recovery.refused else None,
        "complaints": len(recovery.complaints) if recovery else None,
        "damaged_tables": len(recovery.damaged_tables) if recovery else None,
        **values(recovery, ("binlog_only", "engine_only")),
    }


SUMMED = (
    *("under_way", "at_risk_writes", "at_risk_bytes", "answered_at_risk_writes"),
    *("kept_bytes", "lost_bytes", "torn_writes", "unreadable_sectors"),
)
"""Over the disks of a cut."""


def _disks(disks: Sequence[DiskAtCut]) -> Row:
    flushes = [disk.last_flush_before_s for disk in disks if disk.last_flush_before_s is not None]
    return {
        "keep": " ".join(disk.kept for disk in disks) or None,
        **{name: sum(getattr(disk, name) for disk in disks) if disks else None for name in SUMMED},
        "last_flush_before_s": min(flushes, default=None),
        "cuts_apart_s": max((disk.after_first_s for disk in disks), default=None),
    }


def values(record: Record | None, names: Iterable[str]) -> Row:
    """Return values of a record by their names, which are those of the columns; empty ones without it."""
    return {name: getattr(record, name) if record is not None else None for name in names}
