"""A study as this machine can run it."""

import os
import shlex
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from cyclopts import Parameter

from diskproof.cli.screen import say
from diskproof.results.plan import Plan
from diskproof.run.option_files import with_option_files
from diskproof.server.choice import with_present_servers
from diskproof.study.plan import make_plan
from diskproof.study.read import StudyFile, read_study

OUT = Path("runs")


@Parameter(name="*")
@dataclass(frozen=True, kw_only=True)
class Choice:
    """What `plan`, `run` and `crash` take of a study, and where the run goes."""

    scale: str | None = None
    """One of the study's scales; default: the study's own choice."""
    only: list[str] | None = None
    """Only cells with this text in their id; can be repeated."""
    basedir: list[str] | None = None
    """Folder of one of the study's servers, as NAME=DIR; can be repeated."""
    out: Path = OUT
    """Folder for runs and for loaded data sets."""

    def read(self, study: Path) -> StudyFile:
        """Read a study as this machine can run it."""
        return read_study_here(study, self.scale, self.basedir)

    def plan(self, file: StudyFile) -> Plan:
        """Return the plan of the chosen cells."""
        return make_plan(file, self.only, no_power_cuts())

    def resuming(self, verb: str, study: Path, further: Sequence[str] = ()) -> str:
        """Return the command that resumes a run: with the same cells on the same servers."""
        words = ["diskproof", verb, str(study), *further]
        words += ["--scale", self.scale] if self.scale else []
        words += [word for part in self.only or [] for word in ("--only", part)]
        words += [word for part in self.basedir or [] for word in ("--basedir", part)]
        words += ["--out", str(self.out)] if self.out != OUT else []
        return shlex.join([*words, "--resume"])


WHOLE = Choice()


def read_study_here(study: Path, scale: str | None, basedirs: list[str] | None) -> StudyFile:
    """Read a study at a scale, without the optional servers that this machine does not have.

    `basedirs` are the folders of servers, each ``NAME=DIR``.
    """
    present = with_present_servers(read_study(study, scale), basedirs or [])
    for name, reason in present.reasons.items():
        say(f"server `{name}` is optional and left out: {reason}")
    file = with_option_files(present.file)
    for note in file.notes:
        say(note)
    return file


CUTS_NEED_ROOT = "a power cut needs loop devices and mounts: run as root"


def no_power_cuts() -> str | None:
    """Return why the power of a virtual disk cannot be cut here; None if it can."""
    if os.geteuid() == 0:
        return None
    return f"{CUTS_NEED_ROOT}; without that, losses by a power cut are not verified"
