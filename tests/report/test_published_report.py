"""What was published stands beside what was measured in every form of the report, and is drawn."""

import csv as standard_csv
import io
import re
from pathlib import Path

import pytest

from diskproof.analysis.answers import Analysis
from diskproof.cli.screen import Screen
from diskproof.report import csv, html, markdown
from diskproof.report.charts import published as pictures
from diskproof.report.charts import still
from diskproof.report.compose import published, published_groups
from diskproof.report.compose.run import compose
from diskproof.report.write import terminal
from diskproof.results.load import Operation
from diskproof.results.plan import Plan, Scale
from diskproof.results.trial import Trial
from support.limits import make_limits
from support.published import figure, publish, ratio
from support.runs import MakeRun, Run
from support.snapshots import assert_matches_snapshot
from support.trials import change, make_plan, make_trials

SNAPSHOTS = Path(__file__).parent / "snapshots"

HOSTILE = "<img src=x onerror=alert(1)></script>|{{7*7}}\x1b[2J[bold]*x*"

SHORT = Scale(name="short", shrinks="a tenth of the rows.", carries="the order of the storages.")

TESTS = ("ATIS", "insert", "select")


def printed(analysis: Analysis, width: int = 80) -> str:
    file = io.StringIO()
    terminal.write(compose(analysis), Screen(file=file, width=width))
    return file.getvalue()


def experiment() -> Plan:
    """Return a study of two storages at two levels whose publication tells rates, latencies and a claim."""
    plan = make_plan(clients=(8,), blocks=3)
    told = (("dram", "safest", 1330, 6), ("disk", "safest", 430, 19), ("disk", "fast", 9, 900))
    figures = [
        one
        for storage, tuning, rate_per_s, mean_ms in told
        for one in (
            figure(rate_per_s, storage=storage, tuning=tuning),
            figure(mean_ms, "latency_mean_ms", storage=storage, tuning=tuning),
        )
    ]
    ratios = [
        ratio(430 / 1330, at={"tuning": "safest"}),
        ratio(9 / 430, "fast", "safest", factor="tuning", at={"storage": "disk"}),
        ratio(2.0, table="Abstract", at={"clients": "100"}),
    ]
    return publish(change(plan, scale=SHORT), figures=figures, ratios=ratios)


def job() -> tuple[Plan, list[Trial]]:
    """Return a study of a job of three tests on three storages, with its trials."""
    plan = make_plan(storages=("hdd", "ssd", "zil"), tunings=("fast",), clients=(1,), workloads=("bench",))
    seconds = {
        (test, storage): 10.0 * (2 + at) / (1 + place)
        for at, test in enumerate(TESTS)
        for place, storage in enumerate(("hdd", "ssd", "zil"))
    }
    plan = publish(
        change(plan, metrics={"bench": "seconds"}),
        figures=[
            figure(value * 50, "seconds", part=test, storage=storage)
            for (test, storage), value in seconds.items()
        ],
        ratios=[
            ratio(seconds[test, "hdd"] / seconds[test, other], other, "hdd", part=test, measure="seconds")
            for test in TESTS
            for other in ("ssd", "zil")
        ],
    )
    trials = []
    for trial in make_trials(plan):
        storage = plan.cell(trial.cell).storage
        parts = [
            Operation(
                test=test,
                name="all",
                clients=1,
                planned=9,
                count=9,
                seconds=seconds[test, storage] * (1 + trial.block / 500),
            )
            for test in TESTS
        ]
        trials.append(change(trial, load__operations=parts))
    return plan, trials


@pytest.fixture
def repeated(make_run: MakeRun) -> Run:
    return make_run(experiment())


# ---------------------------------------------------------------- every form


def test_markdown_as_a_whole(repeated: Run) -> None:
    report = markdown.render(repeated[1])
    section = report[report.index("## Beside") : report.index("## Cells")]
    assert_matches_snapshot(section, SNAPSHOTS / "published.md")


def test_it_stands_right_after_the_verdicts(repeated: Run) -> None:
    _, analysis = repeated
    report = markdown.render(analysis)
    headings = re.findall("^## (.*)$", report, flags=re.MULTILINE)
    assert [one for one in headings if one != "What to do"][:2] == [
        "Verdicts",
        "Beside the published figures",
    ]


def test_the_page_has_its_tables_and_its_picture(repeated: Run) -> None:
    page = html.render(repeated[1])
    assert '<a href="#published">Published</a>' in page
    section = page[page.index('<section id="published">') : page.index('<section id="cells">')]
    assert "size differs" in section
    assert "no cell has 100 clients at scale `short`".replace("`short`", "<code>short</code>") in section
    assert 'id="figure-published"' in section
    assert section.index("Table 1") < section.index("Abstract")


def test_json_holds_it_whole(repeated: Run) -> None:
    _, analysis = repeated
    again = Analysis.model_validate_json(analysis.model_dump_json())
    assert again.beside == analysis.beside
    assert again.beside
    assert [row.mark for row in again.beside.ratios] == ["agrees", "order differs", "not measured"]


def test_the_head_names_the_scale_and_the_method_says_what_it_can_show(repeated: Run) -> None:
    head, *sections = markdown.render(repeated[1]).split("\n## ")
    assert ", at scale `short`." in head
    assert ", at scale short." in " ".join(printed(repeated[1]).split())[:600]
    [method] = [one for one in sections if one.startswith("How it was measured")]
    assert "It can show: the order of the storages." in method
    assert "the order of the storages" in html.render(repeated[1])


def test_a_run_of_the_study_as_it_stands_speaks_of_no_scale(quickstart: Run) -> None:
    _, analysis = quickstart
    for report in (markdown.render(analysis), printed(analysis), html.render(analysis)):
        assert " at scale `" not in report and " can show: " not in report
        assert "Beside" not in report


# ---------------------------------------------------------------- hostile names


def test_hostile_names_are_shown_and_not_obeyed(make_run: MakeRun) -> None:
    plan = experiment()
    assert plan.published
    told = [change(one, table=HOSTILE, place=HOSTILE) for one in plan.published.ratios]
    figures = [change(one, table=HOSTILE, part=HOSTILE) for one in plan.published.figures]
    published = change(plan.published, title=HOSTILE, by=HOSTILE, ratios=told, figures=figures)
    scale = Scale(name="short", shrinks=HOSTILE, carries=HOSTILE)
    folder, analysis = make_run(change(plan, published=published, scale=scale))
    assert "\x1b" not in printed(analysis)
    assert "[bold]" in printed(analysis)
    report = markdown.render(analysis)
    assert re.search(r"(?<!\\)<img", report) is None
    assert re.search(r"(?<!\\)\*x\*", report) is None
    page = html.render(analysis)
    assert "<img src=x" not in page
    assert "{{7*7}}" in page  # shown, not worked out
    rows = list(standard_csv.DictReader(io.StringIO(csv.render(folder, analysis))))
    assert len(rows) == len(plan.trials)


# ---------------------------------------------------------------- tables


@pytest.mark.parametrize(
    ("value", "shown"),
    [(0.057, "0.057"), (1223.65, "1,223.65"), (4.0, "4"), (24000.0, "24,000"), (0.00004, "4e-05")],
)
def test_a_published_figure_keeps_its_own_digits(value: float, shown: str, make_run: MakeRun) -> None:
    _, analysis = make_run(publish(make_plan(blocks=2), figures=[figure(value, storage="disk")]))
    [group] = published_groups.groups(analysis)
    assert {row[-2] for row in published.figures_table(group).rows} == {shown}


def test_measures_of_one_comparison_count_once(make_run: MakeRun) -> None:
    both = [ratio(0.001, measure=measure) for measure in ("transactions_per_s", "statements_per_s")]
    plan = publish(make_plan(tunings=("safest",), clients=(8,)), ratios=both)
    _, analysis = make_run(plan)
    [group] = published_groups.groups(analysis)
    assert [row[1] for row in published.ratios_table(group).rows] == ["Transactions/s", "Statements/s"]
    assert published_groups.summary(analysis).startswith("1 published ratio: ")  # of the same trials


def test_two_claims_of_one_title_are_two_comparisons(make_run: MakeRun) -> None:
    of_other = ratio(0.5, measure="statements_per_s", at={"tuning": "fast"})
    _, analysis = make_run(
        publish(make_plan(clients=(8,)), ratios=[ratio(0.5, at={"tuning": "safest"}), of_other])
    )
    assert published_groups.summary(analysis).startswith("2 published ratios: ")


def test_what_holds_both_sides_back_stands_beside_a_ratio(make_run: MakeRun) -> None:
    told = [ratio(0.25, "fast", "safest", factor="tuning", at={"storage": at}) for at in ("disk", "dram")]
    plan = publish(make_plan(clients=(8,)), ratios=[*told, ratio(0.25, at={"tuning": "safest"})])
    _, analysis = make_run(plan)
    analysis = change(analysis, limits=make_limits(plan))
    [group] = published_groups.groups(analysis)
    table = published.ratios_table(group)
    at = [column.title for column in table.columns].index("Held back by")
    assert [row[at] for row in table.rows] == ["not established / log flush", "CPU, both", "log flush / CPU"]
    assert "| log flush / CPU |" in markdown.render(analysis)
    assert "log flush / CPU" in html.render(analysis)
    [without] = published_groups.groups(change(analysis, limits=None))
    assert "Held back by" not in {column.title for column in published.ratios_table(without).columns}


def test_a_table_of_figures_alone_is_shown(make_run: MakeRun) -> None:
    plan = publish(make_plan(), figures=[figure(5.0, storage="disk"), figure(6.0, storage="flash")])
    _, analysis = make_run(plan)
    report = markdown.render(analysis)
    assert "no ratio was published" in report
    assert "<h3>Figures of Table 1</h3>" in html.render(analysis)
    assert pictures.ratios(analysis) is None


# ---------------------------------------------------------------- pictures


def test_the_picture_can_be_drawn(repeated: Run) -> None:
    drawing = pictures.ratios(repeated[1])
    assert drawing
    assert still.png(drawing).startswith(b"\x89PNG")


def test_a_ratio_that_was_not_measured_is_not_drawn(repeated: Run) -> None:
    drawing = pictures.ratios(repeated[1])
    assert drawing
    assert [panel.title for panel in drawing.panels] == ["Table 1"]
    [panel] = drawing.panels
    assert [row["fate"] for row in panel.rows] == ["agrees", "differs"]
    assert {key.words for key in drawing.keys} == {"agrees", "differs"}


def test_wild_intervals_do_not_press_the_ratios_together(make_run: MakeRun) -> None:
    plan = publish(make_plan(tunings=("safest",), clients=(8,), blocks=2), ratios=[ratio(0.25)])
    _, analysis = make_run(plan, make_trials(plan, spread=1.0))
    drawing = pictures.ratios(analysis)
    assert drawing
    [panel] = drawing.panels
    [row] = panel.rows
    assert row["high"] / row["low"] < 1e5
    assert row["low"] <= row["measured"] <= row["high"]
