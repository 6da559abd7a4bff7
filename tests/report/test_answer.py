"""The answer on top of a report, and its warning of a busy machine."""

import io
import re

from diskproof.analysis.analyse import analyse
from diskproof.analysis.answers import Analysis, Verdict
from diskproof.analysis.limits.records import Difference
from diskproof.cli.screen import Screen
from diskproof.report import markdown
from diskproof.report.compose import answer, difference_words, summary
from diskproof.report.compose.outcome_words import both_figures
from diskproof.report.compose.run import compose
from diskproof.report.compose.summary import precision
from diskproof.report.compose.verdict_words import between, by_how_much, by_how_much_within
from diskproof.report.document import Item
from diskproof.report.write import terminal
from diskproof.results.trial import Finding
from diskproof.stats.intervals import Interval
from support.cuts import changed, make_crash_plan, make_cuts, make_ledger, refused
from support.limits import make_limits
from support.runs import MakeRun
from support.safety import analysed
from support.trials import change, make_machine, make_plan, make_trials


def said_of(analysis: Analysis) -> str:
    screen = Screen(file=io.StringIO(), width=80)
    terminal.write(compose(analysis), screen)
    assert isinstance(screen.file, io.StringIO)
    return " ".join(screen.file.getvalue().split())


def interval(estimate: float, half: float) -> Interval:
    return Interval(estimate=estimate, low=estimate - half, high=estimate + half, n=5)


def test_ratios_to_one_side_are_one_range() -> None:
    assert by_how_much(0.68) == "32% slower than"
    assert by_how_much(0.55, 0.88) == "12% to 45% slower than"
    assert by_how_much(0.2, 0.85) == "1.2 to 5.0 times slower than"
    assert by_how_much(1.12, 1.45) == "12% to 45% faster than"
    assert by_how_much(4.6, 1.1) == "1.1 to 4.6 times as fast as"
    assert by_how_much(0.3, 0.96) == "4.0% slower to 3.3 times slower than"
    assert by_how_much(1.04, 3.3) == "4.0% faster to 3.3 times as fast as"


def test_each_comparison_has_a_line_with_its_interval_and_both_figures(make_run: MakeRun) -> None:
    plan = make_plan(tunings=("safest",), clients=(1, 8), blocks=5)
    slow = {"dram": 1000.0, "disk": 500.0}
    _, both = make_run(plan, make_trials(plan, lambda cell: slow[cell.storage]))
    said = said_of(both)
    assert re.search(
        r"- Answer: disk is .* slower than dram\. disk against dram: 1 client: (2\.0 times|50%) slower \(",
        said,
    )
    assert re.search(
        r"8 clients: (?:2\.0 times|50%) slower \(\S+ to \S+\): (49\d|50\d) against (99\d|1,00\d) TPS, ", said
    )


def test_a_single_cell_is_answered_with_its_figure(make_run: MakeRun) -> None:
    plan = make_plan(storages=("disk",), tunings=("safest",), clients=(8,))
    _, alone = make_run(plan, make_trials(plan, lambda _: 410.0, spread=0.1))
    said = said_of(alone)
    assert re.search(r"- Answer: 4\d\d transactions/s \(\d+ to \d+\), p95 [\d.]+ ms, with 8 clients\. ", said)
    assert "No verdict" not in said


def test_the_answer_names_a_single_condition(make_run: MakeRun) -> None:
    plan = make_plan(tunings=("safest",), clients=(1, 8), blocks=5)
    _, mixed = make_run(
        plan,
        make_trials(
            plan, lambda cell: 300.0 if (cell.storage, cell.clients) == ("disk", 1) else 900.0, spread=0.1
        ),
    )
    said = said_of(mixed)
    assert "disk against dram: 1 client: " in said
    assert "8 clients: undecided (between " in said
    assert re.search(r"- Answer: disk is .+ slower than dram with 1 client and undecided with 8 c", said)
    assert re.search(r"- How sure: (Sure|The direction is sure).* 1 of 2 comparisons has a result; ", said)
    assert "; without one: disk against dram with 8 clients. Brackets hold 95% intervals." in said


def test_a_difference_that_is_not_shown_has_a_bound() -> None:
    assert between(0.9, 1.11) == "between 10% slower and 11% faster"
    assert between(0.125, 3.4) == "between 8.0 times slower and 3.4 times as fast"


def test_a_ratio_has_its_interval_in_its_own_words() -> None:
    def within(estimate: float, low: float | None, high: float | None) -> str:
        return by_how_much_within(Interval(estimate=estimate, low=low, high=high, n=5))

    assert within(0.128, 0.085, 0.19) == "7.8 times slower (5.3 to 12)"
    assert within(1.82, 1.7, 1.94) == "82% faster (70% to 94%)"
    assert within(0.71, 0.67, 0.75) == "29% slower (25% to 33%)"
    assert within(2.4, 0.9, 6.4) == "2.4 times as fast (between 10% slower and 6.4 times as fast)"
    assert within(2.4, None, None) == "2.4 times as fast, without an interval"


def test_a_terminal_shows_no_inconclusive_verdict_beside_decided_ones(make_run: MakeRun) -> None:
    plan = make_plan(tunings=("safest",), clients=(1, 8), blocks=5)
    slow = {("disk", 1): 300.0}
    rates = make_trials(plan, lambda cell: slow.get((cell.storage, cell.clients), 900.0), spread=0.1)
    _, mixed = make_run(plan, rates)
    assert {one.outcome for one in mixed.verdicts} == {"slower", "inconclusive"}
    assert "is inconclusive (" not in said_of(mixed)


def test_other_work_on_the_machine_stands_above_the_verdicts(make_run: MakeRun) -> None:
    plan = make_plan(tunings=("safest",), clients=(1,), blocks=5)
    busy = [change(one, usage__host_cpu_steal_s=20.0) for one in make_trials(plan)]
    said = said_of(make_run(plan, busy)[1])
    rough = "- How sure: The direction is sure, the sizes are rough: the hypervisor withheld"
    assert rough in said
    assert said.index(rough) < said.index("▼ ")


def test_a_difference_is_said_with_its_largest_parts_and_the_rest() -> None:
    made = Difference(
        whole_us=interval(1_300, 200),
        baseline_us=interval(4_200, 300),
        parts={"log flush": interval(900, 100), "CPU": interval(280, 50), "locks": interval(20, 10)},
        unexplained_us=interval(100, 50),
    )
    full, short = difference_words.lines(made)
    assert short.text == (
        "Each transaction takes 5.5 ms instead of 4.2 ms, +1.3: log flush +0.90, CPU +0.28, unexplained +0.10"
    )
    assert "log flush +0.90 (0.80 to 1.0)" in full.text
    assert difference_words.largest(made) == "the log flush"


def test_a_difference_that_no_part_explains_is_not_said() -> None:
    made = Difference(
        whole_us=interval(1_300, 200),
        baseline_us=interval(4_200, 300),
        parts={"CPU": interval(10, 5)},
        unexplained_us=interval(1_290, 200),
    )
    assert difference_words.lines(made) == ()
    assert difference_words.largest(made) is None


def summary_of(analysis: Analysis) -> dict[str, str]:
    """Return the first lines of a report, by their lead."""

    def said(item: Item) -> str:
        lines = [f"{line.lead}: {line.text}" if line.lead else line.text for line in item.lines]
        return " ".join(filter(None, [item.text, *lines]))

    return {item.lead: said(item) for item in summary.run(analysis).items}


def test_each_end_of_a_range_has_its_condition() -> None:
    where = ["8 clients", "1 client"]
    assert by_how_much(0.565, 0.79, where=where) == "21% (1 client) to 44% (8 clients) slower than"
    assert by_how_much(4.0, 1.03, where=where) == "3.0% faster (1 client) to 4.0 times (8 clients) as fast as"
    assert by_how_much(4.6, 1.1, where=where) == "1.1 times (1 client) to 4.6 times (8 clients) as fast as"
    assert by_how_much(2.0, 2.0, where=where) == "2.0 times as fast as"


def test_wide_intervals_are_told_as_a_factor() -> None:
    narrow = Interval(estimate=2.0, low=1.9, high=2.1, n=5)
    wide = Interval(estimate=18.6, low=6.5, high=53.0, n=3)
    assert precision([narrow, narrow]).startswith("The 2 ratios are known to within 5.")
    assert precision([narrow, wide]) == "The 2 ratios are known to within a factor of 2.9 (95% interval)."
    assert precision([wide]) == "The ratio lies between 6.5 and 53 (95% interval)."


def test_a_report_begins_with_what_was_tested_and_the_answer(make_run: MakeRun) -> None:
    plan = make_plan(tunings=("safest",), clients=(8,), blocks=5)
    _, analysis = make_run(plan)
    analysis = change(analysis, limits=make_limits(plan))
    head, names, _ = markdown.render(analysis).split("\n\n")[1:4]
    assert head.startswith(
        "quickstart: MariaDB 10.11.11 on 2 CPUs with 128 MiB of memory for data and 8 clients. 10 of 10 "
    )
    assert head.endswith("On bench1, started 2026-03-14 09:00 UTC.")
    assert names == "Names: dram = main memory; disk = a directory on vda."
    said = summary_of(analysis)
    assert list(said) == ["Answer", "How sure", "What holds it back", "What to do"]
    assert re.match(
        r"disk is 3\.1 times slower than dram \(\S+ to \S+\): 429 instead of 1,344 TPS \(", said["Answer"]
    )
    assert said["Answer"].endswith(" Not measured: reads from a disk (there were few).")
    assert said["How sure"] == "Sure. Brackets hold 95% intervals."
    assert said["What holds it back"] == (
        "dram: the CPUs (90% of a transaction). disk: the redo log's flush (79%)."
    )
    assert "A better disk: gains at most what main memory gains over disk: 3." in said["What to do"]


def test_the_summary_says_what_to_do_next() -> None:
    plan = make_plan(tunings=("safest",), clients=(1,), blocks=3)
    trials = make_trials(plan)
    busy = [change(one, usage__host_cpu_steal_s=20.0) for one in trials]
    said = summary_of(analyse(plan, make_machine(plan), busy, {}))
    assert said["How sure"].startswith(
        "Likely, not sure: the comparison rests on 3 blocks alone. "
        "The sizes are rough: the hypervisor withheld"
    )
    assert "To be surer: Stop other work on the machine" in said["What to do"]
    broken_off = summary_of(analyse(plan, make_machine(plan), trials[:4], {}))
    assert "--resume" in broken_off["What to do"]
    noisy = summary_of(analyse(plan, make_machine(plan), make_trials(plan, lambda _: 500.0, spread=0.2), {}))
    assert noisy["Answer"].startswith("disk against dram: undecided (between ")
    assert noisy["How sure"].startswith("Weak. The comparison has no result.")
    assert "For what has no result: more blocks" in noisy["What to do"]


def test_few_blocks_make_nothing_sure() -> None:
    def word(blocks: int, clients: tuple[int, ...] = (8,)) -> str:
        plan = make_plan(tunings=("safest",), clients=clients, blocks=blocks)
        said = summary_of(analyse(plan, make_machine(plan), make_trials(plan), {}))
        return said["How sure"].split(". ")[0]

    assert word(2) == "Likely, not sure: the comparison rests on 2 blocks alone"
    assert word(4, (8, 1)) == "Likely, not sure: the comparisons rest on 4 blocks alone"
    assert word(5) == "Sure"


def test_the_summary_of_cuts_says_what_they_took() -> None:
    crash = make_crash_plan(cuts=20)
    said = summary_of(analysed(crash))
    assert said["Answer"] == (
        "On ssd, safest lost none in 20 cuts. fast lost up to 3,291 transactions and up to 0.91 s of commits "
        "(17 of 20 cuts). Not measured: speed."
    )
    assert said["How sure"] == (
        "Losses: sure, because they were seen. "
        "Where none was lost, up to 14% of cuts could still lose (95% bound)."
    )
    assert said["What to do"].startswith("If no commit may be lost: `safest`")
    assert "it lost none in 20 cuts on ssd" in said["What to do"]
    assert (
        "If 0.91 s of commits (the worst of 20 cuts on ssd), and perhaps more, may be lost: `fast`"
        in said["What to do"]
    )
    none_lost = [change(cut, ledger=make_ledger(900)) for cut in make_cuts(crash)]
    assert "Name `controls` in `[crash]`" in summary_of(analysed(crash, none_lost))["What to do"]


def test_an_outcome_is_said_with_the_condition_that_it_alone_has(make_run: MakeRun) -> None:
    plan = make_plan(blocks=5)
    slow = {("disk", "safest"): 300.0}
    rates = make_trials(plan, lambda cell: slow.get((cell.storage, cell.tuning), 900.0), spread=0.1, seed=4)
    said = said_of(make_run(plan, rates)[1])
    assert "disk against dram: safest" in said
    assert "on dram: undecided (between " in said


def test_a_limits_study_is_answered_by_its_limits(make_run: MakeRun) -> None:
    plan = change(make_plan(clients=(8,), blocks=5), asks="limits")
    said = summary_of(change(make_run(plan)[1], limits=make_limits(plan)))
    assert list(said)[:4] == ["Answer", "How sure", "What holds it back", "How fast"]
    assert said["Answer"].startswith("The database is held back by the CPUs on dram, and by the redo log's ")
    assert "; not established on disk at fast." in said["Answer"]
    assert "dram: the CPUs (90% of a transaction). disk: the redo log's " in said["What holds it back"]
    assert said["How sure"].startswith(
        "Sure: in 3 of 4 cells two independent measurements agree on the limit. Speed: "
    )


def test_the_cost_of_a_durable_commit_is_said_in_ms(make_run: MakeRun) -> None:
    plan = make_plan(storages=("disk",), clients=(1,), blocks=5)
    analysis = make_run(plan)[1]
    spared = Difference(
        whole_us=interval(-1_300, 200),
        baseline_us=interval(4_200, 300),
        parts={"log flush": interval(-900, 100)},
        unexplained_us=interval(-400, 50),
    )
    verdict = change(analysis.verdicts[0], difference=spared, flush_spared=True)
    said = summary_of(change(analysis, verdicts=[verdict]))["Answer"]
    assert "; a durable commit costs about 1.3 ms, mostly the log flush." in said
    both = [verdict, change(verdict, level="unsafe")]
    assert summary_of(change(analysis, verdicts=both))["Answer"].count("a durable commit costs") == 1
    others = change(verdict, flush_spared=False)
    said = summary_of(change(analysis, verdicts=[others]))["Answer"]
    assert " (about 1.3 ms less a transaction, mostly the log flush)." in said


def test_a_level_without_a_flush_that_is_no_faster_shows_no_commit_cost(make_run: MakeRun) -> None:
    plan = make_plan(blocks=5)
    _, analysis = make_run(plan)
    slower = Difference(
        whole_us=interval(110, 20),
        baseline_us=interval(2_300, 100),
        parts={"waiting for a CPU": interval(100, 20)},
        unexplained_us=interval(10, 5),
    )
    of_disk = [one for one in analysis.verdicts if one.factor == "tuning" and one.held["storage"] == "disk"]
    assert all(one.flush_spared for one in of_disk)
    lost = change(of_disk[0], outcome="slower", difference=slower)
    same = change(of_disk[1], outcome="the same", difference=None)
    doubt = "; if vda has a write cache, test that it flushes."

    def said(*verdicts: Verdict, **changes: object) -> str:
        return summary_of(change(analysis, verdicts=list(verdicts), **changes))["Answer"]

    both = said(lost, same)
    assert "fast against safest: " in both, "no time is saved, so it is no cost"
    assert both.startswith(f"A durable commit costs less than 3% on disk{doubt} ")
    assert " TPS: not a commit's cost." in both
    assert "costs less than 3% on disk; if" in said(same, change(same, held=lost.held)), "a lying disk's sign"
    assert doubt in said(same)
    assert doubt not in said(change(same, outcome="faster"))
    machine = analysis.machine
    assert machine
    places = [
        change(one, device__write_cache="write through") if one.device else one for one in machine.places
    ]
    assert "write cache" not in said(lost, same, machine=change(machine, places=places))


def test_nothing_in_main_memory_is_called_a_durable_commits_cost(make_run: MakeRun) -> None:
    _, analysis = make_run(make_plan(blocks=5))
    of_tuning = [one for one in analysis.verdicts if one.factor == "tuning"]
    assert {(one.held["storage"], one.flush_spared) for one in of_tuning} == {("dram", False), ("disk", True)}
    in_memory = [one for one in of_tuning if one.held["storage"] == "dram"]
    said = summary_of(change(analysis, verdicts=in_memory))["Answer"]
    assert "durable commit" not in said
    assert "commit's cost" not in said


def test_the_answer_begins_with_a_sentence_for_each_pair_of_levels(make_run: MakeRun) -> None:
    _, analysis = make_run(make_plan(clients=(1, 8), blocks=5))

    def outcome_of(one: Verdict) -> Verdict:
        if one.factor == "tuning":
            saved_us = 280 if one.held["clients"] == "1" else 1_800
            saved = Difference(
                whole_us=interval(-saved_us, 20),
                baseline_us=interval(4_200, 300),
                parts={},
                unexplained_us=interval(-saved_us, 20),
            )
            costs = one.held["storage"] == "disk"
            return change(one, outcome="faster" if costs else "the same", difference=saved if costs else None)
        if one.held["tuning"] == "safest":
            ratio = interval(0.66 if one.held["clients"] == "1" else 0.55, 0.02)
            return change(one, outcome="slower", ratio=ratio)
        same = one.held["clients"] == "1"
        return change(one, outcome="the same" if same else "inconclusive", ratio=interval(1.0, 0.01))

    told = change(analysis, verdicts=[outcome_of(one) for one in analysis.verdicts])
    assert sorted(answer.opening(told)) == [
        "A durable commit costs 280 us (1 client) and 1.8 ms (8 clients) on disk.",
        "disk is 34% (1 client) to 45% (8 clients) slower than dram at safest and the same within 3% or "
        "undecided at fast.",
    ]
    assert summary_of(told)["How sure"].startswith(
        "Sure. 7 of 8 comparisons have a result; without one: disk against dram at fast with 8 clients. "
    )


def test_wide_intervals_make_sizes_rough(make_run: MakeRun) -> None:
    _, analysis = make_run(make_plan(tunings=("safest",), clients=(8,), blocks=5))
    wide = Interval(estimate=4.0, low=2.0, high=8.0, n=5)
    [verdict] = analysis.verdicts
    said = summary_of(change(analysis, verdicts=[change(verdict, outcome="faster", ratio=wide)]))["How sure"]
    assert said.startswith(
        "The direction is sure, the sizes are rough: the widest interval spans a factor of 4.0. Brackets "
    )


def test_speed_and_loss_of_a_level_are_one_sentence() -> None:
    both = analysed(make_crash_plan(storages=("ssd", "liar"), cuts=15), speed=True)
    eight = [one for one in both.verdicts if one.held.get("clients") == "8" and one.factor == "tuning"]
    on_ssd = [one for one in eight if one.held["storage"] == "ssd"]
    said = summary_of(change(both, verdicts=on_ssd))
    assert said["Answer"].startswith("On ssd, safest lost ")
    with_both = r"\. fast is .+ safest \(.+; [\d,]+ against [\d,]+ TPS\) and lost up to [\d,]+ transactions"
    assert re.search(with_both, said["Answer"])
    assert ". On liar, safest lost " in said["Answer"]
    assert "Losses: sure, because they were seen." in said["How sure"]
    apart = summary_of(change(both, verdicts=eight + on_ssd))["Answer"]
    assert apart.index(" TPS") < apart.index("On ssd, safest lost ")


def test_whole_databases_that_one_level_alone_lost_may_be_chance() -> None:
    crash = make_crash_plan(tunings=("safest", "fast"), cuts=15)
    made = [change(cut, ledger=make_ledger(900, lost=3)) for cut in make_cuts(crash)]
    safest = [index for index, cut in enumerate(made) if cut.cell.endswith("safest")]
    said = summary_of(analysed(crash, changed(made, dict.fromkeys(safest[:4], refused))))
    assert "safest lost the whole database in 4 of 15 cuts, and transactions in 11 more. " in said["Answer"]
    chance = "With 15 cuts it may be chance that only safest on ssd lost whole databases."
    assert chance in said["How sure"]
    whole = [
        change(cut, ledger=make_ledger(900)) if nth in safest[4:7] else cut for nth, cut in enumerate(made)
    ]
    both = summary_of(analysed(crash, changed(whole, dict.fromkeys(safest[:4], refused))))["How sure"]
    assert chance in both
    assert (
        "It may be chance that fast on ssd (15 of 15) lost more often than safest on ssd (12 of 15)" in both
    )
    certain = summary_of(analysed(crash, changed(made, dict.fromkeys(safest[:6], refused))))["How sure"]
    assert "may be chance" not in certain


def test_the_gravest_warnings_stand_beside_how_sure_the_answer_is() -> None:
    plan = make_plan(tunings=("safest",), clients=(1,), blocks=3)
    first, *others = make_trials(plan)
    rare = change(first, findings=[Finding(check="rare", severity="warning", message="rarely wrong")])
    wide = [Finding(check=f"wide-{n}", severity="warning", message=f"wrong {n}") for n in (1, 2)]
    trials = [change(one, findings=[*one.findings, *wide]) for one in (rare, *others)]
    said = summary_of(analyse(plan, make_machine(plan), trials, {}))["How sure"]
    assert said.endswith("Caution: wrong 1 (6 of 6 trials). 3 more warnings: see the findings.")
    assert "rarely wrong" not in said


def test_figures_of_two_conditions_do_not_read_as_an_interval(make_run: MakeRun) -> None:
    plan = make_plan(tunings=("safest",), clients=(1, 8))
    _, two = make_run(plan, make_trials(plan, lambda cell: 100.0 * cell.clients))
    cells = {one.cell.id: one for one in two.cells}
    found = [one for one in two.verdicts if one.factor == "storage"]
    assert re.fullmatch(r": \d+ and \d+ against \d+ and \d+ TPS", both_figures(found, cells))
