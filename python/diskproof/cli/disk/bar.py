"""Showing a profile's progress: a bar with the time left on a terminal, a line a cell elsewhere."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from rich.progress import Progress

from diskproof.cli.bar import progress_bar
from diskproof.cli.screen import complain, messages, say
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
