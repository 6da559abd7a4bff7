"""Checks of what the load generator measured."""

import math
from collections.abc import Iterator

from diskproof.audit.check import (
    Apart,
    Evidence,
    NothingToCheckError,
    Said,
    Untold,
    check,
    invalid,
    note,
    problem,
    warning,
)
from diskproof.audit.files import busy_threads
from diskproof.results.findings import FINISHED
from diskproof.results.imported import ImportedResult
from diskproof.results.load import LoadError, LoadResult
from diskproof.results.record import NotRecordedError, recorded
from diskproof.stats.quantiles import known_percentiles, observations_for
from diskproof.wording import NOTHING, Message, counted, ms, per_s, printed, say, seconds, share, us

LITTLE_TOLERANCE = 0.03
"""What connecting, ending and rounding may take. A judgement: the band that counts as "the same"."""

HALF_DIGIT_US = 5.0
"""Half of the last digit of other tools' latencies: most print milliseconds with two decimals."""

PERCENTILE_TOLERANCE = 0.02
"""sysbench's percentiles are the upper ends of buckets that are 1.8 % wide; fio's are 1.6 % wide."""

LONG_TRANSACTION = 0.1
"""Share of the phase. If the longest transaction takes more, Little's law proves nothing. A judgement."""

ERROR_SHARE = 0.01
"""TPC-C rolls one in a hundred of its new orders back by design (clause 2.4.1.4)."""

CLIENT_CPU_SHARE = 0.80
"""A judgement: above it, what is ready to run waits visibly for a CPU (M/M/1: four at work or waiting)."""

DELAY_NOTED, DELAY_WARNED = 0.01, 0.05
"""Shares of a transaction's latency that may be the load generator's own. A judgement."""

WAIT_NOTED, WAIT_WARNED = 0.05, 0.25
"""Shares of the measured time. If server and clients share a machine, some waiting is the price of a busy
server; a quarter is no longer a detail."""

FEWEST_TRANSACTIONS = 100
"""Below this the count alone is uncertain by more than a tenth (Poisson, 1/sqrt(100))."""

FEWEST_OF_ALL = 10
"""Below this chance alone moves the count by a third and more (Poisson, 1/sqrt(10) = 32%)."""

ROWS_TOLERANCE = 0.02
"""Rows that others delete and put back at that moment. A judgement."""

SHORTEST_JOB_S = 1.0
"""Below this, starting threads and connecting are a visible part of a job: some ms each. A judgement."""

RATES = ("rate", "tx-rate", "max-tx-rate", "rate limit", "rate_iops", "rate_limit")
"""Options that set a rate, in several tools."""

UNPACED = frozenset({"", "0", "unlimited", "disabled"})


@check(
    FINISHED,
    reason="A trial that broke off has measured nothing.",
    remedy="fix the cause, then run the study again with `--resume`",
    source="METHODOLOGY.md: a trial counts whole or not at all",
    elsewhere="fix the cause, and give the output of a run that ended as it was asked to",
)
def finished(evidence: Evidence) -> Iterator[Said]:
    """Find a trial that broke off and recorded no reason, and another tool's run that did."""
    trial = evidence.trial
    if evidence.imported and trial.load is not None:
        ended = [error for error in trial.load.errors if error.ended]
        for error in ended:
            yield invalid(
                "the run, or a part of it, broke off{times}: {said}", times=_times(error), said=error.message
            )
        if trial.load.intervals_only and not ended:
            yield Untold("whether the run ended as it was asked to (its summary)")
        return
    explained = any(finding.severity == "invalid" for finding in trial.findings)
    if (not trial.finished or trial.load is None) and not explained:
        yield invalid("the trial broke off before it had measured anything")


@check(
    "littles-law",
    reason="If clients are always busy, clients = throughput x mean latency. If that does not hold, one of "
    "the three figures is wrong.",
    remedy="look for errors and reconnects in the trial, measure longer (`measure_s`), "
    "and keep other work off the machine",
    source="Little, Operations Research 9(3), 1961; as an audit: Gregg, Systems Performance, 2020",
    elsewhere="check that throughput, latency and clients are of one run; look for errors, reconnects, think "
    "time and a set rate",
    bars_from="invalid",
)
def littles_law(evidence: Evidence) -> Iterator[Said]:
    """Find throughput and latency that do not account for the clients, within 3%.

    A transaction under way at either end of the phase counts whole or not at all. So the sum may be off by
    the longest transaction of each client, and says little if that is long. Single statements have far
    smaller ends: if their sum accounts for the clients, the clients were busy.
    """
    load = evidence.load
    if evidence.metric == "requests_per_s":
        yield from busy_threads(evidence)
        return
    if evidence.metric != "transactions_per_s" or is_paced(evidence.result):
        raise NothingToCheckError("clients rest or connect: between transactions, or between parts of a job")
    if evidence.load.tpcc is not None and evidence.load.tpcc.think_times:
        raise NothingToCheckError("users think between transactions")
    if load.replay is not None:
        raise NothingToCheckError("sessions of a log rest between transactions, or wait for each other")
    latency, clients = recorded(load.latency_us, "the mean latency"), load.known_clients
    in_service = load.transactions_per_s * latency.mean / 1e6
    off = abs(in_service / clients - 1)
    if off <= LITTLE_TOLERANCE:
        return
    accounted = say(
        "throughput x mean latency accounts for {busy:.2f} of {clients}",
        busy=in_service,
        clients=counted(clients, "client"),
    )
    if latency.max is None and off > LITTLE_TOLERANCE + LONG_TRANSACTION:
        yield warning(
            "{accounted} ({rate} x {latency}), but all should be busy all the time; the longest latency, "
            "which might explain it, was not recorded",
            accounted=accounted,
            rate=per_s(load.transactions_per_s),
            latency=ms(latency.mean),
        )
        return
    longest_us, measured_s = recorded(latency.max, "the longest latency"), load.known_seconds
    if measured_s <= 0:
        raise NotRecordedError("how long it was measured")
    longest = longest_us / 1e6 / measured_s
    tolerance = LITTLE_TOLERANCE + min(longest, LONG_TRANSACTION)
    if off <= tolerance:
        return
    if longest <= LONG_TRANSACTION and abs(_in_statements(load) / clients - 1) > tolerance:
        yield invalid("{accounted}, but all should be busy all the time", accounted=accounted)
        return
    ends = (
        "latencies leave out what still waited at the end, so they are too low"
        if in_service < clients
        else "latencies include waiting from before the phase, so they are too high"
    )
    yield warning(
        "{accounted}; transactions took up to {longest} of the {measured} measured. Throughput is right, but "
        f"{ends}",
        say(
            "`measure_s = {least:most}` or more in `{table}`, or fewer `clients`",
            least=math.ceil(max(2 * measured_s, longest_us / 1e5)),
            table=evidence.table,
        ),
        accounted=accounted,
        longest=seconds(longest_us / 1e6),
        measured=seconds(measured_s),
    )


def _in_statements(load: LoadResult) -> float:
    """Return how many clients, on average, waited for the reply to a statement."""
    waited_us = sum(one.latency_us.mean * one.count for one in load.statement_types if one.latency_us)
    return waited_us / 1e6 / load.known_seconds


def is_paced(result: ImportedResult | None) -> bool:
    """Tell whether another tool's clients rest, at a set rate, or connect between transactions."""
    if result is None:
        return False
    return "connecting" in result.asked or any(result.asked.get(one, "0") not in UNPACED for one in RATES)


@check(
    "tail",
    reason="If the mean is above the 95th percentile, a few transactions take most of the time. Neither "
    "figure then describes what a user sees.",
    remedy="read p99, the maximum and the histogram before the mean; a longer `measure_s` shows "
    "whether the stalls recur",
    source="arithmetic: mean <= 0.95 p95 + 0.05 x mean of the slowest 5%",
    elsewhere="read the maximum and the histogram before the mean; interval lines show whether the stalls "
    "recur",
)
def tail(evidence: Evidence) -> Iterator[Said]:
    """Find a mean latency above the 95th percentile."""
    latency = recorded(evidence.steady_load.latency_us, "the mean latency")
    beyond = ", which lies beyond the histogram's end" if "95" in latency.percentiles else ""
    p95 = recorded(latency.exact("95"), f"the 95th percentile of the latency{beyond}")
    if "95" not in known_percentiles(latency.count, latency.percentiles):
        raise NothingToCheckError("too few transactions for a 95th percentile")
    rounded_us = 2 * HALF_DIGIT_US + latency.percentile_digit if evidence.imported else 0.0
    if latency.mean > p95 * (1 + PERCENTILE_TOLERANCE) + rounded_us:
        yield warning(
            "the mean latency ({mean}) is above the 95th percentile ({p95}): the slowest 5% take {slowest} "
            "or more on average",
            mean=ms(latency.mean),
            p95=ms(p95),
            slowest=us((latency.mean - 0.95 * p95) / 0.05),
        )


@check(
    "short",
    reason="A figure from few transactions is mostly chance.",
    remedy="a longer `measure_s`, in `[design]` or the workload's own table",
    source="Poisson counting error; the rule of ten observations in the tail",
    elsewhere="measure longer",
    bars_from="invalid",
)
def short(evidence: Evidence) -> Iterator[Said]:
    """Find too few transactions for the figures that are reported."""
    load, table = evidence.load, evidence.table
    if evidence.metric == "seconds":
        yield from _short_job(load)
        return
    transactions = _counted(load)
    if evidence.imported and 0 < transactions < FEWEST_OF_ALL and not evidence.one_pass:
        yield invalid(
            "{number} {work} {number:was|were} measured; a rate or a latency needs {least} or more",
            number=transactions,
            work=evidence.work if transactions > 1 else evidence.work[:-1],
            least=FEWEST_OF_ALL,
        )
        return
    if transactions == 0:
        yield problem(
            "warning" if evidence.imported else "invalid",
            "no {one} completed in {time}",
            say("a longer `measure_s` in `{table}`, or see the server's log", table=table),
            one=evidence.work[:-1],
            time=seconds(load.known_seconds),
        )
        return
    if evidence.one_pass:
        raise NothingToCheckError("one pass over the files asks for all that there is")
    asked = list(load.latency_us.percentiles) if load.latency_us else []
    known = known_percentiles(transactions, asked)
    omitted = [name for name in asked if name not in known]
    few = transactions < FEWEST_TRANSACTIONS
    if not few and not any(float(name) <= 99 for name in omitted):
        return
    highest = max((float(name) for name in asked if float(name) <= 99), default=99.0)
    rate_per_s = load.transactions_per_s or transactions / load.known_seconds
    yield problem(
        "warning" if few else "note",
        f"{'only ' if few else ''}{{number}} {{work}} were measured{{omitted}}",
        say(
            "`measure_s = {least:most}` or more in `{table}` is enough for p{highest}",
            least=math.ceil(observations_for(highest) / rate_per_s),
            table=table,
            highest=printed(highest),
        ),
        number=transactions,
        work=evidence.work,
        omitted=say("; {names:/, } omitted", names=[f"p{name}" for name in omitted]) if omitted else NOTHING,
    )


def _counted(load: LoadResult) -> int:
    """Return the completed transactions, if need be from rate and time."""
    if load.transactions is None and load.seconds:
        return round(load.transactions_per_s * load.seconds)
    return load.known_transactions


def _short_job(load: LoadResult) -> Iterator[Said]:
    """Find a job in which nothing was done, or one that was over too soon."""
    took_s = load.figure("seconds")
    if took_s is None:
        yield invalid("no part of the job was run", "see the findings on its operations")
    elif took_s < SHORTEST_JOB_S:
        yield warning(
            "the job took {time}: much of it is starting, connecting and chance",
            "a larger `queries` or `scale` in `[workloads.NAME]`",
            time=seconds(took_s),
        )


@check(
    "rows",
    reason="A select that finds no row costs less than one that does: the data set is not the one that the "
    "load was made for.",
    remedy="remove the golden image so that diskproof loads the data again; `tables` and `rows` must be "
    "those that the data was loaded with",
    source="what `point_select` asks for: one row by its primary key",
    elsewhere="check that the data was prepared with the same number of tables and rows as the run asked for",
)
def rows(evidence: Evidence) -> Iterator[Said]:
    """Find point selects that did not return one row each."""
    asked = [one for one in evidence.load.statement_types if one.name == "point_select" and one.count]
    if not asked:
        yield Untold("the statements one by one") if evidence.imported else Apart("no point selects")
    for statement in asked:
        found = statement.rows / (statement.count - min(statement.errors, statement.count - 1))
        if abs(found - 1) > ROWS_TOLERANCE:
            yield invalid(
                "{selects} point selects returned {rows} rows ({each:.2f} each); each must find exactly one",
                selects=statement.count,
                rows=statement.rows,
                each=found,
            )


@check(
    "errors",
    reason="A failed transaction costs less than one that succeeds, and a repeated one more. Beyond a few, "
    "throughput is that of another load.",
    remedy="read the server's log; correct what the error names",
    source="TPC-C, clause 5 (what counts as completed); threshold: 1% of transactions",
    bars_from="invalid",
)
def errors(evidence: Evidence) -> Iterator[Said]:
    """Find more than one transaction in a hundred that failed or was repeated."""
    load = evidence.load
    if evidence.imported:
        yield from _errors_of_the_tool(load)
    failures, retries = load.failed_transactions, load.retries
    if failures is None and retries is None:
        raise NotRecordedError("the number of failed transactions")
    if failures is None or retries is None:  # the known count may be too many by itself
        which = "failed" if failures is None else "repeated"
        yield Untold(f"the number of {which} transactions")
    asked = load.known_transactions + (failures or 0)
    if asked == 0:
        raise NothingToCheckError("nothing was asked for")
    failed, retried = (failures or 0) / asked, (retries or 0) / asked
    most = max(load.errors, key=lambda error: error.count, default=None)
    example = _most_often(most, evidence.imported)
    if failed > ERROR_SHARE:
        # Failed transactions do not make the others' figures false, if somebody else measured.
        yield problem(
            "warning" if evidence.imported else "invalid",
            "{share:.1f} of the transactions failed{example}",
            share=share(failed),
            example=example,
        )
    elif failed + retried > ERROR_SHARE:
        yield warning(
            "{counts}: {share:.1f} of all{example}",
            counts=_counts(failed=failures, repeated=retries),
            share=share(failed + retried),
            example=example,
        )
    elif failures or load.reconnects:
        yield note(
            "{counts}{example}",
            counts=_counts(failed=failures, reconnects=load.reconnects),
            example=example,
        )


def _times(error: LoadError) -> Message:
    return say(" ({count} times)", count=error.count) if error.count > 1 else NOTHING


def _errors_of_the_tool(load: LoadResult) -> Iterator[Said]:
    """Find errors that another tool reports besides the failed transactions that it counts."""
    for error in load.errors:
        if error.ended:
            continue  # said by the check of runs that broke off
        if not error.transient:
            yield warning(
                "the tool reports an error{times}: {error}", times=_times(error), error=error.message
            )
        elif load.failed_transactions is None and load.retries is None and load.transactions:
            of_all = error.count / load.transactions
            if of_all > ERROR_SHARE:
                yield warning(
                    "{count} of {all} transactions, {share:.1f}: {error}",
                    count=error.count,
                    all=load.transactions,
                    share=share(of_all),
                    error=error.message,
                )


_COUNTS = {
    "failed": "{n} {n:transaction|transactions} failed",
    "repeated": "{n} {n:transaction was|transactions were} repeated",
    "reconnects": "clients connected again {n} {n:time|times}",
}


def _counts(**counts: int | None) -> Message:
    """Return the known counts: ``3 transactions failed and clients connected again 2 times``."""
    known = [say(_COUNTS[what], n=count) for what, count in counts.items() if count is not None]
    return say("{counts}", counts=known)


def _most_often(most: LoadError | None, imported: bool) -> Message:
    """Name the most frequent error; of our own, an error without a statement is the connection's."""
    if most is None:
        return NOTHING
    if imported and most.statement is None:
        return say("; most often {error}", error=most.message)
    # Not in which statement: the findings of trials that differ in it would not be one.
    where = NOTHING if most.statement else say(" when connecting")
    return say("; most often {code}{where}: {error}", code=str(most.code), where=where, error=most.message)


@check(
    "client",
    reason="A load generator without spare CPU time measures itself.",
    remedy="fewer `clients`, a machine with more CPUs, or a workload with more work per statement",
    source="Gregg, Systems Performance, 2020, section 12.3 (client limits)",
    bars_from="invalid",
)
def client(evidence: Evidence) -> Iterator[Said]:
    """Find a load generator without spare CPU time, or one that let replies wait."""
    load = evidence.load
    if evidence.embedded:
        raise NothingToCheckError("the load generator's CPU time includes the database's own work")
    account, measured_s = load.known_client, load.known_seconds
    brief = evidence.metric == "seconds" and (load.figure("seconds") or 0.0) < SHORTEST_JOB_S
    cpus = evidence.plan.cpus or (evidence.machine.cpus if evidence.machine else None)
    cpus = sum(one.cpus for one in evidence.trial.load_hosts) or cpus
    usable = min(account.workers, cpus or account.workers)
    # With a load on bare files, system time is the storage's own work: file system, page cache.
    own_s = account.cpu_user_s + (account.cpu_system_s if evidence.cell.has_server else 0.0)
    used_share = own_s / (measured_s * max(usable, 1))
    if used_share > CLIENT_CPU_SHARE:
        used = say(
            "the load generator used {share} of the {cpus} that it can use",
            share=share(used_share),
            cpus=counted(usable, "CPU"),
        )
        if brief:
            yield note("{used}: in so short a job, starting and ending threads is most of it", "", used=used)
        else:
            found = warning if evidence.imported else invalid
            yield found("the client was the bottleneck: {used}", used=used)
    if account.waited_for_cpu_s is None:
        yield Untold("how long the load generator's threads waited for a CPU")
    else:
        waited = account.waited_for_cpu_s / (measured_s * max(account.workers, 1))
        if waited > WAIT_NOTED:
            yield problem(
                "warning" if waited > WAIT_WARNED and not brief else "note",
                "the load generator's threads waited for a CPU for {share} of the time: that much of the "
                "latencies may be its own",
                share=share(waited),
            )
    if load.latency_us is None or not load.transactions or account.delay_mean_us is None:
        return  # a client that blocks lets no reply wait
    delay_us = account.delay_mean_us * load.known_statements / load.transactions
    delayed = delay_us / load.latency_us.mean
    if delayed > DELAY_NOTED:
        yield problem(
            "warning" if delayed > DELAY_WARNED and not brief else "note",
            "each reply waited {delay} for the load generator, {share:.1f} of a transaction's latency",
            delay=us(account.delay_mean_us),
            share=share(delayed),
        )
