"""What runs on a host, in a worker of Ray."""

import os
import time
from pathlib import Path

from diskproof import load
from diskproof.hosts.membership import OUT, versions
from diskproof.refusal import RefusalError
from diskproof.results.record import Record
from diskproof.storage import attached
from diskproof.storage.kinds.base import free_bytes, nearest
from diskproof.system.journal import AnotherRunError, clean


class HostFacts(Record):
    """What a host says of itself."""

    versions: str
    time_s: float
    """Its clock: seconds since 1970."""
    free_bytes: int
    """Room for its parts of runs."""
    out: str
    why_no_load: str | None = None
    """Why the load generator does not run; None: it does."""


class HostLab:
    """The lab of one host, as the head calls it."""

    def facts(self) -> HostFacts:
        """Return what the head must know before it begins."""
        try:
            load.version()
            why = None
        except RefusalError as refused:
            why = str(refused)
        out = _out()
        return HostFacts(
            versions=versions(),
            time_s=time.time(),
            free_bytes=free_bytes(nearest(out)),
            out=str(out),
            why_no_load=why,
        )

    def clean(self) -> list[tuple[str, bool]]:
        """Undo what killed runs left; return what, and whether it is done."""
        try:
            return [(item.what, item.done) for item in [*clean(), *attached.clean()]]
        except AnotherRunError as error:
            return [(str(error), False)]


def _out() -> Path:
    """Return the folder of this host's parts: as `host join --out` names it, or one in the user's home."""
    named = os.environ.get(OUT)
    return Path(named) if named else Path.home() / "diskproof-runs"
