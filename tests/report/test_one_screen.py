"""The answer on one screen: at most 24 lines of 80 columns, whatever the study."""

import io
import itertools
import re
from dataclasses import replace
from pathlib import Path

import pytest

from diskproof.analysis.analyse import analyse
from diskproof.analysis.answers import Analysis
from diskproof.analysis.folder import analyse_folder
from diskproof.cli.screen import Screen
from diskproof.report.compose.answer import answer, how_sure
from diskproof.report.compose.one_screen import beside, run
from diskproof.report.compose.rows import how_much_slower, single
from diskproof.report.compose.run import compose
from diskproof.report.compose.to_do import Action, actions
from diskproof.report.document import Bar, Scale, Tone
from diskproof.report.one_screen import Block, OneScreen, Row
from diskproof.report.write import one_screen
from diskproof.results import plan as plans
from diskproof.results.crash import Way
from diskproof.results.trial import Finding
from diskproof.wording import say
from support.cases.trials import ASKED
from support.cuts import control, make_crash_plan, make_cuts, with_cuts
from support.limits import make_limits
from support.runs import MakeRun, Run
from support.snapshots import assert_matches_snapshot
from support.tpcc import make_inputs, make_types
from support.trials import change, make_machine, make_plan, make_trials

SNAPSHOTS = Path(__file__).parent / "snapshots"

LAST = ("runs/quickstart/20260314-090000/report.html", "all of it: diskproof report … --full")


def printed(shown: OneScreen, width: int = 80, encoding: str = "utf-8") -> list[str]:
    raw = io.BytesIO()
    file = io.TextIOWrapper(raw, encoding=encoding, errors="replace")
    one_screen.write(shown, Screen(file=file, width=width), LAST)
    file.flush()
    return raw.getvalue().decode(encoding).splitlines()


def assert_fits(lines: list[str], width: int = 80) -> None:
    assert len(lines) <= 24
    assert max(map(len, lines[: -len(LAST)])) <= width
    assert lines[-len(LAST) :] == list(LAST)


JARGON = re.compile(r"\b(cells?|controls?|proofs?|disturbed|instruments?)\b")


def assert_plain(lines: list[str], analysis: Analysis) -> None:
    """Hold first screens to words that need no manual, to advice that is whole, a page to sixty words."""
    assert sum(len(text.split()) for _, text in compose(analysis).beside) <= 60
    assert not JARGON.findall("\n".join(lines))
    first = next(at for at, line in enumerate(lines) if line.startswith("To do"))
    goes_on = (" " * 15, "To be surer")
    advice = [lines[first], *itertools.takewhile(lambda line: line.startswith(goes_on), lines[first + 1 :])]
    assert not any(line.endswith("…") for line in advice)


def test_a_run_as_a_whole(quickstart: Run) -> None:
    _, analysis = quickstart
    lines = printed(run(analysis))
    assert_fits(lines)
    assert_plain(lines, analysis)
    assert_matches_snapshot("\n".join(lines) + "\n", SNAPSHOTS / "one-screen.txt")
    marked = [(lead, text.removeprefix("! ")) for lead, text in run(analysis).lines]
    for lead, text in compose(analysis).beside:
        assert any(lead == other and said.startswith(text) for other, said in marked), "a page says the same"
    assert [lead for lead, _ in marked] == ["How sure", "Held back by", "To do", "To be surer", "Beware"]


def test_limits_have_a_row_a_cell_with_their_share_and_their_proof(make_run: MakeRun) -> None:
    _, analysis = make_run(make_plan(blocks=5))
    asked = change(analysis, limits=make_limits(analysis.plan), plan=change(analysis.plan, asks="limits"))
    lines = printed(run(asked))
    assert_fits(lines)
    assert_plain(lines, asked)
    assert_matches_snapshot("\n".join(lines) + "\n", SNAPSHOTS / "one-screen-limits.txt")


def test_a_power_cut_as_a_whole() -> None:
    controls = [control("keep", "safest"), control("lose", "fast")]
    crash = make_crash_plan(
        storages=("ssd", "liar"), tunings=("safest", "fast", "unsafe"), cuts=15, controls=controls
    )
    plan = make_plan(storages=("ssd",), tunings=("safest", "fast", "unsafe"), clients=(8,), blocks=5)
    plan, trials = with_cuts(plan, crash), make_trials(plan)
    analysis = analyse(plan, make_machine(plan), trials, {}, make_cuts(crash))
    lines = printed(run(analysis))
    assert_fits(lines)
    assert_plain(lines, analysis)
    assert_matches_snapshot("\n".join(lines) + "\n", SNAPSHOTS / "one-screen-power-cut.txt")


def test_what_is_safe_elsewhere_and_lost_on_a_disk_that_lies_is_the_answer(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    controls = [control("keep", "safest"), control("lose", "fast")]
    crash = make_crash_plan(storages=("ssd", "liar"), tunings=("safest", "fast"), cuts=15, controls=controls)
    plan = with_cuts(make_plan(storages=("ssd",), tunings=("safest", "fast"), clients=(8,)), crash)
    analysis = analyse(plan, make_machine(plan), make_trials(plan), {}, make_cuts(crash))
    monkeypatch.setattr(Analysis, "ignoring_flushes", {"liar"})
    assert "On liar, which ignores flushes, even `safest` lost commits in 12 of 15 cuts." in answer(analysis)
    spared = [
        change(one, with_loss=0) if one.cell.tuning == "safest" else one
        for one in (analysis.safety.answers if analysis.safety else [])
    ]
    assert "even" not in answer(change(analysis, safety__answers=spared)), "none was lost at safest"
    [first, then, *_] = [one.text for one in actions(analysis) if one.of == "database"]
    assert "innodb_flush_log_at_trx_commit=1" in first and "test your disk's flushes: " in first
    assert then == "use no liar: on it no setting helps."


def test_tpcc_as_a_whole(make_run: MakeRun) -> None:
    plan = make_plan(storages=("disk", "ssd", "dram"), tunings=("safest", "fast"), clients=(8,), blocks=5)
    recorded = {"load__tpcc": make_inputs(), "load__transaction_types": make_types(orders=2_000)}
    trials = [change(one, **recorded) for one in make_trials(plan)]
    _, analysis = make_run(plan, trials)
    lines = printed(run(analysis))
    assert_fits(lines)
    assert_plain(lines, analysis)
    assert_matches_snapshot("\n".join(lines) + "\n", SNAPSHOTS / "one-screen-tpcc.txt")


def test_cuts_have_a_row_a_level_with_the_worst_and_the_speed(make_run: MakeRun) -> None:
    crash = make_crash_plan(cuts=4, controls=[control("keep", "safest")])
    folder, _ = make_run(with_cuts(make_plan(storages=("ssd",), blocks=2), crash))
    for cut in make_cuts(crash):
        folder.append(cut)
    analysis = analyse_folder(folder)
    shown = run(analysis)
    lines = printed(shown)
    assert_fits(lines)
    [block] = [one for one in shown.blocks if "lost something" in one.title]
    assert [row.levels[-1] for row in block.rows][:2] == ["safest", "fast"]
    assert block.rows[1].figures[0].endswith(" s of commits")
    assert not any("at most 53%" in line for line in lines if "0 of 4" in line), "the row's bar shows it"
    assert (block.rows[0].said, block.rows[0].interval, block.rows[0].figures[0]) == (
        "0 of 4",
        "at most 53%",
        "nothing",
    )
    assert block.columns[:3] == ("worst loss", "commits/s", "at risk") and block.most_figures == 2
    assert "no loss in 4 cuts, but up to 53% of cuts may lose something (95% sure)" in how_sure(analysis)
    assert any(line.strip().startswith("To do") for line in lines)


def test_a_small_scale_is_said_and_the_whole_study_is_one_command(make_run: MakeRun) -> None:
    scale = plans.Scale(name="short", shrinks="rows", carries="the order")
    plan = change(make_plan(blocks=5), scale=scale, resume="diskproof run s.toml --scale short --resume")
    folder, _ = make_run(plan)
    sizes = ("", 'scale = "short"\n[scales.short]\ndesign.blocks = 2\n[scales.whole]\nshrinks = "nothing"\n')
    for text, command in zip(sizes, ("run s.toml", "run s.toml --scale whole"), strict=True):
        (folder.path / "study.toml").write_text(text)
        known = dict(run(analyse_folder(folder)).lines)
        assert known["To be surer"] == f"`diskproof {command}`"
        assert known["How sure"].endswith("; short run")
    for text in ("[", 'scale = "short"\n[scales.short]\nshrinks = "nothing"\n'):
        (folder.path / "study.toml").write_text(text)
        known = dict(run(analyse_folder(folder)).lines)
        assert "To be surer" not in known and "short" not in known["How sure"]


def test_what_a_commit_costs_has_its_interval_its_disk_and_its_load(make_run: MakeRun) -> None:
    _, analysis = make_run(make_plan(blocks=5))
    time = r"\d\S* ms \(\d\S* to \d\S* ms\)"
    first, then = rf"adds {time} to each commit on disk with 1 client", rf", {time} with 8 clients\."
    assert re.search(f"{first}{then}$", answer(analysis)), answer(analysis)


def test_two_results_are_said_with_what_tells_them_apart(make_run: MakeRun) -> None:
    plan = make_plan(tunings=("safest",), blocks=5)
    _, analysis = make_run(plan)
    words = r"disk is \S+ times slower than dram with 1 client, \S+ times slower with 8 clients\."
    assert re.fullmatch(words, answer(analysis)), answer(analysis)
    low, high = (one.ratio.estimate for one in analysis.verdicts if one.ratio and one.factor == "storage")
    first, second = re.findall(r"(\S+) \((\S+) to (\S+)\)", how_sure(analysis))
    assert (low < high) == (float(first[0]) > float(second[0])), "in the same order"
    assert all(float(least) <= float(said) <= float(most) for said, least, most in (first, second))


def test_a_page_keeps_to_sixty_words_however_long_a_command_is(make_run: MakeRun) -> None:
    plan = change(make_plan(blocks=5), resume=f"diskproof run s.toml {'--only x ' * 9}--resume")
    bad = Finding(check="physics", severity="warning", message="word " * 19, remedy="Take another.")
    first, *others, _ = make_trials(plan)
    _, analysis = make_run(plan, [change(first, findings=[bad]), *others])
    said = dict(beside(analysis))
    assert len(" ".join(said.values()).split()) <= 60
    assert "To do" in said and "Beware" not in said


def test_a_single_lost_database_may_be_chance(make_run: MakeRun) -> None:
    crash = make_crash_plan(cuts=8, tunings=("safest", "fast"))
    folder, _ = make_run(with_cuts(make_plan(storages=("ssd",), blocks=2), crash, speed=False))
    first = next(cut.id for cut in make_cuts(crash) if "fast" in cut.cell)
    for cut in make_cuts(crash):
        lost = cut.id == first
        folder.append(change(cut, ledger=None, recovery__refused=say("it did not start")) if lost else cut)
    analysis = analyse_folder(folder)
    assert dict(run(analysis).lines)["To be surer"] == "`--cuts 59`"
    said = "more cuts: that only `fast` on ssd lost databases may be chance."
    assert Action("measurement", said) in actions(analysis)


@pytest.mark.parametrize("way", ["kill", "power"])
def test_a_level_that_cuts_happened_to_spare_is_not_advised(make_run: MakeRun, way: Way) -> None:
    crash = make_crash_plan(cuts=4, tunings=("safest", "fast"), ways=(way,))
    folder, _ = make_run(with_cuts(make_plan(storages=("ssd",), blocks=2), crash, speed=False))
    spared = {cut.block: cut for cut in make_cuts(crash) if "safest" in cut.cell}
    for cut in make_cuts(crash):
        folder.append(change(cut, ledger=spared[cut.block].ledger))
    lines = "\n".join(printed(run(analyse_folder(folder))))
    assert "safest for durable commits" in lines


@pytest.mark.parametrize("ways", [("kill",), ("kill", "stop"), ("kill", "stop", "power")])
def test_what_was_never_cut_from_power_is_not_called_safe(make_run: MakeRun, ways: tuple[Way, ...]) -> None:
    crash = make_crash_plan(tunings=("safest",), ways=ways, cuts=4)
    folder, _ = make_run(with_cuts(make_plan(storages=("ssd",), blocks=2), crash, speed=False))
    for cut in make_cuts(crash):
        folder.append(cut)
    analysis = analyse_folder(folder)
    said, to_do = answer(analysis), " ".join(" ".join(printed(run(analysis))).split())
    assert ("&& diskproof crash cut.toml cuts power: only a virtual disk can lose it" in to_do) == (
        "power" not in ways
    ), to_do
    assert said.startswith("`safest` on ssd kept every commit")
    assert ("power-cut safety is unverified" in said) == ("power" not in ways), said


def test_three_levels_are_ranked_best_first_with_ties(make_run: MakeRun) -> None:
    _, analysis = make_run(make_plan(storages=("hdd", "dram", "ssd", "disk"), clients=(1, 8), blocks=5))
    shown = run(analysis)
    [block] = [one for one in shown.blocks if "best first" in one.title]
    first, *others = block.rows
    assert (first.said, first.tone) == ("best", "better")
    estimates = [row.bar.estimate for row in others if row.bar]
    assert estimates == sorted(estimates, reverse=True) and len(estimates) == 3
    assert all(row.said in ("tied", "open") or "slower" in row.said for row in others)
    assert_fits(printed(shown))


def test_a_level_without_a_ratio_is_neither_best_nor_tied(make_run: MakeRun) -> None:
    plan = make_plan(storages=("hdd", "dram", "ssd"), tunings=("safest",), clients=(8,), blocks=5)
    plan = change(plan, metrics={"complex": "latency_mean_us"})
    missed = change(ASKED, held=False, waiting=40)
    made = [change(one, load__rate=missed if "dram" in one.cell else ASKED) for one in make_trials(plan)]
    _, analysis = make_run(plan, made)
    [block] = [one for one in run(analysis).blocks if "best first" in one.title]
    assert {row.levels[0]: row.said for row in block.rows}["dram"] == "no ratio"
    assert [row.said for row in block.rows].count("best") == 1


def test_a_single_cell_is_answered_with_its_figure(make_run: MakeRun) -> None:
    plan = make_plan(storages=("disk",), tunings=("safest",), clients=(8,), blocks=5)
    _, analysis = make_run(plan)
    [block] = run(analysis).blocks
    assert [len(row.figures) for row in block.rows] == [3]
    assert "No verdict" not in "".join(printed(run(analysis)))
    assert " transactions/s (" in single(analysis) and single(analysis).endswith("8 clients.")


@pytest.mark.parametrize("storages", [2, 5, 9])
@pytest.mark.parametrize("clients", [(8,), (1, 4, 16)])
def test_every_study_fits(make_run: MakeRun, storages: int, clients: tuple[int, ...]) -> None:
    names = tuple(f"storage-with-a-long-name-{number}" for number in range(storages))
    _, analysis = make_run(make_plan(storages=names, clients=clients, blocks=2))
    answer = run(analysis)
    for width in (60, 80, 200):
        assert_fits(printed(answer, width), min(width, 80))


def row(level: str, tone: Tone, said: str, estimate: float | None = 1.0) -> Row:
    return Row((level, "8 clients"), said, tone, Bar(estimate, 0.9, 1.2) if estimate else None, ("1", "2"))


SCALE = Scale(0.5, 2.0, ((0.5, "half"), (1.0, "same"), (2.0, "double")), 1.0)


def screen(rows: int) -> OneScreen:
    kinds: tuple[tuple[Tone, str], ...] = (("worse", "20% slower"), ("open", "open"), ("same", "same"))
    made = tuple(row(f"level{at}", *kinds[at % 3]) for at in range(rows))
    block = Block("a against b", made, ("a", "b"), SCALE)
    long, short = "word " * 60, "word " * 5
    words = (("Held back by", long), ("To do", short), ("Beware", long))
    return OneScreen("Which?", "facts", (block,), words, "A answers.")


def test_rows_come_before_words_and_those_that_find_no_room_are_counted() -> None:
    few, many = printed(screen(3)), printed(screen(11))
    assert sum("level" in line for line in few) == 3
    assert sum(line.endswith("…") for line in few) == 2, "each thing to know has three lines"
    assert sum("level" in line for line in many) == 11 and len(many) <= 24
    assert all(sum(lead in line for line in many) for lead in ("Held back by", "To do", "Beware"))
    decided = [line for line in printed(screen(30)) if "level" in line]
    assert sum("20% slower" in line for line in decided) == 9, "those come first"
    assert f"{30 - len(decided)} more rows: --format markdown" in "\n".join(printed(screen(30)))
    assert_fits(printed(screen(300)))


def test_the_answer_has_the_lines_that_are_left_before_the_facts() -> None:
    full = replace(screen(12), facts="fact " * 80, answer="answer " * 28)
    shown = {rows: printed(replace(full, blocks=screen(rows).blocks)) for rows in (11, 8)}
    count = {
        rows: [sum(word in line for line in lines) for word in ("answer", "fact")]
        for rows, lines in shown.items()
    }
    assert count == {11: [2, 1], 8: [3, 1]}


@pytest.mark.parametrize(
    ("ratios", "said"), [([0.5, 0.2], "2.0 to 5.0 times slower"), ([1.25, 0.4], "up to 2.5 times slower")]
)
def test_a_level_that_is_faster_in_one_condition_is_not_said_to_be_0_8_times_slower(
    ratios: list[float], said: str
) -> None:
    assert how_much_slower(ratios) == said


def test_what_is_left_out_is_counted() -> None:
    blocks = tuple(
        Block(f"{at} against b", (row(f"level{at}", "worse", "20% slower"),), ("a", "b"), SCALE)
        for at in range(30)
    )
    lines = printed(OneScreen("Which?", "", blocks, ()))
    assert_fits(lines)
    shown = sum("level" in line for line in lines)
    assert f"{30 - shown} more rows: --format markdown" in "\n".join(lines)


def test_a_bar_has_its_ends_its_estimate_and_equal_speed() -> None:
    [line] = [one for one in printed(screen(1)) if "level0" in one]
    assert "├" in line and "●" in line and "┤" in line
    [plain] = [one for one in printed(screen(1), encoding="ascii") if "level0" in one]
    assert "|" in plain and "o" in plain


@pytest.mark.parametrize("severity", ["warning", "invalid"])
def test_a_server_that_was_not_measured_is_named_beside_other_warnings(
    make_run: MakeRun, severity: str
) -> None:
    plan = change(make_plan(blocks=5), left_out=["mysql"])
    bad = Finding.model_validate(
        {"check": "physics", "severity": severity, "message": "vda lies", "remedy": "No."}
    )
    first, *others = make_trials(plan)
    _, analysis = make_run(plan, [change(first, findings=[bad]), *others])
    said = dict(run(analysis).lines)["Beware"]
    missing, of = "mysql not measured: this machine does not have it", "vda lies (1 of"
    assert missing in said and (of in said) == (severity == "invalid"), said
    assert said.endswith("1 more warning") == (severity == "warning")


def test_a_row_is_marked_that_the_warning_is_about(make_run: MakeRun) -> None:
    plan = make_plan(blocks=5)
    bad = Finding(check="physics", severity="warning", message="vda lies", remedy="Take another.")
    trials = make_trials(plan)
    cell = trials[0].cell
    marked = [change(one, findings=[bad]) if one.cell == cell else one for one in trials]
    _, analysis = make_run(plan, marked)
    weak = [one for block in run(analysis).blocks for one in block.rows if one.is_weak]
    about = [one for one in analysis.verdicts if cell in (one.cell, one.baseline_cell)]
    assert len(weak) == len(about) > 0
    assert any(" !" in line for line in printed(run(analysis)))


@pytest.mark.parametrize(("blocks", "is_likely"), [(3, True), (6, False)])
def test_few_blocks_make_a_result_likely(make_run: MakeRun, blocks: int, is_likely: bool) -> None:
    _, analysis = make_run(make_plan(blocks=blocks))
    rows = [one for block in run(analysis).blocks for one in block.rows if one.tone in ("better", "worse")]
    assert {one.said.startswith("likely ") for one in rows} == {is_likely}


def test_without_a_trial_the_answer_says_what_to_do(make_run: MakeRun) -> None:
    _, analysis = make_run(make_plan(), [])
    assert answer(analysis).startswith("No verdict: no trial has finished. Continue with ")
    assert "INCOMPLETE" in run(analysis).facts
    assert_fits(printed(run(analysis)))


def test_text_of_others_cannot_steer_the_terminal(make_run: MakeRun) -> None:
    _, analysis = make_run(make_plan(blocks=2))
    lines = printed(run(change(analysis, plan=change(analysis.plan, question="\x1b]0;title\x07[bold]"))))
    assert "\x1b" not in "".join(lines) and "[bold]" in lines[0]
