"""A quota holds the processes of a run, and lets them go when it is undone."""

import subprocess

import pytest

from diskproof.system.cpu_quota import CpuQuota, why_no_quota
from diskproof.system.journal import Journal
from diskproof.system.undoing import remove_cgroup


@pytest.mark.skipif(why_no_quota() is not None, reason=f"{why_no_quota()}")
def test_a_group_lets_its_processes_go_when_it_is_removed(journal: Journal) -> None:
    group = CpuQuota(0.5, 1, journal)
    with subprocess.Popen(["sleep", "60"]) as sleeper:
        group.enter([sleeper.pid, 2**22 + 1])  # the second has ended, if it ever was
        assert (group.folder / "cgroup.procs").read_text().split() == [str(sleeper.pid)]
        (undone,) = remove_cgroup({"cgroup": str(group.folder)})
        sleeper.kill()
    assert undone.done, undone
    assert not group.folder.exists()
