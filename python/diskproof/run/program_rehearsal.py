"""A program tried before the first cut: without one, all that it promises has to be there."""

import shutil
import time
from pathlib import Path

from diskproof.crash.ids import NEVER_US, Ids, compare_ids, read_ids
from diskproof.crash.promises import Promises
from diskproof.refusal import RefusalError
from diskproof.results.plan import Cell
from diskproof.results.record import ROLES
from diskproof.run.bench import Bench
from diskproof.run.server_setup import settings_of
from diskproof.server.base import Dirs, ServerError
from diskproof.server.program import END_S, ProgramKind, ProgramRunning

LOAD_S = 0.5
"""How long the load runs beyond its first `ack`."""


def rehearse_program(bench: Bench, cell: Cell) -> None:
    """Run start, load, stop, start and check on an ordinary directory; RefusalError if they do not agree."""
    kind = bench.servers[cell.server]
    assert isinstance(kind, ProgramKind)
    folder = bench.sockets.parent / "rehearsal"
    try:
        paths = {role: folder / role for role in ROLES}
        for path in (*paths.values(), folder / "log"):
            path.mkdir(parents=True)
        dirs = Dirs(**paths, run=bench.sockets, log=folder / "log")
        settings = settings_of(bench, cell, dirs)
        told = read_ids(_load(kind.start(dirs, settings, bench.starter), folder / "log"))
        running = kind.start(dirs, settings, bench.starter)
        try:
            outcome = compare_ids(told, Ids(running.ids()), NEVER_US - 1)
            wrong = running.damage()
        finally:
            running.kill()
        if outcome.lost:
            wrong.append(f"{outcome.lost} of {outcome.acknowledged} acknowledged ids are not there")
        if outcome.is_broken:
            wrong.append(
                f"`check` finds {outcome.never_sent} ids that were never begun, {outcome.duplicated} twice"
            )
        if wrong:
            raise ServerError("; ".join(wrong))
    except (RefusalError, OSError) as error:
        raise RefusalError(f"{cell.id} fails without any cut: {error}") from None
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _load(running: ProgramRunning, log: Path) -> str:
    """Let the load run for a moment, then end it and its server in good order; return what it printed."""
    try:
        promises = Promises(running, log)
        promises.begin()
        time.sleep(LOAD_S)
        running.check_alive()
        promises.ask_to_end(END_S)
        running.stop()
        return promises.told()
    finally:
        running.kill()
