"""Checks of the server under test: that it is what was asked for, with its files in the right places."""

from collections.abc import Iterator

from diskproof.audit.check import (
    Apart,
    Evidence,
    NothingToCheckError,
    Problem,
    Said,
    Untold,
    check,
    invalid,
    warning,
)
from diskproof.audit.effect import took_effect
from diskproof.audit.in_force import given_beside
from diskproof.results.findings import SETTINGS
from diskproof.results.record import NotRecordedError, recorded
from diskproof.results.trial import OpenFile
from diskproof.wording import Message, say


@check(
    SETTINGS,
    reason="A server that runs with another value than the study's is another experiment.",
    remedy="give a value that the server takes in `[tunings.NAME]`, or leave the variable out; "
    "the server's log in the run folder says why it took another",
    source="read back from the running server, variable by variable",
)
def settings(evidence: Evidence) -> Iterator[Said]:
    """Find variables that do not read back as requested."""
    evidence.needs_server()
    if evidence.imported:
        yield from _beside(evidence)
        return
    if not evidence.trial.settings:
        yield Untold("the server's settings")
    for setting in evidence.trial.settings:
        if setting.holds or setting.requested is None:
            continue
        if setting.observed is None:
            yield invalid(
                "the server has no variable `{name}`; {requested} was requested",
                name=setting.name,
                requested=setting.requested,
            )
        else:
            yield invalid(
                "`{name}` reads back as {observed}; {requested} was requested",
                name=setting.name,
                observed=setting.observed,
                requested=setting.requested,
            )


def _beside(evidence: Evidence) -> Iterator[Said]:
    """Compare an option file that was given beside a result with what the server answered."""
    outcome = took_effect.outcome(given_beside(evidence))
    if outcome.state == "failed":
        yield warning("the option file beside it did not take effect: see {check}", check=took_effect.name)
    elif outcome.state == "does not apply":
        yield Apart(outcome.why_apart)
    yield from (Untold(what) for what in outcome.missing)


@check(
    "placement",
    reason="A file in another place was written to another storage than the one under test.",
    remedy="check that no variable in `[tunings]` moves the file, that nothing is mounted over the "
    "directory of `[storages.NAME]`, and that no link leads out of it",
    source="the kernel's list of the server's open files (/proc/PID/fd)",
)
def placement(evidence: Evidence) -> Iterator[Said]:
    """Find open files of the server that do not lie where their role was declared to lie."""
    if evidence.imported:
        raise NotRecordedError("where the files lay")
    for file in evidence.trial.open_files:
        if not file.as_declared:
            yield Problem("invalid", _wrong_place(evidence, file))
    if any(file.role for file in evidence.trial.open_files):
        return
    if evidence.elsewhere:
        raise NotRecordedError("where the files lie of a server that is not ours")
    if evidence.cell.has_server:
        yield warning(
            "the placement is not proved: no open file of any role was recorded",
            "run as the server's user or as root: other users may not see its open files",
        )
    else:
        yield warning(
            "the placement is not proved: the load ended before its open files could be read",
            "a larger `total_size` in `[workloads.NAME]`",
        )


def _wrong_place(evidence: Evidence, file: OpenFile) -> Message:
    lies = say("{file} lies on {device}", file=file.path, device=_device(evidence, file.device_number))
    if file.role is None:
        return say(
            "{lies}; it belongs to no role, and lies outside of every directory of the trial", lies=lies
        )
    place = evidence.place(file.role)
    if place is None:
        return say(
            "{lies}, not where `{role}` of storage `{storage}` was declared",
            lies=lies,
            role=file.role,
            storage=evidence.cell.storage,
        )
    return say(
        "{lies}, but {role} of storage `{storage}` was declared to lie under {path} on {device}",
        lies=lies,
        role=file.role,
        storage=place.storage,
        path=str(place.path),
        device=_device(evidence, place.device_number),
    )


def _device(evidence: Evidence, number: str) -> str:
    """Return a device as a person finds it again: its number, and its file system if known."""
    for place in evidence.machine.places if evidence.machine else []:
        if place.device_number == number:
            name = f"{place.filesystem} on {place.device.name}" if place.device else place.filesystem
            return f"device {number} ({name})"
    return f"device {number}"


@check(
    "data-put-back",
    reason="A load that writes leaves other data to the next one: larger, scattered, with work left over.",
    remedy="leave `reload = false` out of `[servers.NAME]`, or name a `reset`",
    source="the mark that the run keeps in the database",
)
def put_back(evidence: Evidence) -> Iterator[Said]:
    """Find trials that began with what earlier ones had left."""
    if not evidence.elsewhere:
        raise NothingToCheckError("no server that was there already")
    data = recorded(evidence.trial.data, "how the data were put back")
    if data.restored_by == "not put back":
        yield warning("the data were not put back after an earlier load that writes")


@check(
    "engine",
    reason="A server may silently make a table with another storage engine than it was asked for.",
    remedy="enable the engine in the server, or name another `engine` in `[workloads.NAME]`",
    source="information_schema.tables of the running server",
)
def engine(evidence: Evidence) -> Iterator[Said]:
    """Find tables of another storage engine than the declared one."""
    evidence.needs_server()
    data = recorded(evidence.trial.data, "the tables' storage engine")
    if data.declared_engine is None:
        raise NothingToCheckError("no storage engine was asked for")
    if (data.engine or "").lower() != data.declared_engine.lower():
        yield invalid(
            "the tables' storage engine is {engine}, but {declared} was declared",
            engine=data.engine or "unknown",
            declared=data.declared_engine,
        )
