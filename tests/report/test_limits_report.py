"""What holds the cells back in every form of report: the answer first, nothing made up, nothing that runs."""

import io
import json
from pathlib import Path

import pytest
from playwright.sync_api import Browser

from diskproof.analysis.answers import Analysis
from diskproof.analysis.limits.records import CellLimit, Limits, Part, Split
from diskproof.cli.screen import Screen
from diskproof.report import html, markdown
from diskproof.report.charts import still
from diskproof.report.charts.split import time_split
from diskproof.report.compose import limits as tables
from diskproof.report.compose import limits_words as words
from diskproof.report.compose.answer import held_back
from diskproof.report.compose.run import compose
from diskproof.report.write import terminal
from diskproof.results.plan import Plan
from support.limits import SMALL_LOG, make_limits
from support.runs import MakeRun, Run
from support.snapshots import assert_matches_snapshot
from support.trials import change, make_plan

SNAPSHOTS = Path(__file__).parent / "snapshots"
HOSTILE = "<img src=x onerror=alert(1)></script>\x1b[31m|{{7*7}}"


def printed(analysis: Analysis, width: int = 80, encoding: str = "utf-8") -> str:
    file = io.TextIOWrapper(io.BytesIO(), encoding=encoding, errors="replace")
    terminal.write(compose(analysis), Screen(file=file, width=width))
    file.seek(0)
    return file.read()


def on_one_line(said: str) -> str:
    return " ".join(said.split())


def limits_of(analysis: Analysis) -> Limits:
    assert analysis.limits
    return analysis.limits


def limited(run: Run) -> Run:
    folder, analysis = run
    return folder, change(analysis, limits=make_limits(analysis.plan))


def with_cell(analysis: Analysis, at: int, **changes: object) -> Analysis:
    """Return the analysis with another limit of one cell."""
    limits = limits_of(analysis)
    cells = [change(one, **changes) if index == at else one for index, one in enumerate(limits.cells)]
    return change(analysis, limits__cells=cells)


SWEPT = make_plan(tunings=("safest",), clients=(1, 2, 4, 8), blocks=2)


@pytest.fixture(scope="module")
def run(make_shared_run: MakeRun) -> Run:
    return limited(make_shared_run(make_plan(blocks=5)))


@pytest.fixture(scope="module")
def swept(make_shared_run: MakeRun) -> Run:
    return limited(make_shared_run(SWEPT))


# ---------------------------------------------------------------- the terminal


def test_markdown_reads_as_it_did(swept: Run) -> None:
    assert_matches_snapshot(markdown.render(swept[1]), SNAPSHOTS / "limits.md")


def test_the_answer_says_what_waits_for_a_disk_then_what_for_the_cpus(run: Run) -> None:
    _, analysis = run
    assert held_back(analysis) == (
        "redo log flushes on disk at `safest` (79% of time); the CPUs on dram (90%); "
        "not established on disk at `fast`"
    )
    without = change(analysis, limits=None)
    assert held_back(without) == ""


def test_what_holds_back_in_many_places_is_said_of_all_other_cases(run: Run) -> None:
    cells = limits_of(run[1]).cells
    like = next(one for one in cells if one.limit == "CPU")
    as_cpu = [
        change(like, cell=one.cell) if (one.cell.storage, one.cell.tuning) == ("disk", "fast") else one
        for one in cells
    ]
    flushes = "redo log flushes on disk at `safest` (79% of time)"
    whole = change(run[1], limits__cells=as_cpu)
    assert held_back(whole) == f"{flushes}; the CPUs in all other cases (90%)"
    [first, *_] = [at for at, one in enumerate(as_cpu) if one.cell.tuning == "fast" and one.limit == "CPU"]
    unlike = with_cell(whole, first, limit=None, split=None)
    assert held_back(unlike).startswith(f"{flushes}; not established on ")
    assert held_back(unlike).endswith("; the CPUs in all other cases (90%)")
    failed = change(whole, limits__cells=[one for at, one in enumerate(as_cpu) if at != first])
    assert "all other cases" not in held_back(failed), "of a cell without a valid trial nothing is known"


def test_a_limit_that_a_single_measurement_shows_is_probable(run: Run) -> None:
    cells = limits_of(run[1]).cells
    one = with_cell(run[1], 0, limit=None)
    assert "(79% of time); probably the CPUs on dram; not" in held_back(one)
    none = change(run[1], limits__cells=[change(cell, limit=None) for cell in cells])
    assert held_back(none).startswith("probably log flushes on disk at `safest`; the CPUs on dram; not")


@pytest.mark.parametrize(
    ("waits", "others", "said"),
    [(0.5, 0.5, "CPUs busy with other work"), (0.5, 0.1, "the CPUs"), (0.3, 0.5, "the CPUs")],
)
def test_a_wait_for_cpus_that_other_work_uses_is_said_so(
    run: Run, waits: float, others: float, said: str
) -> None:
    [cell] = [one for one in limits_of(run[1]).cells if one.limit == "CPU"][:1]
    assert cell.split
    parts = [
        Part(name=name, mean_us=share * cell.split.latency_us, source="")
        for name, share in (("CPU", 0.8 - waits), ("waiting for a CPU", waits))
    ]
    waiting = change(cell, limit=None, split__parts=parts, others_cpu_share=others)
    held = words.held_by(waiting)
    assert held and (held.limit, held.words) == ("CPU", said)


def test_storages_that_all_limits_are_about_are_named_once(make_run: MakeRun) -> None:
    _, analysis = limited(make_run(make_plan(storages=("hdd", "ssd"), tunings=("safest",), blocks=2)))
    assert held_back(analysis) == "redo log flushes (79% of time)"
    _, alone = limited(make_run(make_plan(storages=("hdd",), tunings=("safest",), blocks=2)))
    assert held_back(alone) == "redo log flushes (79% of time)"


@pytest.mark.parametrize("width", [60, 80, 100, 140])
def test_no_line_is_too_wide(run: Run, width: int) -> None:
    assert max(map(len, printed(run[1], width).splitlines())) <= width


def test_a_trouble_of_many_cells_is_told_with_one_remedy(run: Run) -> None:
    said = on_one_line(printed(run[1]))
    assert said.count("redo log too small") == said.count("Remedy: raise innodb_log_file_size") == 1
    assert "redo log too small (disk, safest, 1 client; disk, safest, 8 clients): " in said


def test_a_proof_says_how_it_came_out(run: Run) -> None:
    assert "| disk, safest, 1 client | log flush |" in markdown.render(run[1])
    [proof] = limits_of(run[1]).proofs
    failed = change(proof, outcome="not as predicted", measured=None)
    analysis = change(run[1], limits__proofs=[failed])
    assert "| not as predicted |" in markdown.render(analysis)
    assert "| n/a | not as predicted |" in markdown.render(analysis)


# ---------------------------------------------------------------- tables, json, csv


def test_every_table_has_an_entry_a_column(swept: Run) -> None:
    _, analysis = swept
    limits = limits_of(analysis)
    for table in (
        tables.limits_table(analysis, limits),
        tables.proofs(analysis, limits),
    ):
        assert table.rows
        assert {len(row) for row in table.rows} == {len(table.columns)}


def test_a_cell_says_why_it_has_its_limit_or_none(run: Run) -> None:
    _, analysis = run
    rows = tables.limits_table(analysis, limits_of(analysis)).rows
    assert [row[-1] for row in rows] == [one.sentence.text for one in limits_of(analysis).cells]
    assert {row[3] for row in rows} == {"log flush", "CPU", words.NOT_ESTABLISHED}


def test_json_has_it_all(run: Run) -> None:
    _, analysis = run
    told = json.loads(analysis.model_dump_json())["limits"]
    assert {"cells", "proofs"} == told.keys()
    assert Analysis.model_validate_json(analysis.model_dump_json()) == analysis


# ---------------------------------------------------------------- nothing is said where nothing was counted


def test_a_run_of_which_nothing_was_counted_reads_as_before(quickstart: Run) -> None:
    _, analysis = quickstart
    analysis = change(analysis, limits=None)
    for said in (printed(analysis), markdown.render(analysis), html.render(analysis)):
        assert words.TITLE not in said
        assert "Held back" not in said
    assert time_split(analysis) is None


def test_limits_without_cells_have_no_section(quickstart: Run) -> None:
    _, analysis = quickstart
    analysis = change(analysis, limits=Limits(cells=[]))
    for said in (printed(analysis), markdown.render(analysis), html.render(analysis)):
        assert words.TITLE not in said


# ---------------------------------------------------------------- pictures


def test_the_parts_of_a_bar_follow_each_other_up_to_the_latency(run: Run) -> None:
    _, analysis = run
    drawing = time_split(analysis)
    assert drawing
    for cell in limits_of(analysis).cells:
        rows = [row for row in drawing.panels[0].rows if row["cell"] == cell.cell.id]
        assert [row["begin"] for row in rows] == pytest.approx([0.0, *(row["until"] for row in rows[:-1])])
        assert cell.split
        explained = max(cell.split.latency_us, cell.split.latency_us - cell.split.unexplained_us)
        whole = explained / cell.split.latency_us  # the cells' times are too far apart for milliseconds
        assert rows[-1]["until"] == pytest.approx(whole)


def test_times_that_are_near_each_other_are_drawn_in_milliseconds(make_run: MakeRun) -> None:
    _, analysis = limited(make_run(make_plan(storages=("disk",), tunings=("safest",), blocks=2)))
    drawing = time_split(analysis)
    assert drawing
    [panel] = drawing.panels
    assert max(row["until"] for row in panel.rows) == pytest.approx(18.6, rel=0.01)
    assert "shares" not in drawing.caption
    assert [key.words for key in drawing.keys] == ["log flush", "CPU", "unexplained"]


def test_parts_that_overlap_are_said_to(run: Run) -> None:
    drawing = time_split(run[1])
    assert drawing
    names = {row["name"] for row in drawing.panels[0].rows}
    assert "dram, safest, 1 client: 1.65 ms, the parts overlap by 0.0990 ms" in names
    assert "add up to more" in drawing.caption


def test_without_a_split_there_is_no_picture_of_it(run: Run) -> None:
    _, analysis = run
    assert (
        time_split(change(analysis, limits__cells=[change(limits_of(analysis).cells[0], split=None)])) is None
    )


def test_a_latency_of_nothing_divides_nothing(run: Run) -> None:
    nothing = Split(latency_us=0.0, parts=[Part(name="CPU", mean_us=0.0, source="")])
    analysis = with_cell(run[1], 0, split=nothing)
    assert time_split(analysis)
    assert words.main_parts(nothing) == "n/a"


def test_what_rounding_leaves_is_neither_unexplained_nor_an_overlap(run: Run) -> None:
    split = Split(latency_us=0.3, parts=[Part(name="CPU", mean_us=0.1, source="")] * 3)
    assert split.unexplained_us < 0
    assert words.unexplained_us(split) == 0
    drawing = time_split(with_cell(run[1], 0, split=split))
    assert drawing
    assert "dram, safest, 1 client: 0.000300 ms" in {row["name"] for row in drawing.panels[0].rows}


def test_the_pictures_can_be_drawn(swept: Run) -> None:
    _, analysis = swept
    drawn = time_split(analysis)
    assert drawn
    assert still.png(drawn).startswith(b"\x89PNG")


# ---------------------------------------------------------------- the page


def hostile(plan: Plan) -> Limits:
    """Return limits in which every text is hostile."""
    text = make_limits(plan).model_dump_json()
    for said in (
        "redo log flushes",
        "raise `innodb_log_file_size`",
        SMALL_LOG.source,
        "2 CPUs are 96% busy",
        "the server's row lock time",
        "takes twice as long",
        "a commit waits for 6.5",
        "a disk with a 1 ms flush",
    ):
        assert said in text, said
        text = text.replace(said, json.dumps(HOSTILE)[1:-1])
    return Limits.model_validate_json(text)


def test_nothing_in_a_limit_reaches_a_report_unescaped(make_run: MakeRun) -> None:
    plan = make_plan(storages=("dram", HOSTILE), blocks=2)
    _, analysis = make_run(plan)
    disk = [cell for cell in plan.cells if cell.storage == HOSTILE]
    plan_of_disk = change(plan, cells=[change(cell, storage="disk") for cell in disk])
    renamed = [
        change(one, cell=cell) for one, cell in zip(make_limits(plan_of_disk).cells, disk, strict=True)
    ]
    cells: list[CellLimit] = [one for one in hostile(make_plan()).cells if one.cell.storage == "dram"]
    analysis = change(analysis, limits=change(hostile(make_plan()), cells=[*cells, *renamed], proofs=[]))
    page, told = html.render(analysis), markdown.render(analysis)
    assert words.TITLE in page
    assert "<img src=x" not in page
    assert "<img" not in told.replace(r"\<img", "")
    assert "\x1b" not in printed(analysis)


def test_the_page_shows_its_pictures_on_a_phone_and_does_nothing_else(
    make_run: MakeRun, browser: Browser, tmp_path: Path
) -> None:
    plan = make_plan(clients=(1, 2, 4, 8), blocks=2)
    _, analysis = make_run(plan)
    analysis = change(analysis, limits=hostile(plan))
    path = tmp_path / "limits.html"
    path.write_text(html.render(analysis))
    complaints: list[str] = []
    context = browser.new_context(viewport={"width": 400, "height": 800})
    page = context.new_page()
    page.on("console", lambda message: complaints.append(message.text))
    page.on("pageerror", lambda error: complaints.append(str(error)))
    page.goto(path.as_uri())
    page.wait_for_selector("#told", state="attached")
    drawn = page.locator("#figure-split .mark-rect.role-mark path").count()
    # Memory's cells: CPU and locks. The disk's: flush, CPU and the rest at safest, the rest alone at fast.
    assert drawn == 8 * 2 + 4 * 3 + 4
    assert page.locator("#limits img, #verdicts img, #limits td b").count() == 0
    assert page.evaluate("document.documentElement.scrollWidth") <= 400
    assert "Held" not in page.inner_text("#verdicts")
    assert complaints == []
    context.close()
