"""Which of the first studies `quickstart` is: of a server that this user can start."""

import os

import pytest

from diskproof.cli import runnable
from diskproof.families import Family
from diskproof.server.registry import Installed, find


@pytest.mark.parametrize(
    ("here", "user", "mounts", "chosen"),
    [
        (("mysql", "postgresql", "sqlite"), 0, True, "quickstart"),
        (("mysql", "postgresql", "sqlite"), 1000, False, "quickstart-postgresql"),
        (("mysql", "sqlite"), 1000, False, "quickstart"),
        (("mysql",), 1000, False, "quickstart"),
        (("postgresql", "sqlite"), 1000, False, "quickstart-postgresql"),
        (("postgresql", "sqlite"), 0, True, "quickstart-sqlite"),
        (("sqlite",), 1000, False, "quickstart-sqlite"),
    ],
)
def test_the_first_study_is_of_a_server_that_this_user_can_start(
    monkeypatch: pytest.MonkeyPatch, here: tuple[Family, ...], user: int, mounts: bool, chosen: str
) -> None:
    facts = find("sqlite").facts
    monkeypatch.setattr(runnable, "installed", lambda: (Installed(one, facts) for one in here))
    monkeypatch.setattr(runnable, "can_mount", lambda: mounts)
    monkeypatch.setattr(os, "geteuid", lambda: user)
    assert runnable.quickstart() == chosen
