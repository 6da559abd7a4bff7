"""Showing the progress of a profile and of a fit: a bar on a terminal, a line a cell or a fit elsewhere."""

import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from rich.progress import Progress

from diskproof.cli.bar import progress_bar
from diskproof.cli.screen import complain, messages, say
from diskproof.profile.clone.choose import Tell
from diskproof.profile.measure import Watcher
from diskproof.report.compose.profile import probe as named
from diskproof.results.profile import Pattern, Probe, ProfileCell
from diskproof.system.undoing import Undone
from diskproof.wording.numbers import count, duration, milliseconds, number

SILENT_S = 10.0
"""After so long without a line a user wonders whether it hangs."""

LONG: tuple[Pattern, ...] = ("pass-write", "pass-read", "fileio")
"""Cells that last until their work is done."""


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
    shown, shown_s = "", begin_s

    def line(what: str, number: int, of: int) -> None:
        nonlocal shown, shown_s
        now_s, fitted = time.monotonic(), f"fitting {what} ({number} of {of})"
        if fitted != shown or now_s - shown_s >= SILENT_S:
            still = "still " if fitted == shown else ""
            say(f"{still}{fitted}, after {duration(round(now_s - begin_s))}")
            shown, shown_s = fitted, now_s

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
    """One line a cell, one before a cell that may take long, and now and then what is left."""

    def __init__(self) -> None:
        self._of = self._done = 0
        self._told_s = time.monotonic()

    def begins(self, probes: Sequence[Probe], left_s: float) -> None:
        self._of, self._done = len(probes), 0
        say(f"{count(len(probes), 'cell')}, {_left(left_s)}; longer if the machine is busy")

    def cell_begins(self, probe: Probe, left_s: float) -> None:
        if probe.pattern in LONG:
            say(f"{named(probe)}: under way")
        elif time.monotonic() - self._told_s >= SILENT_S:
            say(f"{self._done} of {count(self._of, 'cell')} done, {_left(left_s)}")
            self._told_s = time.monotonic()

    def cell_ends(self, cell: ProfileCell) -> None:
        self._done += 1
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
