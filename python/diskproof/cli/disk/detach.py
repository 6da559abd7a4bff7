"""`diskproof disk detach`: give a virtual disk back."""

from pathlib import Path
from typing import Annotated

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
    try:
        left = [undone.what for undone in detach_disk(attached, force=force) if not undone.done]
    except RefusalError as refusal:
        complain(str(refusal))
        return False
    if left:
        still_there(attached.name, *left)
    else:
        results.print(f"detached: {attached.name}")
    return not left


def still_there(name: str, *left: str) -> None:
    """Complain about what of a disk could not be removed."""
    complain(f"disk {name}: still there: {'; '.join(left)}: end what uses it, then run `diskproof clean`")
