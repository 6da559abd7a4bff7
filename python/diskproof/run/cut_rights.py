"""Whether power cuts can be made here."""

import os

from diskproof.refusal import RefusalError
from diskproof.results.crash import OF_DISKS
from diskproof.results.plan import Plan

CUTS_NEED_ROOT = "a power cut needs loop devices and mounts: run as root"


def no_power_cuts() -> str | None:
    """Return why the power of a virtual disk cannot be cut here; None if it can."""
    if os.geteuid() == 0:
        return None
    return f"{CUTS_NEED_ROOT}; without that, losses by a power cut are not verified"


def check_may_cut(plan: Plan) -> None:
    """Refuse cuts that another machine has planned and that cannot be made here."""
    if plan.crash and no_power_cuts() and any(cut.way in OF_DISKS for cut in plan.crash.trials):
        raise RefusalError(CUTS_NEED_ROOT)
