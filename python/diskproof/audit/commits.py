"""Whether the counted commits are durable, by the settings that a result was measured with."""

from collections.abc import Iterator
from pathlib import PurePath

from diskproof.audit.check import Evidence, NothingToCheckError, Said, Untold, check, note, warning
from diskproof.audit.data_size import BUILTIN_WRITERS
from diskproof.audit.durability import promises_safety
from diskproof.audit.in_force import risks
from diskproof.families.options import WHICH_SERVER


@check(
    "durable-commits",
    reason="A commit that a power cut may take costs less than a durable one. A rate says little if the "
    "reader does not know which was counted.",
    remedy="for durable commits: innodb_flush_log_at_trx_commit = 1, sync_binlog = 1 and "
    "innodb_doublewrite = ON (PostgreSQL: fsync, synchronous_commit and full_page_writes on); else rename "
    "the level",
    source="MySQL Reference Manual, innodb_flush_log_at_trx_commit and sync_binlog; "
    "PostgreSQL documentation, WAL settings",
)
def durable_commits(evidence: Evidence) -> Iterator[Said]:
    """Report settings that let a power cut take the counted commits; a name that promises otherwise fails."""
    evidence.needs_server("no commits, but requests for files")
    if evidence.load.writes == 0:
        raise NothingToCheckError("nothing was written, so nothing was committed")
    found = risks(evidence)
    if found.sure:
        if promise := _promise(evidence):
            yield warning(
                "{name} promises durable commits, but after a power cut {losses:/; }",
                name=promise,
                losses=found.losses,
            )
        else:
            if_any = "" if _is_known_to_write(evidence) else "if it writes, "
            yield note(
                f"{if_any}the counted commits are not durable: after a power cut {{losses:/; }}",
                "",
                losses=found.losses,
            )
    if found.untold:
        yield from (Untold("{name}", name=f"`{name}`") for name in found.untold)
    elif found.unsure or found.elsewhere:
        yield Untold(WHICH_SERVER)


def _is_known_to_write(evidence: Evidence) -> bool:
    """Tell whether writes were counted, or pgbench ran one of its own scripts that write."""
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
