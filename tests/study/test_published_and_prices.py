"""What an experiment published, and what devices cost: every wrong figure is refused at its line."""

from pathlib import Path

import pytest

from diskproof.study.read import StudyError, parse_study
from support.studies import plan_of

QUICKSTART = (Path(__file__).parents[1] / "support" / "eight_cells.toml").read_text()
PUBLISHED = '\n[published]\ntitle = "An experiment"\nby = "Somebody, 2009"\n'
TABLE = '\n[[published.tables]]\ntitle = "Table 1"\nplace = "p. 3"\n'
RATIO = '\n[[published.ratios]]\ntitle = "Twice"\nplace = "p. 4"\nmeasure = "transactions_per_s"\n'
DEVICE = '\n[prices.disk]\ncurrency = "USD"\namount = 160\nsize = "72 GB"\nsource = "assumed: round"\n'


def complaint(text: str) -> str:
    with pytest.raises(StudyError) as refused:
        parse_study(text, "s.toml")
    return str(refused.value)


def table(columns: str, rows: str, more: str = "") -> str:
    return f"{TABLE}{more}\ncolumns = {columns}\nrows = {rows}\n"


def line_of(text: str, start: str, nth: int = 1) -> int:
    """Return the line of the n-th of those that begin so, counted from 1."""
    return [number for number, line in enumerate(text.splitlines(), 1) if line.startswith(start)][nth - 1]


GOOD = table('["storage", "clients", "transactions_per_s"]', '[["dram", 8, 50], ["disk", 77, 2.5]]')


def test_figures_and_their_ratios_are_planned() -> None:
    rows = '[["dram", 8, 50], ["disk", 8, 2.5]]'
    text = QUICKSTART + PUBLISHED + table('["storage", "clients", "transactions_per_s"]', rows)
    published = plan_of(text).published
    assert published
    assert [(figure.at["storage"], figure.value) for figure in published.figures] == [
        ("dram", 50),
        ("disk", 2.5),
    ]
    (ratio,) = published.ratios
    assert (ratio.level, ratio.baseline, ratio.ratio) == ("disk", "dram", 0.05)


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        (table('["storage", "seconds"]', '[["dram"]]'), "row 1 has 1 entries for 2 columns"),
        (table('["storage", "seconds"]', '[["dram", 1], ["disk", 1, 2]]'), "row 2 has 3 entries for 2"),
        (table('["storag", "seconds"]', '[["dram", 1]]'), "unknown column `storag`: give server, storage"),
        (table('["storage", "storage", "seconds"]', '[["dram", "dram", 1]]'), "a column is here twice"),
        (table('["storage"]', '[["dram"]]'), "no column is a measure"),
        (
            table('["storage", "seconds"]', '[["tape", 1]]'),
            "storage `tape` is not in this study, which has dram",
        ),
        (table('["storage", "seconds"]', '[["dram", 1], ["dram", 2]]'), "rows 1 and 2 have the same"),
        (table('["storage", "seconds"]', '[["dram", nan]]'), "row 1: seconds is nan, not a number above 0"),
        (table('["storage", "seconds"]', '[["dram", inf]]'), "row 1: seconds is inf, not a number above 0"),
        (table('["storage", "seconds"]', '[["dram", -1]]'), "row 1: seconds is -1, not a number above 0"),
        (table('["storage", "seconds"]', '[["dram", 0]]'), "row 1: seconds is 0, not a number above 0"),
        (table('["storage", "seconds"]', '[["dram", "1,5"]]'), "row 1: seconds is '1,5', not a number"),
        (table('["clients", "seconds"]', "[[1.5, 1]]"), "row 1: clients is 1.5, which is not a level"),
        (table('["clients", "seconds"]', '[["many", 1]]'), "clients `many` is not a whole number from 1"),
        (table('["clients", "seconds"]', "[[-3, 1]]"), "clients `-3` is not a whole number from 1"),
        (
            table('["memory", "seconds"]', '[["much", 1]]'),
            "memory `much` is not a size such as `2 GiB`",
        ),
        (
            table('["storage", "seconds"]', '[["dram", 1]]', 'at = { storage = "disk" }'),
            "`storage` is both in `at` and a column",
        ),
        (
            table('["storage", "seconds"]', '[["dram", 1]]', 'compare = ["storage", "tuning"]'),
            "`compare`: `tuning` is not a column, so no two rows differ in it",
        ),
        (
            table('["storage", "seconds"]', '[["dram", 1]]', 'at = { tuning = "slow" }'),
            "tuning `slow` is not in this study, which has safest, fast",
        ),
    ],
)
def test_a_wrong_table_is_named_by_its_number_and_line(wrong: str, said: str) -> None:
    text = QUICKSTART + PUBLISHED + GOOD + wrong
    line = line_of(text, "[[published.tables]]", 2)
    assert complaint(text).startswith(f"s.toml:{line}: `published.tables number 2`: {said}")


def test_a_column_that_is_nearly_right_is_told_its_name() -> None:
    text = QUICKSTART + PUBLISHED + table('["storage", "transaction_per_s"]', '[["dram", 1]]')
    assert "did you mean `transactions_per_s`?" in complaint(text)


def test_an_entry_that_is_none_is_named_by_its_row_and_column_from_1() -> None:
    wrong = table('["storage", "seconds"]', '[["dram", 1], ["disk", true]]')
    assert "`published.tables number 1.rows number 2 number 2`: give text in quotes or a number" in complaint(
        QUICKSTART + PUBLISHED + wrong
    )


def test_a_table_without_a_title_is_named_by_its_number_from_1() -> None:
    wrong = table('["storage", "seconds"]', '[["dram", 1]]').replace('title = "Table 1"\n', "")
    assert "`published.tables number 2.title` is missing" in complaint(QUICKSTART + PUBLISHED + GOOD + wrong)


@pytest.mark.parametrize(
    ("keys", "said"),
    [
        ("ratio = nan", "`published.ratios number 1.ratio`: give a number that is finite"),
        ("ratio = inf", "`published.ratios number 1.ratio`: give a number that is finite"),
        ("ratio = -2", "`published.ratios number 1.ratio`: give more than 0"),
        ('ratio = 2\nat = { storage = "dram" }', "`storage` is compared, so it cannot be in `at`"),
    ],
)
def test_a_wrong_ratio_is_refused(keys: str, said: str) -> None:
    claim = f'{RATIO}factor = "storage"\nlevel = "disk"\nbaseline = "dram"\n{keys}\n'
    assert said in complaint(QUICKSTART + PUBLISHED + claim)


def test_a_ratio_compares_two_levels_that_the_study_has() -> None:
    def claim(level: str, baseline: str) -> str:
        levels = f"level = '{level}'\nbaseline = '{baseline}'\n"
        return f"{QUICKSTART}{PUBLISHED}{RATIO}factor = 'storage'\nratio = 2\n{levels}"

    assert "`published.ratios number 1`: `level` and `baseline` are both `dram`" in complaint(
        claim("dram", "dram")
    )
    assert "`published.ratios number 1`: storage `tape` is not in this study" in complaint(
        claim("tape", "dram")
    )


def test_a_number_of_clients_is_a_level_as_a_number_too() -> None:
    text = f"{QUICKSTART}{PUBLISHED}{RATIO}factor = 'clients'\nratio = 2\nlevel = 8\nbaseline = 1\n"
    published = plan_of(text).published
    assert published
    assert (published.ratios[0].level, published.ratios[0].baseline) == ("8", "1")


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("amount = 160", "amount = 0", "`prices.disk`: it has no price: give `amount`, or `per_gib`"),
        ("amount = 160", "amount = nan", "`prices.disk.amount`: give a number that is finite"),
        ("amount = 160", "amount = inf", "`prices.disk.amount`: give a number that is finite"),
        ("amount = 160", 'amount = "80"', "`prices.disk.amount`: give a number, not '80'"),
        ("amount = 160", "amount = -1", "`prices.disk.amount`: give 0 or more, not -1"),
        ('size = "72 GB"', 'size = "0 GB"', "`prices.disk.size`: give more than 0"),
        ('size = "72 GB"', 'size = "72 XB"', "`prices.disk.size`: give a size such as `256 MiB`"),
        ('currency = "USD"', 'currency = "dollar"', "`prices.disk.currency`"),
        (
            "amount = 160",
            'amount = 160\nper = "year"',
            "`prices.disk.per`: give 'device' or 'month'",
        ),
        ("amount = 160", "amount = 160\nyears = 0", "`prices.disk.years`: give more than 0"),
        (
            "amount = 160",
            'amount = 160\nper = "month"\nyears = 3',
            "`prices.disk`: `years` belongs to a bought device: leave it out",
        ),
        ('source = "assumed: round"', "", "`prices.disk.source` is missing"),
        ('size = "72 GB"', "", "`prices.disk`: `size` is missing"),
    ],
)
def test_a_wrong_price_is_refused(old: str, new: str, said: str) -> None:
    assert old in DEVICE
    assert said in complaint(QUICKSTART + DEVICE.replace(old, new))


def test_two_currencies_are_refused() -> None:
    other = DEVICE.replace("prices.disk", "prices.ssd").replace("USD", "EUR")
    assert "`prices`: they are in EUR and USD: use one currency" in complaint(QUICKSTART + DEVICE + other)


@pytest.mark.parametrize(("prices", "has"), [("", "nothing"), (DEVICE, "disk")])
def test_what_was_bought_must_have_a_price(prices: str, has: str) -> None:
    text = QUICKSTART.replace('ram = "1 GiB"', 'ram = "1 GiB"\nbought = ["x25"]') + prices
    line = line_of(text, "bought")
    assert complaint(text).startswith(
        f"s.toml:{line}: `storages.dram.bought`: `x25` is not in [prices], which has {has}"
    )


def test_a_storage_is_planned_with_all_that_was_bought() -> None:
    text = QUICKSTART.replace('ram = "1 GiB"', 'ram = "1 GiB"\nbought = ["disk", "disk"]') + DEVICE
    plan = plan_of(text)
    assert list(plan.prices) == ["dram"]
    assert [(one.device, one.amount, one.size_bytes, one.years) for one in plan.prices["dram"]] == [
        ("disk", 160, 72 * 10**9, 3.0)
    ] * 2


def test_what_was_bought_of_a_volume_is_priced_by_its_card() -> None:
    volume = DEVICE.replace("amount = 160", "amount = 1\nper_gib = 0.5").replace("72 GB", "80 GiB")
    volume += "iops = { included = 3000, most = 16_000, each = 0.25, bought = 3004 }\n"
    text = QUICKSTART.replace('ram = "1 GiB"', 'ram = "1 GiB"\nbought = ["disk"]') + volume
    assert [price.amount for price in plan_of(text).prices["dram"]] == [1 + 80 * 0.5 + 4 * 0.25]
