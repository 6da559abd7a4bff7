"""One trial: restore, start, measure, stop."""

from diskproof.results.plan import Cell, PlannedTrial
from diskproof.results.trial import Trial
from diskproof.run.attempt import Attempt
from diskproof.run.bare import FilesAttempt
from diskproof.run.bench import MISHAPS, Bench
from diskproof.run.served import ServerAttempt


def run_trial(bench: Bench, planned: PlannedTrial, cell: Cell) -> Trial:
    """Run one trial to its end. What goes wrong in it is its finding, and the run goes on.

    A data set that cannot be loaded (DataSetError) is no trial's fault and is raised.
    """
    attempt = _attempt(bench, planned, cell)
    try:
        attempt.restore()
        attempt.start()
        attempt.measure()
        attempt.stop()
    except MISHAPS as error:
        attempt.fail(error)
    finally:
        attempt.clear()
    return attempt.record()


def _attempt(bench: Bench, planned: PlannedTrial, cell: Cell) -> Attempt:
    return (ServerAttempt if cell.has_server else FilesAttempt)(bench, planned, cell)
