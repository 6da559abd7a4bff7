"""What a run says of settings and storage: conclusions as values, never invented."""

from collections.abc import Callable, Sequence

from diskproof.analysis.analyse import analyse
from diskproof.analysis.answers import Analysis
from diskproof.analysis.decisions import durability, levers
from diskproof.analysis.limits.records import WhatIf
from diskproof.results.plan import Cell, Plan
from diskproof.results.trial import Setting, Trial
from support.cuts import make_crash_plan, make_cuts, make_ledger
from support.limits import make_limits
from support.safety import analysed
from support.trials import change, make_machine, make_plan, make_series, make_trials


def of_run(plan: Plan, trials: Sequence[Trial] | None = None) -> Analysis:
    trials = make_trials(plan) if trials is None else trials
    return analyse(plan, make_machine(plan), trials, make_series(trials))


def rates(speeds: dict[str, float]) -> Callable[[Cell], float]:
    return lambda cell: speeds[f"{cell.storage} {cell.tuning}"]


def test_without_cuts_the_level_that_waits_for_the_disk_is_the_safe_one() -> None:
    plan = make_plan(storages=("disk",), clients=(1,), blocks=5)
    speeds = rates({"disk safest": 100.0, "disk fast": 300.0})
    [found] = durability(of_run(plan, make_trials(plan, speeds)))
    assert (found.safe.tuning, found.safe.cuts, found.lost_on) == ("safest", [], [])
    [fast] = found.others
    [gain] = fast.gains["disk"]
    assert 2.9 < gain.estimate < 3.1
    assert not fast.may_ruin
    assert set(found.safe.settings) == set(fast.settings)
    assert all(found.safe.settings[name] != value for name, value in fast.settings.items())


def test_a_gain_that_no_verdict_decided_is_none() -> None:
    plan = make_plan(storages=("disk",), clients=(1,), blocks=3)
    [found] = durability(of_run(plan, make_trials(plan, lambda _: 500.0, spread=0.2)))
    assert found.others[0].gains == {}
    assert found.others[0].outcomes == ["inconclusive"]


def test_levels_of_the_users_own_names_are_not_called_safe_without_cuts() -> None:
    plan = make_plan(storages=("disk",), tunings=("mine", "yours"), clients=(1,), blocks=3)
    assert list(durability(of_run(plan))) == []


def test_a_level_of_the_users_own_is_judged_by_its_settings() -> None:
    plan = make_plan(storages=("disk",), tunings=("safest", "mine"), clients=(1,), blocks=3)
    mine = {cell.id for cell in plan.cells if cell.tuning == "mine"}

    def losses(doublewrite: str | None) -> list[str] | None:
        trials = [
            change(
                one,
                settings=[
                    change(found, observed=doublewrite) if found.name == "innodb_doublewrite" else found
                    for found in one.settings
                ],
            )
            if one.cell in mine
            else one
            for one in make_trials(plan)
        ]
        [found] = durability(of_run(plan, trials))
        said = found.others[0].losses
        return None if said is None else [one.text for one in said]

    assert losses("ON") == []
    assert losses("OFF") == ["torn pages are not repaired (innodb_doublewrite = OFF)"]
    assert losses(None) is None, "a variable that was not read promises nothing"


def test_cuts_decide_which_level_keeps_every_commit() -> None:
    crash = make_crash_plan(cuts=20)
    [found] = durability(analysed(crash))
    assert found.safe.tuning == "safest"
    assert [one.telling for one in found.safe.cuts] == [20]
    [fast] = found.others
    assert [bool(one.with_loss) for one in fast.cuts] == [True]
    lost = [change(cut, ledger=make_ledger(900, lost=3, window_s=0.1)) for cut in make_cuts(crash)]
    assert list(durability(analysed(crash, lost))) == [], "no level kept every commit"


def test_of_levels_that_were_cut_alone_the_cut_servers_settings_are_known() -> None:
    crash = make_crash_plan(cuts=5)

    def reported(tuning: str) -> list[Setting]:
        found = {"log_bin": "ON", "sync_binlog": "1" if tuning == "safest" else "0"}
        return [
            Setting(name=name, requested=value, observed=value, holds=True, level=True)
            for name, value in found.items()
        ]

    cuts = [change(cut, settings=reported(crash.cell(cut.cell).tuning)) for cut in make_cuts(crash)]
    [found] = durability(analysed(crash, cuts))
    assert found.safe.settings == {"sync_binlog": "1"}
    assert [one.settings for one in found.others] == [{"sync_binlog": "0"}]


def test_only_what_is_no_main_memory_has_a_lever() -> None:
    plan = make_plan(tunings=("safest",), clients=(1, 8), blocks=5)
    analysis = of_run(plan)
    limits = make_limits(plan)

    def gain(ratio: float) -> WhatIf:
        return WhatIf(says="a shorter flush would help", ratio=ratio, low=1.0, high=9.0, basis="")

    cells = [change(one, what_if=gain(1.0 + one.cell.clients)) for one in limits.cells]
    found = levers(change(analysis, limits=change(limits, cells=cells)))
    assert [(one.limit, one.what_if.ratio, one.best.storage) for one in found] == [("log flush", 9.0, "disk")]


def test_more_memory_is_named_only_if_all_data_would_fit_into_it() -> None:
    plan = make_plan(storages=("disk",), tunings=("safest",), clients=(8,), blocks=3)
    analysis = of_run(plan)
    limits = make_limits(plan)
    gain = WhatIf(says="a shorter one would help", ratio=2.0, low=1.0, high=3.0, basis="")

    def variable(**changes: object) -> str | None:
        cells = [change(one, what_if=gain, **changes) for one in limits.cells]
        [found] = levers(change(analysis, limits=change(limits, cells=cells)))
        return found.memory_variable

    memory, data = plan.cells[0].memory_bytes, plan.cells[0].memory_bytes * 4
    assert variable(limit="data reads", data_bytes=data) == "innodb_buffer_pool_size"
    assert variable(limit="data reads", data_bytes=memory // 2) is None
    assert variable(limit="data reads", data_bytes=None) is None
    assert variable() is None
