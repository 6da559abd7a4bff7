"""An article in its TOML form is read whole, or refused with the key and the line."""

import random
import re
import time
from pathlib import Path

import pytest

from diskproof.audit.registry import ARTICLE_CHECKS
from diskproof.importers.article import FORMAT
from diskproof.importers.base import ImportRefusedError, Text
from diskproof.results.article import Article

SOUND = """\
[article]
title = "Two media"
by = "A. N. Author, 2001"

[procedure]
repeats = 3
chosen = "best"

[[tables]]
title = "Table 1"
place = "page 3"
at = { workload = "oltp" }
columns = ["storage", "clients", "transactions_per_s", "latency_mean_ms"]
rows = [
    ["ssd", 16, 400, 40.0],
    ["ssd", 32, 500, 64.0],
    ["disk", 16, 100, 160.0],
    ["disk", 32, 100, 320.0],
]

[[reports]]
at = { storage = "ssd", clients = 16 }
place = "page 3"
transactions = 4000
seconds = 10

[[conditions]]
factor = "storage"
level = "ssd"
facts = { disk = "flash", type = ["m3", "i2"] }
under_test = ["disk"]

[[settings]]
level = "as published"
server = "MySQL 5.7"
place = "my.cnf"
text = \"\"\"
[mysqld]
sync-binlog = 1
sync_binlog = 0
\"\"\"
options = { innodb_flush_log_at_trx_commit = 2, log-bin = true }

[[claims]]
kind = "percent slower"
says = "the disk is 25 % slower"
place = "page 4"
measure = "transactions_per_s"
of = { storage = "disk" }
than = { storage = "ssd" }
value = 25
"""


def text(content: str, file: str = "post.toml") -> Text:
    return Text(file=file, content=content, sha256="abc")


def read(content: str, file: str = "post.toml") -> Article:
    (found,) = FORMAT.read(text(content, file))
    assert isinstance(found, Article)
    return found


def refusal(content: str, file: str = "post.toml") -> str:
    with pytest.raises(ImportRefusedError) as refused:
        list(FORMAT.read(text(content, file)))
    return str(refused.value)


def test_an_article_is_known_by_its_table() -> None:
    assert FORMAT.recognises(text(SOUND))
    assert FORMAT.recognises(text("# a comment\n [ article ] # mine\n"))
    assert not FORMAT.recognises(text('question = "a study"\n[published]\n'))
    assert not FORMAT.recognises(text(""))


def test_tables_become_results_with_short_names() -> None:
    article = read(SOUND)
    assert [one.name for one in article.stated] == [
        "oltp, ssd, 16 clients",
        "oltp, ssd, 32 clients",
        "oltp, disk, 16 clients",
        "oltp, disk, 32 clients",
    ]
    assert article.stated[0].figures == {"transactions_per_s": 400.0, "latency_mean_ms": 40.0}
    assert article.stated[0].clients == 16
    assert [one.load.transactions_per_s for one in article.results] == [400, 500, 100, 100]


def test_what_is_not_told_is_not_made_up() -> None:
    told, untold = (one.load for one in read(SOUND).results[:2])
    assert (told.transactions, told.seconds) == (4000, 10)
    assert (untold.transactions, untold.seconds, untold.latency_us, untold.statements) == (None,) * 4


def test_a_claim_is_about_each_pair_that_differs_in_what_it_compares_alone() -> None:
    pairs = [(one.of, one.than) for one in read(SOUND).claims]
    assert pairs == [
        ("oltp, disk, 16 clients", "oltp, ssd, 16 clients"),
        ("oltp, disk, 32 clients", "oltp, ssd, 32 clients"),
    ]


def test_a_claim_may_name_several_levels() -> None:
    article = read(
        SOUND.replace('of = { storage = "disk" }', 'at = { clients = [32] }\nof = { storage = ["disk"] }')
    )
    assert [one.of for one in article.claims] == ["oltp, disk, 32 clients"]


def test_an_option_file_and_single_options_are_settings() -> None:
    (settings,) = read(SOUND).settings
    assert settings.values == {"sync_binlog": "0", "innodb_flush_log_at_trx_commit": "2", "log_bin": "true"}
    assert settings.repeated == ["sync_binlog"]
    assert (settings.version, settings.source.format) == ("MySQL 5.7", "as published")
    assert settings.source.line == SOUND.splitlines().index("[[settings]]") + 1


def test_a_fact_of_several_is_open() -> None:
    (conditions,) = read(SOUND).conditions
    assert conditions.facts == {"disk": "flash", "type": ["m3", "i2"]}
    assert conditions.told == {"disk": "flash"}


def test_tests_of_one_job_are_one_result() -> None:
    table = """
[[tables]]
title = "Table 2"
place = "page 5"
at = { workload = "bench", storage = "ssd" }
columns = ["part", "seconds"]
rows = [["create", 10], ["insert", 30.5]]
"""
    article = read(SOUND + table)
    assert [one.name for one in article.stated[-2:]] == ["bench, create, ssd", "bench, insert, ssd"]
    job = article.results[-1].load
    assert (job.seconds, [one.name for one in job.operations]) == (40.5, ["create", "insert"])


WRONG = [
    ("[article]\nx = 1", r"post.toml:2: `article.x`: unknown key"),
    (
        SOUND.replace("repeats = 3", "repeat = 3"),
        r":6: `procedure.repeat`: unknown key; did you mean `repeats`\?",
    ),
    (
        SOUND.replace("repeats = 3", f"repeats = 0x{'f' * 5000}"),
        ":6: `procedure.repeats`: give a number of at most 64 bits, not one of 20,001",
    ),
    (
        SOUND.replace("clients = 16 }", f"clients = 0x{'f' * 5000} }}"),
        "`reports number 1.at.clients`: give a number of at most 64 bits",
    ),
    (
        SOUND.replace("repeats = 3", "repeats = 0"),
        r":6: `procedure.repeats`: .*give 1 or more, not 0",
    ),
    (SOUND.replace('"best"', '"nicest"'), r":7: `procedure.chosen`: .*'best'"),
    (SOUND.replace('title = "Two media"', ""), r"`article.title`: is missing, and no `study` has it"),
    (
        SOUND.replace('["ssd", 16, 400, 40.0]', '["ssd", 16, "fast", 40.0]'),
        r"row 1: transactions_per_s is 'fast'",
    ),
    (SOUND.replace("400, 40.0", "-400, 40.0"), r"row 1: transactions_per_s is -400"),
    (SOUND.replace("400, 40.0", "nan, 40.0"), r"row 1: transactions_per_s is nan"),
    (SOUND.replace("value = 25", ""), r"`claims number 1.value`: a claim of the kind .* needs its figure"),
    (SOUND.replace("value = 25", "value = inf"), r"`claims number 1.value`: .*finite"),
    (SOUND.replace("value = 25", "value = 0"), r"`claims number 1.value`: .*more than 0"),
    (SOUND.replace('"percent slower"', '"faster"'), r"kind “faster” states no figure"),
    (
        SOUND.replace('"percent slower"', '"slower"'),
        r"`claims number 1.kind`: give 'percent slower'",
    ),
    (SOUND.replace('than = { storage = "ssd" }', ""), r"`claims number 1.than`: is missing"),
    (
        SOUND.replace('than = { storage = "ssd" }', 'than = { storage = "sdd" }'),
        r":\d+: `claims number 1.of`: no result has storage `sdd`; did you mean `ssd`\?",
    ),
    (
        SOUND.replace('measure = "transactions_per_s"', 'measure = "seconds"'),
        r"no table has seconds; they have",
    ),
    (SOUND.replace('at = { storage = "ssd", clients = 16 }', "at = {}"), r"4 results have these levels"),
    (SOUND.replace("[mysqld]\nsync-binlog = 1\nsync_binlog = 0", "nothing at all"), r"is no option file"),
    (SOUND.replace('title = "Two media"', 'title = "Two\\u001b[2J"'), r"control character \('\\x1b'\)"),
    (SOUND.replace('title = "Two media"', 'title = "Two\\u202e"'), r"control character"),
    (SOUND.replace("[article]", '[article]\nstudy = "none.toml"'), r"there is no study file none.toml"),
    (SOUND.replace("[article]", '[article]\nstudy = "/etc/passwd"'), r"there is no study file /etc/passwd"),
    ("[article", r"is not valid TOML"),
    ("[article]\nx = " + "[" * 100_000, r"nested too deeply|not valid TOML"),
    (
        SOUND.replace("value = 25", "value = 25\nmost = true"),
        r"`claims number 1.most`: a claim of the kind “percent slower” is of all",
    ),
    ("article = 3", r"`article`: give a table"),
    (
        SOUND.replace("repeats = 3", "repeats = 3\nsteps_s = { otlp = 1 }"),
        r":7: `procedure.steps_s`: no result has workload `otlp`; did you mean `oltp`\?",
    ),
    (
        SOUND + '[[jobs]]\nworkload = "slap"\nclients = 1\nstatements = 80\nplace = "page 3"\n',
        r"`jobs number 1.workload`: no result has workload `slap`; known here: oltp",
    ),
    (
        SOUND.replace("repeats = 3", "repeats = 3\nsteps_s = { oltp = 0 }"),
        r"give more than 0, not 0",
    ),
]


@pytest.mark.parametrize(("content", "words"), WRONG, ids=range(len(WRONG)))
def test_a_mistake_is_named_with_its_key(content: str, words: str) -> None:
    assert re.search(words, refusal(content)), refusal(content)


HOSTILE = [
    ("[article]\n" + "a." * 100_000 + "a = 1\n", "a key in line 2 has 32 parts or more"),
    ("[article]\n[" + "a . " * 60_000 + "a]\n", "a key in line 2 has 32 parts or more"),
    ("[article]\nx = {" + '"a b".' * 40_000 + "a = 1}\n", "a key in line 2 has 32 parts or more"),
    ("[article]\n" + r'"\"".' * 40_000 + "a = 1\n", "a key in line 2 has 32 parts or more"),
    ("[article]\n" + "".join(f"{'a.' * 30}k{at} = 1\n" for at in range(3_000)), "unknown key"),
    ("[article]\n" + "".join(f"k{at} = 1\n" for at in range(15_000)), "and 14980 more"),
    ("[article]\nx = '" + "a b." * 50_000 + "'\n", "unknown key"),
    (SOUND + "#" * 300_000, "more than 262,144 characters"),
    (SOUND + '[[settings]]\nlevel="a"\nplace="b"\n' * 7_000, "give at most 500 of them"),
]


@pytest.mark.parametrize(("content", "words"), HOSTILE, ids=range(len(HOSTILE)))
def test_what_would_take_for_ever_is_refused_at_once(content: str, words: str) -> None:
    before = time.process_time()
    assert words in refusal(content)
    assert time.process_time() - before < 10


def test_too_many_results_are_refused() -> None:
    rows = ", ".join(f'["s{at}", {at}.5]' for at in range(2_001))
    table = f'[[tables]]\ntitle = "T"\nplace = "p"\ncolumns = ["storage", "seconds"]\nrows = [{rows}]\n'
    assert "more than 2,000 results" in refusal(f'[article]\ntitle = "t"\nby = "b"\n{table}')


def test_promises_and_peaks_and_shares_are_read() -> None:
    told = SOUND.replace("seconds = 10", "seconds = 10\nclient_mean = 250\nclient_stddev = 12.5")
    article = read(
        told
        + """
[[peaks]]
workload = "oltp"
direction = "read"
order = "random"
block = "4 KiB"
load = "oltp"
place = "page 3"

[[specified]]
storage = "ssd"
workload = "oltp"
measure = "transactions_per_s"
most = 300
source = "its data sheet"
"""
    )
    (peak,), (promise,) = article.peaks, article.specified
    assert (peak.block, peak.order, peak.taken_for) == (4096, "random", "the peak of each device")
    assert (promise.most, promise.source) == (300, "its data sheet")
    assert article.stated[0].counts
    assert (article.stated[0].counts.client_mean, article.stated[0].counts.client_stddev) == (250, 12.5)


def test_every_mistake_is_told_at_once() -> None:
    said = refusal(SOUND.replace("repeats = 3", "repeats = 0\nrepeatz = 1").replace('"best"', "7"))
    assert len(said.splitlines()) == 3


def test_too_many_pairs_are_refused() -> None:
    rows = ", ".join(f'["s{number}", 1]' for number in range(80))
    table = (
        '[article]\ntitle = "t"\nby = "b"\n[[tables]]\ntitle = "T"\nplace = "p"\n'
        f'columns = ["storage", "transactions_per_s"]\nrows = [{rows}]\n'
    )
    everything = ", ".join(f'"s{number}"' for number in range(80))
    claim = (
        '[[claims]]\nkind = "faster"\nsays = "s"\nplace = "p"\nmeasure = "transactions_per_s"\n'
        f"of = {{ storage = [{everything}] }}\nthan = {{ storage = [{everything}] }}\n"
    )
    assert "more than 5,000 pairs" in refusal(table + claim)


def test_a_study_tells_title_and_tables(tmp_path: Path) -> None:
    studies = Path(__file__).parents[2] / "studies"
    (tmp_path / "post.toml").write_text("")
    content = f'[article]\nstudy = "{studies / "juju-ec2.toml"}"\ntables = ["dd, taken as a write"]\n'
    article = read(content, str(tmp_path / "post.toml"))
    assert article.title == "MySQL performance tuning between disk types"
    assert [one.name for one in article.stated] == ["dd-write, ebs", "dd-write, ssd", "dd-write, iops"]
    assert not article.results, "bytes alone are no rate of requests"


def test_a_table_that_the_study_has_not_is_named(tmp_path: Path) -> None:
    studies = Path(__file__).parents[2] / "studies"
    content = f'[article]\nstudy = "{studies / "juju-ec2.toml"}"\ntables = ["EBS, SSD"]\n'
    assert "the study has no table “EBS, SSD”; did you mean `EBS, SSD, IOPS`?" in refusal(
        content, str(tmp_path / "a")
    )


def test_a_study_that_is_no_study_is_refused(tmp_path: Path) -> None:
    (tmp_path / "broken.toml").write_text("[servers.x]\nfamily = 3\n")
    said = refusal('[article]\nstudy = "broken.toml"\n', str(tmp_path / "post.toml"))
    assert "`article.study`: cannot be read" in said
    assert "broken.toml:2" in said


def damaged(choice: random.Random) -> str:
    """Return the sound article with some of its bytes or lines changed."""
    match choice.randrange(4):
        case 0:
            return SOUND[: choice.randrange(len(SOUND))]
        case 1:
            lines = SOUND.splitlines()
            choice.shuffle(lines)
            return "\n".join(lines)
        case 2:
            at = choice.randrange(len(SOUND))
            return SOUND[:at] + chr(choice.choice([0, 34, 61, 91, 125, 0x1B, 0xFFFF])) + SOUND[at + 1 :]
        case _:
            long = ["9" * 400, "0x" + "f" * 5000]
            figures = ["1e400", "-1", "nan", "0", "true", '"x"', "[]", "{}", "1979-05-27", *long]
            return re.sub(r"\b\d+\b", lambda found: choice.choice([found[0], choice.choice(figures)]), SOUND)


@pytest.mark.parametrize("seed", range(6))
def test_damage_is_refused_politely_or_read(seed: int) -> None:
    choice = random.Random(seed)
    for _ in range(50):
        try:
            found = list(FORMAT.read(text(damaged(choice))))
        except ImportRefusedError as error:
            assert len(str(error)) < 20_000
            continue
        for article in found:
            assert isinstance(article, Article)
            for check in ARTICLE_CHECKS:
                check.outcome(article)
