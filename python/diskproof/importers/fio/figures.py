"""What fio's forms share: latencies of one clock, several jobs together, and the errors that ended them."""

import errno
import os
from collections import Counter
from collections.abc import Callable
from typing import Any

from diskproof.fio.figures import Requests, as_latency, reads_of, writes_of
from diskproof.fio.program import Result
from diskproof.importers.numbers import whole
from diskproof.results.load import Latency, LoadError
from diskproof.stats.quantiles import known_percentiles

PERCENTILES = ("50", "75", "90", "95", "99", "99.9")

HISTOGRAM_END_US = 16_711_680.0
"""fio 2 has all that took longer in its last bucket, in which fio 3 has what took more than 17.1 s."""

PRECISE = 0.025
"""Share of the median that its unit may be without a remark. A judgement."""

SUBMITTED = 0.02
"""Share of a mean latency that submitting may take. With more, percentiles of completion are left out: it is
below the 3% of Little's law. A judgement."""


def errors_of(told: list[str]) -> list[LoadError]:
    """Return the errors that ended jobs: fio prints the system's number."""
    found = Counter(error for error in told if error not in {"", "0"})
    return [
        LoadError(code=error, statement=None, message=_error(error), transient=False, count=count, ended=True)
        for error, count in found.items()
    ]


def _error(told: str) -> str:
    number = whole(told)
    known = number is not None and number in errno.errorcode
    return f"error {told[:40]}" + (f" ({os.strerror(number)})" if known and number else "")


def of_one_clock(figures: list[dict[str, Any]]) -> Requests:
    """Return reads and writes together, their latencies of the clock that their percentiles are of."""
    clocked = [
        {kind: {**job[kind], "lat_ns": job[kind]["one_clock_ns"]} for kind in ("read", "write")}
        for job in figures
    ]
    return together(clocked, reads_of).with_(together(clocked, writes_of))


def together(figures: list[dict[str, Any]], kind: Callable[[Result], Requests]) -> Requests:
    """Return one kind of requests of several jobs, added up."""
    whole = kind(figures[0])
    for job in figures[1:]:
        whole = whole.with_(kind(job))
    return whole


def latency_of(told: Requests, figures: list[dict[str, Any]], remarks: list[str]) -> Latency | None:
    """Return the latency of all requests, with percentiles if they are of the same requests and clock."""
    if not told.count:
        return None
    parts = [job[kind] for job in figures for kind in ("read", "write") if job[kind]["total_ios"]]
    table_ns: dict[str, float] = parts[0]["percentiles_ns"] if len(parts) == 1 else {}
    if submitted := [part["submitted_ns"] for part in parts if "submitted_ns" in part]:
        table_ns = {}
        remarks.append(
            f"its percentiles are of completion alone and are left out: submitting took "
            f"{max(submitted) / 1000:.4g} µs of the mean latency"
        )
    elif told.bins and sum(told.bins.values()) == told.count:
        names = known_percentiles(told.count, PERCENTILES)
        table_ns = {name: told.percentile_ns(float(name)) for name in names}
    elif not table_ns:
        remarks.append("percentiles of reads and writes together, or of several jobs, are not known")
    if table_ns and any(part.get("of_completion") for part in parts):
        remarks.append("its latencies are of completion, without the time of submission")
    latency = as_latency(told, table_ns)
    if latency is None or not table_ns:
        return latency
    unit_ns = max((part.get("percentile_unit_ns", 1.0) for part in parts), default=1.0)
    if unit_ns > PRECISE * table_ns.get("50", unit_ns):
        remarks.append(f"its percentiles are rounded to {unit_ns / 1e6:g} ms")
    beyond = [name for name, value in latency.percentiles.items() if value >= HISTOGRAM_END_US]
    if beyond:
        remarks.append(
            f"p{', p'.join(beyond)} lie at the end of its histogram: >= {HISTOGRAM_END_US / 1000:,.0f} ms"
        )
    return latency.model_copy(
        update={
            "percentile_digit": unit_ns / 1000,
            "histogram_end": HISTOGRAM_END_US if beyond else None,
        }
    )
