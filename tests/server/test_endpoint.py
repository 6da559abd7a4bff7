"""Servers that take connections from another machine: one address, TLS, and the account of the run alone."""

import shutil
import socket
import subprocess
from pathlib import Path

import pytest

from diskproof import load
from diskproof.server.base import DATABASE, ServerError, ServerFailedError, ServerKind
from diskproof.server.endpoint import AUTHORITY, CERTIFICATE, Endpoint, listens_on, make_door
from diskproof.server.postgresql import PostgresqlServer, find_postgresql, options
from diskproof.system.processes import Starter
from support.servers import Images, connect

ADDRESS = "127.0.0.9"
"""Clients on this machine that connect to it come from 127.0.0.1."""

QUESTION = "SELECT count(*) FROM sbtest1;\n"


def free_port() -> int:
    with socket.create_server((ADDRESS, 0)) as one:
        return int(one.getsockname()[1])


@pytest.fixture
def endpoint(tmp_path: Path) -> Endpoint:
    if shutil.which("openssl") is None:
        pytest.skip("no openssl")
    tmp_path.chmod(0o700)
    return make_door(tmp_path, ADDRESS, free_port(), ["127.0.0.1"])


def ask(url: str, folder: Path, password: str | None) -> str:
    """Run the question through diskproof-load; return what it says of its failure, or nothing."""
    (folder / "question.sql").write_text(QUESTION)
    argv = [str(load.program()), "run", "script", "--file", str(folder / "question.sql"), "--url", url]
    ended = subprocess.run(
        [*argv, "--transactions", "5"],
        check=False,
        capture_output=True,
        text=True,
        env={"DISKPROOF_PASSWORD": password} if password is not None else {},
    )
    return ended.stderr if ended.returncode else ""


def test_only_the_account_of_the_run_comes_in(
    process_kind: ServerKind, root: Path, starter: Starter, images: Images, endpoint: Endpoint
) -> None:
    dirs = images.restore(process_kind, root)
    settings = process_kind.settings(
        dirs, level="safest", memory_bytes=64 * 2**20, max_clients=8, variables={}
    )
    if process_kind.facts.version.startswith("5.6"):
        with pytest.raises(ServerError, match=r"has no TLS 1\.2"):
            process_kind.opened(settings, endpoint)
        return
    running = process_kind.start(dirs, process_kind.opened(settings, endpoint), starter)
    try:
        assert listens_on(running.pids) == {(ADDRESS, endpoint.port)}
        assert all(setting.holds for setting in running.read_settings())
        url = endpoint.url(process_kind.facts.family, DATABASE)
        trusted = url.replace(AUTHORITY, str(endpoint.folder / CERTIFICATE))
        assert ask(trusted, endpoint.folder, endpoint.password) == ""
        assert "enied" in ask(trusted, endpoint.folder, "wrong") or "failed" in ask(
            trusted, endpoint.folder, "wrong"
        )
        plain = url.partition("?")[0]
        assert ask(plain, endpoint.folder, endpoint.password) != ""
        assert ask(running.url, endpoint.folder, None) == ""  # the lab's own way in
        superuser = trusted.replace("diskproof@", "root@" if "mysql:" in url else "postgres@")
        assert ask(superuser, endpoint.folder, None) != ""
        assert ask(superuser, endpoint.folder, endpoint.password) != ""
        with pytest.raises(OSError):
            socket.create_connection(("127.0.0.1", endpoint.port), timeout=2)
        kept = [path for path in dirs.log.rglob("*") if path.is_file()]
        assert kept
        assert not [path for path in kept if endpoint.password.encode() in path.read_bytes()]
        # Another certificate for the same address is not believed.
        other = endpoint.folder / "other"
        other.mkdir()
        make_door(other, ADDRESS, endpoint.port, [])
        assert "certificate" in ask(
            url.replace(AUTHORITY, str(other / CERTIFICATE)), endpoint.folder, endpoint.password
        )
    finally:
        running.stop()
    assert listens_on(running.pids) == set()


def test_a_server_that_listens_elsewhere_too_is_ended(
    root: Path, starter: Starter, images: Images, endpoint: Endpoint, monkeypatch: pytest.MonkeyPatch
) -> None:
    kind = PostgresqlServer(find_postgresql(), "postgresql")
    everywhere = {"listen_addresses": f"{ADDRESS},127.0.0.1", "port": str(endpoint.port)}
    monkeypatch.setattr(options, "_endpoint", lambda *_: everywhere)
    dirs = images.restore(kind, root)
    settings = kind.settings(dirs, level="fast", memory_bytes=64 * 2**20, max_clients=8, variables={})
    with pytest.raises(ServerFailedError, match=f"should listen on {ADDRESS}:{endpoint.port} alone"):
        kind.start(dirs, kind.opened(settings, endpoint), starter)


def test_without_a_door_there_is_no_port(
    process_kind: ServerKind, root: Path, starter: Starter, images: Images
) -> None:
    dirs = images.restore(process_kind, root)
    settings = process_kind.settings(dirs, level="fast", memory_bytes=64 * 2**20, max_clients=8, variables={})
    running = process_kind.start(dirs, settings, starter)
    try:
        assert listens_on(running.pids) == set()
        with connect(running) as client:
            assert client.run("SELECT count(*) FROM sbtest1") == [(Images.ROWS,)]
    finally:
        running.stop()
