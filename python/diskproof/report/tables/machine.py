"""Where it was measured: the machine, the servers, the places and their devices."""

from diskproof.report import words
from diskproof.report.tables.table import Column, Table
from diskproof.results.machine import Machine, Place, PoolFacts


def machine(facts: Machine) -> Table:
    """Return a row a fact of the machine."""
    rows = (
        ("Host", facts.host),
        ("CPU", f"{facts.cpu_model}, {words.count(facts.cpus, 'CPU')} usable"),
        *_held_cpus(facts),
        ("CPU governor", facts.governor or "not visible"),
        *_idle_cores(facts),
        ("Memory", words.size(facts.memory_bytes)),
        ("Virtual machine", facts.virtualised or "no sign of one"),
        ("System", f"{facts.distribution}, {facts.kernel}"),
        ("Privileged", "yes" if facts.privileged else "no"),
        ("diskproof", facts.diskproof_version),
        ("diskproof-load", facts.load_version),
        *([("fio", facts.fio_version)] if facts.fio_version else []),
    )
    return Table((Column("Fact"), Column("Value")), rows)


def _held_cpus(facts: Machine) -> list[tuple[str, str]]:
    """Say which CPUs were set aside for server and load, where any were, and which were left to the rest."""
    if not facts.held_cpus:
        return []
    numbers = ", ".join(map(str, facts.held_cpus))
    others = facts.cpus - len(facts.held_cpus) - len(facts.idle_cpus)
    rest = (
        f"virtual disks and diskproof on the {'other' if others == 1 else f'{others} others'}"
        if others
        else "virtual disks and diskproof on the same"
    )
    if facts.idle_cpus:
        rest += f"; nothing on the other threads of these cores ({', '.join(map(str, facts.idle_cpus))})"
    return [("Server and load", f"{words.count(len(facts.held_cpus), 'CPU')} ({numbers}); {rest}")]


def _idle_cores(facts: Machine) -> list[tuple[str, str]]:
    """Say that idle cores were kept from deep sleep, where they were: no other run need compare."""
    if facts.idle_wake_up_us is None:
        return []
    return [("Idle cores", f"asked to wake within {facts.idle_wake_up_us} us, for virtual disks")]


def servers(facts: Machine) -> Table:
    """Return a row a server under test."""
    rows = tuple(
        (server.name, f"{server.flavour} {server.version}", server.binary or "inside the load generator")
        for server in facts.servers
    )
    return Table((Column("Server"), Column("Version"), Column("Program")), rows)


def places(facts: Machine) -> Table:
    """Return a row a role of a storage: where it lies and on what."""
    columns = ("Storage", "Role", "Path", "File system", "Mounted at", "Options", "Device")
    rows = tuple(
        (
            place.storage,
            place.role,
            place.path,
            place.filesystem,
            place.mount_point,
            place.mount_options,
            f"{_device_name(place)} ({place.device_number})",
        )
        for place in facts.places
    )
    return Table(tuple(map(Column, columns)), rows)


def devices(facts: Machine) -> Table:
    """Return a row a block device that a role lies on."""
    found = {place.device.name: place.device for place in facts.places if place.device}
    columns = ("Device", "Model", "Size", "Kind", "Write cache", "Scheduler", "Logical block")
    kinds = {True: "rotating", False: "not rotating", None: words.NOT_OBSERVED}
    rows = tuple(
        (
            device.name,
            device.model or words.NOT_OBSERVED,
            words.size(device.size_bytes),
            kinds[device.rotational],
            device.write_cache or words.NOT_OBSERVED,
            device.scheduler or words.NOT_OBSERVED,
            words.size(device.logical_block_bytes),
        )
        for device in found.values()
    )
    return Table(tuple(map(Column, columns)), rows)


def _device_name(place: Place) -> str:
    if place.device and place.virtual:
        return f"{place.device.name}, virtual: {place.virtual.title}"
    if place.device:
        return place.device.name
    if place.pool:
        return _pool_name(place.pool)
    if place.virtual:
        return f"virtual: {place.virtual.title}"
    return "main memory" if place.kind == "ram" else "no single device"


def _pool_name(pool: PoolFacts) -> str:
    """Say what a pool is made of: ``zfs-fuse pool: data on loop0 (seagate), log on loop2 (ocz)``."""
    members = ", ".join(f"{member.part} on {member.device.name} ({member.disk})" for member in pool.members)
    return f"{pool.flavour} pool: {members}"
