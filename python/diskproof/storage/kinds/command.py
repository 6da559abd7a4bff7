"""Any other storage (LVM cache, bcache, md): a directory that the user's own commands prepare."""

from diskproof.storage.kinds import directory
from diskproof.storage.kinds.base import PlainPlace, StorageError, resolved, strangers_in
from diskproof.study.places import CommandChoice, PlaceChoice
from diskproof.system.journal import Journal
from diskproof.system.programs import TimedOut, run
from diskproof.system.undoing import COMMAND_LIMIT_S

SHOWN_LINES = 20
"""Lines of a command's output that an error shows: the end says what went wrong."""


def check(name: str, choice: PlaceChoice, need_bytes: int) -> None:
    """Refuse a directory that holds other files; its free space is not known before `set_up` has run."""
    del need_bytes
    folder = resolved(f"storage `{name}`", _command(choice).directory)
    if stranger := strangers_in(folder):
        raise StorageError(
            f"storage `{name}`: {folder} holds `{stranger}` before `set_up` has run. If it is set "
            "up already, tear it down, or name the folder with `directory` instead"
        )


def prepare(choice: PlaceChoice, journal: Journal) -> PlainPlace:
    """Run the user's `set_up`; its `tear_down` is in the journal first."""
    wanted = _command(choice)
    folder = resolved("its directory", wanted.directory)
    journal.parents(folder / "in it")
    if wanted.tear_down is not None:
        journal.tear_down(wanted.tear_down)
    _run(wanted.set_up)
    if not folder.is_dir():
        raise StorageError(f"`{wanted.set_up}` succeeded, but there is no directory {folder}")
    if stranger := strangers_in(folder):
        raise StorageError(f"after `{wanted.set_up}` {folder} holds `{stranger}`: it must be empty")
    return directory.make("command", folder, journal)


def _run(command: str) -> None:
    """Run a user's command to its end; what it leaves running in the background is for `tear_down` to end.

    The command has no mark of the run, or its daemons would be killed before `tear_down` can end them.
    """
    try:
        ended = run(["sh", "-c", command], limit_s=COMMAND_LIMIT_S, marked=False, whole=True)
    except TimedOut:
        raise StorageError(f"`{command}` did not end within {COMMAND_LIMIT_S:g} s") from None
    if ended.code != 0:
        said = "\n".join((ended.out + ended.err).splitlines()[-SHOWN_LINES:]) or "(no output)"
        raise StorageError(f"`{command}` failed with exit code {ended.code}:\n{said}")


def _command(choice: PlaceChoice) -> CommandChoice:
    assert choice.command is not None
    return choice.command
