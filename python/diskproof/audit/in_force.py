"""The settings of a measurement: as our trial read them back, or as given beside an imported result."""

from collections.abc import Iterator
from pathlib import PurePath

from diskproof.audit.check import (
    Apart,
    Configuration,
    Evidence,
    NothingToCheckError,
    Said,
    Untold,
    check,
    note,
    warning,
)
from diskproof.audit.configuration import server_of, with_its_groups
from diskproof.audit.data_size import BUILTIN_WRITERS
from diskproof.audit.durability import (
    Risks,
    holding,
    possible_servers,
    promises_safety,
    risks_of,
    risks_where,
)
from diskproof.families import Family, of
from diskproof.families.durability import Awaited, awaited_flush
from diskproof.families.options import WHICH_SERVER, server_named
from diskproof.families.values import as_bytes
from diskproof.results.imported import Beside
from diskproof.results.plan import Cell
from diskproof.results.record import NotRecordedError, recorded

NO_WAITING: dict[Awaited, Apart] = {
    "binary log": Apart("commits only wait for the binary log's flush, which is not counted here"),
    "nothing": Apart("with these settings no commit waits for a flush"),
}
"""Why there is nothing to check if commits do not wait for their log's flush."""


def given_beside(evidence: Evidence) -> Configuration:
    """Return the settings that were given beside an imported result; NotRecordedError if none were."""
    beside = evidence.beside
    settings = beside.settings if beside else None
    if beside is None or settings is None:
        raise NotRecordedError((beside or Beside()).missing())
    return with_its_groups(
        Configuration(settings, beside.observed, server=server_beside(beside, evidence.cell))
    )


def server_beside(beside: Beside, cell: Cell) -> str | None:
    """Return family and version of the settings' server, from the settings or from the cell's level."""
    told = next((one.version for one in (beside.settings, beside.observed) if one and one.version), None)
    named = cell.server if server_named(cell.server).flavour else None
    return told or named


def family_in_force(evidence: Evidence) -> Family:
    """Return the server's family; NotRecordedError if nothing says it."""
    if evidence.imported:
        return _family(given_beside(evidence))
    return recorded(evidence.server, "the server's settings").family


def without_waiting(evidence: Evidence) -> Apart | None:
    """Return why no commit waits for its log's flush; None if each does.

    NotRecordedError if the settings do not say. They decide, not the level's name: a study may change levels
    and name its own.
    """
    awaited = _awaited(evidence)
    return None if awaited == "log" else NO_WAITING[awaited]


def _awaited(evidence: Evidence) -> Awaited:
    if not evidence.imported:
        told = awaited_flush(family_in_force(evidence), _read_back(evidence))
        return recorded(told, "which settings of durability the server had")
    configuration = given_beside(evidence)
    family = _family(configuration)
    held = [holding(configuration, server) for server in possible_servers(configuration)]
    facts = of(family)
    for values in held:
        for name, need in facts.needs(values).items():
            if need.log == facts.log_roles[0] and name not in values:
                raise NotRecordedError(f"`{name}`, which the server's answer leaves out")
    found = {awaited_flush(family, values) for values in held}
    if len(found) > 1:
        raise NotRecordedError(WHICH_SERVER)
    return recorded(found.pop(), "`sync_binlog` or `log_bin`, which the server's answer leaves out")


def risks(evidence: Evidence) -> Risks:
    """Return which settings let a power cut take commits; NotRecordedError if none are known."""
    if evidence.imported:
        return risks_of(given_beside(evidence))
    return risks_where(family_in_force(evidence), _read_back(evidence))


def pool_bytes(evidence: Evidence) -> float:
    """Return the size of a server's buffer pool; NotRecordedError if nothing says it."""
    if evidence.elsewhere:
        return _pool_read_back(evidence)
    if evidence.cell.memory_bytes or not evidence.imported:
        return evidence.cell.memory_bytes
    configuration = given_beside(evidence)
    facts = of(_family(configuration))
    values = holding(configuration, possible_servers(configuration)[0])
    asked = (values.get(facts.memory_variable) or "").strip()
    size = recorded(as_bytes(asked), f"the size of the buffer pool (`{facts.memory_variable}`)")
    return size * facts.memory_unit_bytes if asked.isdecimal() else size


def _pool_read_back(evidence: Evidence) -> float:
    """Return the size of the pool that a server of its own had: ``134217728``, ``16384 x 8kB``."""
    name = of(family_in_force(evidence)).memory_variable
    amount, _, unit = (_read_back(evidence).get(name) or "").partition(" x ")
    size = recorded(as_bytes(amount), f"the size of the buffer pool (`{name}`)")
    return size * (as_bytes(unit) or 1)


def _family(configuration: Configuration) -> Family:
    return server_of(configuration).family


def _read_back(evidence: Evidence) -> dict[str, str | None]:
    """Return what the server of our own trial answered."""
    if not evidence.trial.settings:
        raise NotRecordedError("the server's settings")
    return {setting.name: setting.observed for setting in evidence.trial.settings}


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
