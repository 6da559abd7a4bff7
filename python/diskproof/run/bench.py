"""What the trials of one run share."""

import subprocess
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from diskproof.refusal import RefusalError
from diskproof.results.folder import RunFolder
from diskproof.results.machine import Place
from diskproof.run.dataset import GoldenImages
from diskproof.server.base import ServerKind
from diskproof.storage.layout import Layout
from diskproof.storage.virtual import Slowness
from diskproof.study.model import Study
from diskproof.system.processes import Starter

MISHAPS = (RefusalError, OSError, subprocess.SubprocessError)
"""What goes wrong with a server, a load or a disk: a trial's finding, never the run's end."""


@dataclass(frozen=True)
class Bench:
    """All that the trials of one run share."""

    study: Study
    seed: int
    folder: RunFolder
    starter: Starter
    """Starts servers and loads: on the CPUs that the study holds them to."""
    onlooker: Starter
    """Starts what looks on: beside them."""
    cpus: tuple[int, ...]
    """CPUs that servers and loads are held to; empty where the study holds them to none."""
    sockets: Path
    """A short private folder for the server's socket."""
    servers: dict[str, ServerKind]
    layouts: dict[str, Layout]
    places: list[Place]
    images: GoldenImages
    slowness: Mapping[str, Slowness] = field(default_factory=dict)
    """What virtual disks, by their names, take beyond what their models say while clients are at work."""
