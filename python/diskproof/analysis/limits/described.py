"""The words of a cell's limit: what bounds it."""

from diskproof.analysis.limits.disks import holding
from diskproof.analysis.limits.observed import Observed
from diskproof.analysis.limits.split import flushed_logs
from diskproof.analysis.limits.thresholds import FULL_SHARE, MOST
from diskproof.families.durability import log_names
from diskproof.results.limit import IN_WORDS, Limit
from diskproof.wording import Message, say, share


def bound_by(seen: Observed, limit: Limit) -> Message:
    """Return the limit as this cell has it: ``the redo log's flush``."""
    match limit:
        case "log flush":
            logs = log_names(seen.family, seen.settings, flushed_logs(seen)) if seen.family else []
            if len(logs) > 1:
                return say("the flushes of {logs}", logs=logs)
            return say("the {log}'s flush", log=logs[0] if logs else "log")
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
