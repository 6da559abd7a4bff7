"""A place that the user's own commands set up and tear down."""

import time
from pathlib import Path

import psutil
import pytest

from diskproof.results.record import ROLES
from diskproof.storage.kinds import command as kind
from diskproof.storage.kinds.base import StorageError
from diskproof.storage.layout import Layout, check_layout
from diskproof.storage.places import Places
from diskproof.system.journal import Journal
from support.disks import MIB, needs, storage


@pytest.fixture
def journal(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Journal:
    monkeypatch.setenv("DISKPROOF_STATE", str(tmp_path / "state"))
    return Journal.begin("test")


def command(folder: Path, set_up: str, tear_down: str | None = None) -> dict[str, object]:
    keys = {"directory": str(folder), "set_up": set_up, "tear_down": tear_down}
    return {key: value for key, value in keys.items() if value is not None}


def test_a_set_up_storage_is_used_and_torn_down(tmp_path: Path, journal: Journal) -> None:
    place = tmp_path / "array"
    choice = storage(command=command(place, f"mkdir '{place}/lost+found'", f"rmdir '{place}/lost+found'"))
    check_layout("own", choice, needs(MIB))
    places = Places(journal)
    layout = Layout("own", choice, places)
    assert {place.kind for place in layout.places()} == {"command"}
    assert list(layout.fresh()) == list(ROLES)
    places.close()
    assert all(item.done for item in journal.finish())
    assert not place.exists()


def test_a_set_up_that_fails_is_refused_with_what_it_said_and_torn_down(
    tmp_path: Path, journal: Journal
) -> None:
    place = tmp_path / "array"
    choice = storage(
        command=command(place, "echo no such volume group; exit 5", f"touch '{tmp_path}/undone'")
    )
    with pytest.raises(StorageError, match=r"exit code 5:\nno such volume group"):
        Layout("own", choice, Places(journal))
    assert all(item.done for item in journal.finish())
    assert (tmp_path / "undone").exists()


def test_a_set_up_that_leaves_no_empty_directory_is_refused(tmp_path: Path, journal: Journal) -> None:
    place = tmp_path / "array"
    for set_up, said in ((f"rmdir '{place}'", "there is no directory"), (f"touch '{place}/x'", "holds `x`")):
        place.mkdir(exist_ok=True)
        with pytest.raises(StorageError, match=said):
            Layout("own", storage(command=command(place, set_up)), Places(journal))
    journal.finish()


def test_a_directory_that_holds_something_before_is_refused(tmp_path: Path) -> None:
    (tmp_path / "letter").write_text("dear")
    with pytest.raises(StorageError, match="holds `letter` before `set_up` has run"):
        check_layout("own", storage(command=command(tmp_path, "true")), needs(MIB))
    with pytest.raises(StorageError, match="is not a directory"):
        check_layout("own", storage(command=command(tmp_path / "letter" / "below", "true")), needs(MIB))


@pytest.mark.parametrize("key", ["directory", "set_up", "tear_down"])
def test_a_nul_is_refused_in_the_study(key: str) -> None:
    keys = {"directory": "/mnt", "set_up": "true", "tear_down": "true", key: "a\0b"}
    with pytest.raises(ValueError, match="NUL character"):
        storage(command=keys)


def test_a_command_without_its_parts_is_refused() -> None:
    with pytest.raises(ValueError, match="set_up"):
        storage(command={"directory": "/mnt"})
    with pytest.raises(ValueError, match="directory"):
        storage(command={"set_up": "true"})
    with pytest.raises(ValueError, match="exactly one place for its data"):
        storage(command=command(Path("/mnt"), "true"), directory="/mnt")


def test_a_daemon_of_the_set_up_is_not_waited_for_and_lives_until_the_tear_down(
    tmp_path: Path, journal: Journal
) -> None:
    place = tmp_path / "array"
    daemon = tmp_path / "pid"
    set_up = f"sh -c 'echo $$ > {daemon}; exec sleep 100' & while ! test -s {daemon}; do sleep 0.01; done"
    tear_down = f"kill $(cat {daemon}) && touch {tmp_path}/asked"
    began = time.monotonic()
    Layout("own", storage(command=command(place, set_up, tear_down)), Places(journal)).fresh()
    assert time.monotonic() - began < 30
    process = psutil.Process(int(daemon.read_text()))
    undone = journal.finish()
    assert (tmp_path / "asked").exists(), "it was alive when `tear_down` came"
    assert all(item.done for item in undone), undone
    psutil.wait_procs([process], timeout=5)
    assert not process.is_running()


def test_a_set_up_that_does_not_end_is_ended_with_all_that_it_began(
    tmp_path: Path, journal: Journal, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(kind, "COMMAND_LIMIT_S", 0.5)
    place, pids = tmp_path / "array", tmp_path / "pids"
    set_up = f"echo $$ > {pids}; sh -c 'echo $$ >> {pids}; exec sleep 100'; true"
    with pytest.raises(StorageError, match=r"did not end within 0\.5 s"):
        Layout("own", storage(command=command(place, set_up)), Places(journal))
    journal.finish()
    first, second = (int(line) for line in pids.read_text().split())
    until = time.monotonic() + 5
    while psutil.pid_exists(second) and time.monotonic() < until:
        time.sleep(0.01)
    assert not psutil.pid_exists(first)
    assert not psutil.pid_exists(second)


def test_commands_run_where_the_run_was_started(
    tmp_path: Path, journal: Journal, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "here").mkdir()
    monkeypatch.chdir(tmp_path / "here")
    choice = storage(command=command(tmp_path / "array", "touch array-is-up", "rm array-is-up"))
    Layout("own", choice, Places(journal))
    assert (tmp_path / "here" / "array-is-up").exists()
    monkeypatch.chdir("/")
    assert all(item.done for item in journal.finish())
    assert not list((tmp_path / "here").iterdir())
