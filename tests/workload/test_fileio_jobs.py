"""What fio is told of a load on bare files, and what is made of its answer."""

from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from itertools import islice
from pathlib import Path
from typing import Any

import pytest

from diskproof.fio import replay
from diskproof.study.loads.fileio import Fileio
from diskproof.workload.fileio import (
    Asked,
    descriptors,
    layout_job,
    load_job,
    read_series,
    to_result,
    write_logs,
)

MIB = 2**20


def asked(clients: int = 1, seconds: float = 0.01, **keys: Any) -> Asked:
    load = Fileio.model_validate({"kind": "fileio", "files": 4, "total_size": "4 MiB", **keys})
    return Asked(load, clients, seconds, seed=3, direct=True, zeroes=True, per_s=20_000.0)


def lines(job: str) -> set[str]:
    return set(job.splitlines())


def actions_of(log: Path) -> list[list[str]]:
    words = [line.split() for line in log.read_text().splitlines()[1:]]
    return [one for one in words if one[1] in ("read", "write", "sync")]


def in_turn(logs: list[Path]) -> Iterator[list[str]]:
    """Yield what was dealt, as it was before."""
    hands = [actions_of(log) for log in logs]
    for number in range(max(map(len, hands))):
        yield from (hand[number] for hand in hands if number < len(hand))


def test_random_reads_are_fios_own_by_so_many_threads(tmp_path: Path) -> None:
    one = asked(clients=64, mode="rndrd")
    assert write_logs(one, tmp_path / "measured") == []
    job = load_job(one, [], tmp_path / "measured")
    assert {"numjobs=64", "thread=1", "rw=randread", "ioengine=psync", "direct=1", "time_based"} <= lines(job)
    assert {"filename=f0:f1:f2:f3", "filesize=1048576", "file_service_type=random"} <= lines(job)
    assert "zero_buffers=1" in lines(job)
    assert "zero_buffers=1" not in lines(load_job(replace(one, zeroes=False), [], tmp_path / "measured"))
    assert descriptors(one.load, 64) > 64 * 4


def test_syncs_come_to_all_files_after_so_many_requests_of_all_threads(tmp_path: Path) -> None:
    logs = write_logs(asked(clients=3, mode="rndrw", sync_every=10), tmp_path / "measured")
    assert len(logs) == 3
    dealt = list(in_turn(logs))
    assert Counter(verb for _, verb, *_ in dealt[:10]) == {"read": 6, "write": 4}
    assert [name for name, *_ in dealt[10:14]] == ["f0", "f1", "f2", "f3"]
    assert {verb for _, verb, *_ in dealt[10:14]} == {"sync"}
    assert {verb for _, verb, *_ in dealt[14:24]} == {"read", "write"}
    for name, verb, offset, length in dealt:
        if verb != "sync":
            assert int(offset) % 16384 == 0
            assert int(offset) + int(length) <= MIB, name


def test_a_log_is_long_enough_for_the_pace(tmp_path: Path) -> None:
    slow = write_logs(replace(asked(mode="rndwr", seconds=10.0), per_s=100.0), tmp_path / "slow")
    requests = [verb for _, verb, *_ in actions_of(slow[0]) if verb == "write"]
    assert len(requests) == pytest.approx(2 * 10 * 100, rel=0.05)


def test_threads_share_one_way_through_the_files(tmp_path: Path) -> None:
    dealt = list(in_turn(write_logs(asked(clients=2, mode="seqrd", block_size="256 KiB"), tmp_path / "x")))
    assert [(name, int(offset)) for name, _, offset, _ in dealt[:5]] == [
        *(("f0", 0), ("f0", 262144), ("f0", 524288), ("f0", 786432), ("f1", 0))
    ]


def test_a_pass_has_every_block_once_and_a_sync_at_its_end(tmp_path: Path) -> None:
    one = asked(clients=2, mode="seqwr", direct=False)
    logs = write_logs(one, tmp_path / "x")
    dealt = list(in_turn(logs))
    assert len(dealt) == len({(name, offset) for name, _, offset, _ in dealt}) == 256
    job = lines(load_job(replace(one, direct=False), logs, tmp_path / "x"))
    assert {"end_fsync=1", "direct=0"} <= job
    assert "time_based" not in job


def test_files_are_written_whole() -> None:
    job = lines(layout_job(asked(mode="rndrd").load, zeroes=True))
    assert {"rw=write", "fallocate=none", "bs=1048576", "end_fsync=1", "thread=1"} <= job
    odd = asked(mode="rndrd", total_size="2400 KiB", files=3, block_size="16 KiB").load
    assert "bs=32768" in lines(layout_job(odd, zeroes=False)), "whole blocks of a file of 800 KiB"


def test_reads_come_before_writes_as_in_sysbench() -> None:
    verbs = "".join(verb[0] for verb in islice(replay.reads_and_writes(), 10))
    assert verbs == "rwrwrrwrwr"


def test_an_answer_becomes_requests_syncs_and_bytes() -> None:
    def told(count: int, mean_ns: float) -> dict[str, Any]:
        bins = {str(round(mean_ns)): count}
        return {"N": count, "mean": mean_ns, "stddev": 0.0, "min": mean_ns, "max": mean_ns, "bins": bins}

    answer = {
        "job_runtime": 20_000,
        "usr_cpu": 1.0,
        "sys_cpu": 5.0,
        "read": {"total_ios": 600, "runtime": 10_000, "lat_ns": told(600, 2e6)},
        "write": {"total_ios": 400, "runtime": 9_990, "lat_ns": told(400, 4e6)},
        "sync": {"lat_ns": told(40, 1e8)},
    }
    made = to_result(answer, asked(clients=2, mode="rndrw"))
    assert made.transactions_per_s == 100
    assert (made.reads, made.writes, made.others, made.statements) == (600, 400, 40, 1040)
    assert made.latency_us
    assert made.latency_us.mean == pytest.approx(2800)
    assert made.latency_us.stdev == pytest.approx(980, rel=0.01)
    assert made.known_client.cpu_user_s == pytest.approx(0.2)
    assert made.known_client.cpu_system_s == pytest.approx(1.0)
    assert made.megabytes_per_s == pytest.approx(100 * 16384 / 1e6)
    assert made.figure("requests_per_s") == 100
    assert [one.name for one in made.statement_types] == ["read", "write", "sync"]


def test_rates_of_threads_are_summed_by_interval(tmp_path: Path) -> None:
    one = asked(clients=2, seconds=30.0, mode="rndrd")
    (tmp_path / "measured_iops.1.log").write_text("990, 100, 0, 0, 0\n2010, 110, 0, 0, 0\n")
    (tmp_path / "measured_iops.2.log").write_text("1020, 50, 0, 0, 0\n2000, 60, 0, 0, 0\n")
    rows = read_series(tmp_path / "measured", one, -5.0)
    assert rows == [(-4.0, "load", "requests_per_s", 150.0), (-3.0, "load", "requests_per_s", 170.0)]
    late = read_series(tmp_path / "measured", one, -1.0)
    assert [t_s for t_s, *_ in late] == [0.0], "what a warm-up does beyond its time is in no series"
