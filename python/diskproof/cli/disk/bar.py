"""Showing the progress of a profile and of a fit: a bar on a terminal, a line a cell or a fit elsewhere."""

import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from rich.progress import Progress

from diskproof.cli.bar import progress_bar
from diskproof.cli.screen import complain, messages, say
from diskproof.profile.clone.choose import Tell
from diskproof.profile.measure import Watcher
from diskproof.report.compose.probes import probe as named
from diskproof.results.profile import Probe, ProfileCell
from diskproof.system.undoing import Undone
from diskproof.wording.numbers import count, duration, milliseconds, number


@contextmanager
def profile_display() -> Iterator[Watcher]:
    """Show a profile under way, in the way that the place of stderr suits."""
    if not messages.is_terminal:
        yield _Lines()
        return
    with progress_bar() as bar:
        yield _Bar(bar)


@contextmanager
def fit_display() -> Iterator[Tell]:
    """Show what is fitted and for how long already; how long it will take depends on the figures."""
    begin_s = time.monotonic()

    def line(what: str, number: int, of: int) -> None:
        taken = duration(round(time.monotonic() - begin_s))
        say(f"fitting {what} ({number} of {of}), after {taken}")

    if not messages.is_terminal:
        yield line
        return
    with progress_bar() as bar:
        task = bar.add_task("getting ready", total=None, left="")
        yield lambda what, number, of: bar.update(
            task, description=f"fitting {what}", completed=number - 1, total=of
        )


class _Bar:
    """A bar that moves."""

    def __init__(self, bar: Progress) -> None:
        self._bar = bar
        self._task = bar.add_task("getting ready", total=None, left="")

    def begins(self, probes: Sequence[Probe], left_s: float) -> None:
        self._bar.update(self._task, total=len(probes), completed=0, left=_left(left_s))

    def cell_begins(self, probe: Probe, left_s: float) -> None:
        self._bar.update(self._task, description=named(probe), left=_left(left_s))

    def cell_ends(self, cell: ProfileCell) -> None:
        self._bar.update(self._task, advance=1)
        if cell.error:
            say(_line(cell))

    def left_behind(self, undone: Undone) -> None:
        complain(f"could not remove: {undone.what}")


class _Lines:
    """One line a cell."""

    def begins(self, probes: Sequence[Probe], left_s: float) -> None:
        say(f"{count(len(probes), 'cell')}, {_left(left_s)}")

    def cell_begins(self, probe: Probe, left_s: float) -> None:
        pass

    def cell_ends(self, cell: ProfileCell) -> None:
        say(_line(cell))

    def left_behind(self, undone: Undone) -> None:
        complain(f"could not remove: {undone.what}")


def _left(seconds: float) -> str:
    return f"about {duration(max(1, round(seconds)))} left"


def _line(cell: ProfileCell) -> str:
    if cell.requests is None:
        return f"{named(cell.probe)}: {cell.error}"
    rate = f"{number(cell.requests.per_s)} requests/s, {number(cell.requests.megabytes_per_s)} MB/s"
    return f"{named(cell.probe)}: {rate}, {milliseconds(cell.requests.mean_us)} ms"
