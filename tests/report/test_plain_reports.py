"""Terminal, Markdown, CSV and JSON: whole reports against snapshots, and what must hold in all of them."""

import csv as standard_csv
import io
import json
import re
from pathlib import Path

import pytest

from diskproof.analysis.answers import Analysis
from diskproof.cli.screen import Screen
from diskproof.report import csv, html, markdown
from diskproof.report.compose.run import compose
from diskproof.report.write import terminal
from diskproof.report.write.markdown import escape
from diskproof.results.load import Operation
from diskproof.results.trial import Finding
from support.runs import MakeRun, Run
from support.snapshots import assert_matches_snapshot
from support.trials import change, make_plan, make_trials

SNAPSHOTS = Path(__file__).parent / "snapshots"


def printed(analysis: Analysis, width: int = 80, **options: object) -> str:
    file = io.StringIO()
    terminal.write(compose(analysis), Screen(file=file, width=width, **options))
    return file.getvalue()


# ---------------------------------------------------------------- whole reports


def test_markdown(quickstart: Run) -> None:
    assert_matches_snapshot(markdown.render(quickstart[1]), SNAPSHOTS / "quickstart.md")


def test_csv(quickstart: Run) -> None:
    # The last digits of an exponential differ between processors.
    nine_digits = re.sub(r"\d+\.\d+", lambda found: f"{float(found[0]):.9g}", csv.render(*quickstart))
    assert_matches_snapshot(nine_digits, SNAPSHOTS / "quickstart.csv")


# ---------------------------------------------------------------- the terminal


def test_a_pipe_gets_no_escape_and_a_terminal_gets_colour(
    quickstart: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert "\x1b" not in printed(quickstart[1])
    assert "\x1b[1;33m" in printed(quickstart[1], force_terminal=True, color_system="standard")
    monkeypatch.setenv("NO_COLOR", "1")
    assert "\x1b[1;33m" not in printed(quickstart[1], force_terminal=True, color_system="standard")


def test_a_terminal_without_unicode_gets_ascii(quickstart: Run) -> None:
    raw = io.BytesIO()
    file = io.TextIOWrapper(raw, encoding="ascii", errors="replace")
    terminal.write(compose(quickstart[1]), Screen(file=file, width=80))


@pytest.mark.parametrize("width", [30, 60, 120, 200])
def test_every_width_is_kept(quickstart: Run, width: int) -> None:
    assert max(map(len, printed(quickstart[1], width).splitlines())) <= width


def test_a_message_cannot_steer_the_terminal(make_run: MakeRun) -> None:
    plan = make_plan(blocks=2)
    trials = make_trials(plan)
    escape = Finding(check="\x1b[2J", severity="warning", message="\x1b]0;title\x07", remedy="\x1b[31m")
    trials[0] = change(trials[0], findings=[escape])
    _, analysis = make_run(plan, trials)
    assert "\x1b" not in printed(analysis)
    assert "[bold]" in printed(change(analysis, plan=change(plan, question="[bold]markup[/bold]")))


# ---------------------------------------------------------------- Markdown


@pytest.mark.parametrize(
    ("hostile", "shown"),
    [
        ("a|b", r"a\|b"),
        ("<script>alert(1)</script>", r"\<script>alert(1)\</script>"),
        ("[x](javascript:alert(1))", r"\[x](javascript:alert(1))"),
        ("innodb_flush_log and *bold* _em_", r"innodb_flush_log and \*bold\* \_em\_"),
        ("set `blocks = 5 | 6` in [design]", r"set `blocks = 5 \| 6` in \[design]"),
        ("one ` alone <b>", r"one \` alone \<b>"),
        ("two\nlines", "two lines"),
        ("# heading", r"\# heading"),
        ("&lt; & so", r"\&lt; & so"),
    ],
)
def test_markdown_shows_text_as_it_is(hostile: str, shown: str) -> None:
    assert escape(hostile) == shown


# ---------------------------------------------------------------- CSV and JSON


def test_csv_has_a_row_a_trial_and_the_audits_word_on_validity(quickstart: Run) -> None:
    folder, analysis = quickstart
    rows = list(standard_csv.DictReader(io.StringIO(csv.render(folder, analysis))))
    assert [row["trial"] for row in rows] == [trial.id for trial in folder.trials()]
    assert [row["trial"] for row in rows if row["valid"] == "0"] == ["b02-t04"]
    first = folder.trials()[0]
    assert first.load
    assert float(rows[0]["load.transactions_per_s"]) == first.load.transactions_per_s
    dram = next(row for row in rows if row["storage"] == "dram")
    assert dram["usage.devices.vda.flushes"] == ""  # not observed is empty, never 0


def test_csv_keeps_hostile_text_in_its_field(make_run: MakeRun) -> None:
    plan = make_plan(storages=('a,"b"\nc',), blocks=2)
    rows = list(standard_csv.DictReader(io.StringIO(csv.render(*make_run(plan)))))
    assert len(rows) == len(plan.trials)
    assert {row["storage"] for row in rows} == {'a,"b"\nc'}


def test_json_is_the_whole_analysis(quickstart: Run) -> None:
    _, analysis = quickstart
    text_of_json = analysis.model_dump_json()
    assert Analysis.model_validate_json(text_of_json) == analysis
    assert json.loads(text_of_json)["trials_valid"] == 39


# ---------------------------------------------------------------- little or nothing to say


def test_a_run_without_a_trial_says_what_to_do(make_run: MakeRun) -> None:
    folder, analysis = make_run(make_plan(), [])
    for report in (printed(analysis), markdown.render(analysis)):
        assert "no trial has finished" in report
        assert "--resume" in report
    assert csv.render(folder, analysis) == "trial\n"


def test_a_run_without_a_valid_trial_says_why(make_run: MakeRun) -> None:
    plan = make_plan(blocks=2)
    died = Finding(
        check="server", severity="invalid", message="mariadbd ended by signal 9", remedy="Free memory."
    )
    trials = [
        change(trial, finished=False, load=None, usage=None, findings=[died]) for trial in make_trials(plan)
    ]
    folder, analysis = make_run(plan, trials)
    for report in (printed(analysis), markdown.render(analysis)):
        assert "no trial is valid" in report
        assert "mariadbd ended by signal 9" in report
        assert "Free memory." in report
    rows = list(standard_csv.DictReader(io.StringIO(csv.render(folder, analysis))))
    assert {row["valid"] for row in rows} == {"0"}


def test_one_block_says_that_it_has_no_interval(make_run: MakeRun) -> None:
    _, analysis = make_run(make_plan(blocks=1))
    assert "none: one block" in markdown.render(analysis)


# ---------------------------------------------------------------- jobs


def job_run(make_run: MakeRun) -> Run:
    """Return the run of a job of three operations on two storages."""
    plan = change(make_plan(tunings=("fast",), clients=(1,)), metrics={"complex": "seconds"})
    parts = [
        Operation(test="insert", name=name, clients=1, planned=100, count=100, seconds=seconds)
        for name, seconds in (("insert", 2.0), ("select", 4.0), ("update", 8.0))
    ]
    return make_run(plan, [change(trial, load__operations=parts) for trial in make_trials(plan)])


def test_ratios_of_operations_are_said_to_be_unadjusted(make_run: MakeRun) -> None:
    _, analysis = job_run(make_run)
    assert "it is not adjusted for the number of ratios" in markdown.render(analysis)


def test_a_page_of_jobs_speaks_of_jobs(make_run: MakeRun) -> None:
    page = html.render(job_run(make_run)[1])
    assert '<a href="#operations">Operations</a>' in page
    assert 'class="bar"' in page
    assert "Throughput over time" not in page
    assert "transaction" not in re.sub(r"<script>.*?</script>", "", page, flags=re.DOTALL)


def test_a_findings_remedy_stands_apart_from_it(quickstart: Run) -> None:
    assert "was requested\n  - **Remedy:** give a value" in markdown.render(quickstart[1])
