"""What an intervention did against what was predicted; and pairs that must not be counted."""

from collections.abc import Sequence
from typing import Any

import pytest

from diskproof.analysis.gather import Gathered
from diskproof.analysis.limits.proofs import Band, answer_proofs, decide, why_fails
from diskproof.analysis.limits.records import ProofAnswer
from diskproof.analysis.limits.thresholds import FEWEST_PAIRS
from diskproof.results.limit import Change, ProofPair
from diskproof.results.trial import Finding, HeldCpus
from diskproof.stats.intervals import Interval
from support.proofs import SAYS, make_pair, slowed
from support.trials import change, make_machine, make_plan
from support.virtual import make_use
from support.words import texts

PLAN = make_plan(storages=("disk",), tunings=("safest",), clients=(1,))
MACHINE = make_machine(PLAN)
BROKEN = Finding(check="finished", severity="invalid", message="the server died during the trial")


def answers(pairs: Sequence[ProofPair]) -> list[ProofAnswer]:
    return answer_proofs(Gathered(PLAN, MACHINE, [], {}), pairs)


def answer(*ratios: float, **fields: Any) -> ProofAnswer:
    [found] = answers([make_pair(PLAN, n, ratio=ratio, **fields) for n, ratio in enumerate(ratios, start=1)])
    return found


@pytest.mark.parametrize(
    ("ratios", "predicted", "outcome"),
    [
        ((0.50, 0.51, 0.49), (0.5, 0.45, 0.55), "as predicted"),
        ((0.60, 0.61, 0.60), (0.5, 0.45, 0.55), "not as predicted"),
        ((0.99, 1.01, 1.00), (0.5, 0.45, 0.55), "not as predicted"),
        ((0.30, 0.90, 0.50), (0.5, 0.45, 0.55), "open"),  # an interval that takes 1 in says nothing
        ((0.55, 0.60, 0.57), (0.5, 0.45, 0.55), "open"),  # overlaps the band, but the estimate is beside it
        ((0.46, 0.50, 0.48), (0.5, 0.45, 0.55), "as predicted"),  # reaches beyond the band, centred in it
        ((0.505, 0.506, 0.507), (0.5, 0.5, 0.5), "as predicted"),  # a single figure, within "the same"
        ((0.52, 0.521, 0.519), (0.5, 0.5, 0.5), "not as predicted"),
        ((2.0, 2.1, 1.9), (2.0, 1.2, 3.0), "as predicted"),
        ((0.5,), (0.5, 0.45, 0.55), "open"),
        ((0.5, 0.501), (0.5, 0.45, 0.55), "open"),  # one degree of freedom
    ],
)
def test_a_proof_is_held_against_its_prediction(
    ratios: tuple[float, ...], predicted: tuple[float, float, float], outcome: str
) -> None:
    found = answer(*ratios, predicted=predicted)
    assert found.outcome == outcome
    assert (found.measured is not None) == (len(ratios) >= FEWEST_PAIRS)
    assert found.intervention.says.text == "every flush of `cheetah` takes 4 ms longer"


def test_no_interval_is_no_outcome() -> None:
    assert decide(None, Band(0.4, 0.6), 0.03) == "open"
    alone = Interval(estimate=0.5, low=None, high=None, n=1)
    assert decide(alone, Band(0.4, 0.6), 0.03) == "open"
    two = Interval(estimate=0.5, low=0.49, high=0.51, n=2)
    assert decide(two, Band(0.4, 0.6), 0.03) == "open"


@pytest.mark.parametrize(
    ("estimate", "low", "high", "band"),
    [
        (1.44, 0.027, 76, Band(1.0, 1.0)),  # as wide as anything
        (1.0, 0.97, 1.03, Band(1.0, 5.0)),  # nothing happened, which was predicted too
        (1.0, 0.97, 1.03, Band(0.6, 1.0)),
        (2.0, 1.9, 2.1, Band(1.0, 5.0)),  # a predicted change, but no change was predicted too
        (0.97, 0.96, 0.98, Band(0.9, 0.98)),  # 1 lies within what is called the same
        (0.8, 0.6, 1.02, Band(1.0, 5.0)),  # to the other side
        (0.5, 0.05, 0.95, Band(0.9, 0.95)),  # overlaps, and is elsewhere
        (0.92, 0.8, 1.05, Band(0.9, 0.94)),  # the right figure, by chance
    ],
)
def test_what_could_not_have_failed_is_not_as_predicted(
    estimate: float, low: float, high: float, band: Band
) -> None:
    assert decide(Interval(estimate=estimate, low=low, high=high, n=3), band, 0.05) == "open"


def test_a_band_that_holds_no_change_can_still_be_refuted() -> None:
    assert (
        decide(Interval(estimate=0.5, low=0.48, high=0.52, n=3), Band(0.9, 1.1), 0.05) == "not as predicted"
    )


def test_a_recorded_proof_that_could_not_fail_proves_nothing() -> None:
    found = answer(1.44, 1.2, 1.6, predicted=(1.2, 1.0, 1.5))
    assert found.outcome == "open"


def test_a_pair_of_an_older_run_folder_is_read_as_it_was_worded() -> None:
    recorded = make_pair(PLAN, ratio=0.5).model_dump(mode="json")
    recorded["intervention"] = {"change": "slower flushes", "says": "all flushes {slow}", "factor": 2.0}
    old = ProofPair.model_validate({**recorded, "basis": "flushes are 50% of the time"})
    assert (old.intervention.says.text, old.basis.text) == (
        "all flushes {slow}",
        "flushes are 50% of the time",
    )
    assert old.intervention.same_change(make_pair(PLAN).intervention), "wording does not matter"
    [found] = answers([old])
    assert (found.intervention.says.text, found.predicted_low) == ("all flushes {slow}", 0.45)


@pytest.mark.parametrize("made", list(SAYS))
def test_a_sound_pair_of_every_change_counts(made: Change) -> None:
    assert why_fails(make_pair(PLAN, made=made), PLAN, MACHINE, {}) == []


@pytest.mark.parametrize(
    ("fields", "said"),
    [
        ({"as_it_was": {"findings": [BROKEN]}}, "unchanged: the server died"),
        ({"changed": {"finished": False, "load": None, "findings": [BROKEN]}}, "changed: the server died"),
        ({"changed": {"virtual_disks": []}}, "no virtual disk reports that it was slowed"),
        ({"changed": {"virtual_disks": [make_use()]}}, "no virtual disk reports that it was slowed"),
        ({"changed": {"virtual_disks": [slowed("flush", requests=0)]}}, "not one flush of `cheetah`"),
        ({"changed": {"virtual_disks": [slowed("flush", mean_us=3900.0)]}}, "less than the 4.0 ms"),
        ({"as_it_was": {"virtual_disks": [slowed("flush")]}}, "in the unchanged trial too"),
        ({"made": "half the CPUs", "changed": {"held_cpus": None}}, "was not recorded"),
        (
            {"made": "half the CPUs", "changed": {"held_cpus": HeldCpus(cpus=[1], server=[0, 1], load=[1])}},
            "changed: the server should be held to CPU 1, but it could run on CPU 0, 1",
        ),
        (
            {
                "made": "half the CPUs",
                "changed": {"held_cpus": HeldCpus(cpus=[0, 1], server=[0, 1], load=[0, 1])},
            },
            "1 CPU, but they were held to CPU 0, 1",
        ),
        ({"made": "flushes relaxed", "changed": {"settings": []}}, "settings did not change"),
        ({"made": "twice the memory", "changed": {"settings": []}}, "settings did not change"),
    ],
)
def test_a_pair_whose_change_was_not_seen_does_not_count(fields: dict[str, Any], said: str) -> None:
    pair = make_pair(PLAN, **fields)
    assert said in "; ".join(one.text for one in why_fails(pair, PLAN, MACHINE, {}))
    [found] = answers([pair])
    assert (found.outcome, found.measured) == ("open", None)
    assert (found.pairs, len(found.left_out)) == (1, 1)


def test_relaxed_settings_with_which_commits_still_wait_prove_nothing() -> None:
    pair = make_pair(PLAN, made="flushes relaxed")
    waits = change(pair.changed.settings[-1], observed="3")
    pair = change(pair, changed__settings=[*pair.changed.settings, waits])
    assert "each commit still waits" in why_fails(pair, PLAN, MACHINE, {})[0].text


def test_pairs_that_do_not_count_are_left_out_and_reported() -> None:
    bad = make_pair(PLAN, 3, ratio=5.0, changed={"findings": [BROKEN]})
    sound = [make_pair(PLAN, number, ratio=0.5) for number in (1, 2, 4)]
    [found] = answers([*sound, bad])
    assert found.measured is not None
    assert found.measured.n == 3
    assert texts(found.left_out) == ["changed: the server died during the trial"]


def test_the_last_of_two_ways_to_prove_a_cell_counts() -> None:
    old = [make_pair(PLAN, n, ratio=0.5) for n in (1, 2, 3)]
    new = [
        make_pair(PLAN, n, ratio=1.5, made="flushes relaxed", predicted=(1.5, 1.4, 1.6)) for n in (1, 2, 3)
    ]
    [found] = answers([old[2], *new])
    assert found.intervention.change == "flushes relaxed"
    assert found.measured is not None
    assert found.measured.estimate == pytest.approx(1.5, rel=0.01)


def test_a_proof_of_a_removed_cell_is_ignored() -> None:
    other = change(make_pair(PLAN), cell="gone/disk/safest/complex/128MiB/1c")
    assert answers([other]) == []


def test_a_time_is_compared_as_a_speed() -> None:
    """Half the speed is twice the latency."""
    plan = change(PLAN, metrics={"complex": "latency_mean_us"})
    pairs = [make_pair(plan, n, ratio=0.5) for n in (1, 2, 3)]
    [found] = answer_proofs(Gathered(plan, MACHINE, [], {}), pairs)
    assert found.measured is not None
    assert found.measured.estimate == pytest.approx(0.5, rel=0.01)
