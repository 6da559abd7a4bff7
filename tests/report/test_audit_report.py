"""An audit in every form: verdicts, arithmetic and remedy, what is missing said once, nothing obeyed."""

import io
import json
from dataclasses import replace
from random import Random
from typing import Any

import pytest

from diskproof.analysis.audited import shared
from diskproof.analysis.audited.audit import (
    audit_configuration,
    audit_experiment,
    audit_result,
    audit_results,
    audit_run_folder,
    configurations,
)
from diskproof.analysis.audited.shapes import AuditAnswer, Raised
from diskproof.analysis.gather import Gathered
from diskproof.cli.screen import Screen
from diskproof.importers.assemble import assemble
from diskproof.importers.belonging import belonging
from diskproof.report.compose import audited as words
from diskproof.report.compose.audit import compose
from diskproof.report.write import markdown, terminal
from diskproof.results.imported import ImportedResult, Settings, Source
from support.imported import make_file_result, make_result
from support.trials import change, make_machine, make_plan, make_series, make_trials

HOSTILE = "\x1b[2J\x1b]0;owned\x07\u202e`code` | <script>alert(1)</script> **bold** [link](http://x)"


def shown(audit: AuditAnswer, width: int = 100) -> str:
    console = Screen(file=io.StringIO(), width=width)
    terminal.write(replace(compose(audit), lines=()).document(), console)
    assert isinstance(console.file, io.StringIO)
    return console.file.getvalue()


def audit_of(*results: ImportedResult) -> AuditAnswer:
    return AuditAnswer(subjects=[audit_result(one) for one in results])


def test_a_sound_run_of_ours_has_no_failed_check() -> None:
    plan = make_plan(clients=(1, 8, 16))
    trials = make_trials(plan)
    subject = audit_run_folder("runs/quick", Gathered(plan, make_machine(plan), trials, make_series(trials)))
    assert [one.check for one in subject.within("failed")] == []
    assert subject.own
    assert "60 of 60 trials count, and no check failed" in subject.verdict.text


def test_trials_with_the_same_fault_are_told_once_with_their_number() -> None:
    plan = make_plan(blocks=5)
    trials = [change(one, data__engine="MyISAM") for one in make_trials(plan)]
    subject = audit_run_folder("runs/quick", Gathered(plan, make_machine(plan), trials, {}))
    engine = next(one for one in subject.checks if one.check == "engine")
    assert len(engine.raised) == 1
    assert len(engine.raised[0].within) == len(trials)
    assert "0 of 40 trials count: it supports nothing (see engine)" in subject.verdict.text
    assert "invalid engine" in shown(AuditAnswer(subjects=[subject]))


def test_a_run_without_trials_is_none_for_the_audit() -> None:
    plan = make_plan()
    subject = audit_run_folder("runs/empty", Gathered(plan, None, [], {}))
    assert "no trial that measures speed" in subject.verdict.text


def test_a_sound_result_fails_nothing_and_says_what_is_missing() -> None:
    subject = audit_result(make_result())
    assert not subject.failed
    assert "It supports 230 transactions/s with 10 clients over 5 min, once" in subject.verdict.text
    assert "a rate that lasts; a typical latency" in subject.verdict.text
    assert "durability (not recorded: the server's settings" in subject.verdict.text
    assert "difference to another result (1 run" in subject.verdict.text


def test_figures_that_contradict_each_other_support_nothing() -> None:
    subject = audit_result(make_result(load__transactions_per_s=300.0))
    assert subject.failed
    assert "It supports nothing until this is explained" in subject.verdict.text
    assert "rate-arithmetic" in subject.verdict.text
    said = shown(AuditAnswer(subjects=[subject]))
    assert "error rate-arithmetic: 69,000 transactions in 300 s are 230/s, but the output says 300/s" in said
    assert "Remedy:" in said
    assert "Why:" in said


def test_checks_that_miss_the_same_thing_share_a_line() -> None:
    audit = audit_of(make_result())
    missing = {what.text: checks for what, checks in shared.untold(audit)}
    assert {"settings", "physics"} <= set(missing["the server's settings"])
    assert shown(audit).count("the server's settings: ") == 1


def test_what_several_results_share_is_told_once_with_their_names() -> None:
    first = make_result(warm_up_s=None, load__seconds=15.0, load__transactions=3450)
    audit = audit_of(first, change(first, name="20 clients"))
    found = [one for one in shared.failures(audit) if one.check.check == "warm-up"]
    assert len(found) == 1


def test_results_of_one_name_are_told_apart_by_their_place() -> None:
    other = change(make_result(load__transactions_per_s=300.0), source__file="new.txt")
    found = shared.failures(audit_of(make_result(), other))
    assert [subject for subject, _ in found[0].each] == ["10 clients in new.txt"]


def test_repeats_of_a_cell_are_counted() -> None:
    results = [make_result(source__line=line) for line in (1, 50, 90, 130, 170)]
    _, trials, _ = assemble(results, "old")
    subjects = audit_results(results, trials)
    assert all("one of 5 runs" in one.verdict.text for one in subjects)
    assert not any("difference to another result" in one.verdict.text for one in subjects)
    plan, trials, _ = assemble(results, "old")
    together = audit_experiment(plan, trials, results)
    assert together is not None
    assert "repeats" not in [one.check for one in together.within("failed")]


def test_one_result_is_no_experiment() -> None:
    plan, trials, _ = assemble([make_result()], "old")
    assert audit_experiment(plan, trials, [make_result()]) is None


def test_a_result_without_a_figure_is_told_to_be_one() -> None:
    nothing = make_result(load__transactions_per_s=0.0, load__latency_us=None)
    subject = audit_result(nothing)
    assert "no figure" in subject.verdict.text
    assert shown(AuditAnswer(subjects=[subject]))


def test_settings_have_their_sentence() -> None:
    source = Source(file="my.cnf", format="my.cnf")
    settings = Settings(source=source, observed=False, values={"sync_binlog": "1"}, version="MySQL 8.0.36")
    answered = change(settings, observed=True, source=Source(file="show.txt", format="variables"))
    (one,) = configurations([settings, answered])
    assert one.observed == answered
    assert len(configurations([settings, settings, answered])) == 3
    assert "It sets 1 variable" in audit_configuration(one).verdict.text


@pytest.mark.parametrize("form", ["text", "markdown", "json"])
def test_what_a_file_holds_is_shown_and_never_obeyed(form: str) -> None:
    hostile = make_result(name=HOSTILE, load__workload=HOSTILE, remarks=[HOSTILE])
    hostile = change(hostile, source__file=HOSTILE, source__tool=HOSTILE)
    plan, trials, _ = assemble([hostile, make_file_result()], HOSTILE)
    together = audit_experiment(plan, trials, [hostile, make_file_result()])
    assert together is not None
    audit = AuditAnswer(subjects=[audit_result(hostile), together])
    if form == "json":
        read = json.loads(audit.model_dump_json())
        assert read["subjects"][0]["name"] == HOSTILE
        return
    said = shown(audit) if form == "text" else markdown.write(compose(audit))
    assert not {"\x1b", "\x07", "\u202e"} & set(said)
    if form == "markdown":
        assert "<script>" not in said.replace(r"\<script>", "")
        assert "**bold**" not in said
        assert "[link](" not in said.replace(r"\[link](", "")


EXTREMES = (0, 1e-9, 1.0, 1e18, None)


COUNTS = ("transactions", "clients", "statements", "reads", "writes", "others", "latency_us__count")
NEVER_NONE = ("transactions_per_s", "latency_us__mean", "latency_us__count")
TIMES = ("seconds", "latency_us__min", "latency_us__max", "latency_us__stdev")


def test_extreme_figures_break_no_check_and_no_form() -> None:
    random = Random(7)
    names = list(dict.fromkeys((*COUNTS, *NEVER_NONE, *TIMES)))
    for _ in range(80):
        changes: dict[str, Any] = {"interval_s": random.choice((None, 1e-9, 1.0))}
        for name in random.sample(names, 4):
            value = random.choice(EXTREMES)
            value = 0 if value is None and name in NEVER_NONE else value
            changes[f"load__{name}"] = int(value) if name in COUNTS and value is not None else value
        length = random.choice((0, 6, 30))
        changes["intervals_per_s"] = [float(random.choice(EXTREMES) or 0) for _ in range(length)]
        subject = audit_result(random.choice((make_result, make_file_result))(**changes))
        audit = AuditAnswer(subjects=[subject])
        json.loads(audit.model_dump_json())
        assert markdown.write(compose(audit))
        assert shown(audit, 20)


def test_what_one_subject_has_twice_is_told_twice() -> None:
    latency = {"50": 400_000.0, "95": 410_000.0}
    audit = audit_of(make_result(load__latency_us__percentiles=latency, load__latency_us__min=500_000.0))
    said = [one.raised.message for one in shared.failures(audit) if one.check.check == "mean-bounds"]
    assert len(said) == len(set(said)) == 2
    printed = shown(audit)
    assert printed.count("threat mean-bounds") + printed.count("error mean-bounds") == 2
    assert " ".join(printed.split()).count(shared.failures(audit)[-1].check.reason) == 1


def test_each_of_several_results_keeps_its_own_figures() -> None:
    first = make_result(warm_up_s=None, load__seconds=15.0, load__transactions=3450)
    brief = change(first, name="20 clients", load__seconds=5.0, load__transactions=1150)
    said = " ".join(shown(audit_of(first, brief)).split())
    assert "5 s to 15 s were measured, and no warm-up is recorded" in said
    wrong = make_result(load__transactions_per_s=300.0)
    other = change(wrong, name="20 clients", load__transactions=34_500)
    audit = audit_of(wrong, other)
    (found,) = [one for one in shared.failures(audit) if one.check.check == "rate-arithmetic"]
    assert [line.partition(":")[0] for line in words.lines(found, 2)] == [
        "69,000 transactions in 300 s are 230/s, but the output says 300/s",
        "34,500 transactions in 300 s are 115/s, but the output says 300/s",
    ]
    assert "(20 clients)" in words.lines(found, 2)[1]
    assert (
        markdown.write(replace(compose(audit), lines=())).count("output says 300/s: ")
        == shown(audit).count("output says 300/s: ")
        == 2
    )


def test_trials_of_a_run_of_ours_keep_their_own_figures() -> None:
    plan = make_plan(blocks=3)
    trials = [
        change(one, load__transactions=57 + at, load__transactions_per_s=(57 + at) / 10.0)
        for at, one in enumerate(make_trials(plan))
    ]
    subject = audit_run_folder("runs/quick", Gathered(plan, make_machine(plan), trials, {}))
    short = next(one for one in subject.checks if one.check == "short")
    assert short.raised[0].message.text.startswith(
        f"only 57 to {56 + len(trials)} transactions were measured"
    )
    assert len(short.raised[0].each) == min(len(trials), 100 - 57)


def test_settings_of_another_result_are_not_called_unrecorded() -> None:
    settings = Settings(source=Source(file="ssd.cnf", format="my.cnf"), observed=False, values={"a": "1"})
    results = [make_result(source__file=f"{disk}.txt") for disk in ("ssd", "hdd")]
    ours, others = audit_results(results, [], belonging(results, [settings]))
    untied = "whether the settings given (ssd.cnf) are this server's"
    missing = {what.text: checks for what, checks in shared.untold(AuditAnswer(subjects=[others]))}
    assert "the server's settings" not in missing
    assert {"settings", "physics", "durable-commits"} <= set(missing[untied])
    assert f"a conclusion about durability (not recorded: {untied}" in others.verdict.text
    assert untied not in {what.text for what, _ in shared.untold(AuditAnswer(subjects=[ours]))}
    assert ours.remarks[0].text.startswith("measured with the settings of ssd.cnf")


def test_what_results_support_alike_is_said_once() -> None:
    results = [make_result(source__file=f"ssd-run{run}.txt", name=f"run {run}") for run in (1, 2, 3)]
    other = change(make_result(name="short"), warm_up_s=None, load__seconds=15.0, load__transactions=3450)
    audit = audit_of(*results, other)
    assert [len(one.subjects) for one in words.verdicts(audit)] == [3, 1]
    said = " ".join(shown(audit).split())
    assert said.count("Each supports its own figure; a rate that lasts") == 1
    for run in (1, 2, 3):
        assert f"run {run} (ssd-run{run}.txt; sysbench 1.0.20): 230 transactions/s with 10 clients" in said
    assert said.count("It supports 230 transactions/s") == 1
    assert markdown.write(replace(compose(audit), lines=())).count("Each supports its own figure") == 1


def test_remedies_that_differ_stay_with_their_own_findings() -> None:
    short = [
        make_result(name=name, load__seconds=s, warm_up_s=None) for name, s in (("a", 15.0), ("b", 16.0))
    ]
    found = [one for one in shared.failures(audit_of(*short)) if one.check.check == "warm-up"]
    assert len(found) == 1
    other = Raised(severity="warning", message="15 s were measured", remedy="another remedy")
    answers = [audit_of(one).subjects[0] for one in short]
    checks = [change(one, raised=[other]) if one.check == "warm-up" else one for one in answers[1].checks]
    apart = AuditAnswer(subjects=[answers[0], change(answers[1], checks=checks)])
    remedies = [one.raised.remedy.text for one in shared.failures(apart) if one.check.check == "warm-up"]
    assert len(remedies) == 2
    assert "another remedy" in remedies
