"""What the results of all of sysbench's tests share: clients, seconds, latency, intervals, remarks."""

from collections.abc import Sequence
from itertools import pairwise

from diskproof.importers.base import Text, ending
from diskproof.importers.numbers import whole
from diskproof.importers.sysbench.output import Output
from diskproof.reading import MIB
from diskproof.results.imported import ImportedResult
from diskproof.results.load import FileRequests, Latency, LoadError, LoadResult

HISTOGRAM_END_MS = 100_000.0
"""Since 1.0 the last bucket has all that took longer (sb_histogram_init)."""

MODES = {
    "sequential read": "seqrd",
    "sequential write (creation)": "seqwr",
    "sequential rewrite": "seqrewr",
    "random read": "rndrd",
    "random write": "rndwr",
    "random r/w": "rndrw",
    "combined random r/w": "rndrw",
}
"""What the head calls a mode of fileio, by the option's value."""

HALF_DIGIT = 0.005
"""Half of the last digit of rates, and of milliseconds: both have two decimals."""

_ROUNDED = 0.5e-4
"""Half a unit of the last digit of "events (avg/stddev)", which has four."""

MOST_COMPLAINTS = 3

FEW_DIGITS_MS = 1.0
"""Below this a mean of two decimals has two digits at most, and its sum over the events has more."""


def result_of(
    text: Text, run: Output, place: int, test: str, workload: str, load: LoadResult, remarks: list[str]
) -> ImportedResult:
    """Return a run's result, with its intervals."""
    rates, latencies_us, interval_s = intervals_of(run, load.file_requests)
    asked = asked_of(run)
    return ImportedResult(
        source=text.source(
            run.line, f"sysbench {version_of(run)} {test}", f"sysbench {run.version}" if run.version else None
        ),
        name=f"sysbench {place}: {workload}",
        levels={"workload": workload},
        load=load,
        asked=asked,
        interval_s=interval_s,
        intervals_per_s=rates,
        intervals_latency_us=latencies_us,
        interval_percentile=run.interval_percentile if latencies_us else None,
        warm_up_s=whole(asked.get("warmup-time")),
        remarks=remarks,
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
    complaints = [said for said in run.complaints if not said.startswith("FATAL")]
    remarks += [f"sysbench said: {said[:200]}" for said in complaints[:MOST_COMPLAINTS]]
    if len(complaints) > MOST_COMPLAINTS:
        remarks.append(f"and {len(complaints) - MOST_COMPLAINTS} more complaints")
    return remarks


def fatal_errors(run: Output) -> list[LoadError]:
    """Return the errors that end a thread, or the whole of sysbench, each once."""
    return ending("FATAL", (told[:200] for told in run.complaints if told.startswith("FATAL")))


def asked_of(run: Output) -> dict[str, str]:
    """Return what the run was asked for, by the option's name: from its head, then from its command."""
    return {**run.options, **{name: told for name, told in run.head.items() if name != "threads"}}


# ---------------------------------------------------------------- derived with their arithmetic


def clients_of(run: Output, remarks: list[str]) -> int | None:
    """Return the threads: from the head, the command, or the fairness of threads."""
    for told in (run.head.get("threads"), run.options.get("threads"), run.options.get("num-threads")):
        if threads := whole(told):
            return threads
    threads = _counted_threads(run)
    if threads:
        events, mean = run.figures["total number of events"], run.figures["events (avg/stddev)"]
        remarks.append(f"clients {threads}, derived: {events:.0f} events / {mean:.4f} events a thread")
    return threads


def judge_command(run: Output) -> None:
    """Forget the options of a command above an output that is of another run, as its threads or test show."""
    options = run.options
    asked = whole(options.get("threads") or options.get("num-threads"))
    shown = whole(run.head.get("threads")) or _counted_threads(run)
    kinds = run.test and _KINDS.get(run.test), _kind(run)
    if (asked and shown and asked != shown) or (all(kinds) and kinds[0] != kinds[1]):
        options.clear()
        run.test = None


_KINDS = {"fileio": "fileio", "oltp_read_write": "oltp", "oltp_read_only": "oltp", "oltp": "oltp"}


def _kind(run: Output) -> str | None:
    """Return which kind of test an output is of, if its figures show that."""
    if any(name in run.figures for name in ("read ops", "reads/s", "read iops")):
        return "fileio"
    return "oltp" if run.counts_statements else None


def _counted_threads(run: Output) -> int | None:
    """Return the threads by the fairness of threads; None if that is not of whole threads."""
    events, mean = run.figures.get("total number of events"), run.figures.get("events (avg/stddev)")
    threads = round(events / mean) if events and mean else 0
    if threads and events and mean and abs(events / threads - mean) <= _ROUNDED * 1.01:
        return threads
    return None


def seconds_of(run: Output) -> float | None:
    """Return how long it was measured."""
    return run.figures.get("total time", run.figures.get("time elapsed")) or None


def latency_of(run: Output, counted: int | None, remarks: list[str]) -> Latency | None:
    """Return the latencies of events; None if neither a mean nor its sum is printed.

    A mean that is printed as 0.00 ms was below the last digit, and is left out. A minimum counts as 0 then,
    and other figures as half of the last digit, the most that they were. A small mean is computed from the
    sum and the number of events, if both are printed and round to it.
    """
    sum_ms = _sum_ms(run)
    told = run.figures.get("total number of events")
    events = int(told) if told else counted
    mean_ms = run.figures.get("avg")
    if not events and sum_ms and mean_ms:
        events = round(sum_ms / mean_ms)
        remarks.append(f"about {events} events, derived: {sum_ms:g} ms in all / {mean_ms:g} ms each")
    if mean_ms is not None and mean_ms < FEW_DIGITS_MS and sum_ms and told:
        mean_ms = _of_more_digits(run, mean_ms, sum_ms, int(told), remarks)
    if not mean_ms or not events:
        return None
    percentiles = _percentiles(run, remarks)
    beyond = [name for name, value in percentiles.items() if value >= HISTOGRAM_END_MS * 1000]
    if beyond and version_of(run) >= "1":
        remarks.append(
            f"p{', p'.join(beyond)} lie at the end of its histogram: >= {HISTOGRAM_END_MS:,.0f} ms"
        )
    return Latency(
        count=events,
        mean=mean_ms * 1000,
        min=_us(run.figures.get("min"), 0.0),
        max=_us(run.figures.get("max"), HALF_DIGIT),
        percentiles=percentiles,
        histogram_end=HISTOGRAM_END_MS * 1000 if beyond and version_of(run) >= "1" else None,
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


def intervals_of(run: Output, files: FileRequests | None) -> tuple[list[float], list[float], float | None]:
    """Return (what each interval had in a second, its latencies in microseconds, its length in seconds).

    The rates of a load on files are printed in MiB, and are known as requests if their block is.
    """
    kept = run.intervals
    rates = [
        rate for one in kept if (rate := one.per_s if one.per_s is not None else one.mib_per_s) is not None
    ]
    if files is not None:
        rates = [rate * MIB / files.block_bytes for rate in rates] if files.block_bytes else []
    latencies = [one.latency_ms for one in kept if one.latency_ms is not None]
    if len(latencies) < len(kept) or not any(latencies):
        latencies = []
    return rates, [1000 * one for one in latencies], _interval_s(run, [one.at_s for one in kept])


def _interval_s(run: Output, stamps_s: Sequence[float]) -> float | None:
    if asked := whole(run.head.get("report-interval") or run.options.get("report-interval")):
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


def _percentiles(run: Output, remarks: list[str]) -> dict[str, float]:
    """Return the printed percentiles in microseconds."""
    told = {name: (value or HALF_DIGIT) * 1000 for name, value in run.percentiles_ms.items()}
    if below := [name for name, value in run.percentiles_ms.items() if not value]:
        remarks.append(f"p{', p'.join(below)} printed as 0.00 ms: below {HALF_DIGIT:g} ms")
    return {name: value for name, value in told.items() if 0 < float(name) < 100}


def _us(milliseconds: float | None, if_zero: float) -> float | None:
    """Return microseconds; what is printed as 0.00 ms lies between 0 and half of the last digit."""
    return None if milliseconds is None else (milliseconds or if_zero) * 1000
