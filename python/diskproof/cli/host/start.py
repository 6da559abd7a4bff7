"""`diskproof host start --head`: make this machine the head of a cluster."""

from pathlib import Path

from diskproof.cli.host.membership import AS_USUAL, Joining
from diskproof.cli.screen import results
from diskproof.hosts.membership import start_head
from diskproof.refusal import RefusalError


def start(*, head: bool = False, token_file: Path = Path("token"), choice: Joining = AS_USUAL) -> None:
    """Make this machine the head of a cluster, and a host of it.

    Parameters
    ----------
    head
        Confirm that this machine is to be the head.
    token_file
        File with the secret of the cluster. It is made if it does not exist. Whoever has it can run
        programs on every host.

    """
    if not head:
        raise RefusalError("`host start` makes the head of a cluster: add --head. Others use `host join`")
    member = start_head(choice.label, token_file, choice.address, choice.first_port, choice.out)
    results.print(f"host `{member.name}` is the head, at {member.head}")
    results.print(
        "copy the token file to each other host over ssh, then run there: "
        f"diskproof host join {member.head} --token-file {token_file}",
        soft_wrap=True,
    )
