"""A profile told: tables, pictures and page, from a record alone."""

from pathlib import Path
from xml.etree import ElementTree

import pytest
from rich.console import Console

from diskproof.profile.notes import Taken, notes
from diskproof.profile.parse import to_cell
from diskproof.refusal import RefusalError, check_writable
from diskproof.report import profile as told
from diskproof.report.charts.profile import drawings
from diskproof.report.compose import profile as tables
from diskproof.report.write import terminal
from diskproof.results.profile import (
    Pattern,
    Probe,
    Profile,
    ProfileCell,
    ProfileMachine,
    ProfilePlace,
    Stream,
)
from diskproof.wording import as_message
from support.trials import change


def stream(per_s: float, mean_us: float, *, tail: bool = True, bins: bool = False) -> Stream:
    return Stream(
        requests=int(per_s * 5),
        bytes=int(per_s * 5 * 4096),
        per_s=per_s,
        megabytes_per_s=per_s * 4096 / 1e6,
        mean_us=mean_us,
        max_us=mean_us * 9,
        percentiles_us={"50": mean_us, "99": mean_us * 3} if tail else {},
        bins_us=[(mean_us / 2, 10), (mean_us, 80), (mean_us * 3, 10)] if bins else [],
    )


def cell(pattern: Pattern, block: int, depth: int = 1, **streams: Stream) -> ProfileCell:
    return ProfileCell(
        probe=Probe(pattern=pattern, block_bytes=block, depth=depth), job="[job]\n", seconds=5, **streams
    )


def make(*cells: ProfileCell, name: str = "/srv/db") -> Profile:
    return Profile(
        diskproof_version="0",
        fio_version="3.33",
        engine="libaio",
        started_at="2026-03-14T09:01:00+00:00",
        quick=False,
        seconds_per_cell=5,
        ramp_s=1,
        place=ProfilePlace(
            kind="directory", name=name, path=name, size_bytes=2**30, writable=True, direct=True
        ),
        machine=ProfileMachine(
            host="h", kernel="Linux", distribution="d", cpu_model="c", cpus=2, memory_bytes=2**33
        ),
        cells=list(cells),
        notes=[as_message("<b>bold</b> is not markup")],
    )


@pytest.fixture(scope="module")
def full() -> Profile:
    return make(
        *(
            cell(pattern, block, depth, requests=stream(1000 * depth / (block / 4096), 900.0, tail=depth > 1))
            for pattern in ("random-read", "random-write", "sequential-read", "sequential-write")
            for block in ((4096, 16384) if pattern.startswith("random") else (2**18, 2**20))
            for depth in (1, 8, 128)
        ),
        cell("synced-append", 4096, requests=stream(400, 1200), flushes=stream(400, 1300, bins=True)),
        cell("dsync-append", 4096, requests=stream(700, 1400), writes=stream(700, 1400, bins=True)),
        ProfileCell(probe=Probe(pattern="fileio", block_bytes=16384), job="[job]\n", error="it broke"),
    )


def test_the_answer_says_what_the_disk_does(full: Profile) -> None:
    assert list(tables.answer(full)) == [
        "One client makes 400 durable writes a second (append + fdatasync 4 KiB): 2.50 ms each.",
        "Random reads a second: 1,000 at depth 1 and up to 128,000 at depth 128.",
        "Sequential read 8.19 MB/s and sequential write 8.19 MB/s at most.",
    ]
    assert list(tables.answer(make())) == ["No figure that a database depends on was measured."]
    assert told.page(full).index("One client makes 400") < told.page(full).index("Charts</h2>")


def test_tables_hold_every_cell(full: Profile) -> None:
    of_reads = tables.cells(full).rows[:2]
    assert [(row[0], row[4]) for row in of_reads] == [
        ("random read 4 KiB, depth 1", "n/a"),
        ("random read 4 KiB, depth 8", "2.70"),
    ]
    assert [row[0] for row in tables.flushes(full).rows] == ["append + fdatasync 4 KiB"]
    assert [row[0] for row in tables.cells(full).rows[-2:]] == [
        "append + fdatasync 4 KiB",
        "append with O_DSYNC 4 KiB",
    ], "what failed has no row; the notes name it"


def test_a_screen_of_eighty_columns_holds_it(full: Profile) -> None:
    console = Console(width=80, record=True, file=Path("/dev/null").open("w"), highlight=False)  # noqa: SIM115
    terminal.write(tables.compose(full), console)
    lines = console.export_text().splitlines()
    assert max(map(len, lines)) <= 80
    assert "! <b>bold</b> is not markup" in [line.rstrip() for line in lines]
    assert not any("Charts" in line or "draw" in line for line in lines), "a terminal has no pictures"
    assert any(line.startswith("append + fdatasync 4 KiB  ") for line in lines), "no cell is broken up"


def test_pictures_are_drawn_with_their_legends(full: Profile, tmp_path: Path) -> None:
    written = list(told.write_all(tmp_path, full))
    assert {path.name for path in written} == {
        "profile.json",
        "profile.html",
        "throughput.png",
        "flush.png",
    }
    assert Profile.model_validate_json((tmp_path / "profile.json").read_text()) == full
    for name in ("throughput", "flush"):
        assert (tmp_path / f"{name}.png").read_bytes().startswith(b"\x89PNG")
    words = {
        name: " ".join(
            element.text or ""
            for element in ElementTree.parse(tmp_path / f"{name}.svg").iter()
            if element.text
        )
        for name in ("throughput", "flush")
    }
    assert all(word in words["throughput"] for word in ("read", "write", "queue depth", "requests/s", "MB/s"))
    assert "append with O_DSYNC" in words["flush"]


def test_the_curve_of_the_flush_is_its_distribution(full: Profile) -> None:
    flush = next(drawn for drawn in drawings(full) if drawn.name == "flush")
    points = [
        (row["ms"], row["share"]) for row in flush.panels[0].rows if row["name"] == "append + fdatasync"
    ]
    assert points == [(0.65, 0.0), (0.65, 0.1), (1.3, pytest.approx(0.9)), (3.9, pytest.approx(1.0))]


def test_a_profile_of_one_cell_draws_what_there_is() -> None:
    made = make(cell("random-read", 4096, requests=stream(100, 9000)))
    assert [drawn.name for drawn in drawings(made)] == ["throughput"]
    nothing = make()
    assert drawings(nothing) == []
    assert "Charts" not in told.page(nothing)


def test_nothing_from_the_machine_becomes_markup(full: Profile) -> None:
    html = told.page(make(*full.cells, name="/<script>alert(1)</script>"))
    assert "<script>alert" not in html
    assert "&lt;b&gt;bold" in html
    assert "default-src &#39;none&#39;" in html or "default-src 'none'" in html


def test_what_cannot_be_written_is_refused_before(tmp_path: Path) -> None:
    with pytest.raises(RefusalError, match="there is no folder"):
        check_writable(tmp_path / "no" / "x.json", None)
    with pytest.raises(RefusalError, match="is a folder"):
        check_writable(tmp_path, None)
    (tmp_path / "file").touch()
    with pytest.raises(RefusalError, match="cannot be written: a file of that name exists: name another"):
        check_writable(None, tmp_path / "file")
    check_writable(tmp_path / "new.json", None)
    assert not (tmp_path / "new.json").exists()


# ---------------------------------------------------------------- what fio says


def fios(n: int, mean_ns: float, bins: dict[str, int] | None = None) -> dict[str, object]:
    latency = {"min": 1, "max": 9000, "mean": mean_ns, "N": n, "bins": bins or {}}
    return {"runtime": 1000 if n else 0, "total_ios": n, "io_bytes": n * 4096, "lat_ns": latency}


def result(**changes: object) -> dict[str, object]:
    nothing: dict[str, object] = {
        "error": 0,
        "usr_cpu": 30.0,
        "sys_cpu": 65.0,
        "read": fios(0, 0.0),
        "write": fios(0, 0.0),
        "sync": fios(0, 0.0),
    }
    return {**nothing, **changes}


def test_reads_and_writes_are_put_together() -> None:
    probe = Probe(pattern="mixed", block_bytes=4096)
    made = to_cell(probe, "", result(read=fios(60, 1000, {"1000": 60}), write=fios(40, 6000, {"6000": 40})))
    assert made.requests
    assert made.requests.per_s == 100
    assert made.requests.mean_us == pytest.approx(3.0)
    assert made.requests.percentiles_us == {"50": 1.0, "90": 6.0}, "ten lie beyond the 90th, not the 95th"
    assert made.cpu_share == pytest.approx(0.95)
    place = make().place
    assert any("one CPU was the limit" in note.text for note in notes(place, [made]))


def test_cpu_time_that_a_profile_lacked_is_noted() -> None:
    place = make().place
    assert not any("CPU time" in one.text for one in notes(place, [], Taken(other=0.1, stolen=0.05)))
    said = [one.text for one in notes(place, [], Taken(other=0.34, stolen=0.2))]
    assert any(one.startswith("the hypervisor withheld 20% of the CPU time meanwhile") for one in said)
    other = "other processes took 34% of the machine's CPU time meanwhile"
    assert any(one.startswith(other) for one in said)
    served = change(place, virtual="desktop-7200")
    of_served = notes(served, [], Taken(other=0.34, stolen=0.0))
    assert not any("other processes" in one.text for one in of_served)


def test_what_is_drained_after_the_end_is_in_no_figure() -> None:
    read = {**fios(200, 1000), "io_bytes": 328 * 4096}
    made = to_cell(Probe(pattern="random-read", block_bytes=4096, depth=128), "", result(read=read))
    assert made.requests
    assert made.requests.bytes == 200 * 4096
    assert made.requests.megabytes_per_s == pytest.approx(made.requests.per_s * 4096 / 1e6)


@pytest.mark.parametrize("pattern", ["synced-write", "synced-append", "fileio"])
def test_a_synced_cell_without_a_flush_is_an_error(pattern: Pattern) -> None:
    probe = Probe(pattern=pattern, block_bytes=4096)
    made = to_cell(probe, "", result(write=fios(63, 1000)))
    assert "no flush" in str(made.error)
    assert to_cell(probe, "", result(write=fios(63, 1000), sync=fios(1, 1000))).error is None


@pytest.mark.parametrize(
    ("pattern", "requests", "longest_ns", "doubt"),
    [
        ("random-read", 99, 9000, "only 99 requests"),
        ("random-read", 100, 9000, None),
        ("random-read", 5000, 340_000_000, "one request took 0.34 s of its 1 s"),
        ("random-read", 5000, 330_000_000, None),
        ("pass-read", 3, 900_000_000, None),
    ],
)
def test_a_cell_that_shows_a_moment_is_marked(
    pattern: Pattern, requests: int, longest_ns: int, doubt: str | None
) -> None:
    read = fios(requests, 1000)
    read["lat_ns"] = {"min": 1, "max": longest_ns, "mean": 1000.0, "N": requests, "bins": {}}
    made = to_cell(Probe(pattern=pattern, block_bytes=4096), "", result(read=read))
    assert (made.doubt and made.doubt.text) == doubt
    assert tables.cells(make(made)).rows[0][1].endswith("?") == bool(doubt)
    said = notes(make().place, [made])
    assert any(f"random-read-4k-qd1 ({doubt})" in note.text for note in said) == bool(doubt)


def test_a_job_without_an_answer_is_an_error_and_no_zero() -> None:
    probe = Probe(pattern="random-read", block_bytes=4096)
    made = to_cell(probe, "", result())
    assert (made.requests, made.error) == (None, "no request was answered")
    assert to_cell(probe, "", result(error=5)).error == "fio reports error 5"
    assert make(made).cell("random-read", 4096) is None
