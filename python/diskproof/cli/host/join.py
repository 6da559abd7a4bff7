"""`diskproof host join`: make this machine a host of a cluster."""

from pathlib import Path

from diskproof.cli.host.membership import AS_USUAL, Joining
from diskproof.cli.screen import results
from diskproof.hosts.membership import join as join_cluster


def join(head: str, /, *, token_file: Path, choice: Joining = AS_USUAL) -> None:
    """Make this machine a host of a cluster.

    Parameters
    ----------
    head
        Address of the head, as ADDRESS or ADDRESS:PORT.
    token_file
        A copy of the head's token file, readable by you alone.

    """
    member = join_cluster(head, choice.label, token_file, choice.address, choice.first_port, choice.out)
    results.print(f"host `{member.name}` at {member.address} has joined {member.head}")
