"""`diskproof disk profile`: what a directory, a block device or a virtual disk does, measured with fio."""

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from diskproof.analysis.analyse import curves_in
from diskproof.analysis.dials import Curve
from diskproof.cli.disk.bar import profile_display
from diskproof.cli.disk.late import named, punctuality
from diskproof.cli.disk.sizes import size_of
from diskproof.cli.exits import DONE, TRIAL_INVALID
from diskproof.cli.screen import results, say
from diskproof.cli.values.run import gathered
from diskproof.history.shelf import named as run_named
from diskproof.profile.measure import profile as measure
from diskproof.profile.plan import FULL, QUICK
from diskproof.refusal import RefusalError, check_writable
from diskproof.report import profile as told
from diskproof.report.compose.dials import here
from diskproof.report.compose.profile import compose
from diskproof.report.write import terminal
from diskproof.results.dial import FLUSH, Mark
from diskproof.results.profile import Profile, write_profile
from diskproof.run.dials import flush_us_like


def profile(
    place: str,
    /,
    *,
    quick: bool = False,
    size: str | None = None,
    write: str | None = None,
    only: list[str] | None = None,
    seconds: float | None = None,
    record: Annotated[Path | None, Parameter(name="--json")] = None,
    out: Path | None = None,
    mark: str | None = None,
) -> int:
    """Measure a directory, a block device or an attached virtual disk with fio.

    Parameters
    ----------
    place
        A directory (a file is made in it and removed), a block device (only read), or an attached disk.
    quick
        All kinds of cells in about half a minute: fewer queue depths, 0.3 s each.
    size
        Bytes that are used, such as `4 GiB`; default: 1 GiB, or 256 MiB with --quick.
    write
        The block device's name again, to overwrite it.
    only
        Only cells with this text in their name, such as `random-read-4k`; can be repeated.
    seconds
        Measured seconds of each cell; default: 5, or 0.3 with --quick.
    record
        Write all figures to this file as JSON.
    out
        Write profile.json, the page and the pictures to this folder.
    mark
        A run with a curve over `flush_us`, by its folder, label or study: show where this place lies on it.

    """
    curves = [one for one in curves_in(gathered(run_named(mark))) if one.key == FLUSH] if mark else []
    if mark and not curves:
        raise RefusalError(f"{mark} has no curve over `{FLUSH}`: its study varies none")
    effort = QUICK if quick else FULL
    effort = effort if seconds is None else effort.lasting(seconds)
    check_writable(record, out)
    used = effort.size_bytes if size is None else size_of("--size", size)
    attached, wanted = named(place, used, write)
    with profile_display() as watcher, punctuality(attached) as late:
        measured = measure(wanted, effort, only or (), watcher)
    measured = measured.model_copy(update={"notes": [*late.notes, *measured.notes]})
    if record:
        write_profile(record, measured)
    if out:
        for path in told.write_all(out, measured):
            say(f"written: {path}")
    terminal.write(compose(measured), results)
    if curves:
        say_where(curves, measured)
    return TRIAL_INVALID if late.invalid or any(cell.error for cell in measured.cells) else DONE


def say_where(curves: Sequence[Curve], measured: Profile) -> None:
    """Print what a run's curves say of a disk with the flush that was measured."""
    synced = measured.cell("synced-append", 4096)
    if synced is None or synced.requests is None or synced.flushes is None:
        raise RefusalError(
            "no flush was measured: leave `--only` out, and profile a place that can be written"
        )
    took_us = synced.requests.mean_us + synced.flushes.mean_us
    mark = Mark(name=measured.place.name, value=flush_us_like(took_us, curves[0].device))
    terminal.write(here(curves, mark), results)
