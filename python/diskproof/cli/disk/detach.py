"""`diskproof disk detach`: give a virtual disk back."""

from collections.abc import Iterator
from pathlib import Path
from typing import Annotated

import psutil
from cyclopts import Parameter

from diskproof.cli.exits import DONE, REFUSED
from diskproof.cli.screen import complain, results
from diskproof.refusal import RefusalError
from diskproof.storage.attached import Attachment, attachments
from diskproof.storage.attached import detach as detach_disk


def detach(
    name: str | None = None,
    /,
    *,
    every: Annotated[bool, Parameter(name="--all")] = False,
    force: bool = False,
) -> int:
    """Detach a virtual disk and delete its contents.

    Parameters
    ----------
    name
        The disk, as `diskproof disk list` shows it, or the device file that was attached.
    every
        Detach all disks.
    force
        Detach a disk that is in use; its users get I/O errors.

    """
    done = [_detach(one, force=force) for one in _chosen(name, every=every)]
    if not done:
        results.print("no disk is attached")
    return DONE if all(done) else REFUSED


def _chosen(name: str | None, *, every: bool) -> list[Attachment]:
    if every == (name is not None):
        raise RefusalError("name the disk to detach, or give --all")
    wanted = Path(name).stem if name and name.endswith(".toml") else name
    found = [one for one in attachments() if every or one.name == wanted]
    if not found and not every:
        names = ", ".join(one.name for one in attachments()) or "none"
        raise RefusalError(f"no disk `{name}` is attached; attached: {names}")
    return found


def _detach(attached: Attachment, *, force: bool) -> bool:
    users = _users(attached) if force else []
    try:
        left = [undone.what for undone in detach_disk(attached, force=force) if not undone.done]
    except RefusalError as refusal:
        complain(str(refusal))
        return False
    if left and users and all("loop device" in what for what in left):
        complain(
            f"disk {attached.name} is detached, but {', '.join(users)} still holds its loop device: end it, "
            "then run `diskproof clean`"
        )
    elif left:
        complain(f"disk {attached.name}: still there: {'; '.join(left)}")
    else:
        results.print(f"detached: {attached.name}")
    return not left


def _users(attached: Attachment) -> list[str]:
    """Return the processes that work in a disk or have a file open on it, as far as this user may see."""
    places = [place for place in (attached.mount_point, attached.block) if place]
    return [
        f"process {process.pid} ({process.info['name']})"
        for process in psutil.process_iter(["name"])
        if any(path.is_relative_to(place) for path in _held(process) for place in places)
    ]


def _held(process: psutil.Process) -> Iterator[Path]:
    try:
        yield Path(process.cwd())
        yield from (Path(file.path) for file in process.open_files())
    except (psutil.Error, OSError):
        return
