"""Checks of an article's printed figures against each other."""

import math
from collections.abc import Iterator

from diskproof.audit.check import Apart, Problem, Said, Untold, check
from diskproof.audit.load import LITTLE_TOLERANCE, SHORTEST_JOB_S
from diskproof.audit.shares import REASON, REMEDY, SOURCE, uneven
from diskproof.audit.wording import at
from diskproof.results.article import Article, Stated
from diskproof.results.published import PublishedMeasure

AGREE = 0.01
"""Share by which two printed figures of one thing may differ: they are rounded, and timed a little apart."""

TAIL = 0.05
"""Share of the latencies above the 95th percentile."""

SCATTER = 1.1
"""From this ratio a single run is far from the mean of the others."""


def _having(article: Article, *measures: PublishedMeasure) -> list[tuple[Stated, list[float]]]:
    """Return the results of which all of some measures are printed, with these figures."""
    return [
        (one, [one.figures[measure] for measure in measures])
        for one in article.cells
        if all(measure in one.figures for measure in measures)
    ]


@check(
    "printed-littles-law",
    reason="Clients that are always busy make clients = throughput x mean latency; where that fails, one of "
    "the three printed figures is wrong, clients rest, or the figures are not of one run.",
    remedy="print the tool's whole report of each run, and look for errors and waits that no latency counts",
    source="Little, Operations Research 9(3), 1961; of means over runs: Kantorovich's inequality",
)
def littles_law(article: Article) -> Iterator[Said]:
    """Find rows whose rate and mean latency do not account for their clients, within 3 %."""
    rated = [
        (one, rate, mean) for one, (mean,) in _having(article, "latency_mean_ms") if (rate := _rate(one))
    ]
    if not rated:
        yield Apart("an article without rates and mean latencies of the same cells")
    for one, rate, mean in rated:
        if one.clients is None:
            yield Untold(f"the clients of {one.name}")
        elif abs(rate * mean / 1000 / one.clients - 1) > LITTLE_TOLERANCE:
            yield _unaccounted(article, one, one.clients, rate, mean)


def _unaccounted(article: Article, one: Stated, clients: int, rate: float, mean_ms: float) -> Problem:
    """Return what follows of a row whose busy clients are not all, or more than all."""
    busy = rate * mean_ms / 1000
    share = busy / clients
    product = f"{rate:,.10g} a second x {mean_ms:,.10g} ms = {busy:.3g}"
    told = f"{at(one.place)}{one.name}: {product}, with {_clients(clients)}"
    if share < 1 and "requests_per_s" in one.figures:
        syncs = one.counts.others if one.counts else None
        left_out = f", such as the {syncs:,} syncs" if syncs else ""
        return Problem(
            "warning",
            f"{told}: {1 - share:.0%} of the time lies in no latency{left_out}",
            remedy="tell the time of the syncs beside that of the requests",
        )
    told += f" ({share - 1:+.1%})"
    if share < 1:
        return Problem(
            "warning",
            f"{told}: either the clients rest for the remaining time, in what no latency counts, or one of "
            "the "
            "figures is wrong",
        )
    made = article.procedure
    if made.repeats == 1 or made.chosen in ("single", "best"):
        return Problem("invalid", f"{told}: of one run, no more clients can be busy than there are")
    how = (
        "" if made.chosen and made.repeats else ", and of how many runs the figures are the mean is not told"
    )
    return Problem(
        "warning",
        f"{told}: either one of the figures is wrong, or they are means over runs of which one is "
        f"{_least_scatter(share):.2f} times as fast as another, at least{how}",
    )


def _least_scatter(share: float) -> float:
    """Return by what ratio runs must differ for their means to account for `share` of the clients.

    With rates X between 1 and r and latencies N / X, mean(X) x mean(N / X) is at most N (1 + r)^2 / (4 r):
    Kantorovich's inequality.
    """
    total = 4 * share - 2
    return (total + math.sqrt(total * total - 4)) / 2


def _rate(one: Stated) -> float | None:
    return one.figures.get("transactions_per_s", one.figures.get("requests_per_s"))


def _clients(number: int) -> str:
    return f"{number:,} client{'' if number == 1 else 's'}"


@check(
    "printed-tail",
    reason="A mean above the 95th percentile says that a few transactions took most of the time: stalls, "
    "which a mean and a percentile both hide.",
    remedy="print the maximum and the course over time",
    source="if 95 % lie at or below p95, the slowest 5 % average (mean - 0.95 p95) / 0.05 at least",
)
def tail(article: Article) -> Iterator[Said]:
    """Find means above the 95th percentile."""
    told = _having(article, "latency_mean_ms", "latency_p95_ms")
    if not told:
        yield Apart("an article without means and 95th percentiles of the same cells")
    for one, (mean, p95) in told:
        if mean > p95:
            least = (mean - (1 - TAIL) * p95) / TAIL
            yield Problem(
                "warning",
                f"{at(one.place)}{one.name}: the mean ({mean:,.10g} ms) lies above the 95th percentile "
                f"({p95:,.10g} "
                f"ms): the slowest 5 % take ({mean:,.10g} - 0.95 x {p95:,.10g}) / 0.05 = {least:.0f} ms on "
                f"average, "
                f"at least",
            )


@check(
    "printed-figures-agree",
    reason="Figures of one report that do not fit together were not copied from one run.",
    remedy="copy the whole report of the tool",
    source="the tool's own definitions: rate = events / seconds, mean = sum of latencies / events",
)
def agree(article: Article) -> Iterator[Said]:
    """Find counts, rates and latencies of one report that contradict each other."""
    looked = False
    for one in article.cells:
        for what, formula, expected, printed in _sums(one):
            looked = True
            if abs(expected / printed - 1) > AGREE:
                yield Problem(
                    "invalid",
                    f"{at(one.place)}{one.name}: {formula} = {expected:,.6g}, but {what} is {printed:,.10g}",
                )
        for low, high in ORDERED:
            if low in one.figures and high in one.figures:
                looked = True
                if one.figures[low] > one.figures[high]:
                    yield Problem(
                        "invalid",
                        f"{at(one.place)}{one.name}: {low} is {one.figures[low]:,.10g}, above {high}, "
                        f"{one.figures[high]:,.10g}",
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
        yield "the printed rate", f"{done:,} / {seconds:,.10g} s", done / seconds, rate
    if done and counts.latency_sum_s and mean and mean >= 1:  # a smaller one is printed with too few digits
        expected = counts.latency_sum_s * 1000 / done
        yield "the printed mean", f"{counts.latency_sum_s:,.10g} s / {done:,}", expected, mean
    kinds = (counts.reads, counts.writes, counts.others)
    if counts.total and None not in kinds:
        expected = float(sum(kind or 0 for kind in kinds))
        yield "the printed total", " + ".join(f"{kind:,}" for kind in kinds), expected, float(counts.total)
    if counts.client_mean and done and one.clients:
        yield (
            "the printed mean of a client",
            f"{done:,} / {_clients(one.clients)}",
            done / one.clients,
            counts.client_mean,
        )
    queries = one.figures.get("statements_per_s")
    if queries and counts.total and seconds:
        yield (
            "the printed rate of statements",
            f"{counts.total:,} / {seconds:,.10g} s",
            counts.total / seconds,
            queries,
        )


@check("fairness", reason=REASON, remedy=REMEDY, source=SOURCE)
def fairness(article: Article) -> Iterator[Said]:
    """Find clients whose shares of the work differ by more than chance."""
    told = [
        (one, counts.client_mean, counts.client_stddev)
        for one in article.cells
        if (counts := one.counts) and counts.client_mean and counts.client_stddev is not None
    ]
    if not told:
        yield Untold("how much each client had of the work")
    for one, mean, deviation in told:
        if (said := uneven(mean, deviation)) is not None:
            yield Problem("warning", f"{at(one.place)}{one.name}: {said}")


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
                f"{at(runs[0].place)}run {runs[0].run} lies more than a tenth from the mean of the other "
                f"{n - 1} in {len(apart)} of {len(told)} tests: {shown}",
            )


def _against_the_mean(article: Article, run: Stated, n: int) -> Iterator[tuple[float, str]]:
    whole = next((one for one in article.cells if (one.levels, one.part) == (run.levels, run.part)), None)
    for measure, figure in run.figures.items():
        mean = whole.figures.get(measure) if whole else None
        others = (n * mean - figure) / (n - 1) if mean else 0
        if others > 0 and mean:
            ratio = figure / others
            what = run.part or run.name
            yield (
                ratio,
                f"{what}: {figure:,.10g} against ({n} x {mean:,.10g} - {figure:,.10g}) / {n - 1} = "
                f"{others:.4g}, "
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
    jobs = [one for one in article.cells if "seconds" in one.figures]
    if not jobs:
        yield Apart("an article without jobs")
    short = [one for one in jobs if one.figures["seconds"] < SHORTEST_JOB_S]
    if short:
        shown = "; ".join(f"{one.name}: {one.figures['seconds']:,.10g} s" for one in short)
        yield Problem(
            "warning",
            f"{at(short[0].place)}{len(short)} of {len(jobs)} jobs take less than a second ({shown})",
        )
