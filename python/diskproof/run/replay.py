"""A cut repeated from its evidence: the same bytes on the disks, the same server, the same checks."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

from pydantic import ValidationError

from diskproof.crash import evidence
from diskproof.crash.clients import ACKNOWLEDGEMENTS
from diskproof.crash.loads import books_of, outcome_of, read_failed, read_told
from diskproof.crash.recovery import look, recover
from diskproof.crash.states import read_log
from diskproof.reading import read_bytes, read_text
from diskproof.refusal import RefusalError
from diskproof.results.cut import CutTrial, LedgerOutcome, Recovery
from diskproof.results.folder import MOST_BYTES, RunFolder, RunFolderError
from diskproof.results.plan import Cell, Cuts
from diskproof.results.record import Role
from diskproof.run.bench import Bench
from diskproof.run.server_setup import settings_of, start_in_own_time
from diskproof.run.session import Progress, Request, session
from diskproof.run.states import state_of
from diskproof.server.base import Dirs
from diskproof.study.crash import CrashChoice
from diskproof.study.read import StudyFile
from diskproof.wording import Message, say

LOGS = "replay"
"""Folder beside the evidence for the server's logs of a replay."""


@dataclass(frozen=True)
class Evidence:
    """The evidence of one cut, within its run."""

    folder: Path
    run: RunFolder
    cut: CutTrial
    to_replay: evidence.ToReplay

    @property
    def plan(self) -> Cuts:
        """The plan of the cut."""
        crash = self.run.plan().crash
        assert crash is not None
        return crash

    @property
    def cell(self) -> Cell:
        """The cell that was cut."""
        return self.plan.cell(self.cut.cell)


def open_evidence(folder: Path) -> Evidence:
    """Open the evidence of a cut; RefusalError says what is missing."""
    if not (folder / evidence.RECORD).is_file():
        raise RefusalError(
            f"{folder} is not the evidence of a cut: it has no {evidence.RECORD}; name RUN/cuts/ID"
        )
    run = _run_of(folder.absolute())
    try:
        cut = CutTrial.model_validate_json(read_bytes(folder / evidence.RECORD, MOST_BYTES))
        if not (folder / evidence.REPLAY).is_file():
            why = f"it has no {evidence.REPLAY}" if cut.disks else "a killed process leaves no log"
            raise RefusalError(f"{folder} cannot be replayed: {why}; read its logs and its ledger instead")
        to_replay = evidence.ToReplay.model_validate_json(read_bytes(folder / evidence.REPLAY, MOST_BYTES))
    except ValidationError as error:
        raise RefusalError(f"{folder} cannot be read: {str(error).splitlines()[0]}") from None
    for disk in to_replay.disks:
        for file in (disk.log, disk.image):
            if not (folder / file).is_file():
                raise RefusalError(f"{folder} cannot be replayed: {folder / file} is missing")
    return Evidence(folder.absolute(), run, cut, to_replay)


def _run_of(folder: Path) -> RunFolder:
    """Return the run that a cut's folder lies in; a folder that was copied out of it is not enough."""
    path = folder.parent.parent
    try:
        run = RunFolder.open(path)
    except RunFolderError as error:
        raise RefusalError(
            f"{folder} is not inside its run ({error}): a replay needs its study, plan and disk images; "
            "copy the whole RUN folder, and name RUN/cuts/ID within it"
        ) from None
    if run.plan().crash is None:
        raise RefusalError(f"{folder} is not inside its run: the plan in {path} has no cuts")
    return run


def replay(found: Evidence, file: StudyFile, progress: Progress) -> list[Message]:
    """Bring disks to their state after the cut, recover, verify, and return how that differs from the record.

    `file` is the study of the run, read again.
    """
    # The run's plan with nothing in it but the cell that was cut.
    cut_alone = found.plan.model_copy(update={"cells": [found.cell], "trials": [], "at_once": 1})
    plan = found.run.plan().model_copy(update={"cells": [], "trials": [], "crash": cut_alone})
    study = file.study.model_copy(update={"crash": file.study.crash or CrashChoice()})
    request = Request(file=replace(file, study=study), plan=plan, out=found.run.path.parent.parent)
    with session(request, progress, within=found.run) as bench:
        progress.note("bringing the disks to their state after the cut")
        return _replay(found, bench)


def _replay(found: Evidence, bench: Bench) -> list[Message]:
    layout, kind = bench.layouts[found.cell.storage], bench.servers[found.cell.server]
    files = [(found.folder / disk.image, found.folder / disk.log) for disk in found.to_replay.disks]
    logs = found.folder / LOGS
    logs.mkdir(exist_ok=True)
    try:
        if found.to_replay.state is None:
            layout.replay(files)
        else:
            [(image, log)] = files
            state, ignored = found.to_replay.state, layout.cut_disks()[0].facts.flushes_ignored
            read = read_log(log, state.at_us, flushes_ignored=ignored)
            layout.put_state_over(image, read.patches(state_of(state)))
        with _where_they_lay(found.to_replay.folders, layout.folders(), bench) as folders:
            dirs = Dirs(**folders, run=bench.sockets, log=logs)
            recovered = recover(
                layout.mount_again,
                lambda limit_s: start_in_own_time(
                    *(bench, kind, found.cell, dirs, settings_of(bench, found.cell, dirs), limit_s)
                ),
                [*layout.folders().values(), *folders.values()],
                bench.time,
            )
            try:
                verified = look(recovered, books_of(bench.study, bench.starter))
            finally:
                if recovered.running is not None:
                    recovered.running.kill()
    finally:
        layout.clear()
    ledger = None
    if verified.ledger is not None:
        text = read_text(found.folder / ACKNOWLEDGEMENTS, MOST_BYTES)
        told, failed = read_told(text), read_failed(text)
        clients, cut_us = found.cell.clients, found.to_replay.cut_us
        ledger = outcome_of(told, verified.ledger, found.plan.accounts, clients, cut_us, failed)
    return differences(found.cut, verified.recovery, ledger)


@contextmanager
def _where_they_lay(
    before: Mapping[Role, str], now: Mapping[Role, Path], bench: Bench
) -> Iterator[dict[Role, Path]]:
    """Make the roles' directories appear where they were: servers write whole paths into their files.

    The folder of a former place becomes a link to today's.
    """
    links = {Path(before[role]).parent: folder.parent for role, folder in now.items()}
    made = []
    try:
        for link, folder in links.items():
            if link.exists() or link.is_symlink():
                raise RefusalError(f"{link} exists: the run of this cut is still under way; wait for its end")
            link.symlink_to(folder)
            bench.starter.adopt(link)
            made.append(link)
        yield {role: Path(path) for role, path in before.items()}
    finally:
        for link in made:
            link.unlink(missing_ok=True)


def differences(cut: CutTrial, recovery: Recovery, ledger: LedgerOutcome | None) -> list[Message]:
    """Return how a replay differs from the record, in what must be the same."""
    before = cut.recovery
    assert before is not None  # only finished cuts leave evidence
    pairs = {
        "whether the database came up": (before.refused is None, recovery.refused is None),
        "damaged tables": (len(before.damaged_tables), len(recovery.damaged_tables)),
        "transactions in the binary log alone": (before.binlog_only, recovery.binlog_only),
        "transactions in the tables alone": (before.engine_only, recovery.engine_only),
        "whether the ledger can be read": (cut.ledger is not None, ledger is not None),
    }
    if cut.ledger is not None and ledger is not None:
        pairs |= {
            name.replace("_", " "): (getattr(cut.ledger, name), getattr(ledger, name))
            for name in LedgerOutcome.model_fields
        }
    return [
        say("{what}: {then} then, {now} now", what=what, then=_said(then), now=_said(now))
        for what, (then, now) in pairs.items()
        if then != now
    ]


def _said(value: object) -> str:
    return ("yes" if value else "no") if isinstance(value, bool) else str(value)


def check_study(found: Evidence, file: StudyFile) -> None:
    """Refuse a study that is not the run's own, and a machine without the server that was cut."""
    if file.text != found.run.study_text():
        raise RefusalError(
            f"{file.name} is not the study of {found.run.path}: leave it out to use the run's own copy, "
            "unless the study names device files by relative paths"
        )
    if found.cell.server in file.left_out:
        raise RefusalError(
            f"{found.folder} is a cut of the server `{found.cell.server}`, which is not found here: name its "
            f"folder, --basedir {found.cell.server}=DIR"
        )
