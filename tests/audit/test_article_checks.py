"""Each check of an article fails for its reason, with its arithmetic, and passes where all is sound."""

from typing import Any

import pytest

from diskproof.audit.conditions import configurations
from diskproof.audit.registry import ARTICLE_CHECKS
from diskproof.results.article import Article, Claim, Conditions, Counts, Procedure
from diskproof.results.published import RATES
from diskproof.results.trial import Severity
from support.articles import (
    FILES,
    GAP,
    OLTP,
    PROMISED,
    UNREPORTED,
    claim,
    make_article,
    outcome,
    scan,
    stated,
    with_conditions,
    with_procedure,
    with_random_writes,
    with_stated,
)
from support.trials import change

NAMES = [one.name for one in ARTICLE_CHECKS]


SLIP = claim("disk", "ssd", value=25)
ROWS = {
    "tail": stated("ssd", figures=OLTP["ssd"] | {"latency_p95_ms": 20.0}),
    "little": stated("ssd", figures=OLTP["ssd"] | {"latency_mean_ms": 30.0}),
    "cached": stated(
        "disk", workload="files", figures=FILES | {"latency_min_ms": 0.03}, levels={"clients": "1"}
    ),
    "short": stated("ssd", workload="select", part="select", figures={"seconds": 0.057}),
    "run": stated("disk", run=1, figures={"transactions_per_s": 130.0}),
    "control": stated("disk", workload="select", part="select", figures={"seconds": 16.0}),
}


def in_words(of: str, than: str, **changes: Any) -> Claim:
    """Return a claim about a load of which no figure was printed."""
    said = claim(of, than, kind="times as fast", value=4, printed=False)
    return change(said, of=f"read-only, {of}", than=f"read-only, {than}", **changes)


def tuned(safest: float, fast: float) -> Article:
    """Return the sound article with rates at its two levels of safety."""
    rows = [
        change(
            stated("ssd", levels={"tuning": level}, figures={"transactions_per_s": rate}),
            name=f"oltp, ssd, {level}",
        )
        for level, rate in (("safest", safest), ("fast", fast))
    ]
    return with_stated(*rows)


def first_runs(*seconds: float) -> Article:
    """Return the sound article with tests of 20 s on average, and so much in their first run."""
    rows = [
        change(
            stated("disk", workload="bench", part=str(number), run=run, figures={"seconds": time}),
            name=f"bench, {number}, {run}",
        )
        for number, first in enumerate(seconds)
        for run, time in ((None, 20.0), (1, first))
    ]
    article = with_stated(*rows)
    return change(article, stated=[one for one in article.stated if one.name != "oltp, disk, run 1"])


FAILING: list[tuple[str, Article, Severity, str]] = [
    (
        "quoted-figure",
        make_article(claims=[claim("disk", "ssd", beside="scan")]),
        "warning",
        "stands in a text about `scan`, but the figure is of `oltp`",
    ),
    (
        "quoted-figure",
        make_article(claims=[change(claim("disk", "ssd", beside="dd", measure="megabytes_per_s", value=75))]),
        "warning",
        "those of `dd` are 100 and 400 MB/s",
    ),
    (
        "equal-minima",
        with_stated(stated("disk", figures=OLTP["disk"] | {"latency_min_ms": 1.2})),
        "warning",
        "took 1 and 1.2 ms (1.2 / 1 = 1.2), though the means are 4 times apart",
    ),
    (
        "disk-free-load",
        with_stated(stated("disk", figures=OLTP["disk"] | {"transactions_per_s": 390.0})),
        "warning",
        "400 / 390 = 1.026",
    ),
    (
        "disk-free-load",
        make_article(claims=[in_words("ssd", "disk", kind="the same", value=None, says="no difference")]),
        "warning",
        "“no difference”: then this load waits for nothing",
    ),
    (
        "rates-against-clients",
        with_stated(scan("ssd", 8, 160.0)),
        "warning",
        "from 1 to 8 clients, the rate falls on ssd (100 / 10 s = 10 a second; 800 / 160 s = 5 a second), "
        "but rises on disk (100 / 40 s = 2.5 a second; 800 / 100 s = 8 a second)",
    ),
    (
        "safer-and-faster",
        tuned(120.0, 100.0),
        "warning",
        "in 1 of 1 pairs: oltp, ssd, safest: 120 / 100",
    ),
    (
        "coarse-times",
        with_procedure(steps_s={"select": 1, "scan": 0.1}),
        "warning",
        "steps of 1 s, which is up to 10% of a time; 1 of 1 pairs are less than a step apart: select, ssd",
    ),
    (
        "cut-axis",
        make_article(axes=[change(make_article().axes[0], begins_at=50)]),
        "warning",
        "400 looks (400 - 50) / (100 - 50) = 7 times as long as 100, but is 400 / 100 = 4 times",
    ),
    ("first-run", first_runs(25, 25, 25, 25, 25), "warning", "in 5 of 5 tests that tell them apart"),
    (
        "command-output",
        make_article(commands=[change(make_article().commands[0], shown={"--time": "60 s"})]),
        "warning",
        "the command of sysbench asks for 150 s (`--time`), but the output shows 60 s",
    ),
    ("promised", make_article(promised=[PROMISED]), "warning", "but only the price of the disk is given"),
    ("percent-or-ratio", make_article(claims=[SLIP]), "invalid", "100 / 400 = 25.0%"),
    ("percent-or-ratio", make_article(claims=[SLIP]), "invalid", "1 - 100 / 400 = 75.0%"),
    (
        "percent-or-ratio",
        make_article(claims=[change(SLIP, at_least=True)]),
        "invalid",
        "literally true",
    ),
    (
        "percent-or-ratio",
        make_article(claims=[claim("ssd", "disk", kind="percent more", value=400)]),
        "invalid",
        "400 / 100 - 1 = 300.0% more",
    ),
    ("percent-or-ratio", make_article(claims=[claim("disk", "ssd", value=50)]), "invalid", "do not give 50%"),
    (
        "percent-or-ratio",
        make_article(claims=[claim("disk", "ssd", value=50, about=True)]),
        "warning",
        "1 - 100 / 400 = 75.0%",
    ),
    (
        "stated-amount",
        make_article(claims=[claim("ssd", "disk", kind="times as fast", value=5)]),
        "invalid",
        "says 5, the figures 400 / 100 = 4",
    ),
    (
        "stated-amount",
        make_article(
            claims=[
                claim("ssd", "disk", kind="times as fast", value=2, about=True),
                claim("ssd", "ssd", kind="times as fast", value=2, about=True),
            ]
        ),
        "warning",
        "from 1 to 4, geometric mean 2; 2 are not that: 400 / 100 = 4",
    ),
    (
        "stated-amount",
        make_article(claims=[claim("disk", "ssd", kind="difference", value=300)]),
        "invalid",
        "says 300, the figures 100 - 400 = -300",
    ),
    (
        "stated-order",
        make_article(claims=[claim("ssd", "ssd", kind="faster", value=None)]),
        "invalid",
        "400 / 400 = 1 times as fast",
    ),
    (
        "stated-amount",
        make_article(claims=[claim("disk", "ssd", kind="difference", measure="latency_mean_ms", value=70)]),
        "invalid",
        "100 - 25 = 75",
    ),
    (
        "stated-order",
        make_article(claims=[claim("disk", "ssd", kind="faster", value=None)]),
        "invalid",
        "100 / 400 = 0.25 times as fast",
    ),
    (
        "stated-order",
        make_article(claims=[claim("disk", "ssd", kind="faster", value=None, implied=True)]),
        "warning",
        "100 / 400",
    ),
    (
        "stated-order",
        make_article(claims=[claim("ssd", "disk", kind="the same", value=None)]),
        "invalid",
        "400 / 100 = 4",
    ),
    (
        "order-without-spread",
        change(
            with_procedure(spread_told=False),
            stated=[
                stated("ssd", figures={"transactions_per_s": 104.0}),
                stated("disk", figures={"transactions_per_s": 100.0}),
            ],
        ),
        "warning",
        "104 / 100 = 1.04",
    ),
    (
        "named-limit",
        make_article(claims=[claim("disk", None, kind="bound by", value=None, cause="the processor")]),
        "warning",
        "nothing shows that it is the processor",
    ),
    (
        "printed-figures-agree",
        with_stated(change(make_article().stated[0], figures={**OLTP["ssd"], "transactions_per_s": 410.0})),
        "invalid",
        "60,000 / 150 s = 400, but the printed rate is 410",
    ),
    (
        "printed-figures-agree",
        with_stated(stated("ssd", figures={"latency_p95_ms": 95.0, "latency_max_ms": 90.0})),
        "invalid",
        "above latency_max_ms",
    ),
    (
        "printed-littles-law",
        change(with_stated(ROWS["little"]), procedure=Procedure(repeats=1)),
        "invalid",
        "400 a second x 30 ms = 12, with 10 clients (+20.0%): in one run",
    ),
    (
        "printed-littles-law",
        change(with_stated(ROWS["little"]), procedure=Procedure(repeats=3, chosen="best")),
        "invalid",
        "in one run",
    ),
    (
        "printed-littles-law",
        with_stated(ROWS["little"]),
        "warning",
        "means over runs, one of them at least 2.38 times as fast as another",  # 3.38^2 / (4 x 2.38) = 1.2
    ),
    (
        "printed-littles-law",
        with_stated(stated("ssd", figures=OLTP["ssd"] | {"latency_mean_ms": 20.0})),
        "warning",
        "= 8, with 10 clients (-20.0%): either clients rest",
    ),
    (
        "printed-littles-law",
        with_stated(
            stated(
                "disk", workload="files", figures=FILES | {"latency_mean_ms": 0.4}, levels={"clients": "1"}
            )
        ),
        "warning",
        "latencies explain 40% of the time",
    ),
    (
        "fairness",
        with_stated(
            change(
                make_article().stated[0],
                counts=Counts(transactions=60_000, client_mean=6_000, client_stddev=900),
            )
        ),
        "warning",
        "900 / 6,000 = 15.0%; by chance they scatter by about 1 / sqrt(6,000) = 1.3%",
    ),
    (
        "printed-figures-agree",
        with_stated(change(make_article().stated[0], counts=Counts(transactions=60_000, client_mean=6_600))),
        "invalid",
        "60,000 / 10 clients = 6,000, but the printed mean of a client is 6,600",
    ),
    ("cache-answered", with_random_writes("disk", 1500.0), "warning", "1,500 / 1,000 = 1.5 times as many"),
    (
        "above-specified",
        with_stated(stated("ssd", workload="dd", figures={"megabytes_per_s": 820.0})),
        "warning",
        "820 / 410 = 2 times the most",
    ),
    (
        "raw-peak",
        make_article(
            claims=[in_words("ssd or memory", "disk", kind="the same", value=None, says="both read alike")],
            peaks=[change(make_article().peaks[0], load="read-only")],
        ),
        "warning",
        "by it 400 / 100 = 4 (ssd / disk), but the article says of `read-only`: both read alike",
    ),
    ("printed-tail", with_stated(ROWS["tail"]), "warning", "(25 - 0.95 x 20) / 0.05 = 120 ms"),
    ("cache-answered", with_stated(ROWS["cached"]), "warning", "16,384 bytes a request"),
    ("article-short-jobs", with_stated(ROWS["short"]), "warning", "0.057 s"),
    ("single-run", with_stated(ROWS["run"]), "warning", "(5 x 100 - 130) / 4 = 92.5, 1.41 times"),
    ("alike", with_stated(ROWS["control"]), "warning", "16 / 10 = 1.6"),
    ("confounded", with_conditions("disk", {"computer": "an old one"}), "warning", "disk: an old one"),
    (
        "confounded",
        with_conditions("disk", {"type": ["m3", "i2"]}),
        "warning",
        "any of m3, i2",
    ),
    ("unequal-limits", with_conditions("disk", {"memory": "2 GB"}), "warning", "ssd: 4 GB; disk: 2 GB"),
    (
        "told-placement",
        with_conditions("ssd", {"data directory": "/ssdata"}),
        "warning",
        "does not lie on /ssd",
    ),
    ("best-of", with_procedure(chosen="best"), "warning", "the best of 5 runs; the other 4"),
    ("article-repeats", with_procedure(repeats=1), "warning", "measured once"),
    ("spread", with_procedure(spread_told=False), "warning", "means of 5 runs"),
    ("article-warm-up", with_procedure(warm_up_s=0), "warning", "before 2 min 30 s"),
    ("put-back", with_procedure(restart_between=False), "warning", "not restored"),
    ("random-order", with_procedure(randomised=False), "warning", "fixed order"),
    ("concurrency", make_article(asked_clients=[1000]), "warning", "1,000 / 10 = 100 times"),
    ("article-client-levels", make_article(asked_clients=[]), "warning", "one level of clients (10)"),
    ("skipped-tests", make_article(gaps=[GAP]), "warning", "reports 9 tests as executed, but 8 ran"),
    (
        "raw-peak",
        make_article(peaks=[change(make_article().peaks[0], direction=None)]),
        "warning",
        "400 / 100 = 4 (ssd / disk) by this peak, 4 to 4 in the load",
    ),
    (
        "article-data-size",
        make_article(data=[change(make_article().data[0], memory=2**34)]),
        "warning",
        "8 GiB) fit in the buffer pool (16 GiB)",
    ),
]


@pytest.mark.parametrize(("name", "article", "severity", "words"), FAILING, ids=lambda value: str(value)[:40])
def test_fails_for_the_right_reason(name: str, article: Article, severity: Severity, words: str) -> None:
    found = outcome(name, article)
    assert found.state == "failed"
    assert any(one.severity == severity and words in one.message.text for one in found.problems), (
        found.problems
    )


@pytest.mark.parametrize("name", [name for name in NAMES if name not in ("unreported", "promised")])
def test_a_sound_article_passes(name: str) -> None:
    found = outcome(name, make_article())
    assert (found.state, found.problems) == ("passed", ())


def test_no_check_is_without_a_case() -> None:
    noted = {"tools", "unreported"}  # the one notes, the other says what is not told: tested below
    assert {name for name, *_ in FAILING} | noted == set(NAMES)


UNTOLD: list[tuple[str, Article]] = [
    ("best-of", with_procedure(chosen=None)),
    ("article-repeats", with_procedure(repeats=None)),
    ("spread", with_procedure(spread_told=False, repeats=None)),
    ("article-warm-up", with_procedure(warm_up_s=None)),
    ("put-back", with_procedure(restart_between=None)),
    ("random-order", with_procedure(randomised=None)),
    ("tools", make_article(tools=[])),
    ("skipped-tests", with_procedure(all_ran=None)),
    ("fairness", with_stated(change(make_article().stated[0], counts=None))),
    ("above-specified", make_article(specified=[])),
    ("unreported", make_article(unreported=[UNREPORTED])),
    ("confounded", make_article(conditions=[])),
    ("unequal-limits", make_article(conditions=[])),
    ("told-placement", make_article(conditions=[])),
    ("article-data-size", make_article(data=[])),
    ("percent-or-ratio", make_article(claims=[claim("nothing", "disk", printed=False)])),
    ("stated-order", make_article(claims=[claim("nothing", "disk", kind="faster", value=None)])),
    ("single-run", with_procedure(repeats=None)),
    ("first-run", with_procedure(repeats=None)),
    ("rates-against-clients", make_article(jobs=[])),
    ("coarse-times", with_procedure(steps_s={})),
    ("cut-axis", make_article(axes=[change(make_article().axes[0], workload="nothing")])),
    ("command-output", make_article(commands=[])),
    ("command-output", make_article(commands=[change(make_article().commands[0], shown={})])),
    ("concurrency", make_article(stated=[])),
]


@pytest.mark.parametrize(("name", "article"), UNTOLD, ids=lambda value: str(value)[:40])
def test_what_is_not_told_is_no_finding(name: str, article: Article) -> None:
    found = outcome(name, article)
    assert (found.state, found.problems) == ("cannot be told", ())
    assert found.missing


def test_an_empty_article_finds_nothing_and_breaks_nothing() -> None:
    empty = Article(source=make_article().source, title="Nothing", by="nobody")
    assert not [problem for one in ARTICLE_CHECKS for problem in one.outcome(empty).problems]


def test_a_limit_told_of_some_levels_alone_is_untold_of_the_others() -> None:
    some = Conditions(factor="storage", level="tape", facts={"disk": "tape"}, under_test=["disk"])
    article = make_article()
    found = outcome("unequal-limits", change(article, conditions=[*article.conditions, some]))
    assert [one.text for one in found.missing] == ["the memory of tape (known of ssd, disk)"]


def test_a_report_of_another_version_is_a_note_alone() -> None:
    old = make_article(tools=["sysbench 0.4.12"])
    found = outcome("tools", old)
    assert found.state == "passed"
    assert [one.severity for one in found.problems] == ["note"]


def test_iterations_of_one_start_are_noted() -> None:
    found = outcome("article-repeats", with_procedure(one_start=True))
    assert (found.state, [one.severity for one in found.problems]) == ("passed", ["note"])


@pytest.mark.parametrize(("storage", "rate"), [("disk", 1000.0), ("ssd", 9000.0)])
def test_only_a_platters_writes_above_its_reads_are_a_caches(storage: str, rate: float) -> None:
    assert outcome("cache-answered", with_random_writes(storage, rate)).state == "passed"


def test_a_peak_that_foretells_what_was_found_passes() -> None:
    said = in_words("ssd", "disk")
    article = make_article(claims=[said], peaks=[change(make_article().peaks[0], load="read-only")])
    assert outcome("raw-peak", article).state == "passed"


def test_at_least_is_held_by_more() -> None:
    said = [claim("ssd", "disk", kind="times as fast", value=3, at_least=True)]
    assert outcome("stated-amount", make_article(claims=said)).state == "passed"


@pytest.mark.parametrize("mark", ["<script>", "`x` | y", "{braces}", "%s"])
def test_markup_in_names_is_text(mark: str) -> None:
    said = claim("disk", "ssd", value=25, says=mark, place=mark)
    (problem,) = outcome("percent-or-ratio", make_article(claims=[said])).problems
    assert problem.message.text.startswith(f"{mark}: “{mark}”")


def test_reads_and_writes_have_a_rate_of_their_own_in_old_reports() -> None:
    """sysbench 0.4 prints a rate of its reads and writes, without BEGIN and COMMIT."""
    counts = Counts(
        transactions=60, reads=840, writes=300, others=120, total=1260, seconds=60, tool="sysbench 0.4"
    )
    row = stated("ssd", figures={"statements_per_s": 19.0, "latency_mean_ms": 25.0}, counts=counts)
    assert outcome("printed-figures-agree", with_stated(row)).state == "passed"
    as_requests = change(row, figures={"requests_per_s": 19.0, "latency_mean_ms": 10_000.0})
    assert outcome("printed-figures-agree", with_stated(as_requests)).state != "failed"
    assert outcome("printed-littles-law", with_stated(as_requests)).state == "passed"
    wrong = change(row, figures={"statements_per_s": 25.0})
    assert outcome("printed-figures-agree", with_stated(wrong)).state == "failed"


SLOW_RUN = stated(
    "disk",
    run=1,
    figures={at: figure * (0.5 if at in RATES else 2) for at, figure in OLTP["disk"].items()},
)

SOUND_SIDES: list[tuple[str, Article]] = [
    ("safer-and-faster", tuned(101.0, 100.0)),  # printed figures are rounded
    ("safer-and-faster", tuned(50.0, 100.0)),
    ("first-run", first_runs(25, 25, 25, 25)),  # one in 16 is chance
    ("first-run", first_runs(25, 25, 15, 25, 25)),
    ("first-run", first_runs(20, 20, 20, 20, 20)),
    ("first-run", with_stated(SLOW_RUN)),  # five figures of one run are one test
    ("rates-against-clients", with_stated(scan("ssd", 8, 85.0))),  # falls by less than two figures may be off
    ("equal-minima", make_article(devices={"ssd": "flash", "disk": "flash"})),
    ("disk-free-load", with_stated(stated("disk", figures=OLTP["disk"] | {"transactions_per_s": 380.0}))),
    ("cut-axis", make_article(axes=[change(make_article().axes[0], begins_at=-5)])),
]


@pytest.mark.parametrize(("name", "article"), SOUND_SIDES, ids=lambda value: str(value)[:40])
def test_what_chance_or_rounding_explains_is_no_finding(name: str, article: Article) -> None:
    assert not outcome(name, article).problems


def test_a_picture_shows_how_far_the_clients_go() -> None:
    (problem,) = outcome("concurrency", make_article(asked_clients=[1000], pictured_clients=128)).problems
    assert "pictures are known to show is 128" in problem.message.text


def test_a_bound_that_needs_one_run_says_so() -> None:
    (problem,) = outcome("printed-tail", with_stated(ROWS["tail"])).problems
    assert "If they are of one run, the slowest 5% take at least" in problem.message.text


@pytest.mark.parametrize(("seconds", "state"), [(14.9, "passed"), (15.1, "failed")])
def test_a_rough_difference_is_as_exact_as_its_last_digit(seconds: float, state: str) -> None:
    """About 4 s may be 4.9, and is not 5.1."""
    article = with_stated(
        stated("disk", figures={"seconds": seconds}), stated("ssd", figures={"seconds": 10.0})
    )
    said = claim("disk", "ssd", kind="difference", value=4, about=True, measure="seconds")
    assert outcome("stated-amount", change(article, claims=[said])).state == state


def test_an_output_shows_its_version_without_counts() -> None:
    commands = [change(make_article().commands[0], form="sysbench 0.5")]
    (problem,) = outcome("tools", make_article(commands=commands)).problems
    assert "the report has the form of sysbench 0.5" in problem.message.text


def test_an_article_of_jobs_needs_no_counts_of_rates() -> None:
    jobs = [one for one in make_article().stated if "seconds" in one.figures]
    assert outcome("printed-figures-agree", make_article(stated=jobs)).state == "does not apply"


def test_the_facts_under_test_are_what_levels_of_settings_may_differ_in() -> None:
    said = Conditions(factor="tuning", level="fast", facts={}, under_test=["sync_binlog"])
    article = make_article()
    assert {one.differs_in for one in configurations(article)} == {None}
    told = change(article, conditions=[*article.conditions, said])
    assert {one.differs_in for one in configurations(told)} == {("sync_binlog",)}


def test_the_memory_of_the_machine_reaches_the_checks_of_its_settings() -> None:
    assert {one.memory_bytes for one in configurations(make_article())} == {4 * 2**30}
    unequal = with_conditions("disk", {"memory": "2 GB"})
    assert {one.memory_bytes for one in configurations(unequal)} == {None}
