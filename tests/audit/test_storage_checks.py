"""Checks of the server's files and of the storage: placement, engine, data size, physics, bytes written."""

from typing import Any

import pytest

from diskproof.audit.registry import bars_comparison
from diskproof.families import FAMILIES, Family, of
from diskproof.families.durability import commits_wait_for_flush
from diskproof.families.facts import LEVELS
from diskproof.results.load import Operation
from diskproof.results.machine import Machine
from diskproof.results.trial import OpenFile, Setting
from support.audited import PLAN, audit, find_cell, trial_of
from support.trials import (
    DISK_DEVICE,
    MIB,
    change,
    make_machine,
    make_places,
    make_plan,
    usage_of,
)
from support.virtual import make_facts

# ---------------------------------------------------------------- the server


def test_settings_that_do_not_hold_are_named_with_both_values() -> None:
    wrong = Setting(name="sync_binlog", requested="1", observed="0", holds=False, level=True)
    unknown = Setting(name="innodb_turbo", requested="ON", observed=None, holds=False)
    assert (
        "`sync_binlog` reads back as 0; 1 was requested"
        in audit({"settings": [wrong]})["settings"].message.text
    )
    finding = audit({"settings": [unknown]})["settings"]
    assert finding.severity == "invalid"
    assert "no variable `innodb_turbo`" in finding.message.text


def test_a_misplaced_file_is_named_with_where_it_lies_and_should_lie() -> None:
    stray = OpenFile(
        path="/srv/disk/data/ib_logfile0", role="redo", device_number=DISK_DEVICE, as_declared=False
    )
    finding = audit({"open_files": [stray]}, storage="dram")["placement"]
    assert finding.severity == "invalid"
    assert "/srv/disk/data/ib_logfile0 lies on device 254:1 (ext4 on vda)" in finding.message.text
    assert (
        "redo of storage `dram` was declared to lie under /srv/dram/redo on device 0:45 (tmpfs)"
        in finding.message.text
    )


def test_a_file_of_no_role_outside_the_trial_is_named() -> None:
    stray = OpenFile(path="/var/lib/elsewhere", role=None, device_number="9:9", as_declared=False)
    sound = OpenFile(path="/srv/disk/data/ibdata1", role="data", device_number=DISK_DEVICE, as_declared=True)
    finding = audit({"open_files": [stray, sound]})["placement"]
    assert "belongs to no role" in finding.message.text
    assert "device 9:9" in finding.message.text


@pytest.mark.parametrize("engine", ["MyISAM", None, "InnoDB,MyISAM"])
def test_another_engine_than_declared_is_invalid(engine: str | None) -> None:
    assert audit({"data__engine": engine})["engine"].severity == "invalid"


def test_an_engine_that_nobody_declared_is_no_matter() -> None:
    assert "engine" not in audit({"data__declared_engine": None, "data__engine": "Aria"})
    assert "engine" not in audit({"data__declared_engine": "innodb"})


# ---------------------------------------------------------------- the storage


def test_reading_data_that_fits_in_memory_tests_memory() -> None:
    finding = audit({"load__writes": 0})["data-size"]
    assert finding.severity == "warning"
    assert "this tests memory, not storage" in finding.message.text
    assert "fits in the buffer pool (128 MiB)" in finding.message.text


def test_data_size_is_a_note_where_commits_reach_storage_or_nothing_is_compared() -> None:
    assert audit()["data-size"].severity == "note"
    alone = make_plan(storages=("disk",))
    assert audit({"load__writes": 0}, plan=alone)["data-size"].severity == "note"


def test_of_a_job_nothing_is_said_about_data_that_it_makes_itself() -> None:
    """It may create and drop tables all the time, with not one INSERT among its statements."""
    plan = change(make_plan(), metrics={"complex": "seconds"})
    parts = [Operation(test="create", name="create+drop", clients=1, planned=9, count=9, seconds=9.0)]
    assert "data-size" not in audit({"load__writes": 0, "load__operations": parts}, plan=plan)


def test_data_between_pool_and_memory_may_come_from_the_page_cache() -> None:
    assert "page cache" in audit({"data__data_bytes": 1024 * MIB})["data-size"].message.text
    assert "data-size" not in audit({"data__data_bytes": 8192 * MIB})


def machine_with(virtualised: str | None = None, **device: Any) -> Machine:
    return make_machine(
        PLAN, virtualised=virtualised, places=[*make_places("dram"), *make_places("disk", **device)]
    )


def test_a_trial_is_judged_by_where_its_own_roles_lay() -> None:
    # As after `--resume`: the machine's facts are those of the first run, with other loop devices.
    own = make_places("disk", rotational=True, model="ST4000NM")
    finding = audit({"places": own}, machine=machine_with(rotational=False), rate=500.0, clients=1)["physics"]
    assert finding.severity == "invalid"
    assert "physics" not in audit(machine=machine_with(rotational=False), rate=500.0, clients=1)


def test_commits_faster_than_a_spindle_came_from_a_cache() -> None:
    spinning = machine_with(rotational=True, model="ST4000NM")
    finding = audit(machine=spinning, rate=500.0, clients=1)["physics"]
    assert finding.severity == "invalid"
    assert "500 durable commits a second and client" in finding.message.text
    assert "at most 250" in finding.message.text
    assert "physics" not in audit(machine=spinning, rate=120.0, clients=1)
    assert "physics" not in audit(machine=spinning, rate=1000.0, clients=8)  # shared flushes: 125 each


def test_what_a_virtual_disk_can_do_is_its_models_to_say() -> None:
    spinning = machine_with(rotational=True, model="virtual: A disk of 15,000 rpm")
    places = [change(place, virtual=make_facts()) for place in spinning.places]
    assert "physics" in audit(machine=spinning, rate=500.0, clients=1)
    assert "physics" not in audit(machine=change(spinning, places=places), rate=500.0, clients=1)


def test_physics_exempts_what_promises_no_durability() -> None:
    spinning = machine_with(rotational=True, model="ST4000NM")
    assert "physics" not in audit(machine=spinning, rate=500.0, clients=1, tuning="fast")
    assert "physics" not in audit({"load__writes": 0}, machine=spinning, rate=500.0, clients=1)
    assert "physics" not in audit(machine=spinning, rate=600.0, clients=1, storage="dram")
    assert "physics" not in audit(machine=machine_with(rotational=False), rate=500.0, clients=1)


def with_setting(name: str, value: str) -> dict[str, Any]:
    settings = trial_of(find_cell(PLAN)).settings
    changed = Setting(name=name, requested=value, observed=value, holds=True, level=True)
    return {"settings": [*(one for one in settings if one.name != name), changed]}


def test_physics_judges_by_what_the_server_answered_not_by_the_levels_name() -> None:
    spinning = machine_with(rotational=True, model="ST4000NM")
    own = make_plan(tunings=("safest", "mine"))  # the builder gives `mine` the settings of safest
    assert "physics" in audit(plan=own, machine=spinning, rate=500.0, clients=1, tuning="mine")
    overridden = with_setting("innodb_flush_log_at_trx_commit", "2")
    assert "physics" not in audit(overridden, machine=spinning, rate=500.0, clients=1)
    strict = with_setting("innodb_flush_log_at_trx_commit", "1")
    assert "physics" in audit(strict, machine=spinning, rate=500.0, clients=1, tuning="fast")


@pytest.mark.parametrize(
    ("server", "settings", "waits"),
    [
        ("postgresql", {"synchronous_commit": "on", "fsync": "on"}, True),
        ("postgresql", {"synchronous_commit": "on", "fsync": "off"}, False),
        ("postgresql", {"synchronous_commit": "off", "fsync": "on"}, False),
        ("sqlite", {"synchronous": "FULL"}, True),
        ("sqlite", {"synchronous": "normal"}, False),
    ],
)
def test_each_family_says_in_its_own_words_whether_commits_wait(
    server: str, settings: dict[str, str], waits: bool
) -> None:
    plan = make_plan(servers=(server,))
    facts = machine_with(rotational=True, model="ST4000NM")
    machine = change(facts, servers=make_machine(plan).servers)
    answered = [
        Setting(name=name, requested=value, observed=value, holds=True) for name, value in settings.items()
    ]
    found = audit({"settings": answered}, plan=plan, machine=machine, rate=500.0, clients=1)
    assert ("physics" in found) == waits


@pytest.mark.parametrize("family", FAMILIES)
def test_of_the_named_levels_safest_alone_waits(family: Family) -> None:
    waiting = [level for level in LEVELS if commits_wait_for_flush(family, of(family).tuned(level))]
    assert waiting == ["safest"]


@pytest.mark.parametrize("virtual", [{"virtualised": "kvm"}, {"model": None}])
def test_a_virtual_disk_that_calls_itself_rotational_is_noted(virtual: dict[str, Any]) -> None:
    finding = audit(machine=machine_with(rotational=True, **virtual), rate=500.0, clients=1)["physics"]
    assert finding.severity == "note"
    assert "virtual" in finding.message.text


def without_flushes(clients: int = 8) -> dict[str, Any]:
    trial = trial_of(find_cell(PLAN, clients=clients))
    return {"usage__devices": {"vda": change(usage_of(trial).devices["vda"], flushes=0)}}


def test_durable_commits_without_a_flush_were_not_paid_for() -> None:
    finding = audit(without_flushes())["physics"]
    assert finding.severity == "warning"
    assert "no flush reached vda" in finding.message.text
    assert "rw,relatime" in finding.remedy.text


def test_no_flush_on_a_device_that_never_counted_one_bars_nothing() -> None:
    """Volumes (LVM, LUKS, RAID) and some drivers pass flushes on without counting them."""
    blind = machine_with(counts_flushes=False)
    finding = audit(without_flushes(), machine=blind)["physics"]
    assert finding.severity == "note"
    assert "had counted none there before either" in finding.message.text
    assert "physics" not in audit(machine=blind)


def test_barriers_off_are_found_whatever_the_device_counts() -> None:
    machine = machine_with(counts_flushes=False, fua=True)
    places = [change(place, mount_options="rw,relatime,nobarrier") for place in machine.places]
    finding = audit(without_flushes(), machine=change(machine, places=places))["physics"]
    assert finding.severity == "warning"
    assert "without `nobarrier`" in finding.remedy.text
    assert bars_comparison(finding)
    flushed = audit(machine=change(machine, places=places))["physics"]
    assert flushed.severity == "warning", "another file system on the disk may have flushed"


@pytest.mark.parametrize("asked", ["barrier=0", "noatime, nobarrier"])
def test_barriers_that_the_study_itself_turns_off_bar_nothing(asked: str) -> None:
    places = [
        change(place, mount_options="rw,relatime,nobarrier", asked_options=asked)
        for place in machine_with().places
    ]
    finding = audit(without_flushes(), machine=change(machine_with(), places=places))["physics"]
    assert finding.severity == "note"
    assert "asks for `nobarrier`, so no flush reaches vda" in finding.message.text
    assert not bars_comparison(finding)


def test_other_options_that_the_study_asks_for_are_no_excuse() -> None:
    places = [
        change(place, mount_options="rw,noatime,nobarrier", asked_options="noatime")
        for place in machine_with().places
    ]
    finding = audit(without_flushes(), machine=change(machine_with(), places=places))["physics"]
    assert finding.severity == "warning"


def test_a_device_that_takes_fua_may_have_needed_no_flush() -> None:
    finding = audit(without_flushes(), machine=machine_with(fua=True))["physics"]
    assert finding.severity == "note"
    assert "needs no flush (FUA)" in finding.message.text


def test_flushes_of_a_volume_are_those_of_the_disks_below_it() -> None:
    volume = machine_with(name="dm-0", leaves=["vda", "vdb"])
    disk = usage_of(trial_of(find_cell(PLAN))).devices["vda"]
    silent = change(disk, flushes=0)
    both = {"usage__devices": {"vda": silent, "vdb": silent}}
    finding = audit(both, machine=volume)["physics"]
    assert finding.severity == "warning"
    assert "no flush reached vda or vdb" in finding.message.text
    assert "physics" not in audit({"usage__devices": {"vda": silent, "vdb": disk}}, machine=volume)
    assert "physics" not in audit({"usage__devices": {"dm-0": silent}}, machine=volume)


def test_a_disk_without_a_volatile_cache_needs_no_flush() -> None:
    machine = machine_with(write_cache="write through")
    assert audit(without_flushes(), machine=machine)["physics"].severity == "note"
