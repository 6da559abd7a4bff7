"""`diskproof disk verify`: a virtual disk held against what was published of the real one."""

from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from diskproof.cli.disk.bar import profile_display
from diskproof.cli.exits import DONE, TRIAL_INVALID
from diskproof.cli.screen import results
from diskproof.profile.verify import Order
from diskproof.profile.verify import verify as hold_against
from diskproof.refusal import RefusalError
from diskproof.report.profile import files, verification
from diskproof.results.durable import write_whole

MIN_SECONDS, MAX_SECONDS = 0.1, 3600.0


def verify(
    device: str,
    /,
    *,
    simulate: bool = False,
    seconds: float = 10.0,
    below_floor: bool = False,
    seed: int = 1,
    record: Annotated[Path | None, Parameter(name="--json")] = None,
) -> int:
    """Hold a virtual disk against what was published of the real one.

    Parameters
    ----------
    device
        A name that `diskproof disk list` shows, or the path of a device file that ends in .toml.
    simulate
        Ask the model alone, in virtual time; needs neither root nor fio.
    seconds
        Measured seconds of each probe, after a fifth as much that is not.
    below_floor
        Serve a device that is faster than this machine can.
    seed
        Seed of every draw of the model.
    record
        Write all figures to this file as JSON.

    """
    if not MIN_SECONDS <= seconds <= MAX_SECONDS:
        raise RefusalError(f"--seconds takes {MIN_SECONDS:g} to {MAX_SECONDS:g}, not {seconds:g}")
    if seed < 0:
        raise RefusalError(f"--seed takes a number from 0, not {seed}")
    files.check_writable(record, None)
    order = Order(
        device, seconds=seconds, ramp_s=seconds / 5, serve=not simulate, below_floor=below_floor, seed=seed
    )
    with profile_display() as watcher:
        made = hold_against(order, watcher)
    if record:
        write_whole(record, made.model_dump_json(indent=1) + "\n")
    verification.render(made, results)
    return TRIAL_INVALID if made.late or made.failed else DONE
