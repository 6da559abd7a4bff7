"""What the database's threads do during the measurement, sampled at irregular moments."""

import threading
import time
from collections import Counter
from collections.abc import Callable, Iterable
from random import Random

from diskproof.results.record import Role
from diskproof.results.series import Row
from diskproof.results.usage import Act, Activity, Doing
from diskproof.system.dilation import REAL, TrialTime
from diskproof.system.kernel import kernel_says
from diskproof.system.threads import Sight, Threads

PERIOD_S = 0.045
"""Mean time between two looks: 20 s give about 440, and the standard error of a share is below 2.4%."""

JITTER = 0.25
"""A period is up to this share longer or shorter, so that looks do not fall in step with an event every 50
ms."""

MOST_CPU = 0.02
"""Share of one CPU that looking may cost; with many threads, looks become rarer. Each look covers all
threads: a sample of them cannot show whether at least one was doing something."""

RENEWED_EACH_S = 1.0
"""How often the list of threads is renewed. Threads that live shorter are missed."""

END_LIMIT_S = 10.0

LOGS: tuple[Role, ...] = ("redo", "binlog")

Done = tuple[Act, Role | None]


class ActivityWatch:
    """Looks at the threads of the database, and counts the machine's runnable threads.

    A look costs about 5 us of CPU per thread, twice that on a busy machine: for 40 threads 0.5 to 1% of one
    CPU.
    """

    def __init__(
        self,
        threads: Threads,
        role_of: Callable[[str], Role | None],
        series: Callable[[Iterable[Row]], object],
        own_time: TrialTime = REAL,
    ) -> None:
        """Watch threads; `role_of` returns the role that a path belongs to, if any.

        Recorded seconds are those of `own_time`.

        `series` receives one row a second for each activity (source ``threads``: mean number of threads in
        that second) and for the runnable threads (``host``).
        """
        self._threads = threads
        self._role_of = role_of
        self._roles: dict[str, Role | None] = {}
        self._series = series
        self._time = own_time
        self._random = Random()  # noqa: S311 - moments, no secrets
        self._whole, self._second = _Tally(), _Tally()
        self._stop = threading.Event()
        self._writing = threading.Lock()
        self._thread: threading.Thread | None = None
        self._failure: Exception | None = None
        self._refused_after_s: float | None = None
        self._began_s = self._ended_s = 0.0
        self.cpu_s = 0.0
        """What looking has cost so far."""
        self.late_s = 0.0
        """By how much a look came too late, at most: the lab or the whole machine was paused meanwhile."""

    def meet(self) -> None:
        """Look once without counting.

        All clients are connected and idle, which shows the threads that serve them.
        """
        self._threads.renew()
        self._threads.look()

    def begin(self) -> None:
        """Start looking in the background."""
        self._began_s = self._ended_s = time.monotonic()
        self._thread = threading.Thread(target=self._watch, daemon=True)
        self._thread.start()

    def end(self) -> None:
        """Stop looking, and raise what failed in the background."""
        self.abandon()
        if self._thread is not None:
            self._thread.join(END_LIMIT_S)
        if self._failure is not None:
            raise self._failure

    def abandon(self) -> None:
        """Stop looking, without waiting for the current look. No row follows."""
        with self._writing:
            self._stop.set()
        if self._thread is None:
            self._threads.close()

    def activity(self) -> Activity | None:
        """Return what the threads did; None if the kernel refused access or no look was taken."""
        tally = self._whole
        if not tally.moments:
            return None
        activity = Activity(
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
        return self._time.own(activity)

    def runnable_mean(self) -> float | None:
        """Return the mean number of runnable threads on the machine, without our own."""
        return self._whole.runnable_mean()

    def _watch(self) -> None:
        try:
            self._look_on()
        except Exception as failure:  # noqa: BLE001 - it is raised where the watch ends
            self._failure = failure
        finally:
            self._threads.close()

    def _look_on(self) -> None:
        renewed_s = reported_s = self._began_s
        self._threads.renew()
        wait_s = before_s = 0.0
        looked_s = time.monotonic()
        while not self._stop.wait(wait_s):
            cpu_began_s = time.thread_time()
            now_s = time.monotonic()
            self.late_s = max(self.late_s, now_s - looked_s - wait_s)
            if now_s >= renewed_s + RENEWED_EACH_S:
                self._threads.renew()
                renewed_s = now_s
            self._look()
            if not self._threads.refused:
                self._ended_s = now_s
            elif self._refused_after_s is None:
                self._refused_after_s = now_s - self._began_s
            if now_s >= reported_s + RENEWED_EACH_S:
                self._write_rows((now_s - self._began_s) / self._time.dilation)
                reported_s = now_s
            took_s = time.thread_time() - cpu_began_s
            self.cpu_s += took_s
            # One slow look, such as the first, makes none after it rarer.
            wait_s = max(PERIOD_S, min(took_s, before_s) / MOST_CPU)
            wait_s *= self._random.uniform(1 - JITTER, 1 + JITTER)
            before_s = took_s
            # A look itself may take long if the kernel is busy: that is no pause.
            looked_s = time.monotonic()
        self.late_s = max(self.late_s, time.monotonic() - looked_s - wait_s)

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

    def _write_rows(self, t_s: float) -> None:
        """Write the rows of the past second. An activity that was seen before gets a row of 0."""
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
    """What a number of looks found."""

    def __init__(self) -> None:
        self.moments = 0
        self.threads: Counter[Done] = Counter()
        self.serving: Counter[Done] = Counter()
        self.present: Counter[Done] = Counter()
        self.at_logs = self.known_to_serve = 0
        self._runnable = self._runnable_moments = 0

    def add(self, done: list[tuple[Done, bool]], known_to_serve: int) -> None:
        """Add one look: each activity, and whether its thread serves a client."""
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
    """Return the number of runnable threads without our own, which runs to look; None if it is not known.

    The fourth field of /proc/loadavg (proc(5)) equals procs_running of /proc/stat, at a twentieth of the
    cost.
    """
    text = kernel_says("/proc/loadavg")
    return max(int(text.split()[3].partition("/")[0]) - 1, 0) if text else None
