"""Outputs that stand in one post: repeats of one thing, or results that somebody compares."""

from pathlib import Path

import pytest

from diskproof.analysis.analyse import analyse
from diskproof.audit.check import Run
from diskproof.audit.unequal import unequal_runs
from diskproof.importers.assemble import assemble
from diskproof.importers.belonging import belonging
from diskproof.importers.read import read_file
from diskproof.results.imported import ImportedResult, Settings
from support.samples import SAMPLES

ONE = """transaction type: TPC-B (sort of)
scaling factor: 10
query mode: simple
number of clients: 8
number of threads: 2
duration: 60 s
number of transactions actually processed: {done}
tps = {rate} (including connections establishing)
tps = {rate} (excluding connections establishing)
"""


def output(rate: int) -> str:
    return ONE.format(done=rate * 60, rate=f"{rate}.000000")


def cells_of(tmp_path: Path, post: str) -> list[int]:
    """Return how many trials each cell of a post has."""
    path = tmp_path / "post.txt"
    path.write_text(post)
    plan, trials, _ = assemble(read_file(path), "test")
    return [sum(trial.cell == cell.id for trial in trials) for cell in plan.cells]


def test_outputs_below_one_another_are_repeats(tmp_path: Path) -> None:
    assert cells_of(tmp_path, output(500) + output(520) + output(510)) == [3]
    numbered = "".join(f"\n## Run {at}\n$ pgbench -c 8 -T 60\n{output(500 + at)}" for at in (1, 2, 3))
    assert cells_of(tmp_path, numbered) == [3]


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("## SSD\n", "## HDD\n"),
        ("With the cache on:\n\n```\n$ pgbench -c 8 -T 60 bench\n", "```\nWith the cache off:\n```\n"),
        ("# the old kernel\nroot@db:~# pgbench -c 8\n", "# the new one\nroot@db:~# pgbench -c 8\n"),
    ],
)
def test_outputs_under_different_headings_are_no_repeats(tmp_path: Path, first: str, second: str) -> None:
    assert cells_of(tmp_path, first + output(500) + second + output(520)) == [1, 1]


def test_a_heading_stands_outside_other_code_blocks(tmp_path: Path) -> None:
    version = "```\nServer version: 5.5.31\n```\n\n```\n"
    post = f"### MySQL\n\n{version}{output(500)}```\n### MariaDB\n\n{version}{output(520)}```\n"
    assert cells_of(tmp_path, post) == [1, 1]


def test_what_perf_prints_below_is_neither_heading_nor_statement(tmp_path: Path) -> None:
    perf = "\n     600.138966613 seconds time elapsed\n\nstarting vacuum...end.\n"
    assert cells_of(tmp_path, output(500) + perf + output(520)) == [2]
    (one,) = (found for found in read_file(tmp_path / "post.txt") if "500" in str(found))
    assert isinstance(one, ImportedResult)
    assert not any("statement" in remark for remark in one.remarks)


def test_a_warm_up_is_compared_with_nothing(tmp_path: Path) -> None:
    post = f"=== WARMUP ===\n{output(500)}\n=== RUN 1 ===\n{output(520)}"
    assert cells_of(tmp_path, post) == [1]


def test_a_heading_holds_until_the_next_one(tmp_path: Path) -> None:
    small, large = ("\n\n".join(output(rate) for rate in rates) for rates in ((500, 510), (600, 610, 605)))
    assert cells_of(tmp_path, f"Instance: m5a.large\n\n{small}\nInstance: m5a.xlarge\n\n{large}") == [2, 3]
    numbered = f"Disk one\n\nRun 1\n{output(500)}\nRun 2\n{output(510)}"
    assert cells_of(tmp_path, f"{numbered}\nDisk two\n\nRun 1\n{output(600)}") == [2, 1]


def test_a_heading_stands_above_any_number_of_progress_lines(tmp_path: Path) -> None:
    progress = "".join(f"progress: {at}.0 s, 500.0 tps, lat 16.0 ms stddev 4.0\n" for at in range(1, 20))
    post = f"## Before\n{progress}{output(500)}\n## After\n$ pgbench -c 8\n{progress}{output(510)}"
    assert cells_of(tmp_path, post) == [1, 1]


@pytest.mark.parametrize(
    "change",
    [
        "postgres=# ALTER SYSTEM SET synchronous_commit = off;",
        "> work_mem = 4MB",
        "$ nano /etc/postgresql/13/main/postgresql.conf",
        "sudo pg_ctlcluster 15 main restart",
    ],
)
def test_outputs_with_a_changed_setting_between_are_no_repeats(tmp_path: Path, change: str) -> None:
    rows = "-[ RECORD 1 ]---\ncheckpoints_timed | 311\n"
    assert cells_of(tmp_path, f"{output(500)}\n{rows}\n{output(510)}") == [2]
    assert cells_of(tmp_path, f"{output(500)}\n{rows}```\n{change}\n```\n{rows}{output(510)}") == [1, 1]


def test_a_heading_is_the_whole_paragraph_above_an_output(tmp_path: Path) -> None:
    post = f"## Test 1\nStandard system:\n3 threads\n{output(500)}\n## Test 2\nTuned system:\n3 threads\n"
    assert cells_of(tmp_path, post + output(520)) == [1, 1]
    assert cells_of(tmp_path, post.replace("Tuned", "Standard") + output(520)) == [2]


def test_numbered_runs_are_repeats_however_far_apart(tmp_path: Path) -> None:
    post = f"Run 1\n{output(500)}\n{{}} 2\n{output(1500)}"
    assert cells_of(tmp_path, post.format("Run")) == [2]
    assert cells_of(tmp_path, post.format("Disk")) == [1, 1]
    assert cells_of(tmp_path, output(500) + output(1500)) == [1, 1]


def test_a_number_counts_only_below_what_was_printed_last(tmp_path: Path) -> None:
    table = "Run 1\ntook 61 s\n\nRun 2\ntook 62 s\n"
    assert cells_of(tmp_path, f"{output(500)}\n{table}\n{output(1500)}") == [1, 1]
    assert cells_of(tmp_path, f"Run 1\n{output(500)}\n{table}\nRun 2\n\n{output(1500)}") == [2]


def test_runs_with_other_options_or_headings_are_no_sweep(tmp_path: Path) -> None:
    def storages(*headings: str, scale: int = 10) -> list[tuple[str, str]]:
        path = tmp_path / "post.txt"
        outputs = [output(500).replace("clients: 8", f"clients: {2**at}") for at in range(len(headings))]
        outputs[-1] = outputs[-1].replace("factor: 10", f"factor: {scale}")
        path.write_text("\n".join(f"{one}\n\n{told}" for one, told in zip(headings, outputs, strict=True)))
        plan, _, _ = assemble(read_file(path), "test")
        return [(cell.storage, cell.workload) for cell in plan.cells]

    assert len(set(storages("SSD, 1 client", "SSD, 2 clients", "SSD, 4 clients"))) == 1
    assert len(set(storages("SSD", "SSD", "HDD"))) == 2
    assert len(set(storages("SSD", "SSD", "SSD", scale=100))) == 2


def test_a_title_of_markdown_is_found_above_whatever_figures_follow_it(tmp_path: Path) -> None:
    rows = "done\n\n| checkpoints_timed | 311 |\n"
    post = f"# SSD\n\n{output(500)}\n# HDD\n\n```\n# a comment\n```\n{rows}\n{output(510)}"
    assert cells_of(tmp_path, post) == [1, 1]
    assert cells_of(tmp_path, post.replace("# HDD", "HDD")) == [2]


def test_a_comment_in_the_outputs_own_block_is_a_heading(tmp_path: Path) -> None:
    command, read = "# pgbench -c 8\n", "1024 blocks = 4 MiB\n"
    post = f"```\n# without the cache\n{command}{output(500)}\n# {{}}\n{read}{command}{output(510)}```\n"
    assert cells_of(tmp_path, post.format("with the cache")) == [1, 1]
    assert cells_of(tmp_path, post.format("without the cache")) == [2]


def test_a_line_between_marks_of_code_is_no_block(tmp_path: Path) -> None:
    post = f"```\n{output(500)}```\n```With the new settings:```\n\n```\n{output(510)}```\n"
    assert cells_of(tmp_path, post) == [1, 1]


def test_equal_words_below_other_titles_or_settings_are_other_headings(tmp_path: Path) -> None:
    both = f"Answer:\n{output(500)}\nAnswer:\n{output(510)}\n"
    assert cells_of(tmp_path, f"# SSD\n## Test\n{both}# HDD\n## Test\n{both}") == [2, 2]
    changed = f"{both}ALTER SYSTEM SET work_mem = '4MB';\n{both}"
    assert cells_of(tmp_path, changed) == [2, 2]
    assert cells_of(tmp_path, f"{changed}Other:\n{output(500)}\nAnswer:\n{output(505)}") == [3, 2, 1]


def test_all_settings_that_were_changed_between_outputs_count(tmp_path: Path) -> None:
    lists = [
        f"ALTER SYSTEM SET work_mem = '{size}MB';\nALTER SYSTEM SET wal_level = replica;\n"
        for size in (4, 8, 8)
    ]
    post = "".join(f"{one}{output(500 + at)}" for at, one in enumerate(("", *lists)))
    assert cells_of(tmp_path, post) == [1, 1, 2]


def test_the_heading_of_a_warm_up_holds_for_it_alone(tmp_path: Path) -> None:
    post = f"SSD\n\n{output(500)}\nWarm-up\n\n{output(450)}\n{output(510)}"
    assert cells_of(tmp_path, post) == [2]


def test_the_option_that_one_file_varies_confounds_nothing(tmp_path: Path) -> None:
    path = tmp_path / "post.txt"
    path.write_text(output(500) + output(520).replace("factor: 10", "factor: 70"))
    plan, trials, _ = assemble(found := read_file(path), "test")
    results = {trial.id: one for trial, one in zip(trials, found, strict=True)}
    run = Run(plan, None, trials, results)  # type: ignore[arg-type]
    assert unequal_runs.outcome(run).state != "failed"


def test_outputs_that_are_far_apart_are_no_repeats(tmp_path: Path) -> None:
    assert cells_of(tmp_path, output(500) + output(14_000)) == [1, 1]
    assert cells_of(tmp_path, output(500) + output(14_000) + output(510)) == [2, 1]


FIO = """sync_latency: (g=0): rw=randwrite, bs=(R) {size}, (W) {size}, (T) {size}, ioengine=psync, iodepth=1
fio-3.36
sync_latency: (groupid=0, jobs=1): err= 0: pid=4490: Wed Dec 31 04:02:42 2025
  write: IOPS={rate}, BW=5MiB/s (5MB/s)(1500MiB/300000msec); 0 zone resets
    clat (usec): min=200, max=9000, avg=2000.00, stdev=10.00
     issued rwts: total=0,{total},0,0 short=0,0,0,0 dropped=0,0,0,0
"""


def test_a_jobs_block_sizes_are_workloads_and_no_storages(tmp_path: Path) -> None:
    path = tmp_path / "fio.txt"
    sizes = ("16.0KiB-16.0KiB", "16.0KiB-16.0KiB", "2048KiB-2048KiB")
    path.write_text("".join(FIO.format(size=size, rate=500, total=150_000) for size in sizes))
    plan, _, _ = assemble(read_file(path), "test")
    assert [(cell.workload, cell.storage) for cell in plan.cells] == [
        ("sync_latency bs=16KiB", "not told"),
        ("sync_latency bs=16KiB #2", "not told"),  # without its options it may be other work
        ("sync_latency bs=2048KiB", "not told"),
    ]


def test_what_a_tool_prints_above_its_summary_is_no_heading(tmp_path: Path) -> None:
    path = tmp_path / "post.txt"
    path.write_text("Disk:\n\n" + (SAMPLES / "pgbench-steady.txt").read_text())
    (one,) = read_file(path)
    assert isinstance(one, ImportedResult)
    assert one.heading in {"disk", ""}


def test_the_order_of_files_does_not_change_an_interval(tmp_path: Path) -> None:
    found = []
    for side, rates in (("ssd", (500, 520, 540)), ("hdd", (250, 260, 270))):
        for at, rate in enumerate(rates, start=1):
            path = tmp_path / f"{side}-run{at}.txt"
            path.write_text(output(rate))
            found += read_file(path)
    orders = [found, [*found[:3], found[5], found[3], found[4]]]
    intervals = []
    for order in orders:
        plan, trials, _ = assemble(order, "test")
        (verdict,) = analyse(plan, None, trials, {}).verdicts
        assert verdict.ratio
        intervals.append((verdict.ratio.low, verdict.ratio.high))
    assert intervals[0] == pytest.approx(intervals[1])


def test_settings_above_all_outputs_are_not_of_one_that_had_others(tmp_path: Path) -> None:
    settings = "name | setting\n---+---\nsynchronous_commit | off\nfsync | on\n\n"

    def measured(*headings: str) -> list[bool]:
        path = tmp_path / "post.txt"
        path.write_text(settings + "\n".join(f"{one}\n\n{output(500)}" for one in headings))
        found = read_file(path)
        results = [one for one in found if isinstance(one, ImportedResult)]
        given = [one for one in found if isinstance(one, Settings)]
        return [one.observed is not None for one in belonging(results, given)]

    assert measured("Small data", "Large data") == [True, True]
    assert measured("Tuned", "With the defaults") == [True, False]
    assert measured("With the defaults", "Tuned") == [False, False]
    assert measured("With the defaults") == [False]
    assert measured("First", "ALTER SYSTEM SET synchronous_commit = on;\n") == [True, False]
