"""Checks of the server under test: that it is what was asked for, with its files where they belong."""

from collections.abc import Iterator

from diskproof.audit.check import Apart, Evidence, Problem, Said, Untold, check
from diskproof.audit.effect import took_effect
from diskproof.audit.in_force import given_beside
from diskproof.results.record import recorded
from diskproof.results.trial import OpenFile

NO_SERVER = Apart("no server")


@check(
    "settings",
    reason="A server that runs with another value than the study's is another experiment.",
    remedy="give a value that the server takes in `[tunings.NAME]`, or leave the variable out; "
    "the server's log in the run folder says what it made of it",
    source="read back from the running server, variable by variable",
)
def settings(evidence: Evidence) -> Iterator[Said]:
    """Find variables that do not read back as requested."""
    if not evidence.cell.has_server:
        yield NO_SERVER
        return
    if evidence.imported:
        yield from _beside(evidence)
        return
    if not evidence.trial.settings:
        yield Untold("the server's settings")
    for setting in evidence.trial.settings:
        if setting.holds:
            continue
        if setting.observed is None:
            yield Problem(
                "invalid",
                f"the server has no variable `{setting.name}`, for which {setting.requested} was requested",
            )
        else:
            yield Problem(
                "invalid",
                f"`{setting.name}` reads back as {setting.observed}, but {setting.requested} was requested",
            )


def _beside(evidence: Evidence) -> Iterator[Said]:
    """Hold an option file that was given beside a result against what the server answered."""
    outcome = took_effect.outcome(given_beside(evidence))
    if outcome.state == "failed":
        yield Problem("warning", f"the option file beside it did not take effect: see {took_effect.name}")
    elif outcome.state == "does not apply":
        yield Apart(outcome.why_apart)
    yield from (Untold(what) for what in outcome.missing)


@check(
    "placement",
    reason="A file that lies elsewhere was written to another storage than the one under test.",
    remedy="see that no variable in `[tunings]` moves the file, that nothing is mounted over the "
    "directory of `[storages.NAME]`, and that no link leads out of it",
    source="the kernel's list of the server's open files (/proc/PID/fd)",
)
def placement(evidence: Evidence) -> Iterator[Said]:
    """Find open files of the server that do not lie where their role was declared to lie."""
    if evidence.imported:
        yield Untold("where the files lay")
        return
    for file in evidence.trial.open_files:
        if not file.as_declared:
            yield Problem("invalid", _where_it_should_lie(evidence, file))
    proved = any(file.role for file in evidence.trial.open_files)
    if not proved and not evidence.cell.has_server:
        yield Problem(
            "warning",
            "the placement is not proved: the load was over before its files could be looked at",
            "a larger `total_size` in `[workloads.NAME]`",
        )
    elif not proved:
        yield Problem(
            "warning",
            "the placement is not proved: no open file of any role was recorded",
            "run as the user that the server runs as, or as root: others may not see its open files",
        )


def _where_it_should_lie(evidence: Evidence, file: OpenFile) -> str:
    lies = f"{file.path} lies on {_device(evidence, file.device_number)}"
    if file.role is None:
        return f"{lies}; it is no role's file, and outside every directory that the trial was given"
    place = evidence.place(file.role)
    if place is None:
        return f"{lies}, which is not where `{file.role}` of storage `{evidence.cell.storage}` was declared"
    return (
        f"{lies}, but {file.role} of storage `{place.storage}` was declared to lie under {place.path} "
        f"on {_device(evidence, place.device_number)}"
    )


def _device(evidence: Evidence, number: str) -> str:
    """Return a device as a person finds it again: its number, and the file system if it is a known one."""
    for place in evidence.machine.places if evidence.machine else []:
        if place.device_number == number:
            name = f"{place.filesystem} on {place.device.name}" if place.device else place.filesystem
            return f"device {number} ({name})"
    return f"device {number}"


@check(
    "engine",
    reason="A server may silently make a table with another storage engine than the one it was asked for.",
    remedy="enable the engine in the server, or name another `engine` in `[workloads.NAME]`",
    source="information_schema.tables of the running server",
)
def engine(evidence: Evidence) -> Iterator[Said]:
    """Find tables of another storage engine than the declared one."""
    if not evidence.cell.has_server:
        yield NO_SERVER
        return
    data = recorded(evidence.trial.data, "the tables' storage engine")
    if data.declared_engine is None:
        yield Apart("no storage engine was asked for")
        return
    if (data.engine or "").lower() != data.declared_engine.lower():
        yield Problem(
            "invalid",
            f"the tables' storage engine is {data.engine or 'unknown'}, but {data.declared_engine} "
            "was declared",
        )
