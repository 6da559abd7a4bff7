"""Places that only root may make: a plan says so as a run does, before anything else is looked at."""

import os

from diskproof.results.plan import Plan
from diskproof.storage.kinds.base import StorageError
from diskproof.study.model import Study


def check_rights(study: Study, plan: Plan) -> None:
    """Refuse a plan of an ordinary user's whose places need root; StorageError names the first of them."""
    for name in dict.fromkeys(cell.storage for cell in plan.cells):
        for choice in study.storages[name].places().values():
            if choice.zpool is not None:
                check_may_pool(f"storage `{name}`")
            if choice.block is not None:
                check_may_format(f"storage `{name}`", str(choice.block))


def check_may_pool(what: str) -> None:
    """Refuse a pool where this user may make none."""
    if os.geteuid() != 0:
        raise StorageError(f"{what}: only root may make a ZFS pool; run as root")


def check_may_format(what: str, device: str) -> None:
    """Refuse a block device where this user may format none."""
    if os.geteuid() != 0:
        raise StorageError(
            f"{what}: only root may overwrite {device}; run as root, or name a directory on it"
        )
