"""What the database's threads do while it is measured, seen at moments that follow no rhythm of its own."""

import threading
import time
from collections import Counter
from collections.abc import Callable, Iterable
from pathlib import Path
from random import Random

from diskproof.results.record import Role
from diskproof.results.series import Row
from diskproof.results.usage import Act, Activity, Doing
from diskproof.system.threads import Sight, Threads

PERIOD_S = 0.045
"""Between two looks, in the mean: 20 s bring some 440, and the standard error of a share is below 2.4 %."""

JITTER = 0.25
"""By so much of it a period is longer or shorter: what happens every 50 ms is not always seen alike."""

MOST_CPU = 0.02
"""Of one CPU, for looking: with many threads the looks become fewer. Every look is at all threads, since a
sample of them could not tell whether at least one was at something."""

RENEWED_EACH_S = 1.0
"""The list of threads is made anew. Those that come and go within that are missed."""

END_LIMIT_S = 10.0

LOGS: tuple[Role, ...] = ("redo", "binlog")

Done = tuple[Act, Role | None]


class ActivityWatch:
    """Looks at the threads of the database, and at how many of the machine's are ready to run.

    A look costs some 5 us of CPU a thread, twice that on a busy machine: with 40 threads half a percent to
    one percent of one CPU.
    """

    def __init__(
        self,
        threads: Threads,
        role_of: Callable[[str], Role | None],
        series: Callable[[Iterable[Row]], object],
    ) -> None:
        """Watch threads; `role_of` tells of a path which role's file it is, if any.

        `series` takes a row a second for each thing that was done (source ``threads``: how many did it, in
        the mean of that second), and for the threads that were ready to run (``host``).
        """
        self._threads = threads
        self._role_of = role_of
        self._roles: dict[str, Role | None] = {}
        self._series = series
        self._random = Random()  # noqa: S311 - moments, no secrets
        self._whole, self._second = _Tally(), _Tally()
        self._stop = threading.Event()
        self._writing = threading.Lock()
        self._thread: threading.Thread | None = None
        self._failure: Exception | None = None
        self._refused_after_s: float | None = None
        self._began_s = self._ended_s = 0.0
        self.cpu_s = 0.0
        """What looking cost."""

    def meet(self) -> None:
        """Look once, without counting: while all clients are connected and idle they show who serves them."""
        self._threads.renew()
        self._threads.look()

    def begin(self) -> None:
        """Look at one moment after the other, in the background, from now on."""
        self._began_s = self._ended_s = time.monotonic()
        self._thread = threading.Thread(target=self._watch, daemon=True)
        self._thread.start()

    def end(self) -> None:
        """Look no more; what went wrong in the background is raised here."""
        self.abandon()
        if self._thread is not None:
            self._thread.join(END_LIMIT_S)
        if self._failure is not None:
            raise self._failure

    def abandon(self) -> None:
        """Look no more, without waiting for the look under way. No row comes after this."""
        with self._writing:
            self._stop.set()
        if self._thread is None:
            self._threads.close()

    def activity(self) -> Activity | None:
        """Return what was done; None where the kernel did not let us look, or no look was taken."""
        tally = self._whole
        if not tally.moments:
            return None
        return Activity(
            moments=tally.moments,
            period_s=(self._ended_s - self._began_s) / tally.moments,
            doings=[
                Doing(
                    act=act,
                    role=role,
                    share=tally.present[act, role] / tally.moments,
                    threads=count / tally.moments,
                    serving=tally.serving[act, role] / tally.moments,
                )
                for (act, role), count in sorted(tally.threads.items(), key=lambda item: str(item[0]))
            ],
            serving=tally.known_to_serve / tally.moments,
            log_share=tally.at_logs / tally.moments,
            refused_after_s=self._refused_after_s,
        )

    def runnable_mean(self) -> float | None:
        """Return how many threads of the machine ran or were ready to, without ours that looked."""
        return self._whole.runnable_mean()

    def _watch(self) -> None:
        try:
            self._look_on()
        except Exception as failure:  # noqa: BLE001 - it is raised where the watch ends
            self._failure = failure
        finally:
            self._threads.close()

    def _look_on(self) -> None:
        renewed_s = told_s = self._began_s
        self._threads.renew()
        wait_s = 0.0
        while not self._stop.wait(wait_s * self._random.uniform(1 - JITTER, 1 + JITTER)):
            cpu_began_s = time.thread_time()
            now_s = time.monotonic()
            if now_s >= renewed_s + RENEWED_EACH_S:
                self._threads.renew()
                renewed_s = now_s
            self._look()
            if not self._threads.refused:
                self._ended_s = now_s
            elif self._refused_after_s is None:
                self._refused_after_s = now_s - self._began_s
            if now_s >= told_s + RENEWED_EACH_S:
                self._tell(now_s - self._began_s)
                told_s = now_s
            took_s = time.thread_time() - cpu_began_s
            self.cpu_s += took_s
            wait_s = max(PERIOD_S, took_s / MOST_CPU)

    def _look(self) -> None:
        runnable = _runnable()
        sights = self._threads.look()
        for tally in (self._whole, self._second):
            tally.add_runnable(runnable)
        if sights is None:
            return
        done = [(self._done(sight), sight.serves) for sight in sights]
        for tally in (self._whole, self._second):
            tally.add(done, self._threads.serving)

    def _done(self, sight: Sight) -> Done:
        act, path, _ = sight
        if path is None:
            return act, None
        if path not in self._roles:
            self._roles[path] = self._role_of(path)
        return act, self._roles[path]

    def _tell(self, t_s: float) -> None:
        """Hand out the second that is over; what was ever found is told of as not found, too."""
        second, self._second = self._second, _Tally()
        rows: list[Row] = []
        if (runnable := second.runnable_mean()) is not None:
            rows.append((t_s, "host", "runnable", runnable))
        if second.moments:
            rows += [
                (t_s, "threads", f"{act}_{role}" if role else act, second.threads[act, role] / second.moments)
                for act, role in self._whole.threads
            ]
        with self._writing:
            if not self._stop.is_set():
                self._series(rows)


class _Tally:
    """What was found at a number of moments."""

    def __init__(self) -> None:
        self.moments = 0
        self.threads: Counter[Done] = Counter()
        self.serving: Counter[Done] = Counter()
        self.present: Counter[Done] = Counter()
        self.at_logs = self.known_to_serve = 0
        self._runnable = self._runnable_moments = 0

    def add(self, done: list[tuple[Done, bool]], known_to_serve: int) -> None:
        """Add what was found at a moment: each thing with whether who did it serves a client."""
        self.moments += 1
        self.known_to_serve += known_to_serve
        self.threads.update(one for one, _ in done)
        self.serving.update(one for one, serves in done if serves)
        present = {one for one, _ in done}
        self.present.update(present)
        self.at_logs += any(act in ("flushing", "writing") and role in LOGS for act, role in present)

    def add_runnable(self, runnable: int | None) -> None:
        if runnable is not None:
            self._runnable += runnable
            self._runnable_moments += 1

    def runnable_mean(self) -> float | None:
        return self._runnable / self._runnable_moments if self._runnable_moments else None


def _runnable() -> int | None:
    """Return the threads that run or are ready to, but for ours, which runs to look; None if it is not told.

    The fourth field of /proc/loadavg, proc(5): the same as procs_running of /proc/stat at a twentieth of the
    cost.
    """
    try:
        fields = Path("/proc/loadavg").read_text().split()
    except OSError:
        return None
    return max(int(fields[3].partition("/")[0]) - 1, 0)
