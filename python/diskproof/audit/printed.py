"""Checks of an article's printed figures against each other."""

import math
from collections.abc import Iterator

from diskproof.audit.check import NothingToCheckError, Problem, Said, Untold, check, invalid, warning
from diskproof.audit.claims import at, half_a_digit, measure_of_speed
from diskproof.audit.load import LITTLE_TOLERANCE, SHORTEST_JOB_S
from diskproof.audit.shares import REASON, REMEDY, SOURCE, uneven
from diskproof.results.article import Article, Stated
from diskproof.results.published import RATES, PublishedMeasure
from diskproof.results.record import NotRecordedError
from diskproof.wording import NOTHING, Message, counted, printed, say, share

AGREE = 0.01
"""Share by which two printed figures of one thing may differ: they are rounded, and not timed at once."""

TAIL = 0.05
"""Share of the latencies above the 95th percentile."""

UNKNOWN_RUNS = "; the article does not say of how many runs the figures are the mean"

SCATTER = 1.1
"""Above this ratio a single run is far from the mean of the others."""


def _having(article: Article, *measures: PublishedMeasure) -> list[tuple[Stated, list[float]]]:
    """Return the results that have all of some measures, with these figures."""
    return [
        (one, [one.figures[measure] for measure in measures])
        for one in article.cells
        if all(measure in one.figures for measure in measures)
    ]


UNLIKELY = 0.05
"""Chance below which a count is not by chance."""


@check(
    "printed-littles-law",
    reason="If clients are always busy, clients = throughput x mean latency. If that fails, a printed figure "
    "is wrong, clients rest, or the figures are not of one run.",
    remedy="print the tool's whole report of each run, and look for errors and waits that no latency "
    "includes",
    source="Little, Operations Research 9(3), 1961; of means over runs: Kantorovich's inequality",
)
def littles_law(article: Article) -> Iterator[Said]:
    """Find rows whose rate and mean latency do not account for their clients, within 3%."""
    rated = [
        (one, rate, mean) for one, (mean,) in _having(article, "latency_mean_ms") if (rate := _rate(one))
    ]
    if not rated:
        raise NothingToCheckError("an article without rates and mean latencies of the same cells")
    for one, rate, mean in rated:
        if one.clients is None:
            yield Untold("the clients of {name}", name=one.name)
        elif abs(rate * mean / 1000 / one.clients - 1) > LITTLE_TOLERANCE:
            yield _unaccounted(article, one, one.clients, rate, mean)


def _unaccounted(article: Article, one: Stated, clients: int, rate: float, mean_ms: float) -> Problem:
    """Return what follows if a row's busy clients are fewer, or more, than its clients."""
    busy = rate * mean_ms / 1000
    accounted = busy / clients
    row = say(
        "{at}{name}: {rate} a second x {mean} ms = {busy:.3g}, with {clients}",
        at=at(one.place),
        name=one.name,
        rate=printed(rate),
        mean=printed(mean_ms),
        busy=busy,
        clients=counted(clients, "client"),
    )
    if accounted < 1 and "requests_per_s" in one.figures:
        syncs = one.counts.others if one.counts else None
        return warning(
            "{row}: the request latencies explain {share} of the time{syncs}",
            "print the time of the syncs beside that of the requests",
            row=row,
            share=share(accounted),
            syncs=say("; the {n} syncs are probably the rest", n=printed(syncs)) if syncs else NOTHING,
        )
    off = share(accounted - 1)
    if accounted < 1:
        return warning(
            "{row} ({off:+.1f}): either clients rest, which no latency includes, or a figure is wrong",
            row=row,
            off=off,
        )
    made = article.procedure
    if _of_one_run(article):
        return invalid(
            "{row} ({off:+.1f}): in one run, no more clients can be busy than there are", row=row, off=off
        )
    return warning(
        "{row} ({off:+.1f}): either a figure is wrong, or they are means over runs, one of them at least "
        f"{{times:.2f}} times as fast as another{'' if made.chosen and made.repeats else UNKNOWN_RUNS}",
        row=row,
        off=off,
        times=_least_scatter(accounted),
    )


def _of_one_run(article: Article) -> bool:
    """Return whether each printed figure is known to be of a single run."""
    return article.procedure.repeats == 1 or article.procedure.chosen in ("single", "best")


def _least_scatter(accounted: float) -> float:
    """Return by what ratio runs must differ if their means account for so large a share of the clients.

    With rates X between 1 and r and latencies N / X, mean(X) x mean(N / X) is at most N (1 + r)^2 / (4 r):
    Kantorovich's inequality.
    """
    total = 4 * accounted - 2
    return (total + math.sqrt(total * total - 4)) / 2


def _rate(one: Stated) -> float | None:
    """Return the rate that counts and latencies are of.

    sysbench 0.4 calls statements requests: beside transactions of several, theirs is another rate.
    """
    rate, requests = one.figures.get("transactions_per_s"), one.figures.get("requests_per_s")
    counts = one.counts
    if rate is None and requests and counts and counts.transactions:
        asked = (counts.reads or 0) + (counts.writes or 0)
        return None if asked > counts.transactions * (1 + AGREE) else requests
    return requests if rate is None else rate


@check(
    "printed-tail",
    reason="If the mean is above the 95th percentile, a few transactions took most of the time: stalls, "
    "which a mean and a percentile both hide.",
    remedy="print the maximum and the throughput over time",
    source="if 95% are at or below p95, the slowest 5% average at least (mean - 0.95 p95) / 0.05",
)
def tail(article: Article) -> Iterator[Said]:
    """Find means above the 95th percentile."""
    told = _having(article, "latency_mean_ms", "latency_p95_ms")
    if not told:
        raise NothingToCheckError("an article without means and 95th percentiles of the same cells")
    for one, (mean, p95) in told:
        if mean > p95:
            yield warning(
                "{at}{name}: the mean ({mean} ms) is above the 95th percentile ({p95} ms). {In} one run, the "
                "slowest 5% take at least ({mean} - 0.95 x {p95}) / 0.05 = {least:.0f} ms on average",
                at=at(one.place),
                name=one.name,
                In="In" if _of_one_run(article) else "If they are of",
                mean=printed(mean),
                p95=printed(p95),
                least=(mean - (1 - TAIL) * p95) / TAIL,
            )


@check(
    "printed-figures-agree",
    reason="If figures of one report contradict each other, they were not copied from one run.",
    remedy="copy the whole report of the tool",
    source="the tool's own definitions: rate = events / seconds, mean = sum of latencies / events",
)
def agree(article: Article) -> Iterator[Said]:
    """Find counts, rates and latencies of one report that contradict each other."""
    looked = False
    for one in article.cells:
        for what, formula, expected, told in _sums(one):
            looked = True
            if abs(expected / told - 1) > AGREE:
                yield invalid(
                    "{at}{name}: {sum} = {expected:,.6g}, but {what} is {told}",
                    at=at(one.place),
                    name=one.name,
                    sum=formula,
                    expected=expected,
                    what=what,
                    told=printed(told),
                )
        for low, high in ORDERED:
            if low in one.figures and high in one.figures:
                looked = True
                if one.figures[low] > one.figures[high]:
                    yield invalid(
                        "{at}{name}: {low} is {value}, above {high}, {other}",
                        at=at(one.place),
                        name=one.name,
                        low=low,
                        value=printed(one.figures[low]),
                        high=high,
                        other=printed(one.figures[high]),
                    )
    if not looked:
        if not any(map(_rate, article.cells)):
            raise NothingToCheckError("an article without rates")
        yield Untold("the counts behind an article's rates")


ORDERED: tuple[tuple[PublishedMeasure, PublishedMeasure], ...] = (
    ("latency_min_ms", "latency_mean_ms"),
    ("latency_mean_ms", "latency_max_ms"),
    ("latency_min_ms", "latency_p95_ms"),
    ("latency_p95_ms", "latency_max_ms"),
)


def _sums(one: Stated) -> Iterator[tuple[str, Message, float, float]]:
    """Yield what a report prints twice: its name, how else to compute it, that result, the printed figure."""
    counts = one.counts
    if counts is None:
        return
    rate, mean = _rate(one), one.figures.get("latency_mean_ms")
    done, seconds = counts.transactions, counts.seconds
    if done and seconds and rate:
        yield "the printed rate", _over(done, seconds, "{a} / {b} s"), done / seconds, rate
    if done and counts.latency_sum_s and mean and mean >= 1:  # a smaller one is printed with too few digits
        expected = counts.latency_sum_s * 1000 / done
        yield "the printed mean", _over(counts.latency_sum_s, done, "{a} s / {b}"), expected, mean
    kinds = (counts.reads, counts.writes, counts.others)
    if counts.total and None not in kinds:
        expected = float(sum(kind or 0 for kind in kinds))
        formula = say("{kinds:/ + }", kinds=[printed(kind or 0) for kind in kinds])
        yield "the printed total", formula, expected, float(counts.total)
    if counts.client_mean and done and one.clients:
        formula = say("{done} / {clients}", done=printed(done), clients=counted(one.clients, "client"))
        yield "the printed mean of a client", formula, done / one.clients, counts.client_mean
    queries = one.figures.get("statements_per_s")
    if queries and counts.total and seconds:
        # sysbench 0.4 prints the rate of reads and writes alone, without BEGIN and COMMIT.
        sums = [counts.total, (counts.reads or 0) + (counts.writes or 0)]
        total = min(sums, key=lambda total: abs(total / seconds - queries))
        formula = _over(total, seconds, "{a} / {b} s")
        yield "the printed rate of statements", formula, total / seconds, queries


def _over(a: float, b: float, form: str) -> Message:
    return say(form, a=printed(a), b=printed(b))


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
        if (scatter := uneven(mean, deviation)) is not None:
            yield warning("{at}{name}: {scatter}", at=at(one.place), name=one.name, scatter=scatter)


@check(
    "single-run",
    reason="A single run beside the mean of all shows how far runs differ, which the mean hides.",
    remedy="print all runs, and look for what disturbed the odd one",
    source="if m is the mean of n runs and r one of them, the others average (n m - r) / (n - 1)",
)
def single_run(article: Article) -> Iterator[Said]:
    """Find single runs that are far from the mean of the others."""
    runs = [one for one in article.stated if one.run is not None]
    n = article.procedure.repeats
    if not runs:
        raise NothingToCheckError("an article without single runs")
    if article.procedure.chosen != "mean" or not n or n < 2:
        raise NotRecordedError("of how many runs the printed figures are the mean")
    told = [(far, shown) for one in runs for far, shown in _against_the_mean(article, one, n)]
    apart = [one for one in told if not 1 / SCATTER <= one[0] <= SCATTER]
    if apart:
        yield warning(
            "{at}run {run} is more than a tenth from the mean of the other {others} in {apart} of {all} "
            "tests: {shown:/; }",
            at=at(runs[0].place),
            run=str(runs[0].run),
            others=n - 1,
            apart=len(apart),
            all=len(told),
            shown=[shown for _, shown in sorted(apart, key=lambda one: -max(one[0], 1 / one[0]))],
        )


def _against_the_mean(article: Article, run: Stated, n: int) -> Iterator[tuple[float, Message]]:
    for _, figure, mean, others in _others(article, run, n):
        yield (
            figure / others,
            say(
                "{what}: {figure} against ({n} x {mean} - {figure}) / {rest} = {others:.4g}, "
                "{ratio:.2f} times",
                what=run.part or run.name,
                figure=printed(figure),
                n=n,
                mean=printed(mean),
                rest=n - 1,
                others=others,
                ratio=figure / others,
            ),
        )


def _others(article: Article, run: Stated, n: int) -> Iterator[tuple[PublishedMeasure, float, float, float]]:
    """Yield each figure of a run with the mean of all runs, and that of the others."""
    whole = next((one for one in article.cells if (one.levels, one.part) == (run.levels, run.part)), None)
    for measure, figure in run.figures.items():
        mean = whole.figures.get(measure) if whole else None
        if mean and (others := (n * mean - figure) / (n - 1)) > 0:
            yield measure, figure, mean, others


@check(
    "first-run",
    reason="If the first run is slow in nearly all tests, that is no chance: the later runs find files and "
    "data in memory. The mean is of neither state.",
    remedy="leave a warm-up run out, or restart the server and empty the caches before each run",
    source="Barrett et al., Virtual Machine Warmup Blows Hot and Cold, OOPSLA 2017; the sign test",
)
def first_run(article: Article) -> Iterator[Said]:
    """Find first runs that are slower than the mean of the others in more tests than by chance."""
    first, n = [one for one in article.stated if one.run == 1], article.procedure.repeats
    if not first:
        raise NothingToCheckError("an article without the first of its runs")
    if article.procedure.chosen != "mean" or not n or n < 2:
        raise NotRecordedError("of how many runs the printed figures are the mean")
    told = [
        (measure, figure, others)
        for one in first
        for measure, figure, _, others in _others(article, one, n)
        if measure == measure_of_speed(one) and abs(figure - others) > half_a_digit(figure)
    ]
    slower = sum((figure < others) == (measure in RATES) for measure, figure, others in told)
    chance = sum(math.comb(len(told), k) for k in range(slower, len(told) + 1)) / 2 ** len(told)
    if chance < UNLIKELY:
        yield warning(
            "{at}the first run is slower than the mean of the other {others} in {slower} of {all} tests that "
            "tell them apart; by chance that happens once in {times:.0f}",
            at=at(first[0].place),
            others=n - 1,
            slower=slower,
            all=len(told),
            times=1 / chance,
        )


@check(
    "article-short-jobs",
    reason="In a job of less than a second, much of the time is starting threads and connecting.",
    remedy="more statements a client",
    source="mysqlslap.c: the time ends when all clients have ended, connecting included",
)
def short_jobs(article: Article) -> Iterator[Said]:
    """Find jobs of less than a second."""
    jobs = [one for one in article.cells if "seconds" in one.figures]
    if not jobs:
        raise NothingToCheckError("an article without jobs")
    short = [one for one in jobs if one.figures["seconds"] < SHORTEST_JOB_S]
    if short:
        yield warning(
            "{at}{short} of {jobs} take less than a second ({shown:/; })",
            at=at(short[0].place),
            short=len(short),
            jobs=counted(len(jobs), "job"),
            shown=[
                say("{name}: {time} s", name=one.name, time=printed(one.figures["seconds"])) for one in short
            ],
        )
