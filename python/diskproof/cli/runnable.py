"""A study as this machine can run it."""

import os
import re
import shlex
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from pathlib import Path

from cyclopts import Parameter

from diskproof.cli.screen import say
from diskproof.cli.values.options import options
from diskproof.history.shelf import RUNS, folders
from diskproof.refusal import RefusalError
from diskproof.results.plan import Plan
from diskproof.run.capacity import fitting
from diskproof.run.cut_rights import no_power_cuts
from diskproof.run.option_files import with_option_files
from diskproof.run.slower import with_dilation, without_late
from diskproof.server.choice import with_present_servers
from diskproof.server.registry import installed
from diskproof.storage.kinds.ram import can_mount
from diskproof.study.design import AT_MOST_S
from diskproof.study.plan import make_plan
from diskproof.study.read import StudyFile, read_study
from diskproof.study.shipped import shipped


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
    out: Path = RUNS
    """Folder for runs and for loaded data sets."""
    hosts: bool = False
    """Use the machines of the study's [hosts], each of which has joined with `diskproof host`."""

    def read(self, study: Path, *, to_cut: bool = False, resume: bool = False) -> StudyFile:
        """Read a study as this machine can run it, or resume it; `to_cut` adds a `[crash]` if it has none."""
        kept = None
        if resume and (runs := folders([self.out / named(study).stem])):
            from diskproof.results.folder import RunFolder  # noqa: PLC0415 - few plans are of a run

            kept = RunFolder.open(runs[0]).plan().dials or None
        return read_study_here(study, self.scale, self.basedir, to_cut=to_cut, kept=kept)

    def resuming(self, verb: str, study: Path, further: Sequence[str] = ()) -> str:
        """Return the command that resumes a run: with the same cells on the same servers."""
        words = ["diskproof", verb, str(study), *further]
        words += ["--scale", self.scale] if self.scale else []
        words += [word for part in self.only or [] for word in ("--only", part)]
        words += [word for part in self.basedir or [] for word in ("--basedir", part)]
        words += ["--out", str(self.out)] if self.out != RUNS else []
        words += ["--hosts"] if self.hosts else []
        return shlex.join([*words, "--resume"])


WHOLE = Choice()

UNITS_S = {"s": 1.0, "m": 60.0, "min": 60.0, "h": 3600.0}


@Parameter(name="*")
@dataclass(frozen=True, kw_only=True)
class TimedChoice(Choice):
    """What `plan` and `run` take: also how long the trials go on."""

    until_decided: bool = False
    """After the study's blocks, go on until each verdict is decided."""
    at_most: str | None = None
    """Time that the trials may take then, such as 90s, 20m or 2h; default: 20m."""

    def plan(self, file: StudyFile) -> Plan:
        """Return the plan of the chosen cells."""
        made = make_plan(file, self.only, no_power_cuts(), self._at_most_s(file), over_hosts=self.hosts)
        return fitting(file.study, made)

    def resuming(self, verb: str, study: Path, further: Sequence[str] = ()) -> str:
        """Return the command that resumes a run: with as much time."""
        timed = ["--until-decided"] if self.until_decided else []
        timed += ["--at-most", self.at_most] if self.at_most is not None else []
        return super().resuming(verb, study, [*further, *timed])

    def _at_most_s(self, file: StudyFile) -> float | None:
        """Return how long a run goes on until its verdicts are decided; None: a fixed number of blocks."""
        design = file.study.design
        if self.until_decided and design.precision is not None:
            raise RefusalError("the study's `precision` says when the run ends: leave --until-decided out")
        if not self.until_decided and design.decided_within_s is None:
            if self.at_most is not None:
                raise RefusalError(
                    "--at-most needs --until-decided, or `until` or `precision` in the study's [design]"
                )
            return None
        if self.at_most is None:
            return design.decided_within_s or AT_MOST_S
        time = re.fullmatch(r"([0-9]{1,6}(?:\.[0-9]{1,3})?) ?(s|m|min|h)", self.at_most)
        if time is None or not (time_s := float(time[1]) * UNITS_S[time[2]]):
            raise RefusalError(f"--at-most is a time such as 90s, 20m or 2h, not `{self.at_most}`")
        return time_s


WHOLE_TIMED = TimedChoice()


def named(study: Path) -> Path:
    """Return a study's file, or one that comes along: `NAME`, or `studies/NAME.toml` as in the pages."""
    if study.exists():
        return study
    name = str(study).removeprefix("studies/").removesuffix(".toml")
    return shipped().get(quickstart() if str(study) == "quickstart" else name, study)


def quickstart() -> str:
    """Return the first study for this machine: of the first family that is installed; SQLite is always there.

    PostgreSQL refuses to run as root, and another user may not reach root's folders. MariaDB maps a log in
    /dev/shm into memory, so a user who may not mount a tmpfs would compare more than two storages.
    """
    here = (found.family for found in installed() if found.facts)  # MariaDB is looked for first
    is_root, first = os.geteuid() == 0, next(here, "sqlite")
    if first == "mysql" and (is_root or can_mount() or next(here, "") != "postgresql"):
        return "quickstart"
    return "quickstart-sqlite" if is_root or first == "sqlite" else "quickstart-postgresql"


def read_study_here(
    study: Path,
    scale: str | None,
    basedirs: list[str] | None,
    *,
    to_cut: bool = False,
    kept: Collection[str] | None = None,
) -> StudyFile:
    """Read a study at a scale, without the optional servers that this machine does not have.

    `basedirs` are the folders of servers, each ``NAME=DIR``; `kept` the values of a varied disk that a run
    to be resumed has.
    """
    present = with_present_servers(read_study(named(study), scale, to_cut=to_cut), basedirs or [])
    file = without_late(with_dilation(with_option_files(present, options)), kept)
    for note in file.notes:
        say(note)
    return file
