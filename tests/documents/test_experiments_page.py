"""The page of the experiments: its headlines and its chapters."""

from collections.abc import Callable
from dataclasses import replace
from datetime import datetime
from functools import partial
from pathlib import Path

import pytest

import experiments
import marks
import study_prose
from diskproof.analysis.analyse import analyse
from diskproof.analysis.published.shapes import BesideRatio
from diskproof.report.compose import published_groups
from diskproof.results.folder import RunFolder
from diskproof.results.plan import Plan, Scale
from diskproof.study.plan import make_plan as plan_of
from diskproof.study.read import read_study
from paths import STUDIES
from support.limits import make_limits
from support.published import figure, publish, ratio
from support.trials import change, make_machine, make_plan, make_trials

STUDY = "percona-raspberry-pi"


def shown(study: str = STUDY, errors: int = 0) -> experiments.Shown:
    """Return a run that is laid beside two published tables; of its trials some may have failed."""
    told = [ratio(0.25, at={"tuning": tuning}) for tuning in ("safest", "fast")]
    further = ratio(2.0, "fast", "safest", factor="tuning", at={"storage": "disk"}, table="Table 2")
    plan = publish(make_plan(clients=(8,)), ratios=[*told, further], figures=[figure(430, storage="disk")])
    plan = change(
        plan,
        expectation="It waits.",
        analysis="It waited.",
        scale=Scale(name="short", shrinks="a", carries="b"),
    )
    trials = [change(one, load__failed_transactions=errors) for one in make_trials(plan)]
    machine = make_machine(plan)
    analysis = change(analyse(plan, machine, trials, {}), limits=make_limits(plan))
    began = datetime.fromisoformat("2026-03-14T09:00:11Z")
    return experiments.Shown(study, analysis, began, 90.0)


PICTURES = ["![a picture](a.png)"]


def test_a_headline_tells_published_measured_agreement_and_limits() -> None:
    rows = experiments.headlines(shown()).rows
    assert [row[0] for row in rows] == [
        "disk / dram, safest (Table 1)",
        "disk / dram, fast (Table 1)",
        "fast / safest (Table 2)",
    ]
    _, published, measured, agrees, limits = rows[0]
    assert (published, agrees) == ("0.250", "size differs")
    assert measured.startswith("0.3") and " to " in measured
    assert limits == "log flush / CPU"


def test_a_server_of_the_time_stands_beside_todays() -> None:
    one = shown()
    assert one.analysis.machine is not None
    [server] = one.analysis.machine.servers
    old = change(server, flavour="Percona Server", version="5.1.65")
    then = change(one.analysis, machine=change(one.analysis.machine, servers=[old]))
    both = replace(one, then=then)
    table = experiments.headlines(both)
    assert [column.title for column in table.columns][-2:] == ["With Percona Server 5.1.65", "Agrees?"]
    assert table.rows[0][-2:] == table.rows[0][2:4], "the same run, so the same figures"
    assert len(experiments.headlines(one).columns) == 5
    text = "\n".join(experiments.overview({STUDY: both}, ""))
    assert "With Percona Server 5.1.65: 3 published ratios" in text


def test_of_a_study_with_many_ratios_the_chosen_levels_stand_at_the_top() -> None:
    chosen = replace(shown("mysqlslap-office"), analysis=shown().analysis)
    assert experiments.headlines(chosen).rows == ()  # no `laptop`, no `as-run`
    assert experiments.is_headline("unknown", *_first(shown()))


def _first(one: experiments.Shown) -> tuple[published_groups.Group, BesideRatio]:
    group = published_groups.groups(one.analysis)[0]
    return group, group.ratios[0]


def test_the_overview_links_to_each_study_with_its_answer_and_keeps_what_was_not_run_again() -> None:
    before = "# Old\n\n- [juju-ec2](experiments/juju-ec2.md): **Which?**\n  - 2 agree\n\nThe end."
    text = "\n\n".join(experiments.overview({STUDY: shown(), "juju-ec2": None}, before))
    assert f"[{STUDY}](experiments/{STUDY}.md)" in text
    assert "published ratios" in text
    assert "all valid, 1 min 30 s, scale `short`" in text
    assert "\n\n- [juju-ec2](experiments/juju-ec2.md): **Which?**\n  - 2 agree\n\n`make" in text


def test_a_page_has_the_answer_first() -> None:
    text = "\n\n".join(experiments.summary(shown(), PICTURES))
    wanted = (
        "The published order stands",
        "Against the publication: ",
        "| Ratio of | Published | Measured |",
        "![a picture](a.png)",
        "## How to read it",
        "## What was expected",
        "## How it was measured",
        "The page of the run (`report.html`",
    )
    places = [text.index(one) for one in wanted]
    assert places == sorted(places)
    assert "\n\n\n" not in text


def test_renewing_a_page_leaves_what_was_measured() -> None:
    text = "\n\n".join(experiments.summary(shown(), PICTURES)) + "\n"
    begin = text.index("## How to read it")
    stale = text[:begin] + "It was so." + text[text.rindex(marks.END) :]
    renewed = marks.renewed(stale, partial(study_prose.body, STUDY))
    assert [line for line in renewed.splitlines() if line] == [line for line in text.splitlines() if line]


def reworded(text: str) -> str:
    changed = text.replace('question = "', 'question = "Once more: ', 1)
    return changed.replace("amount = ", "amount = 1").replace("ratio = 1", "ratio = 2")


def other_disk(text: str) -> str:
    changed = text.replace('virtual = "ebs-magnetic"', 'virtual = "null"', 1)
    assert changed != text
    return changed


@pytest.mark.parametrize(
    ("change_text", "differs"),
    [
        (str, ""),
        (reworded, ""),
        (other_disk, "storages.ebs"),
        (lambda text: text + "\n[oops", "its study can no longer be read: "),
    ],
)
def test_a_run_of_a_study_that_has_changed_since_is_passed_over_and_of_one_reworded_is_not(
    tmp_path: Path, change_text: Callable[[str], str], differs: str
) -> None:
    file = read_study(STUDIES / "juju-ec2.toml", "short")
    today = plan_of(file)
    run = RunFolder.create(tmp_path / "run", change_text(file.text), today)
    found = experiments.what_differs(run, today)
    assert found.startswith(differs) if differs else not found


@pytest.mark.parametrize("key", ["cells", "scripts"])
def test_a_run_that_was_planned_otherwise_is_passed_over(tmp_path: Path, key: str) -> None:
    file = read_study(STUDIES / "juju-ec2.toml", "short")
    today = plan_of(file)
    other: dict[str, Plan] = {
        "cells": change(today, cells=today.cells[:-1]),
        "scripts": change(today, scripts={"oltp/a.lua": "0"}),
    }
    run = RunFolder.create(tmp_path / "run", file.text, other[key])
    assert experiments.what_differs(run, today) == key
