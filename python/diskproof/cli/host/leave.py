"""`diskproof host leave`: end what `start` or `join` started."""

from diskproof.cli.screen import results
from diskproof.hosts.membership import leave as leave_cluster


def leave() -> None:
    """End what `start` or `join` started on this machine."""
    results.print(f"host `{leave_cluster()}` has left")
