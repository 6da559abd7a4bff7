"""The settings that a result was measured with: as our trial read them back, or as given beside it."""

from diskproof.audit.check import Configuration, Evidence
from diskproof.audit.configuration import WHICH_SERVER, with_its_series
from diskproof.audit.durability import Risks, holding, possible_servers, risks_of, risks_where
from diskproof.results.record import NotRecordedError, recorded
from diskproof.server.durability import WAITS_FOR_FLUSH, commits_wait_for_flush
from diskproof.server.values import as_bytes
from diskproof.study.part import Family

PAGE_OF_POSTGRESQL = 8192
"""What a bare number of shared_buffers counts in (PostgreSQL documentation, Resource Consumption)."""


def given_beside(evidence: Evidence) -> Configuration:
    """Return the settings that were given beside an imported result; NotRecordedError where none were."""
    beside = evidence.beside
    settings = beside.settings if beside else None
    if beside is None or settings is None:
        raise NotRecordedError(evidence.untold_settings)
    told = settings.version or (beside.observed.version if beside.observed else None)
    named = evidence.result.levels.get("server") if evidence.result else None
    return with_its_series(Configuration(settings, beside.observed, server=told or named))


def family_in_force(evidence: Evidence) -> Family:
    """Return the server's family; NotRecordedError where nothing tells it."""
    if evidence.imported:
        return _family(given_beside(evidence))
    return recorded(evidence.server, "the server's settings").family


def waits_for_flush(evidence: Evidence) -> bool:
    """Tell whether each commit waits for its log's flush; NotRecordedError where the settings do not tell.

    The settings decide, not the level's name: a study may change any level, and name its own.
    """
    if not evidence.imported:
        family = family_in_force(evidence)
        return commits_wait_for_flush(family, _read_back(evidence))
    configuration = given_beside(evidence)
    family = _family(configuration)
    held = [holding(configuration, server) for server in possible_servers(configuration)]
    for name in WAITS_FOR_FLUSH[family]:
        if any(name not in values for values in held):
            raise NotRecordedError(f"`{name}`, which the server's answer leaves out")
    told = {commits_wait_for_flush(family, values) for values in held}
    if len(told) > 1:
        raise NotRecordedError(WHICH_SERVER)
    return told.pop()


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
