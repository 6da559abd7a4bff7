"""What the audit finds in the five published experiments, with its arithmetic: each held against its text."""

import re
import tomllib
from pathlib import Path
from typing import Any

import pytest

from diskproof.analysis.audited.audit import audit_article
from diskproof.analysis.audited.shapes import AuditAnswer
from diskproof.audit.registry import ARTICLE_CHECKS
from diskproof.importers.article import FORMAT
from diskproof.importers.base import Text
from diskproof.report.compose import audited as words
from diskproof.results.article import Article

STUDIES = Path(__file__).parents[2] / "studies"
ARTICLES = sorted((STUDIES / "published").glob("*.toml"))


def read(name: str) -> Article:
    path = STUDIES / "published" / f"{name}.toml"
    (article,) = FORMAT.read(Text(str(path), path.read_text(), ""))
    assert isinstance(article, Article)
    return article


def found(name: str) -> dict[str, list[str]]:
    """Return what each check finds, as its gravity and the message."""
    audit = AuditAnswer(subjects=[audit_article(read(name))])
    finds: dict[str, list[str]] = {}
    for one in (*words.failures(audit), *words.notes(audit)):
        finds.setdefault(one.check.check, []).append(f"{one.word}: {one.raised.message.text}")
    return finds


def published(name: str) -> dict[str, Any]:
    told: dict[str, Any] = tomllib.loads((STUDIES / f"{name}.toml").read_text())["published"]
    return told


FINDINGS: dict[str, dict[str, list[str]]] = {
    "percona-raspberry-pi": {
        "percent-or-ratio": [
            "error: .* 29 / 231.62 = 12.5%.* 1 - 29 / 231.62 = 87.5% less",
            "error: .* 579.94 / 4,632.45 = 12.5%.* 87.5% less",
        ],
        "printed-littles-law": [
            "kexin: 1,156.24 a second x 0.33 ms = 0.382, .* 38% of the time.* the 443,904 syncs",
            "wd: 136.5 a second x 5.62 ms = 0.767, .* 77% of the time.* the 52,352 syncs",
        ],
        "fairness": ["complex, kexin: .* 368.77 / 3,475.3 = 10.6%; .* 1.7%"],
        "cache-answered": [
            "0.02 ms .* 655 MB/s or more, but USB 3",
            "0.03 ms .* 468 MB/s or more, but a platter",
        ],
        "best-of": ["the best of 3 runs"],
        "spread": ["bests of 3 runs"],
        "article-warm-up": ["no warm-up"],
        "article-data-size": ["1.071 GiB. fit in the buffer pool .1.5 GiB"],
        "idle-option": ["`thread_pool_size` has no effect"],
        "mixed-durability": ["innodb_flush_log_at_trx_commit = 2 with sync_binlog = 1"],
        "deprecated-option": ["note: `query_cache_size`", "note: `query_cache_type`"],
        "tools": ["note: .* sysbench 0.4; the article only names sysbench 1.0.17"],
        "quoted-figure": ["text about `complex`, .* is of `fileio`; those of `complex` are 733 and 57.87 ms"],
        "equal-minima": ["took 20.28 and 23.26 ms .* the means are 7.99 times apart"],
        "command-output": ["asks for a line every 2 s .*, but the output shows no such line"],
        "article-client-levels": ["`complex` is compared with one level of clients .10.: the peak"],
    },
    "lnu-thesis": {
        "percent-or-ratio": [
            "error: chapter 5: .*70 % .* 1,834.3 / 1,299 - 1 = 41.2% longer.* the same in 3 of 3 pairs",
            "error: .*71 % .* 1,299 / 1,834.3 = 70.8%",
            "error: .*63 % .* 440.7 / 695.3 = 63.4%.* 695.3 / 440.7 - 1 = 57.8% longer",
            "error: .*58 % .* 93 / 160 = 58.1%.* 1 - 93 / 160 = 41.9% less time",
            "error: .*26 % .* 77 / 300.7 = 25.6%.* 1 - 77 / 300.7 = 74.4% less time",
        ],
        "stated-amount": [
            "threat: .*ATIS .* says 2, the figures 38.3 / 23.7 = 1.62",
        ],
        "stated-order": [
            "error: .*select hardly differs .* in 3 of 3 pairs .* 695.3 / 445.7 = 1.56",
            "threat: 7.1: .* in 3 of 18 pairs .* 23.7 / 23.7 = 1 .* 13 / 13 = 1 .* 440.7 / 445.7 = 0.9888",
            "threat: chapter 5: .*in all tests.* in 1 of 8 pairs .* 93 / 133.3 = 0.698",
            "note: 7.1: .*equal in most.* in 1 of 9 pairs .* 133.3 / 93 = 1.43",
            "note: 4.1, .* in 7 of 16 pairs .* 440.7 / 446 = 0.9881",
        ],
        "order-without-spread": [
            "7.1: .* 1,317 / 1,299 = 1.014 .* closest of 4",
            "4.1, .* 1,317 / 1,302 = 1.012 .* closest of 4 .* in 11 of 16 pairs",
            "1,302 / 1,299 = 1.002",
            "1,229.43 / 1,223.51 = 1.005",
        ],
        "named-limit": ["the cache equals the SSD"],
        "single-run": ["in 5 of 8 tests: ATIS: 46 against .3 x 38.3 - 46. / 2 = 34.45, 1.34 times"],
        "alike": [
            "2 of 2 tests .* 160 / 93 = 1.72; .* 695.3 / 440.7 = 1.58",
            "`logdir` .* 6 of 9 tests .* 38.3 / 23.7 = 1.62",
        ],
        "unknown-option": ["MySQL 5.1.62 has no option `logdir`"],
        "tools": ["note: .* form of sql-bench 2.15; the article only names sql-bench, mysqlslap"],
        "first-run": ["slower than the mean of the other 2 in 7 of 7 tests .* once in 128"],
        "disk-free-load": ["`slap` waits for nothing .* 1,241.62 / 1,223.51 = 1.015"],
        "coarse-times": ["`sql-bench` are in steps of 1 s, .* up to 8% of a time; 9 of 48 pairs"],
        "cut-axis": ["begins at 1,150: .* = 2.76 times as long as 1,223.51, but is .* = 1.11 times"],
        "told-placement": ["`ssd` is /tank/mysql/data, .* does not lie on /tankssd"],
        "spread": ["means of 3 runs"],
        "random-order": ["fixed order"],
        "skipped-tests": ["`transactions` was skipped .* reports 9 tests as executed, but 8 ran"],
        "article-data-size": ["`slap` .* fit in the machine's memory .4 GiB"],
    },
    "mysqlslap-office": {
        "stated-amount": [
            "threat: .*order of magnitude.* 4.393 / 0.522 = 8.42",
            "threat: .*27 .* from 8.42 to 50.6, geometric mean 26; it fits 1.552 / 0.057 = 27.2 "
            ".*server, 1 client.*; 5 are not that: 2.1 / 0.057 = 36.8",
        ],
        "named-limit": ["shows that it is the disk$", "shows that it is the processor$"],
        "rates-against-clients": ["from 8 to 30 .* falls on laptop .* rises on desktop .* and server"],
        "article-repeats": ["note: .*the 5 runs of a cell are of one start"],
        "article-short-jobs": ["3 of 9 jobs .* 0.057 s.* 0.083 s.* 0.522 s"],
        "confounded": ["a laptop; desktop: a desktop computer; server: an older server"],
        "spread": ["figures of 5 runs"],
    },
    "juju-ec2": {
        "percent-or-ratio": [
            "error: .*575 % .* 131 / 22.8 - 1 = 474.6% more",
            "error: .*294 % .* 386 / 131 - 1 = 194.7% more",
            "error: .*1,692 % .* 386 / 22.8 - 1 = 1,593.0% more",
        ],
        "stated-order": [
            "error: .*mean time .* in 3 of 6 pairs .* 43.13 / 70.67",
            "error: .*brings much.* in 3 of 6 pairs .* 226.96 / 406.84 = 0.558",
            "threat: .*hardly changes .* in 1 of 6 pairs .* 15.24 / 10.55 = 1.44",
        ],
        "named-limit": ["nothing shows that it is the disk's bytes a second"],
        "printed-littles-law": [
            r"threat: .*406.84 a second x 43.13 ms = 17.5, with 16 clients .\+9.7%.* 1.84 times as fast",
            "threat: .*357.02 a second x 72.99 ms = 26.1, with 32 clients .-18.6%.* clients rest",
        ],
        "printed-tail": [
            "45.42 ms.* .21.12 ms.* / 0.05 = 507 ms",
            "72.99 ms.* .69.03 ms.* / 0.05 = 148 ms",
            "85.54 ms.* .70.85 ms.* / 0.05 = 365 ms",
        ],
        "safer-and-faster": ["in 2 of 9 pairs: .* 406.84 / 350.94 = 1.16; .* 349 / 333.37 = 1.05"],
        "confounded": ["instance type may be any of m3.2xlarge, m2, i2"],
        "put-back": ["not restored"],
        "raw-peak": ["386 / 22.8 = 16.9 .iops / ebs. by this peak, 0.519 to 4.29"],
        "article-data-size": ["5.355 GiB. fit in the machine's memory .30 GiB"],
    },
    "star-ssd-sas-dram": {
        "cache-answered": ["sas: 750 .* 750 / 500 = 1.5"],
        "raw-peak": [
            "by it 24,000 / 500 = 48 .ssd / sas., but the article says of `read-only`: .* equally fast",
            "by it 6,800 / 750 = 9.07 .ssd / sas., but the article says of `read-write`: .* twice as fast",
            "`sequential-read` .* bypassed the page cache$",
        ],
        "above-specified": ["random-write, ssd: .* 6,800 / 3,300 = 2.06"],
        "unequal-limits": ["sas: 2 GB; ssd: 2 GB; dram: none"],
        "concurrency": ["1,000 / 128 = 7.81 times"],
        "disk-free-load": [
            "equally fast on all three”: then this load waits for nothing",
            "SSD and main memory are equal”: then this load waits for nothing",
        ],
        "command-output": ["asks for reads alone .*, but the output shows reads with writes too"],
        "promised": ["only the price of the SAS disk is given", "own API was promised, but nothing"],
    },
}


@pytest.mark.parametrize("name", FINDINGS)
def test_the_audit_finds_this_and_nothing_else(name: str) -> None:
    finds = found(name)
    assert set(finds) == set(FINDINGS[name])
    for check, patterns in FINDINGS[name].items():
        assert len(finds[check]) == len(patterns), finds[check]
        for message, pattern in zip(finds[check], patterns, strict=True):
            assert_matches(pattern, message)


def assert_matches(pattern: str, message: str) -> None:
    assert re.search(pattern, message), f"{pattern}\n{message}"


def test_each_experiment_has_its_article() -> None:
    assert [path.stem for path in ARTICLES] == sorted(FINDINGS)


@pytest.mark.parametrize("path", ARTICLES, ids=lambda path: path.stem)
def test_its_figures_are_the_studys(path: Path) -> None:
    """No figure stands twice: what the article has of a table is what the study has, digit by digit."""
    article, study = read(path.stem), published(path.stem)
    assert article.title == study["title"]
    assert article.by == study["by"]
    told = tomllib.loads(path.read_text())
    assert "tables" not in told
    meant = told["article"].get("tables")
    tables = [one for one in study["tables"] if meant is None or one["title"] in meant]
    measures = {measure for one in article.stated for measure in one.figures}
    figures = sorted(
        float(entry)
        for table in tables
        for row in table["rows"]
        for column, entry in zip(table["columns"], row, strict=True)
        if column in measures
    )
    assert sorted(f for one in article.stated if one.run is None for f in one.figures.values()) == figures


def test_reports_of_the_raspberry_fit_together() -> None:
    """Copied by hand: sums and rates show a wrong digit."""
    assert len([one for one in read("percona-raspberry-pi").stated if one.counts]) == 4
    assert "printed-figures-agree" not in found("percona-raspberry-pi")


def test_what_is_only_a_picture_is_untold() -> None:
    article = read("star-ssd-sas-dram")
    missing = [what for check in ARTICLE_CHECKS for what in check.outcome(article).missing]
    assert len([what for what in missing if what.text.startswith("the figures behind")]) == 3


@pytest.mark.parametrize("path", ARTICLES, ids=lambda path: path.stem)
def test_every_finding_names_its_place(path: Path) -> None:
    article = read(path.stem)
    for claim in article.claims:
        assert claim.place
    assert all(one.place for one in article.conditions)
    assert all(one.place for one in article.data)
    assert all(one.place for one in article.alike)


def test_the_raspberrys_option_file_is_whole() -> None:
    """Each of its lines stands there, with those that nothing follows from."""
    (settings,) = read("percona-raspberry-pi").settings
    assert len(settings.values) == 36
    assert {"general_log_file", "log_error", "slow_query_log_file", "lc_messages_dir", "plugin_dir"} <= set(
        settings.values
    )
