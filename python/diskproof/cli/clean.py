"""`diskproof clean`: undo what a killed run left behind."""

from pathlib import Path

from diskproof.cli.exits import DONE, REFUSED
from diskproof.cli.screen import results, say
from diskproof.run.dataset import IMAGES, remove_images
from diskproof.storage import attached
from diskproof.system.journal import clean as undo_everything


def clean(*, images: bool = False, out: Path = Path("runs")) -> int:
    """End processes, unmount and remove what a killed run left behind.

    Parameters
    ----------
    images
        Remove the loaded data sets as well; the next run loads them again.
    out
        Folder for runs and for loaded data sets.

    """
    undone = [*undo_everything(lambda command: say(f"running `{command}`")), *attached.clean()]
    for item in undone:
        results.print(f"{'removed' if item.done else 'still there'}: {item.what}")
    removed = remove_images(out / IMAGES) if images else []
    for folder in removed:
        results.print(f"removed: loaded data set {folder.name}")
    if not undone and not removed:
        results.print("nothing to clean")
    return DONE if all(item.done for item in undone) else REFUSED
