"""Servers of an image, in real containers of Podman: the same verbs as of an installed server."""

import os
import signal
import threading
from pathlib import Path

import pytest

from diskproof.server.base import ServerKind
from diskproof.server.registry import find
from diskproof.system.containers import remove_labelled
from diskproof.system.counters import open_files
from diskproof.system.journal import Journal
from diskproof.system.processes import Starter
from support.containers import IMAGES, podman
from support.servers import Images, connect, is_gone, start

pytestmark = pytest.mark.timeout(300)


@pytest.fixture(scope="module", params=["mysql", "postgresql"])
def contained(request: pytest.FixtureRequest, podman_here: None) -> ServerKind:  # noqa: ARG001
    family = request.param
    return find(family, name=f"contained-{family}", image=IMAGES[family])


def test_a_container_is_a_server_like_any_other(
    contained: ServerKind, disk_root: Path, starter: Starter, images: Images, journal: Journal
) -> None:
    dirs = images.restore(contained, disk_root)
    running = start(contained, dirs, starter)
    (name,) = podman("ps", "--format", "{{.Names}}").split()
    assert name.startswith(f"diskproof-{journal.mark}-")
    assert podman("inspect", "--format", "{{.HostConfig.NetworkMode}}", name).strip() == "none"
    assert [setting.name for setting in running.read_settings() if not setting.holds] == []
    with connect(running) as client:
        client.run("UPDATE sbtest1 SET c = 'changed'")
        assert client.run("SELECT COUNT(*) FROM sbtest3") == [(images.ROWS,)]
        pids = running.pids
        files = [(path, running.role_of(path)) for path, _ in open_files(pids)]
        devices = {device for path, device in open_files(pids) if running.role_of(path)}
        assert {"data", "redo"} <= {role for _, role in files}
        for path, role in files:
            assert Path(path).is_relative_to(dirs.log if role is None else dirs.of(role)), (path, role)
        assert len(devices) == 1
        cpus = {frozenset(os.sched_getaffinity(pid)) for pid in pids}
        assert cpus == {frozenset(os.sched_getaffinity(0))}
    assert running.stop(), running.log_tail()
    assert all(is_gone(pid) for pid in pids)
    assert podman("ps", "--all", "--quiet") == ""

    running = start(contained, dirs, starter)  # after a kill it recovers
    with connect(running) as client:
        client.run("UPDATE sbtest1 SET c = 'again'")
    pids = running.pids
    running.kill()
    assert all(is_gone(pid) for pid in pids)
    assert podman("ps", "--all", "--quiet") == ""
    running = start(contained, dirs, starter)
    with connect(running) as client:
        assert client.run("SELECT DISTINCT c FROM sbtest1")[0][0].strip() == "again"
    os.kill(running.pids[0], signal.SIGKILL)
    while running.alive:
        threading.Event().wait(0.01)
    running.kill()
    assert podman("ps", "--all", "--quiet") == ""


@pytest.mark.usefixtures("podman_here")
def test_containers_of_a_run_are_removed_and_others_stay() -> None:
    for label in ("diskproof=0000abcd", "diskproof=ffff0000"):
        podman("create", f"--label={label}", IMAGES["mysql"], "sh")
    assert remove_labelled("podman", "diskproof=0000abcd") == (1, None)
    assert remove_labelled("podman", "diskproof=0000abcd") == (0, None)
    assert len(podman("ps", "--all", "--quiet").split()) == 1
    podman("rm", "--all")
    assert remove_labelled("rm", "diskproof=0000abcd")[1] is not None  # a journal may name no other program
