"""`diskproof disk attach`: a virtual disk that stays until it is detached."""

from pathlib import Path
from typing import Annotated, Literal

from cyclopts import Parameter

from diskproof.cli.disk.detach import still_there
from diskproof.cli.disk.sizes import size_of
from diskproof.cli.exits import DONE
from diskproof.cli.screen import results, say
from diskproof.refusal import RefusalError
from diskproof.storage.attached import Attachment, Wanted
from diskproof.storage.attached import attach as attach_disk
from diskproof.study.design import DILATIONS
from diskproof.study.part import NAME_PATTERN
from diskproof.wording.numbers import size as sized


def attach(
    device: str,
    /,
    *,
    size: str | None = None,
    filesystem: Literal["ext4", "xfs", "btrfs"] = "ext4",
    none: bool = False,
    mount: Path | None = None,
    contents: Path | None = None,
    image: Path | None = None,
    memory_limit: str | None = None,
    name: Annotated[str | None, Parameter(name="--as")] = None,
    seed: int = 1,
    dilation: int = 1,
    below_floor: bool = False,
) -> int:
    """Attach a virtual disk as a block device, by default with a file system on it.

    Parameters
    ----------
    device
        A name that `diskproof disk list` shows, or the path of a device file that ends in .toml.
    size
        Size of the disk, such as `8 GiB`; default: the whole device.
    filesystem
        File system to make and mount.
    none
        No file system: the bare block device.
    mount
        Directory to mount it at, empty or absent; default: /run/diskproof/NAME.
    contents
        Keep the bytes in this new sparse file instead of main memory; it is deleted with the disk.
    image
        File with the first contents of the disk, such as an image of a file system; it is only read.
    memory_limit
        Most memory for the contents, such as `16 GiB`; writes beyond it fail. Default: three quarters of
        the free memory.
    name
        Name of the disk, needed if one device is attached twice.
    seed
        Seed of the model's random draws.
    dilation
        How many times slower time passes for this disk, up to 64, so that this machine can serve it;
        `disk profile` and `disk clone` measure it in its own time.
    below_floor
        Attach a device that is faster than this machine can serve; its figures are then too slow.

    """
    if seed < 0:
        raise RefusalError(f"--seed takes a number from 0, not {seed}")
    if not 1 <= dilation <= DILATIONS[-1]:
        raise RefusalError(f"--dilation takes a number from 1 to {DILATIONS[-1]}, not {dilation}")
    wanted = Wanted(
        device=device,
        name=_name(device, name),
        size_bytes=None if size is None else size_of("--size", size),
        filesystem=None if none else filesystem,
        mount_point=mount,
        contents=contents,
        image=image,
        memory_limit_bytes=None if memory_limit is None else size_of("--memory-limit", memory_limit),
        seed=seed,
        dilation=dilation,
        below_floor=below_floor,
    )
    if none and mount:
        raise RefusalError("--none makes no file system, so nothing can be mounted: leave out --mount")
    _tell(attach_disk(wanted, lambda undone: still_there(wanted.name, undone.what)))
    return DONE


def _name(device: str, name: str | None) -> str:
    chosen = name
    if chosen is None:
        file = device.partition("?")[0]
        chosen = Path(file).stem if file.endswith(".toml") else file
    if not NAME_PATTERN.fullmatch(chosen):
        raise RefusalError(
            f"`{chosen}` cannot name a disk: give up to 40 letters, digits, dots, dashes or underscores with "
            "--as"
        )
    return chosen


def _tell(attached: Attachment) -> None:
    facts = attached.facts
    rows = [("disk", f"{attached.name}: {facts.title}, {sized(facts.size_bytes)}")]
    rows.append(("block device", str(attached.block)))
    if attached.mount_point:
        rows.append(("mounted", f"{attached.mount_point} ({attached.filesystem})"))
    if attached.dilation > 1:
        rows.append(("time", f"{attached.dilation} times slower"))
    rows.append(("detach with", f"diskproof disk detach {attached.name}"))
    for what, shown in rows:
        results.print(f"{what:13} {shown}", soft_wrap=True)
    for known in filter(None, (facts.label, *attached.warnings)):
        say(f"note: {known}")
