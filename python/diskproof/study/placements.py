"""The places of an SSD beside a disk, by name: each stands for ordinary places, which a study could name too.

The six are those of Koltsidas and Viglas ("Data Management over Flash Memory", SIGMOD 2011), (a) to (f).
"""

from typing import Literal, get_args

from diskproof.results.record import Role
from diskproof.study.places import Composed, PlaceChoice
from diskproof.study.pools import Disk, Pool, PoolProperties

Placement = Literal[
    "ssd-as-storage",
    "ssd-as-cache",
    "ssd-as-block-cache",
    "log-on-ssd",
    "disk-as-write-cache",
    "tmp-on-ssd",
    "log-and-tmp-on-ssd",
]

PLACEMENTS: tuple[Placement, ...] = get_args(Placement)

LOGS: tuple[Role, ...] = ("redo", "binlog")
"""What a commit waits for: were one of them left on the disk, the disk would still decide."""

ON_SSD: dict[Placement, tuple[Role, ...]] = {
    "ssd-as-storage": ("data", "redo", "binlog", "tmp"),
    "log-on-ssd": LOGS,
    "tmp-on-ssd": ("tmp",),
    "log-and-tmp-on-ssd": (*LOGS, "tmp"),
}
"""The roles on the SSD, for placements that only move roles."""


def expand(
    placement: Placement, disk: PlaceChoice | None, ssd: PlaceChoice | None, pool: PoolProperties | None
) -> dict[Role, PlaceChoice]:
    """Return the places that a placement stands for; ValueError says what is missing or in the way.

    A role that is not in the answer is where `data` is.
    """
    if ssd is None:
        raise ValueError(f'`placement = "{placement}"` needs `ssd`, a place such as `{{ virtual = "…" }}`')
    if pool is not None and placement != "ssd-as-cache":
        raise ValueError(f'`pool` has no meaning for `placement = "{placement}"`, which makes no pool')
    if placement == "ssd-as-storage":
        if disk is not None:
            raise ValueError('`placement = "ssd-as-storage"` puts everything on the SSD: leave `disk` out')
        return {"data": ssd}
    if disk is None:
        raise ValueError(f'`placement = "{placement}"` needs `disk`, the place that the SSD helps')
    if disk.key == ssd.key:
        raise ValueError("`disk` and `ssd` are the same place")
    if placement == "ssd-as-cache":
        return {"data": PlaceChoice(zpool=_cached(disk, ssd, pool or PoolProperties()))}
    if placement == "ssd-as-block-cache":
        return {"data": _composed("block-cache", front=ssd, back=disk)}
    if placement == "disk-as-write-cache":
        return {"data": _composed("write-cache", front=disk, back=ssd)}
    return {"data": disk, **dict.fromkeys(ON_SSD[placement], ssd)}


def _cached(disk: PlaceChoice, ssd: PlaceChoice, properties: PoolProperties) -> Pool:
    """Return a pool of a disk, with one SSD as its log (ZIL) and its cache (L2ARC)."""
    data, fast = _whole(disk), _whole(ssd)
    given = {key: getattr(properties, key) for key in properties.model_fields_set}
    return Pool(data=[data], log=[fast], cache=[fast], **given)


def _composed(
    how: Literal["block-cache", "write-cache"], front: PlaceChoice, back: PlaceChoice
) -> PlaceChoice:
    """Return one virtual disk made of two; the file system's keys are those of the disk behind."""
    for place in (front, back):
        if place.virtual is None:
            raise ValueError(f"`{place.kind}` cannot be composed: only virtual disks can")
    if strange := sorted(front.model_fields_set - {"virtual"}):
        raise ValueError(f"`{strange[0]}` has no meaning for the disk in front: give it to the disk behind")
    keys = {key: getattr(back, key) for key in back.model_fields_set - {"virtual"}}
    return PlaceChoice(composed=Composed(how=how, front=str(front.virtual), back=str(back.virtual)), **keys)


def _whole(place: PlaceChoice) -> Disk:
    """Return a place as a disk that a pool may have whole."""
    if place.kind == "virtual":
        keys = {"virtual", "size", "label", "below_floor"}
    elif place.kind == "block":
        keys = {"block", "format", "overwrite"}
    else:
        raise ValueError(
            f"`{place.kind}` cannot be a disk of a pool: use a whole virtual disk or block device, "
            "without a file system"
        )
    if strange := sorted(place.model_fields_set - keys):
        raise ValueError(
            f"`{strange[0]}` has no meaning for a disk of a pool, which has no file system of its own"
        )
    return Disk(**{key: getattr(place, key) for key in place.model_fields_set & keys})
