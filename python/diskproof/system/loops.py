"""Loop devices, as the kernel lists them."""

import time
from pathlib import Path

BLOCKS = Path("/sys/block")

RELEASE_S = 5.0
"""How long a loop device may take to let go of its file: udev looks at each that changes."""


def loops_on(backing_file: Path) -> list[Path]:
    """Return the loop devices that lie on a file, which need not be readable any more."""
    return [
        Path("/dev") / folder.name for folder in BLOCKS.glob("loop*") if _backing(folder) == str(backing_file)
    ]


def wait_until_free(device: Path, backing_file: Path) -> bool:
    """Wait until a loop device that was told to detach has let go of its file; False if it does not."""
    until = time.monotonic() + RELEASE_S
    while _backing(BLOCKS / device.name) == str(backing_file):
        if time.monotonic() > until:
            return False
        time.sleep(0.01)
    return True


def _backing(folder: Path) -> str | None:
    try:
        return (folder / "loop/backing_file").read_text().rstrip("\n")
    except OSError:
        return None
