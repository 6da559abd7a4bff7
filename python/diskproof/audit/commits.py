"""Whether commits that were counted last: by the settings that a result was measured with."""

from collections.abc import Iterator
from pathlib import PurePath

from diskproof.audit.check import Apart, Evidence, Problem, Said, Untold, check
from diskproof.audit.configuration import WHICH_SERVER
from diskproof.audit.durability import promises_safety
from diskproof.audit.in_force import risks
from diskproof.audit.told_data import BUILTIN_WRITERS


@check(
    "durable-commits",
    reason="A commit that a power cut may take costs less than one that stays: a rate tells little without "
    "which of the two was counted.",
    remedy="for commits that stay: innodb_flush_log_at_trx_commit = 1, sync_binlog = 1 and "
    "innodb_doublewrite = ON (PostgreSQL: fsync, synchronous_commit and full_page_writes on); else call the "
    "level what it is",
    source="MySQL Reference Manual, innodb_flush_log_at_trx_commit and sync_binlog; "
    "PostgreSQL documentation, WAL settings",
)
def durable_commits(evidence: Evidence) -> Iterator[Said]:
    """Say which settings let a power cut take what was counted; a name that promises otherwise fails."""
    if not evidence.cell.has_server:
        yield Apart("no commits, but requests for files")
        return
    if evidence.load.writes == 0:
        yield Apart("nothing was written, so that nothing was committed")
        return
    found = risks(evidence)
    if found.sure:
        taken = "; ".join(found.said)
        if promise := _promise(evidence):
            yield Problem("warning", f"{promise} promises that commits stay, but after a power cut {taken}")
        else:
            counted = "what it counts are no durable commits"
            if not _is_known_to_write(evidence):
                counted = f"if it writes, {counted}"
            yield Problem("note", f"{counted}: after a power cut {taken}", "")
    if found.untold:
        yield Untold(" and ".join(f"`{name}`" for name in found.untold))
    elif found.unsure:
        yield Untold(WHICH_SERVER)


def _is_known_to_write(evidence: Evidence) -> bool:
    """Tell whether writes were counted, or pgbench ran a script of its own that writes."""
    told, mix = evidence.trial.imported, (evidence.load.mix or "").casefold()
    by_pgbench = told is not None and told.format == "pgbench"
    return bool(evidence.load.writes) or (by_pgbench and mix.startswith(BUILTIN_WRITERS))


def _promise(evidence: Evidence) -> str | None:
    """Return the name of a level or a file that promises safety."""
    if promises_safety(evidence.cell.tuning):
        return f"level `{evidence.cell.tuning}`"
    told = evidence.trial.imported
    name = PurePath(told.file).name if told else ""
    return f"the name `{name}`" if promises_safety(name) else None
