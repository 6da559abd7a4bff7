"""Whether the transactions of a cell would have outlived a power cut, as far as its record shows."""

from collections.abc import Iterator

from diskproof.analysis.gather import Audited, Gathered
from diskproof.analysis.prices.shapes import NotDurable
from diskproof.audit import storage
from diskproof.families import of
from diskproof.families.durability import at_risk, roles_needed
from diskproof.results.machine import Machine, Place, ServerFacts
from diskproof.results.plan import Cell
from diskproof.wording import say


def find_not_durable(gathered: Gathered, cell: Cell) -> NotDurable | None:
    """Return why acknowledged commits of a cell may be lost in a power cut, or None if nothing shows it.

    The running servers' answers, the places of the files and the findings of the checks count, not the
    tuning's name. A disk is trusted to keep what it has flushed: only a power cut proves that.
    """
    machine = gathered.machine_of(cell)
    server = machine.server(cell.server) if machine else None
    for one in gathered.valid(cell):
        if one.load.writes == 0:
            return NotDurable(kind="reads only", why=say("nothing is committed: it only reads"))
        if machine is None or server is None:
            return NotDurable(kind="not recorded", why=say("what the server is was not recorded"))
        found = next(_found(one, machine, server, cell), None)
        if found:
            return found
    return None


def _found(one: Audited, machine: Machine, server: ServerFacts, cell: Cell) -> Iterator[NotDurable]:
    observed = {setting.name: setting.observed for setting in one.trial.settings}
    needed = roles_needed(server.family, observed)
    places = [
        at for at in one.trial.places or machine.places if at.storage == cell.storage and at.role in needed
    ]
    if in_memory := [at.role for at in places if _in_memory(at)]:
        why = say("main memory: {roles} lost with the power", roles=in_memory)
        yield NotDurable(kind="main memory", why=why)
    if unflushed := [
        say("{role} (`{option}`)", role=at.role, option=at.barriers_off) for at in places if at.barriers_off
    ]:
        why = say("commits may be lost: no flush reaches the disk of {roles}", roles=unflushed)
        yield NotDurable(kind="commits may be lost", why=why)
    engine = one.trial.data.engine if one.trial.data else None
    if engine and not of(server.family).has_commits(engine):
        why = say("{engine} has no durable commits", engine=engine)
        yield NotDurable(kind="no durable commits", why=why)
    if loose := at_risk(server.family, observed):
        settings = [
            say("{name} is {value}", name=name, value=value or "not known") for name, value in loose.items()
        ]
        why = say("commits may be lost: {settings:/, }", settings=settings)
        yield NotDurable(kind="commits may be lost", why=why)
    if any(found.check == storage.physics.name and found.severity != "note" for found in one.findings):
        why = say("commits may be lost: see the finding `physics`")
        yield NotDurable(kind="commits may be lost", why=why)


def _in_memory(place: Place) -> bool:
    return place.in_memory or (place.virtual is not None and not place.virtual.survives_without_power)
