"""The settings that a result was measured with: as our trial read them back, or as given beside it."""

from diskproof.audit.check import Apart, Configuration, Evidence
from diskproof.audit.configuration import WHICH_SERVER, with_its_series
from diskproof.audit.durability import Risks, holding, possible_servers, risks_of, risks_where
from diskproof.audit.option_facts import server_named
from diskproof.results.imported import Beside
from diskproof.results.plan import Cell
from diskproof.results.record import NotRecordedError, recorded
from diskproof.server.durability import WAITS_FOR_FLUSH, Awaited, awaited_flush
from diskproof.server.values import as_bytes
from diskproof.study.part import Family

PAGE_OF_POSTGRESQL = 8192
"""What a bare number of shared_buffers counts in (PostgreSQL documentation, Resource Consumption)."""


NO_WAITING: dict[Awaited, Apart] = {
    "binary log": Apart("commits wait for the binary log's flush alone, which is not counted here"),
    "nothing": Apart("no commit waits for a flush, by the settings"),
}
"""Why there is nothing to look at where commits do not wait for their log's flush."""


def given_beside(evidence: Evidence) -> Configuration:
    """Return the settings that were given beside an imported result; NotRecordedError where none were."""
    beside = evidence.beside
    settings = beside.settings if beside else None
    if beside is None or settings is None:
        raise NotRecordedError(evidence.untold_settings)
    return with_its_series(
        Configuration(settings, beside.observed, server=server_beside(beside, evidence.cell))
    )


def server_beside(beside: Beside, cell: Cell) -> str | None:
    """Return family and version of the server that settings are for, by themselves or by the cell's level."""
    told = next((one.version for one in (beside.settings, beside.observed) if one and one.version), None)
    named = cell.server if server_named(cell.server).flavour else None
    return told or named


def family_in_force(evidence: Evidence) -> Family:
    """Return the server's family; NotRecordedError where nothing tells it."""
    if evidence.imported:
        return _family(given_beside(evidence))
    return recorded(evidence.server, "the server's settings").family


def without_waiting(evidence: Evidence) -> Apart | None:
    """Return why no commit waits for its log's flush; None where each does.

    NotRecordedError where the settings do not tell. They decide, not the level's name: a study may change any
    level, and name its own.
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
    for name in WAITS_FOR_FLUSH[family]:
        if any(name not in values for values in held):
            raise NotRecordedError(f"`{name}`, which the server's answer leaves out")
    found = {awaited_flush(family, values) for values in held}
    if len(found) > 1:
        raise NotRecordedError(WHICH_SERVER)
    return recorded(found.pop(), "`sync_binlog` or `log_bin`, which the server's answer leaves out")


def risks(evidence: Evidence) -> Risks:
    """Return what of the settings lets a power cut take commits; NotRecordedError where none are known."""
    if evidence.imported:
        return risks_of(given_beside(evidence))
    return risks_where(family_in_force(evidence), _read_back(evidence))


def pool_bytes(evidence: Evidence) -> float:
    """Return the size of the memory that a server keeps pages in; NotRecordedError where nothing tells it."""
    if evidence.cell.memory_bytes or not evidence.imported:
        return evidence.cell.memory_bytes
    configuration = given_beside(evidence)
    name = "shared_buffers" if _family(configuration) == "postgresql" else "innodb_buffer_pool_size"
    values = holding(configuration, possible_servers(configuration)[0])
    told = (values.get(name) or "").strip()
    size = recorded(as_bytes(told), f"the size of the buffer pool (`{name}`)")
    return size * PAGE_OF_POSTGRESQL if name == "shared_buffers" and told.isdecimal() else size


def _family(configuration: Configuration) -> Family:
    return "postgresql" if possible_servers(configuration)[0].is_postgresql else "mysql"


def _read_back(evidence: Evidence) -> dict[str, str | None]:
    """Return what the server of our own trial answered."""
    if not evidence.trial.settings:
        raise NotRecordedError("the server's settings")
    return {setting.name: setting.observed for setting in evidence.trial.settings}
