"""Prices in every form of report."""

import html as standard_html
import io
import json
import re

import pytest

from diskproof.analysis.answers import Analysis
from diskproof.analysis.prices.shapes import Prices
from diskproof.cli.screen import Screen
from diskproof.report import html, markdown
from diskproof.report.compose import prices as tables
from diskproof.report.compose.one_screen import lines
from diskproof.report.compose.run import compose
from diskproof.report.write import terminal
from diskproof.results.trial import Finding
from diskproof.stats.intervals import Interval
from support.prices import GB, make_price, with_prices
from support.runs import MakeRun, Run
from support.trials import change, make_plan, make_trials, typical_rate

DISK, SSD = make_price("sas", 160.0), make_price("x25-e", 415.5, size_bytes=32 * GB)


def printed(analysis: Analysis, width: int = 80) -> str:
    file = io.StringIO()
    terminal.write(compose(analysis), Screen(file=file, width=width))
    return file.getvalue()


def prices_of(analysis: Analysis) -> Prices:
    assert analysis.prices
    return analysis.prices


@pytest.fixture(scope="module")
def priced(make_shared_run: MakeRun) -> Run:
    plan = make_plan(storages=("disk", "both", "unpriced"), blocks=3)
    return make_shared_run(with_prices(plan, disk=[DISK], both=[DISK, SSD, SSD]))


# ---------------------------------------------------------------- money


@pytest.mark.parametrize(
    ("amount", "shown"),
    [
        (160, "160"),
        (1234.5, "1,234.50"),
        (12.999, "13"),
        (1, "1"),
        (0.9996, "1"),
        (0.5, "0.5"),
        (0.08, "0.08"),
        (0.061728, "0.0617"),
        (0.0000012, "0.0000012"),
    ],
)
def test_money(amount: float, shown: str) -> None:
    assert tables.money(amount) == shown


@pytest.mark.parametrize(
    ("interval", "shown"),
    [
        ((0.0000012, 0.0000010, 0.0000015), "0.0000012 (0.0000010 to 0.0000015)"),
        ((1056.0, 1040.0, 1072.0), "1,060 (1,040 to 1,070)"),
        ((12.34, 12.2, 12.5), "12.3 (12.2 to 12.5)"),
        ((12.34, 9.0, 17.0), "12 (9.0 to 17)"),
        ((1362.0, 99.0, 18801.0), "1,400 (99 to 19,000)"),
        ((9.96, 9.0, 17.0), "10 (9.0 to 17)"),
        ((2.5, None, None), "2.5 (no interval)"),
    ],
)
def test_a_quotient_has_no_more_digits_than_are_known(
    interval: tuple[float, float | None, float | None], shown: str
) -> None:
    estimate, low, high = interval
    assert tables.quotient(Interval(estimate=estimate, low=low, high=high, n=5)) == shown


def test_devices_are_counted() -> None:
    assert tables.bought(["sas", "x25-e", "sas"]) == "2 x sas + x25-e"


# ---------------------------------------------------------------- every form


def test_tables_have_an_entry_a_column(priced: Run) -> None:
    _, analysis = priced
    prices = prices_of(analysis)
    for table in (
        tables.storage_prices(prices),
        tables.speed_prices(analysis, prices),
    ):
        assert table.rows
        assert {len(row) for row in table.rows} == {len(table.columns)}


def test_a_terminal_says_price_per_gb(priced: Run) -> None:
    shown = printed(priced[1], 120)
    assert re.search(r"both +sas \+ 2 x x25-e +991 +9\.91", shown)
    assert max(map(len, printed(priced[1]).splitlines())) <= 80


def test_markdown_tells_prices_apart_from_what_a_transaction_takes(priced: Run) -> None:
    shown = markdown.render(priced[1])
    assert "## Price of the storage\n" in shown
    assert "No price is given for unpriced." in shown
    assert "| both | sas + 2 x x25-e | 991 | 9.91 |" in shown
    # What a transaction takes is not said to cost.
    assert re.findall(r"(\w+ \w+) costs", shown) == []


def test_a_cell_that_must_not_be_compared_is_shown_without_a_price(make_run: MakeRun) -> None:
    plan = with_prices(
        make_plan(storages=("disk",), tunings=("safest",), clients=(8,), blocks=2), disk=[DISK]
    )
    bar = Finding(check="physics", severity="warning", message="a cache answered")
    _, analysis = make_run(plan, [change(trial, findings=[bar]) for trial in make_trials(plan)])
    [row] = tables.speed_prices(analysis, prices_of(analysis)).rows
    assert row[-1] == "not comparable"
    assert "not comparable" in markdown.render(analysis)


@pytest.mark.parametrize(
    ("faster", "amounts", "price", "to_do"),
    [
        ("ssd", (60.0, 40.0), "", "buy ssd: faster, USD 40 instead of 60."),
        ("ssd", (60.0, 150.0), "in USD: disk 60, ssd 150; ssd costs 2.5 times as much", ""),
        ("ssd", (60.0,), "in USD: disk 60", ""),
        ("dram", (60.0, 40.0), "in USD: disk 60, dram 40", ""),  # it keeps nothing
    ],
)
def test_one_screen_says_what_the_faster_costs(
    make_run: MakeRun, faster: str, amounts: tuple[float, ...], price: str, to_do: str
) -> None:
    storages = ("disk", faster)
    bought = {name: [make_price(name, amount)] for name, amount in zip(storages, amounts, strict=False)}
    plan = with_prices(make_plan(storages=storages, blocks=5), **bought)
    trials = make_trials(plan, lambda cell: typical_rate(cell) * (1 + (cell.storage == faster)))
    _, analysis = make_run(plan, trials)
    known = dict(lines(analysis))
    assert known.get("Price", "") == price
    assert (known["To do"] == to_do) == bool(to_do)


def test_json_has_them_all(priced: Run) -> None:
    told = json.loads(priced[1].model_dump_json())["prices"]
    assert [one["storage"] for one in told["storages"]] == ["disk", "both"]
    assert Analysis.model_validate_json(priced[1].model_dump_json()) == priced[1]


def test_a_page_has_a_section_and_escapes_what_the_study_says(make_run: MakeRun) -> None:
    hostile = make_price("<b>disk", 160.0, source="<script>alert(1)</script>")
    plan = with_prices(make_plan(storages=("disk",), blocks=2), disk=[hostile])
    _, analysis = make_run(plan)
    page = html.render(analysis)
    assert 'href="#price"' in page
    assert standard_html.escape("<b>disk") in page
    assert page.count("<b>disk") == page.count("<b>diskproof")


def test_a_run_without_prices_reads_as_before(quickstart: Run) -> None:
    _, analysis = quickstart
    assert "Price" not in printed(analysis)
    assert "## Price" not in markdown.render(analysis)
    assert 'id="price"' not in html.render(analysis)


def test_a_run_without_a_trial_still_tells_what_storages_cost(make_run: MakeRun) -> None:
    _, analysis = make_run(with_prices(make_plan(), disk=[DISK]), [])
    assert "| disk | sas | 160 | 1.60 |" in markdown.render(analysis)
