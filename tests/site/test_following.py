"""A run folder that is followed: what is known of it at each moment, and what bad folders cannot do."""

import os
from pathlib import Path

import pytest

from diskproof.analysis.folder import analyse_folder
from diskproof.refusal import RefusalError
from diskproof.results.folder import RunFolder
from diskproof.results.plan import Plan
from diskproof.site import following
from diskproof.site.following import Followed, Following, Now
from support.cuts import make_crash_plan, make_cuts
from support.runs import STUDY_TEXT, quickstart_run
from support.trials import make_machine, make_plan, make_trials

PLAN = make_plan(blocks=3)


def begun(path: Path, plan: Plan = PLAN) -> RunFolder:
    folder = RunFolder.create(path, STUDY_TEXT, plan)
    folder.write(make_machine(plan))
    return folder


def test_a_run_is_known_at_each_moment(tmp_path: Path) -> None:
    folder = begun(tmp_path / "run")
    followed = Followed(folder.path, tmp_path.resolve())
    now = followed.look()
    assert (now.state, now.trials, now.left_s) == ("ended early", 0, PLAN.estimated_s)
    assert all(one.figure is None for one in now.cells)

    folder.hold()
    trials = make_trials(PLAN)
    for trial in trials[:16]:
        folder.append(trial)
    now = followed.look()
    assert (now.state, now.trials) == ("under way", 16)
    assert {one.made for one in now.cells} == {2}
    widths = [one.figure.uncertainty or 9 for one in now.cells if one.figure]
    took = [trial.took_s for trial in trials[:16]]
    assert now.left_s == pytest.approx(8 * sum(took) / 16)

    for trial in trials[16:]:
        folder.append(trial)
    version, now = now.version, followed.look()
    assert now.version != version
    assert now.trials == 24
    narrower = [one.figure.uncertainty or 9 for one in now.cells if one.figure]
    assert sum(one < other for one, other in zip(narrower, widths, strict=True)) >= 6
    assert followed.look().version == now.version


def test_what_a_run_comes_to_so_far_is_what_its_report_says_in_the_end(tmp_path: Path) -> None:
    folder = quickstart_run(tmp_path / "run")
    analysis, now = analyse_folder(folder), Followed(folder.path, tmp_path.resolve()).look()
    assert now.state == "done"
    assert [one.figure for one in now.cells] == [one.figure for one in analysis.cells]
    assert [(one.made, one.counting) for one in now.cells] == [
        (one.total, one.valid) for one in analysis.cells
    ]
    assert [(one.ratio, one.outcome) for one in now.pairs] == [
        (one.ratio, one.outcome) for one in analysis.verdicts
    ]


def test_cuts_are_counted_by_what_they_did(tmp_path: Path) -> None:
    crash = make_crash_plan()
    cuts, plan = make_cuts(crash), PLAN.model_copy(update={"crash": crash})
    folder = begun(tmp_path / "run", plan)
    for cut in cuts:
        folder.append(cut)
    now = Followed(folder.path, tmp_path.resolve()).look()
    assert now.cuts == len(cuts)
    assert sum(tells for _, _, tells, _ in now.deaths) == sum(cut.tells for cut in cuts)
    assert sum(harmed for *_, harmed in now.deaths) == sum(cut.tells and cut.has_harm for cut in cuts)


def test_a_line_counts_once_it_is_whole_and_a_torn_one_is_forgotten(tmp_path: Path) -> None:
    folder = begun(tmp_path / "run")
    followed = Followed(folder.path, tmp_path.resolve())
    first, second, third = make_trials(PLAN)[:3]
    folder.append(first)
    records = folder.path / "trials.jsonl"
    with records.open("a") as file:
        file.write(second.model_dump_json()[:100])
    assert followed.look().trials == 1
    folder.append(third)  # drops the torn line
    assert followed.look().trials == 2


def test_a_copy_in_the_place_of_a_run_is_read_anew(tmp_path: Path) -> None:
    folder = begun(tmp_path / "run")
    followed = Followed(folder.path, tmp_path.resolve())
    trials = make_trials(PLAN)
    for trial in trials:
        folder.append(trial)
    assert followed.look().trials == len(trials)
    other = begun(tmp_path / "other")
    other.append(trials[0])
    (other.path / "trials.jsonl").rename(folder.path / "trials.jsonl")
    followed.look()
    assert followed.look().trials == 1


def test_damaged_and_foreign_lines_are_left_out(tmp_path: Path) -> None:
    folder = begun(tmp_path / "run")
    trial = make_trials(PLAN)[0]
    foreign = trial.model_copy(update={"id": "b09-t09", "cell": "another"})
    with (folder.path / "trials.jsonl").open("wb") as file:
        for line in (b"{", b"\xff", b"[]", b"", foreign.model_dump_json().encode()):
            file.write(line + b"\n")
        file.write(trial.model_dump_json().encode() + b"\n")
    assert Followed(folder.path, tmp_path.resolve()).look().trials == 1


@pytest.mark.parametrize("rate", [float("inf"), float("nan"), -1.0, 0.0])
def test_a_figure_that_cannot_be_is_none(tmp_path: Path, rate: float) -> None:
    folder = begun(tmp_path / "run")
    trial = make_trials(PLAN)[0]
    assert trial.load
    load = trial.load.model_copy(update={"transactions_per_s": rate})
    line = trial.model_copy(update={"load": load}).model_dump_json()
    (folder.path / "trials.jsonl").write_text(line + "\n")
    now = Followed(folder.path, tmp_path.resolve()).look()
    assert all(one.figure is None for one in now.cells)


def test_huge_files_are_not_read(tmp_path: Path) -> None:
    folder = begun(tmp_path / "run")
    for name in ("series/b01-t01.parquet", "trials.jsonl", "live"):
        (folder.path / name).touch()
        os.truncate(folder.path / name, 10 * 2**30)
    folder.hold()
    now = Followed(folder.path, tmp_path.resolve()).look()
    assert (now.trials, now.live) == (0, None)


def test_a_line_without_an_end_is_passed_by_piece_by_piece(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(following, "MOST_NEW_BYTES", 100_000)
    folder = begun(tmp_path / "run")
    trial = make_trials(PLAN)[0].model_dump_json()
    (folder.path / "trials.jsonl").write_text("x" * 250_000 + "\n" + trial + "\n")
    followed = Followed(folder.path, tmp_path.resolve())
    assert [followed.look().trials for _ in range(4)][-1] == 1


def test_no_link_leads_out_of_the_folder_of_runs(tmp_path: Path) -> None:
    root, outside = tmp_path / "runs", begun(tmp_path / "outside")
    (root / "study").mkdir(parents=True)
    (root / "study" / "linked").symlink_to(outside.path)
    with pytest.raises(RefusalError, match="leads out of"):
        Followed(root / "study" / "linked", root.resolve())
    inside = begun(root / "study" / "run")
    for name in ("trials.jsonl", "report.html"):
        (outside.path / name).write_text(make_trials(PLAN)[0].model_dump_json() + "\n")
        (inside.path / name).symlink_to(outside.path / name)
    followed = Followed(inside.path, root.resolve())
    assert followed.look().trials == 0
    with pytest.raises(RefusalError, match="leads out of"):
        followed.report()
    (inside.path / "plan.json").unlink()
    (inside.path / "plan.json").symlink_to(outside.path / "plan.json")
    with pytest.raises(RefusalError, match="leads out of"):
        followed.look()


@pytest.mark.parametrize("content", ["", "{", "[]", '{"study": 1}'])
def test_a_plan_that_is_none_is_refused_in_words(tmp_path: Path, content: str) -> None:
    folder = begun(tmp_path / "run")
    (folder.path / "plan.json").write_text(content)
    with pytest.raises(RefusalError, match="damaged, or of another version"):
        Followed(folder.path, tmp_path.resolve()).look()


def test_many_viewers_cost_one_look_a_second_and_few_runs_stay_in_memory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    times = iter([0.0, 0.1, 0.5, 2.0, 2.0, *[4.0] * 100])
    looks: list[Followed] = []
    look = Followed.look

    def counted(one: Followed) -> Now:
        looks.append(one)
        return look(one)

    monkeypatch.setattr(Followed, "look", counted)
    monkeypatch.setattr(following, "MOST_FOLLOWED", 2)
    follows = Following(tmp_path, clock=lambda: next(times))
    runs = [begun(tmp_path / f"run{number}").path for number in range(4)]
    follows.now(runs[0])
    follows.now(runs[0])
    follows.now(runs[0])
    assert len(looks) == 1
    follows.now(runs[0])
    assert len(looks) == 2
    for run in runs:
        follows.now(run)
    assert len(follows._followed) == 2
