"""The cuts in every form of report: nothing too wide, no kill called safe, no zero without its bound."""

import csv as standard_csv
import io
import json
import re
from collections.abc import Sequence
from pathlib import Path

from diskproof.analysis.analyse import analyse
from diskproof.analysis.answers import Analysis
from diskproof.analysis.folder import analyse_folder
from diskproof.cli.screen import Screen
from diskproof.report import csv, html, markdown
from diskproof.report.charts import still
from diskproof.report.charts.cuts import speed_against_loss
from diskproof.report.compose import cut_words
from diskproof.report.compose import one_screen as screen
from diskproof.report.compose.run import compose
from diskproof.report.write import terminal
from diskproof.results.crash import Way
from diskproof.results.cut import CutTrial
from diskproof.results.folder import RunFolder
from diskproof.results.plan import Cuts
from diskproof.results.trial import Finding
from diskproof.wording import as_message
from support.cuts import (
    A_SECOND,
    CONTROLS,
    CORRUPT,
    KEPT,
    changed,
    control,
    make_crash_plan,
    make_cut,
    make_cuts,
    make_ledger,
    refused,
    silent,
    unfinished,
    with_cuts,
)
from support.runs import write_run
from support.trials import change, make_machine, make_plan, make_series, make_trials

WAYS: tuple[Way, ...] = ("power", "stop", "kill")
HOSTILE = "<img src=x onerror=alert(1)></script>\x1b[31m|{{7*7}}"


def campaign(**changes: object) -> Cuts:
    crash = make_crash_plan(
        storages=("ssd", "liar", "disk"),
        ways=WAYS,
        cuts=20,
        controls=CONTROLS,
        documented=[KEPT, A_SECOND, CORRUPT],
    )
    return change(crash, **changes)


def some_that_say_little(crash: Cuts) -> list[CutTrial]:
    """Return a campaign with silent, broken off and damaged cuts among the others."""
    cuts = make_cuts(crash)
    liar = [at for at, cut in enumerate(cuts) if cut.cell == "mariadb/liar/safest" and cut.way == "power"]
    return changed(cuts, {1: silent, 2: silent, 7: unfinished, liar[0]: refused, liar[3]: refused})


def analysed(crash: Cuts, cuts: Sequence[CutTrial] | None = None, *, speed: bool = True) -> Analysis:
    plan = with_cuts(make_plan(storages=("ssd", "liar", "disk")), crash, speed=speed)
    trials = make_trials(plan)
    cuts = some_that_say_little(crash) if cuts is None else cuts
    return analyse(plan, make_machine(plan), trials, make_series(trials), cuts)


def written(path: Path, crash: Cuts, cuts: Sequence[CutTrial], *, speed: bool = True) -> RunFolder:
    plan = with_cuts(make_plan(storages=("ssd", "liar", "disk"), blocks=2), crash, speed=speed)
    folder = write_run(path, plan, make_trials(plan), make_machine(plan))
    for cut in cuts:
        folder.append(cut)
    return folder


def printed(analysis: Analysis, width: int = 100) -> str:
    file = io.StringIO()
    terminal.write(compose(analysis), Screen(file=file, width=width))
    return file.getvalue()


# ---------------------------------------------------------------- the terminal


def test_the_load_of_the_cuts_is_of_one_client_or_of_several() -> None:
    crash = make_crash_plan(cuts=1)
    alone = change(crash, cells=[change(one, clients=1) for one in crash.cells])
    assert "accounts: 1 client, each of which" in " ".join(" ".join(one) for one in cut_words.method(alone))
    assert "accounts: 8 clients, each of which" in " ".join(" ".join(one) for one in cut_words.method(crash))


def test_speed_and_loss_stand_side_by_side() -> None:
    report = markdown.render(analysed(campaign()))
    rows = report[report.index("## Safety") :].splitlines()
    of_fast = next(line for line in rows if line.startswith("| ssd | fast |"))
    assert re.search(r"\| [\d.]+ s of commits \| [\d,]+ \|", of_fast), "the worst loss, and commits a second"


def test_each_way_to_die_has_a_table_of_its_own_and_says_what_it_took() -> None:
    shown = " ".join(printed(analysed(campaign())).split())
    for heading in (
        "The power cut Taken:",
        "The operating system stopped Taken:",
        "The server killed Taken:",
    ):
        assert shown.count(heading) == 1
    assert "this is no power cut, and no proof against one" in shown
    assert shown.count("disk: its data lies on a place that is directory: only the power of a virtual") == 1
    assert shown.count("what a power cut loses here is not verified") == 1
    assert "power-cut safety is unverified: these cuts only killed the server" in shown


def test_a_control_that_failed_is_the_first_thing_that_is_said() -> None:
    crash = campaign(controls=[control("keep", "fast")])
    assert screen.run(analysed(crash)).lines[0][0] == "ALARM"
    for said in (printed(analysed(crash)), markdown.render(analysed(crash))):
        assert "control failed" in said.lower()
    assert "control failed" not in printed(analysed(campaign()))


def test_without_a_control_what_was_lost_shows_that_cuts_reveal_a_loss() -> None:
    crash = make_crash_plan(tunings=("fast",), cuts=2)
    for lost, shows in ((0, "nothing shows"), (4, "what was lost shows")):
        cuts = [make_cut(crash, planned, ledger=make_ledger(500, lost=lost)) for planned in crash.trials]
        said = " ".join(printed(analysed(crash, cuts, speed=False)).split())
        assert f"No control: {shows} that these cuts would reveal a loss." in said


def test_a_campaign_that_was_too_weak_says_how_many_more_cuts_it_takes() -> None:
    crash = make_crash_plan(tunings=("fast",), cuts=4, controls=[control("lose", "fast")])
    lucky = [make_cut(crash, planned, ledger=make_ledger(500)) for planned in crash.trials]
    said = " ".join(printed(analysed(crash, lucky, speed=False)).split())
    assert "control too weak" in said
    assert "55 cuts more" in said


def test_what_documentation_denies_is_listed_and_what_agrees_is_counted() -> None:
    crash = campaign(documented=[change(KEPT, tunings=["fast"], ways=["power"]), KEPT])
    said = " ".join(printed(analysed(crash)).split())
    assert "contradicts" in said


def test_an_interrupted_campaign_says_how_far_it_got() -> None:
    crash = campaign()
    said = printed(analysed(crash, make_cuts(crash)[:30]))
    assert "INCOMPLETE" in said
    assert f"30 of {len(crash.trials)} cuts, all valid" in " ".join(said.split())


def test_before_the_first_cut_there_are_no_tables() -> None:
    said = printed(analysed(campaign(), [], speed=False))
    assert "No cut has been made yet." in said
    assert "worst loss" not in said


def test_a_run_of_cuts_alone_says_nothing_of_speed() -> None:
    analysis = analysed(campaign(), speed=False)
    for said in (printed(analysis), markdown.render(analysis)):
        assert "No verdict" not in said
        assert "Transactions/s" not in said


def test_a_run_without_cuts_says_nothing_of_safety() -> None:
    plan = make_plan()
    trials = make_trials(plan)
    analysis = analyse(plan, make_machine(plan), trials, make_series(trials))
    for said in (printed(analysis), markdown.render(analysis)):
        assert "Safety" not in said
        assert "The power cut" not in said


# ---------------------------------------------------------------- markdown, csv, json


def test_markdown_has_all_that_the_terminal_leaves_out() -> None:
    said = markdown.render(analysed(campaign()))
    for part in (
        "### The controls: outcomes known beforehand",
        "### The server killed",
        "### Beside the documentation",
    ):
        assert part in said
    assert "no database came back: 2" in said
    assert "| not telling, by cuts |" in said


def test_every_row_of_a_table_has_its_entries() -> None:
    blocks = markdown.render(analysed(campaign())).split("\n\n")
    tables = [block.splitlines() for block in blocks if block.startswith("| ")]
    assert len(tables) > 8
    for rows in tables:
        assert len({row.replace(r"\|", "").count("|") for row in rows}) == 1


def test_csv_has_a_row_a_cut_behind_those_of_the_trials(tmp_path: Path) -> None:
    crash = campaign()
    cuts = some_that_say_little(crash)
    folder = written(tmp_path / "run", crash, cuts)
    rows = list(standard_csv.DictReader(io.StringIO(csv.render(folder, analyse_folder(folder)))))
    of_cuts = [row for row in rows if row["way"]]
    assert len(rows) - len(of_cuts) == 24
    assert [row["trial"] for row in of_cuts] == [cut.id for cut in cuts]
    for row, cut in zip(of_cuts, cuts, strict=True):
        assert row["lost"] == ("" if cut.lost is None else str(cut.lost))
        assert row["telling"] == str(int(cut.tells))
        assert all(row[f"disk.{disk.name}.kept"] == disk.kept for disk in cut.disks)
    gone = next(row for row in of_cuts if row["recovery.refused"])
    assert (gone["with_loss"], gone["window_s"], gone["recovery.server_s"]) == ("1", "", "")


def test_json_carries_everything_and_reads_back() -> None:
    analysis = analysed(campaign())
    said = json.loads(analysis.model_dump_json())["safety"]
    assert {"answers", "controls", "documented", "speeds", "findings"} <= said.keys()
    assert Analysis.model_validate_json(analysis.model_dump_json()).safety == analysis.safety


# ---------------------------------------------------------------- pictures


def test_what_lost_nothing_stands_at_nothing_with_its_bound() -> None:
    figure = speed_against_loss(analysed(campaign()))
    assert figure
    assert [panel.title for panel in figure.panels] == [
        "The power cut",
        "The operating system stopped",
        "The server killed",
    ]
    rows = figure.panels[0].rows
    notes = {row["cell"]: row["note"] for row in rows}
    assert notes["mariadb/ssd/safest"].startswith(("none in 20: ≤ 14%", "none in 19: ≤ 15%"))
    assert notes["mariadb/liar/safest"] == "DATABASE LOST: 2 cuts"
    assert notes["mariadb/ssd/fast"] == ""


def test_cuts_alone_have_the_speed_until_the_cut() -> None:
    alone, measured = (speed_against_loss(analysed(campaign(), speed=speed)) for speed in (False, True))
    assert alone and measured
    speeds = {row["cell"]: row["speed"] for row in alone.panels[0].rows}
    assert speeds["mariadb/ssd/fast"] > 3 * speeds["mariadb/ssd/safest"]
    assert {row["cell"]: row["speed"] for row in measured.panels[0].rows} != speeds


def test_the_picture_can_be_drawn() -> None:
    figure = speed_against_loss(analysed(campaign()))
    assert figure
    assert still.png(figure).startswith(b"\x89PNG")


# ---------------------------------------------------------------- the page


def test_nothing_from_a_server_reaches_a_report_unescaped(tmp_path: Path) -> None:
    crash = campaign(documented=[change(KEPT, note=HOSTILE, source=HOSTILE)])
    hostile = Finding(check="crash", severity="warning", message=HOSTILE, remedy=HOSTILE)
    cuts = [change(cut, silent_because=as_message(HOSTILE), findings=[hostile]) for cut in make_cuts(crash)]
    folder = written(tmp_path / "run", crash, cuts, speed=False)
    analysis = analyse_folder(folder)
    assert "<img src=x" not in html.render(analysis)
    assert "\x1b" not in printed(analysis)
    assert "<img" not in markdown.render(analysis).replace(r"\<img", "")
