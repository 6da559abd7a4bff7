"""Clones of virtual disks, blind: their figures are measured, their files are not looked at."""

import json
import os
import subprocess
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import tomlkit

from clones import agreeing, simulated_material
from diskproof import disk
from diskproof.cli import call
from diskproof.cli.disk import bar
from diskproof.profile.clone import choose
from diskproof.profile.clone import fit as fits
from diskproof.profile.clone import make as clone_maker
from diskproof.profile.clone.cells import QUICK, Observation, observed, plan, split
from diskproof.profile.clone.device import Parameter, device_text
from diskproof.profile.clone.fit import STEPS, Model, fit, length_of
from diskproof.profile.clone.kinds import bridge, cloud
from diskproof.profile.clone.make import Made, make
from diskproof.profile.clone.material import Material, material_of, measure
from diskproof.profile.clone.sight import Sight
from diskproof.profile.measure import describe
from diskproof.profile.place import Wanted
from diskproof.refusal import RefusalError
from diskproof.results.modelled import ModelledFigure
from diskproof.results.profile import Probe, Profile, ProfileCell, ProfilePlace, Stream
from support.profiles import Ear
from support.trials import change

pytestmark = pytest.mark.skipif(not disk.is_installed(), reason="diskproof-disk is not installed")

FEW = replace(QUICK, depths=(1, 4, 32))

PLACE = ProfilePlace(kind="block device", name="x", path="", size_bytes=2**40, writable=True, direct=True)

Screen = pytest.CaptureFixture[str]


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    monkeypatch.setenv("DISKPROOF_STATE", str(tmp_path / "state"))
    monkeypatch.setenv("COLUMNS", "200")
    monkeypatch.chdir(tmp_path)
    # How near fine steps and long writes come is measured by bench/clones.py.
    monkeypatch.setattr(choose, "STEPS", STEPS[:2])
    monkeypatch.setattr(choose, "HOPELESS", 1.0)
    monkeypatch.setattr(fits, "MOST_REQUESTS", 3_000)
    monkeypatch.setattr(fits, "MOST_BYTES", 2**27)
    yield tmp_path


def only_volumes(monkeypatch: pytest.MonkeyPatch) -> None:
    """Try no other kind: which one comes nearest is asked of whole clones."""
    monkeypatch.setattr(choose, "candidates", lambda sight: [cloud.candidate(sight)])


def cloned(name: str, tmp_path: Path) -> tuple[Made, disk.Facts]:
    made = make(simulated_material(name, FEW), "mine.toml", None, lambda *_: None)
    file = tmp_path / "mine.toml"
    file.write_text(made.text)
    return made, disk.show(str(file))


# ---------------------------------------------------------------- kinds, in virtual time


def test_a_volume_is_recognised_with_its_limits(tmp_path: Path) -> None:
    made, facts = cloned("ebs-gp3", tmp_path)
    assert made.clone.kind == "cloud"
    volume = facts["device"]["cloud"]
    assert volume["iops"]["fixed"]["value"] == pytest.approx(3000, rel=0.05)
    assert volume["mib_per_s"]["value"] == pytest.approx(125, rel=0.1)
    assert volume["read_median_us"]["value"] == pytest.approx(1000, rel=0.1)
    assert volume["read_median_us"]["source"].startswith("fitted to ")
    assert agreeing(made.clone) >= 0.8
    assert any("power cut" in one.text for one in made.clone.unknown)
    held, fitted = made.clone.of(fitted=False), made.clone.of(fitted=True)
    assert {one.probe for one in held}.isdisjoint({one.probe for one in fitted})
    assert [one["fitted"] for one in facts["published"]].count(False) > 3


def test_a_disk_with_an_arm_keeps_its_speed_and_its_seeks(tmp_path: Path) -> None:
    made, facts = cloned("desktop-7200", tmp_path)
    assert made.clone.kind == "spinning"
    arm = facts["device"]["spinning"]
    assert arm["rpm"]["value"] == 7200
    assert arm["average_seek_us"]["value"] == pytest.approx(6900, rel=0.15)
    assert arm["outer_mb_per_s"]["value"] == pytest.approx(138, rel=0.05)
    assert arm["write_cache"]["value"] is True
    assert agreeing(made.clone) >= 0.5


def test_the_disk_of_a_virtual_machine_is_a_volume_in_batches(tmp_path: Path) -> None:
    host = {
        "capacity_bytes": 2**36,
        "read_median_us": 60.0,
        "write_median_us": 90.0,
        "sigma": 0.1,
        "concurrency": 128,
        "batches": True,
        "iops": {"fixed": 250_000.0},
        "mib_per_s": 2000.0,
        "write_iops": 90_000.0,
        "write_mib_per_s": 1000.0,
        "io_bytes": 2**18,
    }
    file = tmp_path / "host.toml"
    file.write_text(tomlkit.dumps({"title": "x", "description": "x", "device": {"cloud": assumed(host)}}))
    material = simulated_material(str(file), FEW)
    random = [one for one in material.observations if one.probe.pattern in ("random-read", "random-write")]
    sight, model = Sight(random, 2**36, "measured"), Model(tmp_path)
    fitted = fit(cloud.in_batches(sight), model, random, STEPS[:3])
    assert fitted.error < 0.15
    assert fitted.error < fit(cloud.candidate(sight), model, random, STEPS[:2]).error / 3
    file.write_text(device_text("x", "x", fitted.tree))
    volume = disk.show(str(file))["device"]["cloud"]
    assert volume["batches"]["value"] is True
    for name, value in (("read_median_us", 60), ("write_median_us", 90), ("write_iops", 90_000)):
        assert volume[name]["value"] == pytest.approx(value, rel=0.2), name


def test_a_disk_behind_a_bridge_is_tried_as_a_device_that_there_is(tmp_path: Path) -> None:
    material = simulated_material("kexin-240", FEW)
    random = [one for one in material.observations if one.probe.pattern in ("random-read", "random-write")]
    (one,) = bridge.candidates(Sight(material.observations, material.capacity_bytes, "measured"))
    assert fit(one, Model(tmp_path), random, ()).error < fits.IMPOSSIBLE / 2, "else its file is refused"


def assumed(parameters: dict[str, Any]) -> dict[str, Any]:
    return {
        name: assumed(value) if isinstance(value, dict) else {"value": value, "source": "assumed"}
        for name, value in parameters.items()
    }


# ---------------------------------------------------------------- the parts


def test_what_is_held_back_does_not_depend_on_the_figures() -> None:
    place = PLACE
    probes = list(dict.fromkeys(plan(place, QUICK)))
    once = [one.held for one in split([Observation(probe, {"iops": 1.0}, "") for probe in probes])]
    again = [one.held for one in split([Observation(probe, {"iops": 9.0}, "") for probe in probes[::-1]])]
    assert once == again[::-1]
    assert 0.3 < sum(once) / len(once) < 0.6
    held = {
        probe.depth for probe, out in zip(probes, once, strict=True) if out and probe.pattern == "random-read"
    }
    assert held == {4, 32}
    reading = plan(place.model_copy(update={"writable": False}), QUICK)
    assert reading
    assert not any(probe.writes for probe in reading)
    assert {probe.span_bytes for probe in probes} == {QUICK.size_bytes}


def test_one_block_of_synced_writes_is_fitted_and_the_others_are_held_back() -> None:
    place = PLACE
    told = split([Observation(probe, {"iops": 1.0}, "") for probe in plan(place, QUICK)])
    held = {one.probe.block_bytes: one.held for one in told if one.probe.pattern == "synced-write"}
    assert held == {4096: True, 8192: False, 16_384: True}


def test_slow_reads_are_simulated_for_as_long_as_they_were_measured() -> None:
    probe = Probe(pattern="random-read", block_bytes=4096)
    assert length_of(Observation(probe, {"iops": 700.0}, "", seconds=10.0)) == (10, 10_000)
    assert length_of(Observation(probe, {"iops": 50_000.0}, "", seconds=10.0)) == (1, 1_500)
    assert length_of(Observation(probe, {"iops": 100.0}, "", seconds=0.8)) == (15, 1_500)


def test_a_fit_from_far_away_comes_nearer_and_knows_its_error(tmp_path: Path) -> None:
    probes = [Probe(pattern="random-read", block_bytes=4096, depth=depth) for depth in (1, 4, 16, 64)]
    asked = [{"probe": probe.model_dump(), "seconds": 2, "requests": 2000} for probe in probes]
    told = disk.simulate_probes("ebs-gp3", asked, 7)
    observations = [
        Observation(probe, {"iops": one["iops"], "median_us": one["median_us"]}, "")
        for probe, one in zip(probes, told, strict=True)
    ]
    start = cloud.candidate(Sight(observations, 2**36, "measured"))
    model = Model(tmp_path)
    far = {**start.start, "iops": 700.0}
    fitted = fit(start, model, observations, values=far)
    assert fitted.error < fit(start, model, observations, (), far).error / 4
    assert fitted.error == pytest.approx(sum(model.errors(fitted.tree, observations)) / len(observations))


def test_a_file_is_written_as_the_program_reads_it(tmp_path: Path) -> None:
    tree = {
        "memory": {
            "capacity_bytes": Parameter(2**30, 'a "source" \\ of its own'),
            "latency_us": Parameter(0.000123, "x"),
            "mb_per_s": Parameter(1.25e5, "y"),
        }
    }
    probe = Probe(pattern="random-read", block_bytes=4096, depth=4, span_bytes=2**20)
    figure = ModelledFigure(probe=probe, measure="iops", published=12345.678, source="measured", fitted=True)
    file = tmp_path / "odd.toml"
    file.write_text(device_text('A "title"\n', 'He said """ and \\ and \x1b[1m', tree, [figure]))
    facts = disk.show(str(file))
    assert facts["title"] == 'A "title"\n'
    memory = facts["device"]["memory"]
    assert memory["latency_us"] == {"value": 0.000123, "source": "x"}
    assert memory["mb_per_s"]["value"] == 125_000
    assert memory["capacity_bytes"]["source"] == 'a "source" \\ of its own'
    assert facts["published"][0]["measure"] == {"iops": 12345.7}


def cell(probe: Probe, per_s: float) -> ProfileCell:
    stream = Stream(
        requests=1000,
        bytes=0,
        per_s=per_s,
        megabytes_per_s=0,
        mean_us=1,
        max_us=1,
        percentiles_us={},
    )
    return ProfileCell(probe=probe, job="", seconds=5.0, requests=stream)


def profile_of_cells(cells: Sequence[ProfileCell]) -> Profile:
    return Profile(
        diskproof_version="0",
        fio_version="3.33",
        engine="libaio",
        started_at="2026-03-14T09:00:00+00:00",
        quick=True,
        seconds_per_cell=5.0,
        ramp_s=1.0,
        place=PLACE,
        machine=describe(),
        cells=[*cells],
    )


def test_too_little_that_counts_is_refused_and_says_why() -> None:
    deep = [Probe(pattern="random-read", block_bytes=4096, depth=depth) for depth in range(2, 12)]
    counting = cell(deep[0], 2000)
    cut_off = [slow(cell(probe, 20)) for probe in deep[1:]]
    material = material_of(profile_of_cells([counting, *cut_off]), whole_disk=False)
    with pytest.raises(
        RefusalError, match=r"1 of 10 cells of .* count, and at least 4 must count"
    ) as refused:
        make(material, "x.toml", None, lambda *_: None)
    assert "9 of 10 cells do not count: the disk did not answer their queue" in str(refused.value)
    assert "random-read-4k-qd3" in str(refused.value)
    assert "none is written" in str(refused.value)


def test_writes_that_were_measured_and_do_not_count_are_not_assumed() -> None:
    reads = [cell(Probe(pattern="random-read", block_bytes=4096, depth=depth), 2000) for depth in (1, 2, 4)]
    writes = slow(cell(Probe(pattern="random-write", block_bytes=4096, depth=32), 20))
    material = material_of(profile_of_cells([*reads, writes]), whole_disk=False)
    with pytest.raises(RefusalError, match=r"3 of 4 cells .* no cell that writes counts"):
        make(material, "x.toml", None, lambda *_: None)


def slow(measured: ProfileCell) -> ProfileCell:
    """Return a cell that ended before its queue was answered a few times."""
    assert measured.requests
    return change(measured, requests__mean_us=measured.seconds * 1e6)


def test_a_fit_is_not_silent_for_long(monkeypatch: pytest.MonkeyPatch, capsys: Screen) -> None:
    now_s = iter([0.0, 1.0, 5.0, 12.0, 13.0, 14.0])
    monkeypatch.setattr("time.monotonic", lambda: next(now_s))
    with bar.fit_display() as tell:
        for what in (
            "cloud, roughly",
            "cloud, roughly",
            "cloud, roughly",
            "flash, roughly",
            "flash, roughly",
        ):
            tell(what, 1, 2)
    assert capsys.readouterr().err.splitlines() == [
        "fitting cloud, roughly (1 of 2), after 1 s",
        "still fitting cloud, roughly (1 of 2), after 12 s",
        "fitting flash, roughly (1 of 2), after 13 s",
    ]


def test_a_fit_tells_that_it_goes_on() -> None:
    told: list[tuple[str, int, int]] = []
    reads = Observation(Probe(pattern="random-read", block_bytes=4096), {"iops": 9_000.0}, "")
    make(Material([reads], 10**11, "measured", name="x"), "x.toml", None, lambda *what: told.append(what))
    assert len(told) > 2 * len(set(told)), "the same is said for as long as a fit goes on"


def test_a_cell_that_cuts_off_its_queue_does_not_count() -> None:
    deep = Probe(pattern="random-read", block_bytes=4096, depth=64)
    measured = cell(deep, 100)
    assert measured.requests
    slow = measured.requests.model_copy(update={"mean_us": 1.1e6})
    cells = [
        measured,
        measured.model_copy(
            update={"requests": slow, "probe": Probe(pattern="random-read", block_bytes=4096, depth=32)}
        ),
    ]
    assert [one.probe for one in observed(cells, "fio", 5.0)] == [deep]


def test_the_wait_for_the_last_requests_is_no_part_of_a_rate() -> None:
    deep = Probe(pattern="random-write", block_bytes=4096, depth=128)
    waited = cell(deep, 325.5).model_copy(update={"seconds": 1.1})
    alone = waited.model_copy(update={"probe": deep.model_copy(update={"depth": 1})})
    found = observed([waited, alone], "fio", 0.8)
    assert [one.figures["iops"] for one in found] == [pytest.approx(325.5 * 1.1 / 0.8), 325.5]
    assert observed([waited], "fio", 2.0)[0].figures["iops"] == 325.5


def test_figures_that_no_disk_has_are_no_clone() -> None:
    odd = [(1, 50.0, 9e5), (2, 9000.0, 80.0), (4, 7.0, 100.0), (8, 5e4, 3e6)]
    observations = [
        Observation(
            Probe(pattern="random-read", block_bytes=4096, depth=depth), {"iops": iops, "p99_us": slow}, ""
        )
        for depth, iops, slow in odd
    ]
    material = Material(observations, 10**11, "measured", name="odd")
    notes = make(material, "odd.toml", None, lambda *_: None).clone.notes
    assert "no kind comes near" in notes[0].text


# ---------------------------------------------------------------- the command


@pytest.mark.parametrize(
    ("words", "why"),
    [
        (("place", "-o", "mine"), "ends in .toml"),
        (("nowhere", "-o", "mine.toml"), "there is no nowhere"),
        (("place", "--size", "1 KiB", "-o", "mine.toml"), "raise --size"),
        (("place", "--seconds", "0", "-o", "mine.toml"), "--seconds takes"),
        (("place", "-o", "none/mine.toml"), "there is no folder"),
    ],
)
def test_what_cannot_be_cloned_is_refused_in_words(
    words: tuple[str, ...], why: str, tmp_path: Path, capsys: Screen
) -> None:
    (tmp_path / "place").mkdir()
    assert call(["disk", "clone", *words]) == 2
    out, err = capsys.readouterr()
    assert why in err, err
    assert out == ""
    assert not (tmp_path / "mine.toml").exists()


def test_without_fio_nothing_is_begun(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: Screen
) -> None:
    monkeypatch.setenv("PATH", str(Path(disk.program()).parent))
    assert call(["disk", "clone", str(tmp_path), "-o", "mine.toml"]) == 2
    assert "fio is not installed" in capsys.readouterr().err


# ---------------------------------------------------------------- a real disk


def test_a_directory_is_measured_and_cloned(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    # So brief a measurement, beside other tests, may have too little that counts; others ask about that.
    monkeypatch.setattr(clone_maker, "_refuse_too_little", lambda *_: None)
    only_volumes(monkeypatch)
    place = tmp_path / "place"
    place.mkdir()
    brief = replace(QUICK, seconds=0.1, ramp_s=0.02, depths=(1, 8), size_bytes=32 * 2**20)
    material = measure(Wanted(str(place), brief.size_bytes), brief, Ear())
    assert list(place.iterdir()) == []
    few = [one for one in material.observations if one.probe.pattern in ("random-read", "synced-append")]
    made = make(replace(material, observations=few), "mine.toml", "This machine's disk", lambda *_: None)
    (tmp_path / "mine.toml").write_text(made.text)
    facts = disk.show("mine.toml")
    assert facts["title"] == "This machine's disk"
    assert facts["capacity_bytes"] > brief.size_bytes
    assert made.clone.profile
    assert {one.measure for one in made.clone.figures} >= {"iops", "median_us"}
    record = json.loads(made.clone.model_dump_json())
    assert record["kind"] == made.clone.kind


@pytest.mark.skipif(os.geteuid() != 0, reason="loop devices need root")
def test_a_device_in_use_is_refused(tmp_path: Path, capsys: Screen) -> None:
    file = tmp_path / "backing"
    subprocess.run(["truncate", "-s", "64M", str(file)], check=True)
    subprocess.run(["mkfs.ext4", "-q", str(file)], check=True)
    argv = ["losetup", "--find", "--show", str(file)]
    device = subprocess.run(argv, capture_output=True, text=True, check=True).stdout.strip()
    try:
        before = file.read_bytes()
        assert call(["disk", "clone", device, "--write", device, "-o", "mine.toml"]) == 2
        assert "ext4" in capsys.readouterr().err
        assert file.read_bytes() == before
    finally:
        subprocess.run(["losetup", "--detach", device], check=True)
