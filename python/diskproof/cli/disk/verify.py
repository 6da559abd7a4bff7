"""`diskproof disk verify`: a virtual disk beside the published figures of the real one."""

from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from diskproof.cli.disk.bar import profile_display
from diskproof.cli.exits import DONE, TRIAL_INVALID
from diskproof.cli.screen import results
from diskproof.profile.verify import Order
from diskproof.profile.verify import verify as hold_against
from diskproof.refusal import RefusalError
from diskproof.report.compose.verification import compose
from diskproof.report.profile import check_writable
from diskproof.report.write import terminal
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
    """Compare a virtual disk with the published figures of the real one.

    Parameters
    ----------
    device
        A name that `diskproof disk list` shows, or the path of a device file that ends in .toml.
    simulate
        Run the model alone, in virtual time; needs neither root nor fio.
    seconds
        Measured seconds of each probe, after a warm-up of a fifth of that.
    below_floor
        Serve a device even if it is faster than this machine can serve.
    seed
        Seed of the model's random draws.
    record
        Write all figures to this file as JSON.

    """
    if not MIN_SECONDS <= seconds <= MAX_SECONDS:
        raise RefusalError(f"--seconds takes {MIN_SECONDS:g} to {MAX_SECONDS:g}, not {seconds:g}")
    if seed < 0:
        raise RefusalError(f"--seed takes a number from 0, not {seed}")
    check_writable(record, None)
    order = Order(
        device, seconds=seconds, ramp_s=seconds / 5, serve=not simulate, below_floor=below_floor, seed=seed
    )
    with profile_display() as watcher:
        made = hold_against(order, watcher)
    if record:
        write_whole(record, made.model_dump_json(indent=1) + "\n")
    terminal.write(compose(made), results)
    return TRIAL_INVALID if made.late or made.failed else DONE
