"""A study as it can be run on this machine."""

import os
from pathlib import Path

from diskproof.cli.screen import say
from diskproof.server.choice import with_present_servers
from diskproof.study.read import StudyFile, read_study


def read_study_here(study: Path, scale: str | None, basedirs: list[str] | None) -> StudyFile:
    """Read a study at a scale, and leave out, with a word on stderr, the optional servers that are not here.

    `basedirs` are the folders of servers, each ``NAME=DIR``.
    """
    present = with_present_servers(read_study(study, scale), basedirs or [])
    for name, reason in present.reasons.items():
        say(f"server `{name}` is left out, as the study allows: {reason}")
    return present.file


def no_power_cuts() -> str | None:
    """Say why the power of a virtual disk cannot be cut here; None where it can."""
    if os.geteuid() == 0:
        return None
    return (
        "a power cut needs loop devices and mounts, which an ordinary user has not: run as root; until then "
        "what a power cut loses here is not verified"
    )
