"""What `host start` and `host join` share."""

from dataclasses import dataclass
from pathlib import Path

from cyclopts import Parameter

from diskproof.hosts.membership import FIRST_PORT


@Parameter(name="*")
@dataclass(frozen=True, kw_only=True)
class Joining:
    """How a machine belongs to a cluster."""

    label: str | None = None
    """What studies call this host; default: its host name."""
    address: str | None = None
    """This machine's own address among the hosts; default: that of the way to the head."""
    first_port: int = FIRST_PORT
    """First of the 60 ports that the host uses; they must be open between the hosts, and to nobody else."""
    out: Path = Path("runs")
    """Folder for this host's part of runs and for loaded data sets."""


AS_USUAL = Joining()
