"""Checks of what the load generator measured."""

import math
from collections.abc import Iterator, Sequence

from diskproof.audit.check import Apart, Evidence, Problem, Said, Untold, check
from diskproof.audit.files import busy_threads
from diskproof.audit.pace import is_paced
from diskproof.results.load import LoadResult
from diskproof.results.record import format_figure, recorded
from diskproof.results.trial import Severity
from diskproof.stats.quantiles import known_percentiles, observations_for
from diskproof.stats.series import batch_mean, mser5

LITTLE_TOLERANCE = 0.03
"""What connecting, ending and rounding may take. A judgement: the band that counts as "the same"."""

LONG_TRANSACTION = 0.1
"""Share of the phase from which the longest transaction leaves Little's law without force. A judgement."""

ERROR_SHARE = 0.01
"""TPC-C lets one in a hundred of its new orders be rolled back by its making (clause 2.4.1.4)."""

CLIENT_CPU_SHARE = 0.80
"""A judgement: from there on what is ready waits visibly for a CPU (M/M/1: four at work or waiting)."""

DELAY_NOTED, DELAY_WARNED = 0.01, 0.05
"""Shares of a transaction's latency that may be the load generator's own. A judgement."""

FEWEST_TRANSACTIONS = 100
"""Below this the count alone is uncertain by more than a tenth (Poisson, 1/sqrt(100))."""

ROWS_TOLERANCE = 0.02
"""Rows that others delete and put back in that moment. A judgement."""

SHORTEST_JOB_S = 1.0
"""Below this, starting threads and connecting are a visible part of a job: some ms each. A judgement."""

SERIES_BINS = 20
"""What MSER-5 needs: four batches of five."""

NO_STEADY_LOAD = Apart("a load that ends by itself is not a steady one")

NO_STATEMENTS = Untold("the statements one by one")


@check(
    "finished",
    reason="A trial that broke off has measured nothing.",
    remedy="mend the cause, then `diskproof run --resume` runs this trial again",
    source="METHODOLOGY.md: a trial counts whole or not at all",
)
def finished(evidence: Evidence) -> Iterator[Said]:
    """Find a trial that broke off without a word."""
    trial = evidence.trial
    explained = any(finding.severity == "invalid" for finding in trial.findings)
    if (not trial.finished or trial.load is None) and not explained:
        yield Problem("invalid", "the trial broke off before it had measured anything")


@check(
    "littles-law",
    reason="Clients that are always busy make clients = throughput x mean latency; if that does not "
    "hold, one of the three figures is not what it claims to be.",
    remedy="look for errors and reconnects in the trial, measure longer (`measure_s`), "
    "and keep other work off the machine",
    source="Little, Operations Research 9(3), 1961; as an audit: Gregg, Systems Performance, 2020",
    elsewhere="see that throughput, latency and clients are of one run; look for errors, reconnects, think "
    "time and a set rate",
    bars_from="invalid",
)
def littles_law(evidence: Evidence) -> Iterator[Said]:
    """Find throughput and latency that do not account for the clients, within 3 %.

    What is under way at either end of the phase counts whole or not at all: the sum may be off by the
    longest transaction of each client, and says little where that is long against the phase. Sums of
    single statements have far smaller ends: if they account for the clients, these were busy.
    """
    load = evidence.load
    if evidence.metric == "requests_per_s":
        yield from busy_threads(evidence)
        return
    if evidence.metric != "transactions_per_s" or is_paced(evidence.result):
        yield Apart("clients that rest: at a set rate between transactions, in a job between its parts")
        return
    latency, clients = recorded(load.latency_us, "the mean latency"), load.known_clients
    in_service = load.transactions_per_s * latency.mean / 1e6
    off = abs(in_service / clients - 1)
    if off <= LITTLE_TOLERANCE:
        return
    noun = "client" if clients == 1 else "clients"
    accounted = f"throughput times mean latency accounts for {in_service:.2f} of {clients:,} {noun}"
    if latency.max is None and off > LITTLE_TOLERANCE + LONG_TRANSACTION:
        yield Problem(
            "warning",
            f"{accounted} ({format_figure(load.transactions_per_s, 6)}/s x "
            f"{format_figure(latency.mean / 1000)} ms), but all "
            "were to be busy all the time; the longest latency, which might explain it, was not recorded",
        )
        return
    longest_us, seconds = recorded(latency.max, "the longest latency"), load.known_seconds
    if seconds <= 0:
        yield Untold("how long it was measured")
        return
    longest = longest_us / 1e6 / seconds
    tolerance = LITTLE_TOLERANCE + min(longest, LONG_TRANSACTION)
    if off <= tolerance:
        return
    busy = abs(_in_statements(load) / clients - 1) <= tolerance
    if longest > LONG_TRANSACTION or busy:
        ends = (
            "what was still waiting at the end is in no latency: latencies are understated"
            if in_service < clients
            else "what had waited since before the phase is in the latencies: they are overstated"
        )
        yield Problem(
            "warning",
            f"{accounted}; transactions took up to {format_figure(longest_us / 1e6, 2)} s of the "
            f"{format_figure(seconds, 3)} s measured, and {ends}, while throughput stands",
            f"`measure_s = {math.ceil(max(2 * seconds, longest_us / 1e5))}` or more "
            f"in `{_table(evidence)}`, or fewer `clients`",
        )
    else:
        yield Problem("invalid", f"{accounted}, but all were to be busy all the time")


def _in_statements(load: LoadResult) -> float:
    """Return how many clients were, on average, waiting for the reply to a statement."""
    waited_us = sum(one.latency_us.mean * one.count for one in load.statement_types if one.latency_us)
    return waited_us / 1e6 / load.known_seconds


@check(
    "tail",
    reason="Where the mean lies above the 95th percentile, a few transactions hold most of the time, "
    "and neither figure describes what a user meets.",
    remedy="read p99, the maximum and the histogram before the mean; a longer `measure_s` shows "
    "whether the stalls come regularly",
    source="arithmetic: mean <= 0.95 p95 + 0.05 x mean of the slowest 5 %",
    elsewhere="read the maximum and the histogram before the mean; interval lines show whether the stalls "
    "come regularly",
)
def tail(evidence: Evidence) -> Iterator[Said]:
    """Find a mean latency above the 95th percentile."""
    if evidence.metric == "seconds" or evidence.one_pass:
        yield NO_STEADY_LOAD
        return
    latency = recorded(evidence.load.latency_us, "the mean latency")
    if "95" not in latency.percentiles:
        yield Untold("the 95th percentile of the latency")
        return
    if "95" not in known_percentiles(latency.count, latency.percentiles):
        yield Apart("too few transactions for a 95th percentile")
        return
    p95 = latency.percentiles["95"]
    if latency.mean > p95:
        slowest_ms = (latency.mean - 0.95 * p95) / 0.05 / 1000
        yield Problem(
            "warning",
            f"the mean latency ({format_figure(latency.mean / 1000, 3)} ms) lies above the 95th percentile "
            f"({format_figure(p95 / 1000, 3)} ms): the slowest 5 % take {format_figure(slowest_ms, 3)} ms "
            f"or more on average",
        )


@check(
    "short",
    reason="A figure from few transactions is mostly chance.",
    remedy="a longer `measure_s`, in `[design]` or the workload's own",
    source="Poisson counting error; the rule of ten observations in the tail",
    elsewhere="measure longer",
    bars_from="invalid",
)
def short(evidence: Evidence) -> Iterator[Said]:
    """Find too few transactions for the figures that are reported."""
    load = evidence.load
    if evidence.metric == "seconds":
        yield from _short_job(load)
        return
    transactions = load.known_transactions
    if transactions == 0:
        yield Problem(
            "warning" if evidence.imported else "invalid",
            f"no {evidence.work[:-1]} completed in {load.known_seconds:,.10g} s",
            f"a longer `measure_s` in `{_table(evidence)}`, or see the server's log",
        )
        return
    if evidence.one_pass:
        yield Apart("one pass over the files asks for all that there is")
        return
    asked = list(load.latency_us.percentiles) if load.latency_us else []
    known = known_percentiles(transactions, asked)
    omitted = [f"p{name}" for name in asked if name not in known]
    if not omitted and transactions >= FEWEST_TRANSACTIONS:
        return
    highest = max((float(name) for name in asked if float(name) <= 99), default=99.0)
    rate_per_s = load.transactions_per_s or transactions / load.known_seconds
    seconds = math.ceil(observations_for(highest) / rate_per_s)
    remedy = f"`measure_s = {seconds}` or more in `{_table(evidence)}` would carry p{highest:,.10g}"
    left_out = f"; {', '.join(omitted)} omitted" if omitted else ""
    if transactions < FEWEST_TRANSACTIONS:
        yield Problem("warning", f"only {transactions:,} {evidence.work} were measured{left_out}", remedy)
    elif any(float(name) <= 99 for name in asked if name not in known):
        yield Problem("note", f"{transactions:,} {evidence.work} were measured{left_out}", remedy)


def untold_intervals(series: Sequence[float], needed: int) -> Untold:
    """Return what is missing of a course over time: all of it, or more of it than there is."""
    if not series:
        return Untold("throughput in intervals")
    return Untold(
        f"{needed} intervals of throughput; {len(series)} {'is' if len(series) == 1 else 'are'} there"
    )


def _short_job(load: LoadResult) -> Iterator[Problem]:
    """Find a job in which nothing was done, or one that was over before it had begun."""
    seconds = load.figure("seconds")
    larger = "a larger `queries` or `scale` in `[workloads.NAME]`"
    if seconds is None:
        yield Problem("invalid", "no part of the job was run", "see the findings on its operations")
    elif seconds < SHORTEST_JOB_S:
        yield Problem(
            "warning",
            f"the job took {format_figure(seconds, 2)} s: starting, connecting and chance are much of it",
            larger,
        )


@check(
    "rows",
    reason="A select that finds no row is cheaper than one that does: the load ran on another data set "
    "than it was made for.",
    remedy="let diskproof load the data again (remove the golden image); `tables` and `rows` must be those "
    "that the data was loaded with",
    source="what `point_select` asks for: one row by its primary key",
    elsewhere="see that the data was prepared with the same number of tables and rows as the run asked for",
)
def rows(evidence: Evidence) -> Iterator[Said]:
    """Find point selects that did not return one row each."""
    asked = [one for one in evidence.load.statement_types if one.name == "point_select" and one.count]
    if not asked:
        yield NO_STATEMENTS if evidence.imported else Apart("no point selects")
    for statement in asked:
        found = statement.rows / (statement.count - min(statement.errors, statement.count - 1))
        if abs(found - 1) > ROWS_TOLERANCE:
            yield Problem(
                "invalid",
                f"{statement.count:,} point selects returned {statement.rows:,} rows ({found:.2f} each); "
                "each must find exactly one",
            )


@check(
    "errors",
    reason="A failed transaction costs less than one that succeeds, a retried one more: beyond a "
    "few, throughput is that of another load.",
    remedy="read the server's log; for deadlocks fewer `clients`, more `rows`, or `distribution = "
    '"uniform"` in `[workloads.NAME]`; for too many connections fewer `clients`, or a larger '
    "`max_connections` in the tuning's `variables`",
    source="TPC-C, clause 5 (what counts as completed); threshold: 1 % of transactions",
    elsewhere="read the server's log; for deadlocks fewer clients or more rows",
    bars_from="invalid",
)
def errors(evidence: Evidence) -> Iterator[Said]:
    """Find more than one transaction in a hundred that failed or was begun again."""
    load = evidence.load
    if evidence.imported:
        yield from _told_by_the_tool(load)
    failures, retries = load.failed_transactions, load.retries
    if failures is None and retries is None:
        yield Untold("the number of failed transactions")
        return
    if failures is None or retries is None:  # what is known may be too many by itself
        which = "failed" if failures is None else "were begun again"
        yield Untold(f"the number of transactions that {which}")
    asked = load.known_transactions + (failures or 0)
    if asked == 0:
        yield Apart("nothing was asked for")
        return
    failed, retried = (failures or 0) / asked, (retries or 0) / asked
    example = _most_often(load, evidence.imported)
    told = _counted((failures, "transactions failed"), (retries, "transactions were begun again"))
    if failed > ERROR_SHARE:
        # What failed does not make the others' figures false, where somebody else measured.
        severity: Severity = "warning" if evidence.imported else "invalid"
        yield Problem(severity, f"{failed:.1%} of the transactions failed{example}")
    elif failed + retried > ERROR_SHARE:
        together = " together" if failures is not None and retries is not None else " of all"
        yield Problem("warning", f"{told}, {failed + retried:.1%}{together}{example}")
    elif failures or load.reconnects:
        again = (load.reconnects, "clients had to connect again")
        yield Problem("note", f"{_counted((failures, 'transactions failed'), again)}{example}")


def _told_by_the_tool(load: LoadResult) -> Iterator[Problem]:
    """Find errors that another tool tells besides the failed transactions that it counts."""
    for error in load.errors:
        if not error.transient:
            times = f" ({error.count:,} times)" if error.count > 1 else ""
            yield Problem("warning", f"the tool itself tells of an error{times}: {error.message}")
        elif load.failed_transactions is None and load.retries is None and load.transactions:
            share = error.count / load.transactions
            if share > ERROR_SHARE:
                yield Problem(
                    "warning",
                    f"{error.count:,} of {load.transactions:,} transactions, {share:.1%}: {error.message}",
                )


def _counted(*told: tuple[int | None, str]) -> str:
    """Name what was counted, and nothing else: ``3 transactions failed and 20 were begun again``."""
    known = [(count, what) for count, what in told if count is not None]
    said = [f"{count:,} {what}" for count, what in known[:1]]
    said += [f"{count:,} {what.removeprefix('transactions ')}" for count, what in known[1:]]
    return " and ".join(said)


def _most_often(load: LoadResult, imported: bool) -> str:
    """Name the most frequent error; of our own an error without a statement is the connection's."""
    most = max(load.errors, key=lambda error: error.count, default=None)
    if most is None:
        return ""
    if imported and most.statement is None:
        return f"; most often {most.message}"
    return f"; most often {most.code} in {most.statement or 'connecting'}: {most.message}"


WAIT_NOTED = 0.05
WAIT_WARNED = 0.25
"""Shares of the measured time. On a machine that server and clients share, some waiting is the price of
keeping the server busy; a quarter is no longer a detail."""


@check(
    "client",
    reason="A load generator without CPU time to spare measures itself.",
    remedy="fewer `clients`, a machine with more CPUs, or a workload with more work a statement",
    source="Gregg, Systems Performance, 2020, section 12.3 (client limits)",
    bars_from="invalid",
)
def client(evidence: Evidence) -> Iterator[Said]:
    """Find a load generator without CPU time to spare, or one that let replies wait."""
    load = evidence.load
    if evidence.embedded:
        yield Apart("the database's own work is in the load generator's account")
        return
    account, seconds = load.known_client, load.known_seconds
    brief = evidence.metric == "seconds" and (load.figure("seconds") or 0.0) < SHORTEST_JOB_S
    usable = min(account.workers, evidence.plan.cpus or _cpus_of(evidence) or account.workers)
    # Of a load on bare files, what it does in the system is the storage's own work: file system, page cache.
    own_s = account.cpu_user_s + (account.cpu_system_s if evidence.cell.has_server else 0.0)
    share = own_s / (seconds * max(usable, 1))
    if share > CLIENT_CPU_SHARE:
        used = (
            f"the load generator used {share:.0%} of the {usable} {'CPU' if usable == 1 else 'CPUs'} "
            "that it can use"
        )
        if brief:
            yield Problem("note", f"{used}: in so short a job, starting and ending threads is most of it", "")
        else:
            yield Problem("invalid", f"the client was the bottleneck: {used}")
    if account.waited_for_cpu_s is None:
        yield Untold("how long the load generator's threads waited for a CPU")
    else:
        waited = account.waited_for_cpu_s / (seconds * max(account.workers, 1))
        if waited > WAIT_NOTED:
            yield Problem(
                "warning" if waited > WAIT_WARNED and not brief else "note",
                f"the load generator's threads were ready but without a CPU for {waited:.0%} of the time: "
                "that much of the latencies may be its own",
            )
    if load.latency_us is None or not load.transactions or account.delay_mean_us is None:
        return  # a client that blocks lets no reply wait
    delay_us = account.delay_mean_us * load.known_statements / load.transactions
    delayed = delay_us / load.latency_us.mean
    if delayed > DELAY_NOTED:
        yield Problem(
            "warning" if delayed > DELAY_WARNED and not brief else "note",
            f"replies lay {account.delay_mean_us:.0f} us each before the load generator took them up, "
            f"{delayed:.1%} of a transaction's latency",
        )


def _table(evidence: Evidence) -> str:
    """Return the table of the study that decides how long the trial is warmed up and measured."""
    own = evidence.cell.workload in evidence.plan.phases
    return f"[workloads.{evidence.cell.workload}]" if own else "[design]"


def _cpus_of(evidence: Evidence) -> int | None:
    return evidence.machine.cpus if evidence.machine else None


@check(
    "steady",
    reason="The mean of a series that still rises or falls depends on when one looked.",
    remedy="a longer `warm_up_s`, then a longer `measure_s`, in `[design]` or the workload's own",
    source="White, Cobb and Spratt, WSC 2000 (MSER-5); Barrett et al., OOPSLA 2017",
    elsewhere="warm up for longer and do not count it, then measure for longer",
)
def steady(evidence: Evidence) -> Iterator[Said]:
    """Find throughput that had not settled when the measured phase began, or never did.

    One pass over files begins cold, as it is to, and its figure is of the whole of it.
    """
    series = evidence.throughputs_per_s
    if evidence.metric == "seconds" or evidence.one_pass:
        yield NO_STEADY_LOAD
        return
    if len(series) < SERIES_BINS:
        yield untold_intervals(series, SERIES_BINS)
        return
    cut = mser5(series)
    # MSER-5 always cuts somewhere; what counts is whether the two sides of the cut really differ.
    at = cut.cut_bins if cut.steady else len(series) // 2
    if at < 2:
        return
    before, after = batch_mean(series[:at]), batch_mean(series[at:])
    if before.mean <= 0 or after.mean <= 0:
        return
    apart = abs(after.mean - before.mean) > before.half_width + after.half_width
    bin_s = evidence.interval_s or evidence.load.known_seconds / len(series)
    warm_up_s = evidence.plan.phases_of(evidence.cell).warm_up_s
    if cut.steady:
        told_per_s = evidence.load.transactions_per_s or before.mean
        biased = abs(after.mean / told_per_s - 1) > evidence.plan.same_within
        if apart and biased:
            yield Problem(
                "warning",
                f"the first {format_figure(at * bin_s, 2)} s of the measured phase still belong to the "
                f"warm-up: "
                f"throughput after them is {after.mean / before.mean - 1:+.0%}",
                f"`warm_up_s = {warm_up_s + at * bin_s:.6g}` or more in `{_table(evidence)}`",
            )
    elif apart and abs(after.mean / before.mean - 1) > evidence.plan.same_within:
        yield Problem(
            "warning",
            f"throughput never became steady: the second half of the measured phase is "
            f"{after.mean / before.mean - 1:+.0%} against the first",
        )
