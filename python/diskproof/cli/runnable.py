"""A study as this machine can run it."""

import os
from pathlib import Path

from diskproof.cli.screen import say
from diskproof.run.option_files import with_option_files
from diskproof.server.choice import with_present_servers
from diskproof.study.read import StudyFile, read_study


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
