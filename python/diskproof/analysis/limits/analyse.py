"""The limits of a run, of each cell."""

from collections.abc import Sequence

from diskproof.analysis.gather import Gathered
from diskproof.analysis.limits.awaited import awaited_of
from diskproof.analysis.limits.demands import demands_of, lowest_bound
from diskproof.analysis.limits.disks import holding
from diskproof.analysis.limits.established import establish
from diskproof.analysis.limits.observed import Observed, observe
from diskproof.analysis.limits.proofs import answer_proofs
from diskproof.analysis.limits.records import CellLimit, Limits
from diskproof.analysis.limits.signals import signals_of
from diskproof.analysis.limits.split import flushed_logs, split_of
from diskproof.analysis.limits.thresholds import FULL_SHARE, MOST
from diskproof.analysis.limits.troubles import troubles_of
from diskproof.analysis.limits.what_if import what_if
from diskproof.families.durability import log_names
from diskproof.results.limit import IN_WORDS, Limit, ProofPair
from diskproof.wording import NOTHING, Message, say, share

UNSEEN = say("the server's CPUs, threads and disks and the network were not observed")


def answer_limits(gathered: Gathered, proofs: Sequence[ProofPair] = ()) -> Limits | None:
    """Return what holds the cells back; None if no valid trial of any cell counted anything."""
    observed = [seen for cell in gathered.plan.cells if (seen := gathered.once(observe, cell)) is not None]
    if not observed:
        return None
    cells = list(map(_answer, observed))
    return Limits(cells=cells, proofs=answer_proofs(gathered, proofs))


def _answer(seen: Observed) -> CellLimit:
    split, demands = split_of(seen), demands_of(seen)
    found, bound = establish(signals_of(seen), split, seen.cpu.taken), lowest_bound(demands)
    missing = found.missing
    if found.limit is None and not seen.speaks_of_the_load:
        missing = say(
            "the job timed only {part} of the counted time; in the rest its tables were made and dropped",
            part=share(seen.timed or 0.0),
        )
    if found.limit is None and seen.elsewhere:
        missing = say("{missing}; {unseen}", missing=missing, unseen=UNSEEN)
    limit = CellLimit(
        cell=seen.cell,
        limit=found.limit,
        missing=missing,
        bound_by=bound_by(seen, found.limit) if found.limit else NOTHING,
        signals=found.signals,
        split=split,
        awaited=awaited_of(seen, split),
        demands=demands,
        bound_per_s=bound.bound_per_s if bound else None,
        data_bytes=seen.data_bytes,
        disks_cpu_share=seen.cpu.shares.get("disks"),
        others_cpu_share=seen.cpu.others_share,
        troubles=troubles_of(seen, found.limit),
    )
    return limit.model_copy(update={"what_if": what_if(seen, limit)}) if seen.speaks_of_the_load else limit


def bound_by(seen: Observed, limit: Limit) -> Message:
    """Return the limit as this cell has it: ``redo log flushes``."""
    match limit:
        case "log flush":
            logs = log_names(seen.family, seen.settings, flushed_logs(seen)) if seen.family else []
            return say("{logs} flushes", logs=logs or ["log"])
        case "CPU" if (seen.cpu.busy or 0.0) < FULL_SHARE:
            return say("the speed of a CPU")
        case "locks" if (flushing := _flushing(seen)) >= MOST:
            form = "locks that others hold while the log is flushed, which is {flushing} of the time"
            return say(form, flushing=share(flushing))
        case "load generator":
            return say("the load generator, not by the database")
        case "arrivals":
            return say("nothing but the rate that the study sets")
        case _:
            return say(IN_WORDS[limit])


def _flushing(seen: Observed) -> float:
    """Return for how much of the time the log is flushed, by the instrument that saw most of it."""
    accounts = (holding(disks, seen.log_roles) for disks in (seen.disks, seen.virtual))
    shares = [one.flush.serial_share for disks in accounts for one in disks if one.flush]
    return max(seen.threads.at_log.share if seen.threads else 0.0, *(one or 0.0 for one in shares), 0.0)
