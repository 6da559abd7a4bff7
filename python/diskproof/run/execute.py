"""A run on this machine, from its first trial to its last cut; and how one ends that cannot go on."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

from diskproof.refusal import RefusalError, refusal_of
from diskproof.results.folder import RunFolder
from diskproof.run.bench import Bench
from diskproof.run.cuts import make_cuts
from diskproof.run.dials import write_dials
from diskproof.run.prove import NOTHING_TO_PROVE, Provable, check_request, provable, prove
from diskproof.run.session import Progress, Request, session
from diskproof.run.trials import run_trials


class StoppedError(RefusalError):
    """A run that began and cannot go on; what was finished is in its folder."""

    def __init__(self, message: str, folder: RunFolder) -> None:
        super().__init__(message)
        self.folder = folder


@contextmanager
def stopping(folder: RunFolder) -> Iterator[None]:
    """Raise what the user can correct as StoppedError: what was finished is in this folder."""
    try:
        yield
    except RefusalError as error:
        raise StoppedError(str(error), folder) from error
    except OSError as error:
        if (refused := refusal_of(error)) is None:
            raise
        raise StoppedError(refused, folder) from error


def execute(request: Request, progress: Progress) -> RunFolder:
    """Make all trials, proofs and cuts of a run that do not count yet.

    KeyboardInterrupt and StoppedError leave the finished ones in the folder; StoppedError names it.
    """
    if request.pairs:
        check_request(request)
    with session(request, progress) as bench, stopping(bench.folder):
        make_steps(request, bench, progress, lambda: _provable(bench.folder, progress))
    write_dials(bench.folder, progress.note)
    return bench.folder


def make_steps(
    request: Request, bench: Bench, progress: Progress, limits: Callable[[], Sequence[Provable]]
) -> None:
    """Make the trials, then the proofs, then the cuts; `limits` are asked for when the trials are over."""
    run_trials(bench, progress)
    if request.pairs:
        prove(request, bench, progress, limits())
    if request.plan.crash is not None:
        make_cuts(request.plan.crash, bench, progress)


def _provable(folder: RunFolder, progress: Progress) -> list[Provable]:
    limits = provable(folder)
    if not limits:
        progress.note(NOTHING_TO_PROVE)
    return limits
