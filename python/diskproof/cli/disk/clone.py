"""`diskproof disk clone`: a device file that behaves like a disk of the user's."""

from dataclasses import replace
from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from diskproof.cli.disk.bar import fit_display, profile_display
from diskproof.cli.disk.late import named, punctuality
from diskproof.cli.disk.sizes import size_of
from diskproof.cli.exits import DONE, TRIAL_INVALID
from diskproof.cli.screen import results, say
from diskproof.profile.clone.cells import FULL, QUICK
from diskproof.profile.clone.make import make
from diskproof.profile.clone.material import WHOLE_DISK, Material, measure
from diskproof.profile.place import FEWEST_BYTES
from diskproof.profile.plan import Effort
from diskproof.refusal import RefusalError, check_writable
from diskproof.report.compose.clone import compose
from diskproof.report.write import terminal
from diskproof.results.durable import write_whole
from diskproof.wording import numbers


def clone(
    place: str,
    /,
    *,
    out: Annotated[Path, Parameter(name=["--out", "-o"])],
    quick: bool = False,
    write: str | None = None,
    size: str | None = None,
    seconds: float | None = None,
    title: str | None = None,
    record: Annotated[Path | None, Parameter(name="--json")] = None,
) -> int:
    """Measure a disk, and write a device file that behaves like it.

    Parameters
    ----------
    place
        A directory (a file is made in it and removed), a block device (only read), or an attached disk.
    out
        The device file to write; its name ends in .toml.
    quick
        A minute and a half to measure, not ten; the fit comes after it. Much longer on a busy machine.
    write
        The block device's name again, to overwrite it; otherwise all that concerns writes is assumed.
    size
        Bytes that are used, such as `4 GiB`; default: 1 GiB, or 256 MiB with --quick.
    seconds
        Measured seconds of each cell; default: 5, or 0.8 with --quick.
    title
        Title of the device file.
    record
        Write all figures to this file as JSON.

    """
    if out.suffix != ".toml":
        raise RefusalError(f"a device file's name ends in .toml: -o {out.name}.toml")
    check_writable(out, None)
    check_writable(record, None)
    effort = _effort(quick=quick, size=size, seconds=seconds)
    material, invalid = measured(place, effort, write)
    with fit_display() as tell:
        made = make(material, str(out), title, tell)
    write_whole(out, made.text)
    if record:
        write_whole(record, made.clone.model_dump_json(indent=1) + "\n")
    terminal.write(compose(made.clone), results)
    say(f"written: {out}")
    return TRIAL_INVALID if invalid else DONE


def _effort(*, quick: bool, size: str | None, seconds: float | None) -> Effort:
    effort = QUICK if quick else FULL
    used = effort.size_bytes if size is None else size_of("--size", size)
    if used < FEWEST_BYTES:
        raise RefusalError(f"a clone needs at least {numbers.size(FEWEST_BYTES)}; raise --size")
    return effort.within(used) if seconds is None else effort.within(used).lasting(seconds)


def measured(place: str, effort: Effort, write: str | None) -> tuple[Material, bool]:
    """Measure a place; return what was found, and whether a cell failed or a virtual disk was late."""
    attached, wanted = named(place, effort.size_bytes, write)
    if (wanted.at or Path(place)).is_block_device():
        wanted = replace(wanted, size_bytes=WHOLE_DISK)
    with profile_display() as watcher, punctuality(attached) as late:
        material = measure(wanted, effort, watcher)
    failed = material.profile is not None and any(cell.error for cell in material.profile.cells)
    return material.with_notes(late.notes), late.invalid or failed
