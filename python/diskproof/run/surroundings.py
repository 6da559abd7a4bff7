"""What a run asks of the machine's CPUs, from before its first trial to after its last: all cells alike."""

from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass

from diskproof.results.plan import Plan
from diskproof.study.model import Study
from diskproof.system.cpus import Division, kept_to
from diskproof.system.idle import cores_awake


@dataclass(frozen=True)
class Surroundings:
    """What was asked for and is kept."""

    wake_up_us: int | None
    """Longest time to wake an idle core; None where nothing was asked for."""
    division: Division | None
    """The CPUs of server and load, and those of everything else; None where all share all."""


@contextmanager
def surrounded(study: Study, plan: Plan, division: Division | None) -> Iterator[Surroundings]:
    """Keep idle cores quick to wake, and the lab off the CPUs that are not its own.

    Virtual disks are started by the lab and stay where it is.
    """
    with _awake(study, plan) as wake_up_us, kept_to(division.others) if division else nullcontext():
        yield Surroundings(wake_up_us, division)


@contextmanager
def _awake(study: Study, plan: Plan) -> Iterator[int | None]:
    """Keep idle cores quick to wake where a storage is virtual.

    An answer of a virtual disk wakes a sleeping core; the microseconds that takes are no disk's.
    """
    storages = (study.storages[cell.storage] for cell in plan.cells)
    if any(choice.has_virtual_disks for storage in storages for choice in storage.places().values()):
        with cores_awake() as wake_up_us:
            yield wake_up_us
    else:
        yield None
