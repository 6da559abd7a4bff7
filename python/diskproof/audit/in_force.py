"""The settings of a measurement: as our trial read them back, or as given beside an imported result."""

from diskproof.audit.check import Apart, Configuration, Evidence
from diskproof.audit.configuration import server_of, with_its_groups
from diskproof.audit.durability import Risks, holding, possible_servers, risks_of, risks_where
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
