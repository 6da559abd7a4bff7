"""From trials to answers: the right outcome, in the right words, for runs whose truth is known."""

from collections.abc import Callable
from typing import Any

import pytest

from diskproof.analysis.analyse import analyse
from diskproof.analysis.answers import Analysis, Verdict
from diskproof.report.compose import verdict_words
from diskproof.results.plan import Cell, Plan
from diskproof.results.trial import Finding, Setting, Trial
from support.intervals import bounds, given
from support.trials import (
    DISK_DEVICE,
    change,
    load_of,
    make_machine,
    make_plan,
    make_series,
    make_trials,
    usage_of,
)
from support.words import texts


def analysed(plan: Plan, trials: list[Trial]) -> Analysis:
    return analyse(plan, make_machine(plan), trials, make_series(trials))


def rates(of_storage: dict[str, float], other: float = 400.0) -> Callable[[Cell], float]:
    """Return a rate for each storage, whatever the other factors."""
    return lambda cell: of_storage.get(cell.storage, other)


ONE_QUESTION: dict[str, Any] = {"tunings": ("safest",), "clients": (8,)}


def the_verdict(plan: Plan, trials: list[Trial]) -> Verdict:
    (verdict,) = analysed(plan, trials).verdicts
    return verdict


# ---------------------------------------------------------------- outcomes


def test_a_large_difference_is_said_in_times_with_its_interval() -> None:
    plan = make_plan(blocks=6)
    analysis = analysed(plan, make_trials(plan, lambda cell: {"dram": 1000.0, "disk": 212.0}[cell.storage]))
    verdict = next(one for one in analysis.verdicts if one.factor == "storage" and one.held["clients"] == "8")
    assert verdict.outcome == "slower"
    assert verdict_words.verdict(verdict).startswith(
        "disk against dram at `safest` with 8 clients: 4.7 times slower (4."
    )
    assert ", 95% interval)" in verdict_words.verdict(verdict)
    assert verdict.held == {"tuning": "safest", "clients": "8"}
    low, high = bounds(verdict.ratio)
    assert low < 0.212 < high
    assert verdict.p_adjusted is not None
    assert verdict.p_adjusted < 0.001
    assert verdict.reasons == []


@pytest.mark.parametrize(
    ("rate", "outcome", "words"),
    [
        (300.0, "slower", "disk against dram: 25% slower ("),  # 1 - 0.75, not 1/0.75 - 1
        (500.0, "faster", "disk against dram: 25% faster ("),
        (1200.0, "faster", "disk against dram: 3.0 times as fast ("),
        (100.0, "slower", "disk against dram: 4.0 times slower ("),
    ],
)
def test_a_difference_is_a_difference_and_a_ratio_a_ratio(rate: float, outcome: str, words: str) -> None:
    plan = make_plan(**ONE_QUESTION)
    verdict = the_verdict(plan, make_trials(plan, rates({"dram": 400.0, "disk": rate}), spread=0.0005))
    assert verdict.outcome == outcome
    assert verdict_words.verdict(verdict).startswith(words)


def test_equal_cells_are_the_same_once_the_interval_is_narrow() -> None:
    plan = make_plan(**ONE_QUESTION)
    verdict = the_verdict(plan, make_trials(plan, rates({}), spread=0.004))
    assert verdict.outcome == "the same"
    assert verdict_words.verdict(verdict).startswith("disk against dram: the same (")
    assert verdict.reasons == []


def test_a_small_but_certain_difference_within_the_band_is_the_same() -> None:
    plan = make_plan(**ONE_QUESTION)
    verdict = the_verdict(plan, make_trials(plan, rates({"dram": 400.0, "disk": 404.0}), spread=0.0005))
    assert bounds(verdict.ratio)[0] > 1
    assert verdict.outcome == "the same"


def test_scatter_is_inconclusive_and_says_how_many_blocks_would_help() -> None:
    plan = make_plan(**ONE_QUESTION)
    verdict = the_verdict(plan, make_trials(plan, rates({"dram": 400.0, "disk": 420.0}), spread=0.06, seed=3))
    assert verdict.outcome == "inconclusive"
    assert ": inconclusive (" in verdict_words.verdict(verdict)
    assert "holds both 1 and differences of more than 3%" in verdict.reasons[0].text
    assert "more blocks would probably decide it: `blocks = " in verdict.reasons[1].text


def test_more_blocks_are_more_than_the_study_has_although_some_do_not_count() -> None:
    plan = make_plan(**ONE_QUESTION)
    trials = make_trials(plan, rates({"dram": 400.0, "disk": 420.0}), spread=0.06, seed=3)
    verdict = the_verdict(plan, [one for one in trials if one.block != 1])
    assert verdict.blocks_needed is not None
    more = verdict.blocks_needed - len(plan.blocks())
    assert more > 0
    assert f"about {more} more block" in verdict.reasons[1].text


def test_the_blocks_it_asks_for_do_decide_it() -> None:
    """Doing as told helps: of inconclusive runs, most are decided with the blocks that were named."""
    asked, decided = 0, 0
    for seed in range(24):
        plan = make_plan(**ONE_QUESTION)
        rate = rates({"dram": 400.0, "disk": 440.0})
        verdict = the_verdict(plan, make_trials(plan, rate, spread=0.06, seed=seed))
        blocks = verdict.blocks_needed
        if verdict.outcome != "inconclusive" or blocks is None:
            continue
        assert f"`blocks = {blocks}`" in verdict.reasons[1].text
        if blocks > 100:  # an estimate that chance put next to 1: many blocks, little to learn here
            continue
        asked += 1
        larger = make_plan(**ONE_QUESTION, blocks=blocks)
        decided += (
            the_verdict(larger, make_trials(larger, rate, spread=0.06, seed=1000 + seed)).outcome
            != "inconclusive"
        )
    assert asked >= 6
    assert decided / asked > 0.7


def test_many_verdicts_demand_more_than_a_bare_interval() -> None:
    """An A/A run: twelve storages that are all alike. Holm keeps false claims near 5 % of runs."""
    storages = tuple(f"disk{number}" for number in range(13))
    false_claims = bare_claims = explained = 0
    plan = make_plan(storages=storages, **ONE_QUESTION)
    for seed in range(16):
        verdicts = analysed(plan, make_trials(plan, rates({}), spread=0.06, seed=seed)).verdicts
        assert len(verdicts) == 12
        false_claims += any(one.outcome in {"faster", "slower"} for one in verdicts)
        bare = [one for one in verdicts if given(one.ratio).excludes(1)]
        bare_claims += bool(bare)
        for one in bare:
            if one.outcome == "inconclusive":
                assert "but not after Holm's correction over 12 verdicts (p 0." in one.reasons[0].text
                explained += 1
    assert explained
    assert false_claims <= 3
    assert bare_claims > 2 * false_claims


# ---------------------------------------------------------------- which verdicts


def test_every_factor_but_the_clients_is_a_question() -> None:
    plan = make_plan(memory_bytes=(2**27, 2**28), storages=("dram", "disk", "nvme"))
    verdicts = analysed(plan, make_trials(plan)).verdicts
    count = {
        factor: sum(one.factor == factor for one in verdicts) for factor in ("storage", "tuning", "memory")
    }
    assert count == {"storage": 2 * 8, "tuning": 12, "memory": 12}
    assert len(verdicts) == 40
    assert {one.baseline for one in verdicts} == {"dram", "safest", "128 MiB"}
    memory = next(one for one in verdicts if one.factor == "memory")
    assert verdict_words.verdict(memory).startswith("256 MiB of memory")


def test_clients_are_a_question_where_nothing_else_varies() -> None:
    plan = make_plan(storages=("disk",), tunings=("safest",))
    verdict = the_verdict(plan, make_trials(plan, lambda cell: 120.0 * min(cell.clients, 3)))
    assert verdict_words.verdict(verdict).startswith("8 clients against 1 client: 3.0 times as fast (")
    assert verdict.held == {}


def test_a_single_cell_has_no_verdict_but_an_answer() -> None:
    plan = make_plan(storages=("disk",), **ONE_QUESTION)
    analysis = analysed(plan, make_trials(plan, lambda _: 400.0))
    assert analysis.verdicts == []
    assert analysis.varying == []
    assert given(analysis.cells[0].throughput_per_s).estimate == pytest.approx(400, rel=0.05)


# ---------------------------------------------------------------- not comparable


def spoil(trial: Trial) -> Trial:
    return change(trial, settings=[Setting(name="sync_binlog", requested="1", observed="0", holds=False)])


def test_invalid_trials_are_left_out_and_named_where_too_few_remain() -> None:
    plan = make_plan(**ONE_QUESTION)
    sound = make_trials(plan)
    spoiled = [spoil(one) if "/disk/" in one.cell and one.block <= 4 else one for one in sound]
    analysis = analysed(plan, spoiled)
    (verdict,) = analysis.verdicts
    assert verdict.outcome == "not comparable"
    assert verdict.ratio is None
    assert verdict.p_adjusted is None
    assert verdict_words.verdict(verdict).startswith("disk against dram: not comparable; ")
    assert "4 of 5 trials invalid (settings): b01-t" in verdict.reasons[0].text
    assert analysis.trials_valid == 6
    assert [answer.valid for answer in analysis.cells] == [5, 1]
    assert given(analysis.cells[1].throughput_per_s).low is None


def test_more_than_half_of_the_blocks_make_a_verdict() -> None:
    plan = make_plan(**ONE_QUESTION)
    sound = make_trials(plan)
    most = [spoil(one) if "/disk/" in one.cell and one.block <= 2 else one for one in sound]
    assert given(the_verdict(plan, most).ratio).n == 3
    fewer = [spoil(one) if "/disk/" in one.cell and one.block <= 3 else one for one in sound]
    verdict = the_verdict(plan, fewer)
    assert verdict.outcome == "not comparable"
    assert verdict.reasons[-1].text == "2 of 5 blocks have a valid trial on both sides; a verdict needs 3"


def test_a_gate_that_speed_decides_bars_the_cell_once_it_fails() -> None:
    """Only the fastest trials saturate the client: without them the rest would look slower than it is.

    Where the mean with them stays in the interval of the others, it makes no difference.
    """
    plan = make_plan(**ONE_QUESTION, blocks=9)
    trials = make_trials(plan)
    fastest = max(
        (one for one in trials if "/dram/" in one.cell), key=lambda one: load_of(one).transactions_per_s
    )
    saturated = [
        change(one, load__client__cpu_user_s=20.0, load__client__cpu_system_s=31.0) if one is fastest else one
        for one in trials
    ]
    (unmoved,) = analysed(plan, saturated).verdicts
    assert unmoved.outcome == "slower"
    assert given(unmoved.ratio).n == 8

    far = [change(one, load__transactions_per_s=1e6) if one.id == fastest.id else one for one in saturated]
    analysis = analysed(plan, far)
    (verdict,) = analysis.verdicts
    assert analysis.trials_valid == 17
    assert verdict.outcome == "not comparable"
    assert "1 of 9 trials failed `client`, which depends on a trial's own speed" in verdict.reasons[0].text


def test_a_gate_that_finds_two_things_in_one_trial_has_failed_once() -> None:
    plan = make_plan(**ONE_QUESTION, blocks=9)
    late = [
        Finding(check="lateness", severity="invalid", message=message)
        for message in ("1 in 100 left late", "they waited in the kernel")
    ]
    sound = make_trials(plan)
    trials = [change(sound[0], findings=late, load__transactions_per_s=1.0), *sound[1:]]
    (verdict,) = analysed(plan, trials).verdicts
    assert "1 of 9 trials failed `lateness`" in verdict.reasons[0].text


def test_a_gate_that_all_trials_fail_leaves_none_to_be_a_choice() -> None:
    plan = make_plan(**ONE_QUESTION, blocks=3)
    late = [Finding(check="lateness", severity="invalid", message="1 in 100 left late")]
    trials = [change(one, findings=late if "/disk/" in one.cell else []) for one in make_trials(plan)]
    (verdict,) = analysed(plan, trials).verdicts
    said = " ".join(texts(verdict.reasons))
    assert "3 of 3 trials failed `lateness`, so none is left to compare: 1 in 100 left late" in said
    assert "biased" not in said


def test_only_blocks_that_both_sides_have_are_paired() -> None:
    plan = make_plan(**ONE_QUESTION)
    spoiled = [
        spoil(one) if ("/disk/" in one.cell) == (one.block <= 2) and one.block <= 4 else one
        for one in make_trials(plan)
    ]
    assert the_verdict(plan, spoiled).outcome == "not comparable"  # block 5 alone is complete


def test_a_run_under_way_says_what_is_missing() -> None:
    plan = make_plan(**ONE_QUESTION)
    analysis = analysed(plan, make_trials(plan)[:3])
    assert not analysis.complete
    assert analysis.trials_run == 3
    assert "not run yet; `--resume` runs them" in " ".join(texts(analysis.verdicts[0].reasons))


def test_a_single_block_is_refused_with_a_remedy() -> None:
    plan = make_plan(blocks=1, **ONE_QUESTION)
    verdict = the_verdict(plan, make_trials(plan))
    assert verdict.outcome == "not comparable"
    assert "set `blocks`" in verdict_words.verdict(verdict)


def test_an_empty_run_is_analysed() -> None:
    plan = make_plan()
    analysis = analyse(plan, None, [], {})
    assert analysis.trials_run == 0
    assert not analysis.complete
    assert {one.outcome for one in analysis.verdicts} == {"not comparable"}
    assert all(answer.throughput_per_s is None for answer in analysis.cells)
    assert analysis.findings == []


def test_durability_that_was_not_paid_for_bars_the_comparison_but_not_the_figures() -> None:
    plan = make_plan(**ONE_QUESTION)
    trials = [
        change(one, usage__devices={"vda": change(usage_of(one).devices["vda"], flushes=0)})
        if usage_of(one).devices
        else one
        for one in make_trials(plan)
    ]
    analysis = analysed(plan, trials)
    (verdict,) = analysis.verdicts
    assert verdict.outcome == "not comparable"
    assert len(verdict.reasons) == 1
    assert "commits were not durable" in verdict.reasons[0].text
    assert analysis.trials_valid == 10
    assert analysis.cells[1].throughput_per_s is not None


def test_storages_that_are_one_and_the_same_get_no_verdict() -> None:
    plan = make_plan(**ONE_QUESTION, storages=("disk", "ssd"))
    machine = make_machine(plan)
    unmounted = change(machine, places=[change(place, device_number=DISK_DEVICE) for place in machine.places])
    trials = make_trials(plan, rates({"disk": 400.0, "ssd": 900.0}))
    assert analyse(plan, machine, trials, {}).verdicts[0].outcome == "faster"
    (verdict,) = analyse(plan, unmounted, trials, {}).verdicts
    assert verdict.outcome == "not comparable"
    assert "one and the same" in verdict_words.verdict(verdict)
    assert "mount the disk" in verdict.reasons[0].text


def test_unequal_data_bars_only_the_comparison_it_concerns() -> None:
    plan = make_plan(clients=(8,))
    trials = [change(one, data__rows=1) if "/disk/safest" in one.cell else one for one in make_trials(plan)]
    outcomes = {(one.factor, *one.held.values()): one.outcome for one in analysed(plan, trials).verdicts}
    assert outcomes[("storage", "safest")] == "not comparable"
    assert outcomes[("tuning", "disk")] == "not comparable"
    assert outcomes[("storage", "fast")] == "slower"
    assert outcomes[("tuning", "dram")] == "faster"


# ---------------------------------------------------------------- findings


def test_findings_that_differ_only_in_figures_are_one_and_name_their_trials() -> None:
    plan = make_plan(**ONE_QUESTION)
    trials = [
        change(one, usage__host_cpu_steal_s=4.0 + one.block) if "/disk/" in one.cell else one
        for one in make_trials(plan)
    ]
    (steal,) = [one for one in analysed(plan, trials).findings if one.finding.check == "host-busy"]
    assert len(steal.trials) == 5
    assert steal.cells == ["mariadb/disk/safest/complex/128MiB/8c"]


def test_the_gravest_findings_come_first_and_recorded_ones_are_kept() -> None:
    plan = make_plan(blocks=2, **ONE_QUESTION)
    trials = make_trials(plan)
    died = Finding(check="finished", severity="invalid", message="the server died", remedy="mend it")
    trials[0] = change(trials[0], finished=False, load=None, findings=[died])
    analysis = analysed(plan, trials)
    assert analysis.findings[0].finding == died
    assert analysis.findings[0].trials == [trials[0].id]
    severities = [one.finding.severity for one in analysis.findings]
    assert severities == sorted(severities, key=["invalid", "warning", "note"].index)
    assert "repeats" in {one.finding.check for one in analysis.findings}
    assert analysis.trials_valid == 3


def test_a_finding_that_is_already_recorded_is_not_told_twice() -> None:
    plan = make_plan(**ONE_QUESTION)
    once = analysed(plan, make_trials(plan))
    note = once.findings[0].finding
    trials = [change(one, findings=[note]) for one in make_trials(plan)]
    assert [one.finding for one in analysed(plan, trials).findings] == [one.finding for one in once.findings]


# ---------------------------------------------------------------- cells and levels


def test_percentiles_that_one_trial_cannot_carry_are_omitted() -> None:
    plan = make_plan(measure_s=2.0, **ONE_QUESTION)
    analysis = analysed(plan, make_trials(plan, rates({"dram": 1500.0, "disk": 300.0})))
    assert list(analysis.cells[0].latency_us) == ["50", "75", "90", "95", "99"]
    assert list(analysis.cells[1].latency_us) == ["50", "75", "90", "95"]


def test_level_differences_are_those_that_were_read_back() -> None:
    plan = make_plan(tunings=("safest", "fast", "unsafe"))
    differences = {one.variable: one for one in analysed(plan, make_trials(plan)).level_differences}
    assert set(differences) == {"innodb_flush_log_at_trx_commit", "sync_binlog", "innodb_doublewrite"}
    assert differences["sync_binlog"].values == {"safest": "1", "fast": "0", "unsafe": "0"}
    assert all(one.declared for one in differences.values())


def test_a_variable_of_one_level_only_shows_as_not_set_in_the_other() -> None:
    plan = make_plan()
    extra = Setting(name="innodb_io_capacity", requested="2000", observed="2000", holds=True, level=True)
    trials = [
        change(one, settings=[*one.settings, extra]) if "/fast/" in one.cell else one
        for one in make_trials(plan)
    ]
    (found,) = [one for one in analysed(plan, trials).level_differences if one.variable == extra.name]
    assert found.values == {"safest": "not set", "fast": "2000"}


def test_the_analysis_survives_json() -> None:
    plan = make_plan()
    analysis = analysed(plan, make_trials(plan))
    assert type(analysis).model_validate_json(analysis.model_dump_json()) == analysis
