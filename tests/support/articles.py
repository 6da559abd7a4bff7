"""A sound article, from which a test breaks one thing."""

from collections.abc import Sequence
from typing import Any

from pydantic import ByteSize

from diskproof.audit.check import Outcome
from diskproof.audit.registry import ARTICLE_CHECKS
from diskproof.results.article import (
    Alike,
    Article,
    Axis,
    Claim,
    Command,
    Conditions,
    Counts,
    DataSize,
    Gap,
    Job,
    Peak,
    Procedure,
    Promised,
    Specified,
    Stated,
    Unreported,
)
from diskproof.results.factor import Factor
from diskproof.results.imported import Settings, Source
from diskproof.results.published import PublishedMeasure
from support.trials import change


def stated(storage: str, *, workload: str = "oltp", run: int | None = None, **changes: Any) -> Stated:
    """Return what is printed of one storage; figures by the name of their measure go into ``figures``."""
    figures: dict[PublishedMeasure, float] = changes.pop("figures", {})
    levels: dict[Factor, str] = {"workload": workload, "storage": storage, "clients": "10"}
    levels |= changes.pop("levels", {})
    name = f"{workload}, {storage}" + (f", run {run}" if run else "")
    made = Stated(name=name, levels=levels, run=run, table="Table 1", place="page 3", figures=figures)
    return change(made, **changes)


OLTP: dict[str, dict[PublishedMeasure, float]] = {
    "ssd": {
        "transactions_per_s": 400.0,
        "latency_mean_ms": 25.0,
        "latency_p95_ms": 40.0,
        "latency_min_ms": 1.0,
        "latency_max_ms": 90.0,
    },
    "disk": {
        "transactions_per_s": 100.0,
        "latency_mean_ms": 100.0,
        "latency_p95_ms": 160.0,
        "latency_min_ms": 5.0,
        "latency_max_ms": 900.0,
    },
}
FILES: dict[PublishedMeasure, float] = {
    "requests_per_s": 1000.0,
    "megabytes_per_s": 16.384,
    "latency_min_ms": 0.2,
    "latency_mean_ms": 1.0,
}


def claim(of: str, than: str | None, **changes: Any) -> Claim:
    """Return a claim about two results of the OLTP load that holds."""
    made = Claim(
        kind="percent slower",
        says="the disk is slower",
        place="page 4",
        measure="transactions_per_s",
        of=f"oltp, {of}",
        than=than and f"oltp, {than}",
        value=75,
    )
    return change(made, **changes)


CLAIMS: tuple[Claim, ...] = (
    claim("disk", "ssd"),
    claim("ssd", "disk", kind="times as fast", value=4),
    claim("ssd", "disk", kind="faster", value=None, beside="oltp"),
    claim("disk", None, kind="bound by", value=None, cause="the disk", evidence=["its utilisation"]),
)


SCANS = {"ssd": {1: 10.0, 8: 30.0}, "disk": {1: 40.0, 8: 100.0}}
"""Seconds of a job of 100 statements a client, by storage and clients."""


def scan(storage: str, clients: int, seconds: float | None = None) -> Stated:
    """Return what is printed of a job with some clients."""
    figures: dict[PublishedMeasure, float] = {"seconds": seconds or SCANS[storage][clients]}
    made = stated(storage, workload="scan", levels={"clients": str(clients)}, figures=figures)
    return change(made, name=f"scan, {storage}, {clients} clients")


def make_article(*, claims: Sequence[Claim] = CLAIMS, **changes: Any) -> Article:
    """Return an article in which no check finds anything: what it does not tell is nothing either."""
    counts = Counts(
        transactions=60_000,
        reads=840_000,
        writes=240_000,
        others=120_000,
        total=1_200_000,
        seconds=150.0,
        latency_sum_s=1_500.0,
        client_mean=6_000.0,
        client_stddev=60.0,
        tool="sysbench 1.0",
    )
    made = Article(
        source=Source(file="post.toml", format="article"),
        title="Two media",
        by="A. N. Author, 2001",
        tools=["sysbench 1.0.17"],
        asked_clients=[10],
        procedure=Procedure(
            repeats=5,
            chosen="mean",
            spread_told=True,
            restart_between=True,
            all_ran=True,
            randomised=True,
            warm_up_s=30,
            measured_s=150,
            steps_s={"select": 0.1, "scan": 0.1},
            place="page 2",
        ),
        conditions=[
            Conditions(
                factor="storage",
                level=level,
                facts={
                    "disk": disk,
                    "computer": "the same",
                    "memory": "4 GB",
                    "bus": "USB 3",
                    "data directory": f"/{level}/data",
                    "mounted at": f"/{level}",
                },
                under_test=["disk"],
                place="page 2",
            )
            for level, disk in (("ssd", "flash"), ("disk", "platters"))
        ],
        stated=[
            stated("ssd", figures=OLTP["ssd"], counts=counts),
            stated("disk", figures=OLTP["disk"]),
            stated("disk", run=1, figures={"transactions_per_s": 101.0}),
            stated("ssd", workload="select", part="select", figures={"seconds": 10.0}),
            stated("disk", workload="select", part="select", figures={"seconds": 10.5}),
            *(scan(storage, clients) for storage in SCANS for clients in SCANS[storage]),
            stated("disk", workload="files", levels={"clients": "1"}, figures=FILES),
            stated("ssd", workload="dd", figures={"megabytes_per_s": 400.0}),
            stated("disk", workload="dd", figures={"megabytes_per_s": 100.0}),
        ],
        settings=[
            Settings(
                source=Source(file="post.toml", format=level),
                observed=False,
                values={"innodb_flush_log_at_trx_commit": value},
                version="MySQL 5.7",
            )
            for level, value in (("safest", "1"), ("fast", "2"))
        ],
        commands=[
            Command(tool="sysbench", asked={"--time": "150 s"}, shown={"--time": "150 s"}, place="page 3")
        ],
        axes=[Axis(workload="oltp", measure="transactions_per_s", begins_at=0, place="figure 1")],
        claims=list(claims),
        alike=[Alike(results=[["select, ssd", "select, disk"]], why="it reads no disk", place="page 3")],
        data=[
            DataSize(
                workload="oltp",
                data=ByteSize(8 * 2**30),
                memory=ByteSize(2**30),
                of="the buffer pool",
                derived="10 tables of a million rows",
                place="page 2",
            )
        ],
        jobs=[
            Job(workload="scan", clients=clients, statements=100 * clients, place="page 3")
            for clients in (1, 8)
        ],
        peaks=[Peak(workload="dd", direction="write", block=ByteSize(2**20), direct=True, place="page 3")],
        specified=[
            Specified(
                storage="ssd", workload="dd", measure="megabytes_per_s", most=410.0, source="its data sheet"
            )
        ],
        devices={"ssd": "flash", "disk": "spinning"},
    )
    return change(made, **changes)


PROMISED = Promised(what="the price of a request", given="the price of the disk", place="page 1")
GAP = Gap(part="transactions", kind="skipped", why="no engine", reported_run=9, really_run=8, place="page 5")
UNREPORTED = Unreported(what="the server's version", why="commits share flushes or not")


def with_stated(*changed: Stated) -> Article:
    """Return the sound article with these results in the place of those of the same name."""
    article = make_article()
    names = {one.name for one in changed}
    return change(article, stated=[*(one for one in article.stated if one.name not in names), *changed])


def with_procedure(**changes: Any) -> Article:
    """Return the sound article, made in another way."""
    article = make_article()
    return change(article, procedure=change(article.procedure, **changes))


def with_random_writes(storage: str, rate: float) -> Article:
    """Return the sound article with 1,000 random reads a second of one storage, and so many writes."""
    article = make_article()
    peaks = [
        Peak(
            workload=f"random-{direction}",
            direction=direction,
            order="random",
            block=ByteSize(4096),
            direct=True,
            place="page 3",
        )
        for direction in ("read", "write")
    ]
    rows = [
        stated(storage, workload=peak.workload, figures={"requests_per_s": one})
        for peak, one in zip(peaks, (1000.0, rate), strict=True)
    ]
    return change(article, stated=[*article.stated, *rows], peaks=[*article.peaks, *peaks])


def with_conditions(level: str, facts: dict[str, str | list[str]], **changes: Any) -> Article:
    """Return the sound article with other facts at one level."""
    article = make_article()
    conditions = [
        change(one, facts={**one.facts, **facts}, **changes) if one.level == level else one
        for one in article.conditions
    ]
    return change(article, conditions=conditions)


def outcome(name: str, article: Article) -> Outcome:
    """Return what the check of that name finds in an article."""
    return next(one for one in ARTICLE_CHECKS if one.name == name).outcome(article)
