"""Checks of the machine around a trial: other work, stolen time, CPUs that were held."""

import pytest

from diskproof.results.trial import HeldCpus
from support.audited import PLAN, audit, find_cell, trial_of
from support.trials import (
    change,
    make_machine,
    usage_of,
)

# ---------------------------------------------------------------- the host


def test_stolen_and_foreign_cpu_time_are_named() -> None:
    finding = audit({"usage__host_cpu_steal_s": 6.0})["host-busy"]
    assert "withheld 10%" in finding.message.text
    busy_s = usage_of(trial_of(find_cell(PLAN))).host_cpu_busy_s or 0
    finding = audit({"usage__host_cpu_busy_s": busy_s + 18.0})["host-busy"]
    assert finding.severity == "warning"
    assert "other processes took 32%" in finding.message.text  # 18 s, and 1.2 s of quiet, of 60


def test_work_on_cpus_that_are_not_ours_is_no_other_work() -> None:
    """Two CPUs of a host with 64: its counters cover all of them, and most of what they do is not here."""
    host = make_machine(PLAN, cpus=2, host_cpus=64)
    assert "host-busy" not in audit({"usage__host_cpu_busy_s": 900.0}, machine=host)
    whole = make_machine(PLAN, cpus=64, host_cpus=64)
    assert (
        "other processes took"
        in audit({"usage__host_cpu_busy_s": 900.0}, machine=whole)["host-busy"].message.text
    )


def test_stolen_time_is_a_share_of_the_whole_hosts() -> None:
    host = make_machine(PLAN, cpus=2, host_cpus=64)
    assert "host-busy" not in audit({"usage__host_cpu_steal_s": 6.0}, machine=host)
    assert "withheld 10%" in audit({"usage__host_cpu_steal_s": 192.0}, machine=host)["host-busy"].message.text


def test_other_work_is_not_guessed_where_the_server_was_not_counted() -> None:
    assert "host-busy" not in audit({"usage__server_cpu_s": None})


def test_other_work_on_the_cpus_of_server_and_load_is_named() -> None:
    """One of two CPUs is theirs: what virtual disks do on the other takes nothing from them."""
    used = usage_of(trial_of(find_cell(PLAN)))
    ours_s = used.server_cpu_s or 0
    machine = make_machine(PLAN, held_cpus=[1])
    alone = {"usage__host_cpu_busy_s": ours_s + 30.0, "usage__held_cpu_busy_s": ours_s + 1.5}
    assert "host-busy" in audit(alone | {"usage__held_cpu_busy_s": None})
    assert "host-busy" not in audit(alone, machine=machine)
    shared = audit(alone | {"usage__held_cpu_busy_s": ours_s + 9.0}, machine=machine)["host-busy"]
    assert "of the CPU time that server and load are held to" in shared.message.text


HELD = HeldCpus(cpus=[2, 3], server=[2, 3], load=[2, 3])


def test_a_server_and_a_load_on_their_cpus_are_sound() -> None:
    held = change(PLAN, cpus=2)
    assert "held-cpus" not in audit({"held_cpus": HELD}, plan=held)
    assert "held-cpus" not in audit({"held_cpus": change(HELD, server=None)}, plan=held)  # bare files
    assert "held-cpus" not in audit()


@pytest.mark.parametrize(
    ("held", "told"),
    [
        (None, "which they had was not recorded"),
        (
            change(HELD, server=[0, 1, 2, 3]),
            "the server should be held to CPU 2, 3, but it could run on CPU 0,",
        ),
        (change(HELD, server=[2]), "the server should be held to CPU 2, 3, but it could run on CPU 2"),
        (change(HELD, load=[0]), "the load generator should be held to CPU 2, 3, but it could run on CPU 0"),
        (change(HELD, load=[]), "the load generator should be held to CPU 2, 3, but it was gone"),
        (
            HeldCpus(cpus=[3], server=[3], load=[3]),
            "gives server and load 2 CPUs, but they were held to CPU 3",
        ),
    ],
)
def test_a_server_or_a_load_on_other_cpus_is_invalid(held: HeldCpus | None, told: str) -> None:
    finding = audit({"held_cpus": held}, plan=change(PLAN, cpus=2))["held-cpus"]
    assert finding.severity == "invalid"
    assert told in finding.message.text
