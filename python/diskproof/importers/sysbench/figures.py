"""What the results of all of sysbench's tests share: clients, seconds, latency, intervals, remarks."""

from collections import Counter
from collections.abc import Sequence
from itertools import pairwise

from diskproof.importers.base import Text
from diskproof.importers.sysbench.output import Output
from diskproof.results.imported import Source
from diskproof.results.load import ClientShares, Latency, LoadError

HISTOGRAM_PERCENTILES = (50, 75, 90, 95, 99, 99.9)

HALF_DIGIT = 0.005
"""Half of the last digit of rates, and of milliseconds: both have two decimals."""

_ROUNDED = 0.5e-4
"""Half a unit of the last digit of "events (avg/stddev)", which has four."""

MOST_COMPLAINTS = 3

FEW_DIGITS_MS = 1.0
"""Below this a mean of two decimals has two digits at most, and its sum over the events has more."""


def source_of(text: Text, run: Output, test: str) -> Source:
    """Return a run's source; its version is printed, or follows from the form of the output."""
    return text.source(
        run.line, f"sysbench {version_of(run)} {test}", f"sysbench {run.version}" if run.version else None
    )


def version_of(run: Output) -> str:
    """Return the series, ``1.0``: from the first line, or from what only that series prints."""
    if run.version:
        return ".".join(run.version.split(".")[:2])
    labels = run.figures
    if "events/s (eps)" in labels or any(label.endswith(" iops") for label in labels):
        return "1.1"
    if "queries" in labels or "reads/s" in labels or "sum" in labels:
        return "1.0"
    return "0.5" if "ignored errors" in labels else "0.4 or 0.5"


def remarks_of(run: Output) -> list[str]:
    """Return the remarks about a run: its missing parts and its complaints."""
    remarks = []
    if run.version is None:
        remarks.append("its first lines are missing: the version is judged by the shape of the output")
    if run.checkpoints_s:
        told = ", ".join(f"{at:g}" for at in run.checkpoints_s[:5])
        remarks.append(f"its figures count from the last checkpoint on (checkpoints at {told} s)")
    remarks += [f"sysbench said: {said[:200]}" for said in run.complaints[:MOST_COMPLAINTS]]
    if len(run.complaints) > MOST_COMPLAINTS:
        remarks.append(f"and {len(run.complaints) - MOST_COMPLAINTS} more complaints")
    return remarks


def fatal_errors(run: Output) -> list[LoadError]:
    """Return the errors that end a thread, or the whole of sysbench, each once."""
    said = Counter(told for told in run.complaints if told.startswith("FATAL"))
    return [
        LoadError(code="FATAL", statement=None, message=told[:200], transient=False, count=count)
        for told, count in said.items()
    ]


def asked_of(run: Output) -> dict[str, str]:
    """Return what the run was asked for, by the option's name: from its head, then from its command."""
    return {**run.options, **{name: told for name, told in run.head.items() if name != "threads"}}


# ---------------------------------------------------------------- derived with their arithmetic


def clients_of(run: Output, remarks: list[str]) -> int | None:
    """Return the threads: from the head, the command, or the fairness of threads."""
    for told in (run.head.get("threads"), run.options.get("threads"), run.options.get("num-threads")):
        if threads := _threads(told):
            return threads
    threads = _counted_threads(run)
    if threads:
        events, mean = run.figures["total number of events"], run.figures["events (avg/stddev)"]
        remarks.append(f"clients {threads}, derived: {events:.0f} events / {mean:.4f} events a thread")
    return threads


def without_another_command(run: Output) -> None:
    """Forget the command above an output if the output itself shows another number of threads."""
    asked = _threads(run.options.get("threads") or run.options.get("num-threads"))
    shown = _threads(run.head.get("threads")) or _counted_threads(run)
    if asked and shown and asked != shown:
        run.options.clear()
        run.test = None


def _threads(told: str | None) -> int | None:
    return int(told) if told and told.isdecimal() and len(told) < 10 and int(told) else None


def _counted_threads(run: Output) -> int | None:
    """Return the threads by the fairness of threads; None if that is not of whole threads."""
    events, mean = run.figures.get("total number of events"), run.figures.get("events (avg/stddev)")
    threads = round(events / mean) if events and mean else 0
    if threads and events and mean and abs(events / threads - mean) <= _ROUNDED * 1.01:
        return threads
    return None


def shares_of(run: Output) -> ClientShares | None:
    """Return how the work was shared between the threads (``Threads fairness``), as printed."""
    mean, stdev = run.figures.get("events (avg/stddev)"), run.figures.get("events stddev")
    return None if mean is None or stdev is None else ClientShares(mean=mean, stdev=stdev)


def seconds_of(
    run: Output, rate_per_s: float | None, events: float | None, remarks: list[str]
) -> float | None:
    """Return how long it was measured; after a checkpoint, the time that its own rate is over."""
    told = run.figures.get("total time", run.figures.get("time elapsed"))
    if run.checkpoints_s and events and rate_per_s:
        seconds = events / rate_per_s
        remarks.append(
            f"{seconds:.4f} s since the checkpoint, derived: {events:.0f} / {rate_per_s:.4f} a second"
        )
        return seconds
    return told or None


def latency_of(run: Output, counted: int | None, remarks: list[str]) -> Latency | None:
    """Return the latencies of events; None if neither a mean nor its sum is printed.

    A mean that is printed as 0.00 ms was below the last digit, and is left out. A minimum counts as 0 then,
    and other figures as half of the last digit, the most that they were. A small mean is computed from the
    sum and the number of events, if both are printed and round to it.
    """
    sum_ms = _sum_ms(run)
    buckets = sum(count for _, count in run.histogram)
    told = run.figures.get("total number of events")
    events = int(told) if told else (counted or buckets)
    mean_ms = run.figures.get("avg")
    if not events and sum_ms and mean_ms:
        events = round(sum_ms / mean_ms)
        remarks.append(f"about {events} events, derived: {sum_ms:g} ms in all / {mean_ms:g} ms each")
    if mean_ms is not None and mean_ms < FEW_DIGITS_MS and sum_ms and told:
        mean_ms = _of_more_digits(run, mean_ms, sum_ms, int(told), remarks)
    if not mean_ms or not events:
        return None
    return Latency(
        count=events,
        mean=mean_ms * 1000,
        min=_us(run.figures.get("min"), 0.0),
        max=_us(run.figures.get("max"), HALF_DIGIT),
        percentiles=_percentiles(run, events, buckets, remarks),
    )


def _of_more_digits(run: Output, printed_ms: float, sum_ms: float, events: int, remarks: list[str]) -> float:
    """Return the mean from the sum over the events if it rounds to the printed mean, else the latter."""
    exact_ms = sum_ms / events
    arithmetic = f"{sum_ms:,.10g} ms / {events:,} events"
    if abs(printed_ms - exact_ms) > (HALF_DIGIT + _half_digit_of_sum_ms(run) / events) * 1.01:
        remarks.append(f"its mean of {printed_ms:.2f} ms is not its sum: {arithmetic} = {exact_ms:.4g} ms")
        return printed_ms
    remarks.append(f"mean {exact_ms:.4g} ms, derived: {arithmetic} (printed as {printed_ms:.2f})")
    return exact_ms


def intervals_of(run: Output) -> tuple[list[float], list[float], float | None]:
    """Return (what each interval had in a second, its latencies in microseconds, its length in seconds).

    The rates of a load on files are in MiB. Intervals before the last checkpoint are left out.
    """
    since = run.checkpoints_s[-1] if run.checkpoints_s else 0.0
    kept = [one for one in run.intervals if one.at_s > since]
    rates = [
        rate for one in kept if (rate := one.per_s if one.per_s is not None else one.mib_per_s) is not None
    ]
    latencies = [one.latency_ms for one in kept if one.latency_ms is not None]
    if len(latencies) < len(kept) or not any(latencies):
        latencies = []
    return rates, [1000 * one for one in latencies], _interval_s(run, [one.at_s for one in kept])


def _interval_s(run: Output, stamps_s: Sequence[float]) -> float | None:
    asked = run.head.get("report-interval") or run.options.get("report-interval")
    if asked and asked.isdecimal() and len(asked) < 10 and int(asked):
        return float(asked)
    steps = sorted(after - before for before, after in pairwise(stamps_s))
    return steps[len(steps) // 2] if steps and steps[len(steps) // 2] > 0 else None


def _sum_ms(run: Output) -> float | None:
    """Return the time of all events: in seconds in sysbench 0.4 and 0.5, in milliseconds since."""
    in_seconds = run.figures.get("total time taken by event execution")
    return in_seconds * 1000 if in_seconds is not None else run.figures.get("sum")


def _half_digit_of_sum_ms(run: Output) -> float:
    """Return half of the last digit of the time of all events, which had four decimals of a second."""
    return 0.05 if "total time taken by event execution" in run.figures else HALF_DIGIT


def _percentiles(run: Output, events: int, buckets: int, remarks: list[str]) -> dict[str, float]:
    """Return the printed percentiles, and those that a whole histogram adds, in microseconds.

    sysbench's own rule: the first bucket whose cumulative count reaches floor(n p + 0.5).
    """
    told = {name: (value or HALF_DIGIT) * 1000 for name, value in run.percentiles_ms.items()}
    if below := [name for name, value in run.percentiles_ms.items() if not value]:
        remarks.append(f"p{', p'.join(below)} printed as 0.00 ms: below {HALF_DIGIT:g} ms")
    told = {name: value for name, value in told.items() if 0 < float(name) < 100}
    if not buckets or buckets != events:
        if buckets:
            remarks.append(f"its histogram holds {buckets} of {events} events, and is left aside")
        return told
    added = {}
    for wanted in HISTOGRAM_PERCENTILES:
        name, reached = f"{wanted:g}", 0
        for value_ms, count in run.histogram:
            reached += count
            if reached >= int(buckets * wanted / 100 + 0.5):
                if name not in told and value_ms > 0:
                    added[name] = value_ms * 1000
                break
    if added:
        remarks.append(f"p{', p'.join(added)} follow from its histogram, whose buckets are 1.8% wide")
    return dict(sorted({**told, **added}.items(), key=lambda item: float(item[0])))


def _us(milliseconds: float | None, if_zero: float) -> float | None:
    """Return microseconds; what is printed as 0.00 ms lies between 0 and half of the last digit."""
    return None if milliseconds is None else (milliseconds or if_zero) * 1000
