"""The one sentence about a cell's limit, with its evidence."""

from collections.abc import Callable

from diskproof.analysis.evidence import FULL_SHARE
from diskproof.analysis.limits.demands import parties_of_cpu
from diskproof.analysis.limits.imagine import read_us
from diskproof.analysis.limits.name import Named
from diskproof.analysis.limits.observed import Observed, commits
from diskproof.analysis.limits.shapes import Part, PartName, Split, WhatIf
from diskproof.analysis.limits.signals.judge import LITTLE, MOST
from diskproof.analysis.limits.split import flushed_logs
from diskproof.analysis.limits.words import cpus_busy, milliseconds, sentence_case, share
from diskproof.analysis.words import clients
from diskproof.results.limit import Limit

_NAMES = {"redo": "redo", "binlog": "binary"}

PARTIES = {"server": "the server", "load": "the load generator", "disks": "the virtual disks"}


def sentence_of(seen: Observed, named: Named, split: Split | None, what_if: WhatIf | None) -> str:
    """Return what holds a cell back, how that shows, and what a change would give."""
    if named.limit is None:
        others = seen.others_share or 0.0
        beside = f" Other work on the machine had {share(others)} of the CPU time." if others >= MOST else ""
        return f"not established: {named.missing}.{beside}"
    said = f"{_bound(seen, named.limit)}: {_evidence(seen, named, split)}."
    return f"{said} {sentence_case(what_if.says)}" if what_if else said


def where_of(seen: Observed, limit: Limit | None) -> str | None:
    """Return the device, role or party that a limit is about; None of none."""
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
            used = parties_of_cpu(seen)
            return PARTIES[max(used, key=lambda party: used[party])] if len(used) > 1 else None
        case _:
            return None


def _bound(seen: Observed, limit: Limit) -> str:
    match limit:
        case "log flush":
            return f"bound by {_log(seen)} flush"
        case "data reads":
            return "bound by data reads"
        case "page writes":
            return "bound by the writing of pages"
        case "CPU":
            return "bound by the CPUs" if (seen.cpu_busy or 0.0) >= FULL_SHARE else "bound by computing"
        case "locks":
            return "bound by locks"
        case "load generator":
            return "bound by the load generator, not by the database"
        case "arrivals":
            return "bound by nothing but the rate that the study sets"
        case "disk":
            return "bound by the disk"


def _evidence(seen: Observed, named: Named, split: Split | None) -> str:
    match named.limit:
        case "log flush":
            told = _part(seen, split, "log flush", _commit_waits)
        case "data reads":
            told = _part(seen, split, "data reads", _reads_wait)
        case "locks":
            told = _part(seen, split, "locks", _locks_wait)
        case "CPU" | "load generator":
            return _computing(seen, named, split)
        case _:
            told = None
    speaking = [one.says for one in named.signals if one.limit == named.limit and one.supports]
    return "; ".join([*([told] if told else speaking[:2]), *_cpu_beside(seen)])


def _part(
    seen: Observed, split: Split | None, name: PartName, say: Callable[[Observed, Part], str]
) -> str | None:
    part = next((one for one in split.parts if one.name == name), None) if split else None
    whole = seen.own_us if name != "locks" else seen.latency_us
    if part is None or not whole:
        return None
    work = "transaction" if seen.transactional else "statement"
    said = f"{say(seen, part)}, {share(min(part.mean_us / whole, 1.0))} of a {work}"
    if seen.queue_us is not None and name != "locks":
        return f"{said} once it is its turn to write"
    return said


def _commit_waits(seen: Observed, part: Part) -> str:
    commit = "commit" if seen.time_in(commits) is not None else "write that commits itself"
    each = seen.commits_per_s / seen.per_s if seen.commits_per_s and seen.per_s else 1.0
    return f"each {commit} waits {milliseconds(part.mean_us / max(each, 1.0))} for the disk"


def _reads_wait(seen: Observed, part: Part) -> str:
    each = read_us(seen)
    of_each = f", {milliseconds(each)} a read" if each else ""
    work = "transaction" if seen.transactional else "statement"
    return f"a {work} waits {milliseconds(part.mean_us)} for pages from the disk{of_each}"


def _locks_wait(_: Observed, part: Part) -> str:
    return f"a transaction waits {milliseconds(part.mean_us)} for them"


def _computing(seen: Observed, named: Named, split: Split | None) -> str:
    of_whom = _of_whom(seen)
    busy = seen.cpu_busy or 0.0
    if busy >= FULL_SHARE or named.limit == "load generator":
        speaking = [one.says for one in named.signals if one.limit == named.limit and one.supports]
        own = f"; {speaking[-1]}" if named.limit == "load generator" and len(speaking) > 1 else ""
        return f"{cpus_busy(seen.side.cpus, busy)}{of_whom}{own}"
    each = seen.cpus_each or 0.0
    who = "the one client" if seen.inside == 1 else f"each of {clients(str(seen.inside))}"
    taken = _taken(split)
    return f"{who} keeps {min(each, 1.0):.2g} of {seen.side.cpus} CPUs busy{of_whom}{taken}"


def _of_whom(seen: Observed) -> str:
    """Say who has the CPU time, other work on the machine included where it has much of it."""
    used, others = parties_of_cpu(seen), seen.others_share or 0.0
    others = others if others >= LITTLE else 0.0
    told = {PARTIES[party]: part * (1 - others) for party, part in used.items()}
    told |= {"other work on the machine": others} if others else {}
    if len(told) < 2:
        return ""
    said = [f"{who} {share(part)}" for who, part in sorted(told.items(), key=lambda item: -item[1])]
    return f" (of that {', '.join(said)})"


def _taken(split: Split | None) -> str:
    if split is None:
        return ""
    computed = sum(part.mean_us for part in split.parts if part.name in ("CPU", "waiting for a CPU"))
    whole = milliseconds(split.latency_us)
    return f"; the database computes {milliseconds(computed)} of a transaction's {whole}"


def _cpu_beside(seen: Observed) -> list[str]:
    busy, others = seen.cpu_busy, seen.others_share or 0.0
    if busy is None:
        return []
    beside = f", {share(others)} of that with other work on the machine" if others >= MOST else ""
    beside = " with this load" if seen.bare else beside
    return [f"the CPUs are {share(busy)} busy{beside}"]


def _log(seen: Observed) -> str:
    match seen.family:
        case "mysql":
            logs = flushed_logs(seen)
            return "the redo and binary logs'" if len(logs) > 1 else f"the {_NAMES[logs[0]]} log's"
        case "postgresql":
            return "the WAL's"
        case "sqlite":
            wal = (seen.setting("journal_mode") or "").casefold() == "wal"
            return "the write-ahead log's" if wal else "the journal's"
        case None:
            return "the log's"
