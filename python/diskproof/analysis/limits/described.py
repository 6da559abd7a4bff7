"""The words of a cell's limit: what bounds it, the device or party concerned, and the main figures."""

from collections.abc import Sequence

from diskproof.analysis.limits.disks import DATA, first_known, holding
from diskproof.analysis.limits.observed import Observed
from diskproof.analysis.limits.records import PartName, Signal, Split
from diskproof.analysis.limits.signals.computing import cpus_busy, each_client
from diskproof.analysis.limits.split import flushed_logs
from diskproof.analysis.limits.thresholds import FULL_SHARE, LITTLE, MOST
from diskproof.families.durability import log_names
from diskproof.results.limit import IN_WORDS, Limit
from diskproof.results.usage import Party
from diskproof.wording import Message, say, share, us

PARTIES: dict[Party, str] = {
    "server": "the server",
    "load": "the load generator",
    "disks": "the virtual disks",
}


def where_of(seen: Observed, limit: Limit | None) -> str | None:
    """Return the device, role or party that a limit is about; None if there is none."""
    storage = seen.cell.storage
    match limit:
        case "log flush":
            roles = flushed_logs(seen)
            return f"{storage} ({', '.join(roles)})" if roles else storage
        case "data reads" | "page writes":
            return f"{storage} (data)"
        case "disk":
            return storage
        case "CPU":
            used = seen.cpu.shares
            return PARTIES[max(used, key=lambda party: used[party])] if len(used) > 1 else None
        case _:
            return None


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


def evidence_of(
    seen: Observed, limit: Limit, signals: Sequence[Signal], split: Split | None
) -> list[Message]:
    """Return the main figures behind a limit: its part of a transaction's time, else its signals."""
    supporting = [one.says for one in signals if one.limit == limit and one.supports]
    if limit == "load generator" and seen.loaders is not None:
        return supporting[:2]
    if limit in ("CPU", "load generator"):
        return _computing(seen, limit, supporting, split)
    part = _part_of_time(seen, limit, split) if split else None
    found = [part] if part else supporting[:2]
    if seen.cpu.busy is None or limit == "arrivals":
        return found
    others = seen.cpu.others_share or 0.0
    form = "the CPUs are {busy} busy"
    if seen.bare:
        return [*found, say(f"{form} with this load", busy=share(seen.cpu.busy))]
    if others >= MOST:
        form += ", {others} of that with other work on the machine"
        return [*found, say(form, busy=share(seen.cpu.busy), others=share(others))]
    return [*found, say(form, busy=share(seen.cpu.busy))]


WAITS: dict[Limit, PartName] = {
    "log flush": "log flush",
    "data reads": "data reads",
    "locks": "locks",
    "network": "network",
}


def _part_of_time(seen: Observed, limit: Limit, split: Split) -> Message | None:
    part_us = split.part(WAITS[limit]) if limit in WAITS else 0.0
    whole_us = seen.latency_us if limit == "locks" else seen.own_us
    if not part_us or not whole_us:
        return None
    work = "transaction" if seen.transactional else "statement"
    if limit == "log flush":
        what = "commit" if seen.statements.commit_us is not None else "write that commits itself"
        commits = max(seen.commits_per_s / seen.per_s if seen.commits_per_s and seen.per_s else 1.0, 1.0)
        waits = say("each {what} waits {time} for the disk", what=what, time=us(part_us / commits))
    elif limit == "network":
        form = "a transaction waits {time} for its {n:2} round trips"
        waits = say(form, time=us(part_us), n=seen.statement_count or 0.0)
    elif limit == "locks":
        waits = say("a transaction waits {time} for them", time=us(part_us))
    else:
        waits = say("a {work} waits {time} for pages from the disk", work=work, time=us(part_us))
        if each_us := first_known((seen.disks, seen.virtual), DATA, lambda disk: disk.read.mean_us):
            waits = say("{waits}, {each} a read", waits=waits, each=us(each_us))
    form = "{waits}, {part} of a {work}"
    if seen.queue_us is not None and limit != "locks":
        form += " once it is its turn to write"
    return say(form, waits=waits, part=share(min(part_us / whole_us, 1.0)), work=work)


def _computing(
    seen: Observed, limit: Limit, supporting: Sequence[Message], split: Split | None
) -> list[Message]:
    busy = seen.cpu.busy or 0.0
    if busy >= FULL_SHARE or limit == "load generator":
        said = [_with_parties(seen, cpus_busy(seen.cpu.count, busy))]
        return [*said, supporting[-1]] if limit == "load generator" and len(supporting) > 1 else said
    said = []
    if seen.cpu.each_client is not None and seen.cpu.count:
        keeps = say(
            "{who} keeps {n:2} of {cpus} CPUs busy",
            who=each_client(seen),
            n=min(seen.cpu.each_client, 1.0),
            cpus=seen.cpu.count,
        )
        said.append(_with_parties(seen, keeps))
    if split is not None:
        computed = us(split.part("CPU", "waiting for a CPU"))
        form = "the database computes {time} of a transaction's {whole}"
        said.append(say(form, time=computed, whole=us(split.latency_us)))
    return said


def _with_parties(seen: Observed, busy: Message) -> Message:
    """Add who has the CPU time, including other work on the machine if it has much of it."""
    others = seen.cpu.others_share or 0.0
    others = others if others >= LITTLE else 0.0
    shares = {PARTIES[party]: part * (1 - others) for party, part in seen.cpu.shares.items()}
    shares |= {"other work on the machine": others} if others else {}
    if len(shares) < 2:
        return busy
    largest = sorted(shares.items(), key=lambda item: -item[1])
    parties = [say("{who} {part}", who=who, part=share(part)) for who, part in largest]
    return say("{busy} (of that {parties:/, })", busy=busy, parties=parties)
