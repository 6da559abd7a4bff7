"""`diskproof host list`: the hosts of the cluster."""

from rich.table import Table

from diskproof.cli.screen import results
from diskproof.hosts.cluster import connected, in_words


def listing() -> None:
    """List the hosts of the cluster that this machine is in, or of RAY_ADDRESS."""
    with connected() as hosts:
        table = Table(box=None, pad_edge=False)
        for column in ("host", "address", "versions"):
            table.add_column(column)
        for host in hosts:
            found = ", ".join(in_words(host.versions)) if host.versions else "not known"
            table.add_row(host.name, host.address, f"{found} (! {host.differs})" if host.differs else found)
        results.print(table)
