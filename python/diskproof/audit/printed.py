"""Checks of an article's printed figures against each other, and against what devices can do."""

from collections.abc import Iterator

from diskproof.audit.check import Apart, Problem, Said, Untold, check
from diskproof.results.article import Article, Stated
from diskproof.results.published import PublishedMeasure

LITTLE_TOLERANCE = 0.03

AGREE = 0.01
"""Share by which two printed figures of one thing may differ: they are rounded, and timed a little apart."""

TAIL = 0.05
"""Share of the latencies above the 95th percentile."""

SHORTEST_JOB_S = 1.0
"""Below this, starting threads and connecting are a visible part of a job."""

SCATTER = 1.1
"""From this ratio a single run is far from the mean of the others."""

BUS_MB_S = {"USB 2": 48.0, "USB 3": 500.0, "SATA I": 150.0, "SATA II": 300.0, "SATA III": 600.0}
"""What a bus carries at most after its line coding: 8 of 10 bits of 480 (USB 2: of its microframes), 5,000,
1,500, 3,000 and 6,000 Mbit/s."""

PLATTER_MB_S = 300.0
"""What no hard disk reads from its platters; the fastest of 2023 reach 290."""


def _cells(article: Article) -> list[Stated]:
    return [one for one in article.stated if one.run is None]


@check(
    "printed-littles-law",
    reason="Clients that are always busy make clients = throughput x mean latency; where that fails, one of "
    "the three printed figures is wrong, or the latency leaves something out.",
    remedy="print the tool's whole report, and look for errors and waits that no latency counts",
    source="Little, Operations Research 9(3), 1961",
)
def littles_law(article: Article) -> Iterator[Said]:
    """Find rows whose rate and mean latency do not account for their clients, within 3 %."""
    looked = False
    for one in _cells(article):
        rate, mean = _rate(one), one.figures.get("latency_mean_ms")
        if rate is None or mean is None:
            continue
        looked = True
        if one.clients is None:
            yield Untold(f"the clients of {one.name}")
            continue
        busy = rate * mean / 1000
        if abs(busy / one.clients - 1) <= LITTLE_TOLERANCE:
            continue
        sum_told = f"{one.name}: {rate:g} a second x {mean:g} ms = {busy:.3g}, with {_clients(one.clients)}"
        if "requests_per_s" in one.figures and busy < one.clients:
            syncs = one.counts.others if one.counts else None
            left_out = f", such as the {syncs:,} syncs" if syncs else ""
            share = 1 - busy / one.clients
            yield Problem(
                "warning",
                f"{one.place}: {sum_told}: {share:.0%} of the time lies in no latency{left_out}",
                remedy="tell the time of the syncs beside that of the requests",
            )
        else:
            yield Problem("invalid", f"{one.place}: {sum_told} ({busy / one.clients - 1:+.1%})")
    if not looked:
        yield Apart("an article without rates and mean latencies of the same cells")


def _rate(one: Stated) -> float | None:
    return one.figures.get("transactions_per_s", one.figures.get("requests_per_s"))


def _clients(number: int) -> str:
    return f"{number} client{'' if number == 1 else 's'}"


@check(
    "printed-tail",
    reason="A mean above the 95th percentile says that a few transactions took most of the time: stalls, "
    "which a mean and a percentile both hide.",
    remedy="print the maximum and the course over time",
    source="if 95 % lie at or below p95, the slowest 5 % average (mean - 0.95 p95) / 0.05 at least",
)
def tail(article: Article) -> Iterator[Said]:
    """Find means above the 95th percentile."""
    looked = False
    for one in _cells(article):
        mean, p95 = one.figures.get("latency_mean_ms"), one.figures.get("latency_p95_ms")
        if mean is None or p95 is None:
            continue
        looked = True
        if mean > p95:
            least = (mean - (1 - TAIL) * p95) / TAIL
            yield Problem(
                "warning",
                f"{one.place}: {one.name}: the mean ({mean:g} ms) lies above the 95th percentile ({p95:g} "
                f"ms): the slowest 5 % take ({mean:g} - 0.95 x {p95:g}) / 0.05 = {least:.0f} ms on average, "
                f"at least",
            )
    if not looked:
        yield Apart("an article without means and 95th percentiles of the same cells")


@check(
    "printed-figures-agree",
    reason="Figures of one report that do not fit together were not copied from one run.",
    remedy="copy the whole report of the tool",
    source="the tool's own definitions: rate = events / seconds, mean = sum of latencies / events",
)
def agree(article: Article) -> Iterator[Said]:
    """Find counts, rates and latencies of one report that contradict each other."""
    looked = False
    for one in _cells(article):
        for what, formula, expected, printed in _sums(one):
            looked = True
            if abs(expected / printed - 1) > AGREE:
                yield Problem(
                    "invalid",
                    f"{one.place}: {one.name}: {formula} = {expected:.6g}, but {what} is {printed:g}",
                )
        for low, high in ORDERED:
            if low in one.figures and high in one.figures:
                looked = True
                if one.figures[low] > one.figures[high]:
                    yield Problem(
                        "invalid",
                        f"{one.place}: {one.name}: {low} is {one.figures[low]:g}, above {high}, "
                        f"{one.figures[high]:g}",
                    )
    if not looked:
        yield Untold("the counts behind an article's rates")


ORDERED: tuple[tuple[PublishedMeasure, PublishedMeasure], ...] = (
    ("latency_min_ms", "latency_mean_ms"),
    ("latency_mean_ms", "latency_max_ms"),
    ("latency_min_ms", "latency_p95_ms"),
    ("latency_p95_ms", "latency_max_ms"),
)


def _sums(one: Stated) -> Iterator[tuple[str, str, float, float]]:
    """Yield what a report tells twice: what is printed, the other way to it, its result, the figure."""
    counts = one.counts
    if counts is None:
        return
    rate, mean = _rate(one), one.figures.get("latency_mean_ms")
    done, seconds = counts.transactions, counts.seconds
    if done and seconds and rate:
        yield "the printed rate", f"{done:,} / {seconds:g} s", done / seconds, rate
    if done and counts.latency_sum_s and mean and mean >= 1:  # a smaller one is printed with too few digits
        expected = counts.latency_sum_s * 1000 / done
        yield "the printed mean", f"{counts.latency_sum_s:g} s / {done:,}", expected, mean
    kinds = (counts.reads, counts.writes, counts.others)
    if counts.total and None not in kinds:
        expected = float(sum(kind or 0 for kind in kinds))
        yield "the printed total", " + ".join(f"{kind:,}" for kind in kinds), expected, float(counts.total)
    queries = one.figures.get("statements_per_s")
    if queries and counts.total and seconds:
        yield (
            "the printed rate of statements",
            f"{counts.total:,} / {seconds:g} s",
            counts.total / seconds,
            queries,
        )


@check(
    "single-run",
    reason="A single run beside the mean of all tells how far runs lie apart, which the mean hides.",
    remedy="tell all runs, and look for what disturbed the odd one",
    source="if m is the mean of n runs and r one of them, the others average (n m - r) / (n - 1)",
)
def single_run(article: Article) -> Iterator[Said]:
    """Find single runs that are far from the mean of the others."""
    runs = [one for one in article.stated if one.run is not None]
    n = article.procedure.repeats
    if not runs:
        yield Apart("an article without single runs")
    elif article.procedure.chosen != "mean" or not n or n < 2:
        yield Untold("of how many runs the printed figures are the mean")
    else:
        told = [(far, text) for one in runs for far, text in _against_the_mean(article, one, n)]
        apart = [one for one in told if not 1 / SCATTER <= one[0] <= SCATTER]
        if apart:
            shown = "; ".join(text for _, text in sorted(apart, key=lambda one: -max(one[0], 1 / one[0])))
            yield Problem(
                "warning",
                f"{runs[0].place}: run {runs[0].run} lies more than a tenth from the mean of the other "
                f"{n - 1} in {len(apart)} of {len(told)} tests: {shown}",
            )


def _against_the_mean(article: Article, run: Stated, n: int) -> Iterator[tuple[float, str]]:
    whole = next((one for one in _cells(article) if (one.levels, one.part) == (run.levels, run.part)), None)
    for measure, figure in run.figures.items():
        mean = whole.figures.get(measure) if whole else None
        others = (n * mean - figure) / (n - 1) if mean else 0
        if others > 0 and mean:
            ratio = figure / others
            what = run.part or run.name
            yield (
                ratio,
                f"{what}: {figure:g} against ({n} x {mean:g} - {figure:g}) / {n - 1} = {others:.4g}, "
                f"{ratio:.2f} times",
            )


@check(
    "article-short-jobs",
    reason="In a job of less than a second, starting threads and connecting are part of what is timed.",
    remedy="more statements a client",
    source="mysqlslap.c: the time runs until all clients have ended, connecting included",
)
def short_jobs(article: Article) -> Iterator[Said]:
    """Find jobs of less than a second."""
    jobs = [one for one in _cells(article) if "seconds" in one.figures]
    if not jobs:
        yield Apart("an article without jobs")
    short = [one for one in jobs if one.figures["seconds"] < SHORTEST_JOB_S]
    if short:
        shown = "; ".join(f"{one.name}: {one.figures['seconds']:g} s" for one in short)
        yield Problem(
            "warning", f"{short[0].place}: {len(short)} of {len(jobs)} jobs take less than a second ({shown})"
        )


@check(
    "cache-answered",
    reason="A request that is faster than its bytes can travel was answered by a cache: the figures are of "
    "drive and cache together.",
    remedy="direct I/O, or files larger than memory",
    source="the bus's rate after its line coding; for hard disks the fastest platters",
)
def cached(article: Article) -> Iterator[Said]:
    """Find minimal latencies in which a request's bytes could not have come from the device."""
    looked = False
    for one in _cells(article):
        rate, moved = one.figures.get("requests_per_s"), one.figures.get("megabytes_per_s")
        least = one.figures.get("latency_min_ms")
        storage = one.levels.get("storage", "")
        limit = _fastest(article, storage)
        if rate is None or moved is None or least is None or limit is None:
            continue
        looked = True
        request_bytes = moved * 1e6 / rate
        longest_ms = least + _half_a_digit(least)
        speed = request_bytes / 1e6 / (longest_ms / 1000)
        most, what = limit
        if speed > most:
            yield Problem(
                "warning",
                f"{one.place}: {one.name}: {moved:g} MB/s / {rate:g} = {request_bytes:,.0f} bytes a request; "
                f"the fastest took {least:g} ms (at most {longest_ms:g}), which is {speed:.0f} MB/s or more, "
                f"and {what} gives no more than {most:g}: a cache answered that one, at least",
            )
    if not looked:
        yield Apart("an article without the fastest requests of a load on files")


def _fastest(article: Article, storage: str) -> tuple[float, str] | None:
    """Return what a storage can move at most, in MB/s, and what limits it; None where it is not known."""
    if article.devices.get(storage, "").startswith("spinning"):
        return PLATTER_MB_S, "a platter"
    told = (
        one.facts.get("bus", "")
        for one in article.conditions
        if (one.factor, one.level) == ("storage", storage)
    )
    bus = next((bus for bus in told if bus in BUS_MB_S), None)
    return (BUS_MB_S[bus], bus) if bus else None


def _half_a_digit(printed: float) -> float:
    """Return half a unit in the last digit of a figure as it was printed."""
    _, _, decimals = f"{printed:g}".partition(".")
    return float(0.5 * 10.0 ** -len(decimals))
