"""`diskproof clean`: undo what a killed run left behind."""

from pathlib import Path

from diskproof.cli.exits import DONE, REFUSED
from diskproof.cli.screen import results
from diskproof.hosts.cluster import Lost, answers, connected, labs
from diskproof.run.dataset import IMAGES, remove_images
from diskproof.storage import attached
from diskproof.system.journal import clean as undo_everything
from diskproof.system.temporary import remove_left
from diskproof.wording import numbers


def clean(*, images: bool = False, out: Path = Path("runs"), hosts: bool = False) -> int:
    """End processes, unmount and remove what a killed run left behind.

    Parameters
    ----------
    images
        Remove the loaded data sets as well; the next run loads them again.
    out
        Folder for runs and for loaded data sets.
    hosts
        Do this on every host of the cluster that this machine is in; loaded data sets stay.

    """
    if hosts:
        return _clean_hosts()
    undone = [*undo_everything(), *attached.clean(), *remove_left()]
    for item in undone:
        results.print(f"{'removed' if item.done else 'still there'}: {item.what}")
    removed = remove_images(out / IMAGES) if images else []
    for folder in removed:
        results.print(f"removed: loaded data set {folder.name}")
    if not undone and not removed:
        results.print("nothing to clean")
    return DONE if all(item.done for item in undone) else REFUSED


def _clean_hosts() -> int:
    """Undo on each host what killed runs left there."""
    code = DONE
    with connected() as hosts:
        handles = labs(hosts)
        answered = answers([lab.clean.remote() for lab in handles])
        kept = answers([lab.kept.remote() for lab in handles])
        for host, undone, parts in zip(hosts, answered, kept, strict=True):
            if isinstance(undone, Lost):
                results.print(f"host {host.name}: {undone.why}")
                code = REFUSED
                continue
            for what, is_done in undone:
                results.print(f"host {host.name}: {'removed' if is_done else 'still there'}: {what}")
                code = code if is_done else REFUSED
            if not undone:
                results.print(f"host {host.name}: nothing to clean")
            if not isinstance(parts, Lost) and parts[1]:
                folder, size_bytes = parts
                results.print(
                    f"host {host.name}: {numbers.size(size_bytes)} of runs that were not completed are in "
                    f"{folder}: remove it if you resume none of them"
                )
    return code
