"""What all trials of a run share."""

from collections.abc import Iterable, Mapping
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field
from pathlib import Path

from diskproof.refusal import RefusalError
from diskproof.results.folder import RunFolder
from diskproof.results.machine import Place
from diskproof.run.dataset import GoldenImages
from diskproof.run.elsewhere import Loaders
from diskproof.server.base import ServerKind
from diskproof.server.given import GivenServer
from diskproof.storage.layout import Layout
from diskproof.storage.places import Places
from diskproof.storage.virtual import Slowness
from diskproof.study.model import Study
from diskproof.system.cpu_quota import CpuQuota
from diskproof.system.dilation import REAL, TrialTime
from diskproof.system.processes import Starter
from diskproof.system.programs import ProgramError

MISHAPS = (RefusalError, OSError, ProgramError)
"""Failures of a server, a load or a disk: a finding of the trial, never the end of the run."""


RUNTIME = Path("/tmp")  # noqa: S108 - short, for sockets
"""Where a run has its folder of sockets."""


@dataclass(frozen=True)
class Bench:
    """What all trials of a run share."""

    study: Study
    seed: int
    folder: RunFolder
    starter: Starter
    """Starts servers and loads, on the CPUs that the study gives them."""
    onlooker: Starter
    """Starts the programs that observe, on the other CPUs."""
    cpus: tuple[int, ...]
    """CPUs of servers and loads; empty if the study sets none."""
    sockets: Path
    """A short private folder for the server's socket."""
    servers: dict[str, ServerKind]
    """Those that the lab starts."""
    given: dict[str, GivenServer]
    """Those that are there already."""
    layouts: dict[str, Layout]
    storages: Places
    """What the layouts are made of."""
    places: list[Place]
    images: GoldenImages
    time: TrialTime = REAL
    """The time of the trials, which may pass slower than the machine's."""
    quota: CpuQuota | None = None
    """What holds server and load to their share of the CPUs' time; None: they have all of it."""
    elsewhere: Loaders | None = None
    """The machines of the load; None: it runs on this one."""
    lane: int = 1
    """Which of the cuts that are made at once have this bench."""
    turn: AbstractContextManager[object] = field(default_factory=nullcontext)
    """Held while the clients of a cut commit: others start and recover meanwhile."""
    slowness: Mapping[str, Slowness] = field(default_factory=dict)
    """Extra time of virtual disks, by name, while clients are at work."""

    @property
    def clock(self) -> Path:
        """The library that slows a server's clocks, where every server's user may read it."""
        return self.sockets.parent / "clock.so"

    def hold(self, processes: Iterable[int]) -> None:
        """Hold processes to the share of the CPUs' time that server and load have."""
        if self.quota is not None:
            self.quota.enter(processes)
