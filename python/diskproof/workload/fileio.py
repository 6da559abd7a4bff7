"""A load on bare files as fio's job files, and fio's result as a load's result.

Each client is a thread of fio with one synchronous request under way, as in sysbench, not a place in one
thread's queue. Only then does a sync or the page cache make one client wait and no other. At 64 clients this
costs a thread switch per request, which a database pays too.
"""

import random
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from math import gcd
from pathlib import Path

from diskproof.fio import replay
from diskproof.fio.figures import Requests, as_latency, reads_of, seconds_of, syncs_of, writes_of
from diskproof.fio.program import FEW_DESCRIPTORS, OWN_CLOCK, Result, escaped
from diskproof.results.load import ClientAccount, FileRequests, Latency, LoadResult, StatementType
from diskproof.stats.quantiles import known_percentiles
from diskproof.study.loads.fileio import Fileio
from diskproof.system.dilation import REAL, TrialTime
from diskproof.workload.arguments import PERCENTILES, interval_s

LAYOUT_BLOCK_BYTES = 2**20

READ_PERCENT = 60
"""sysbench's ratio of 1.5 reads per write, for patterns without a log."""

PATTERNS = {
    "rndrd": ["rw=randread"],
    "rndwr": ["rw=randwrite"],
    "rndrw": ["rw=randrw", f"rwmixread={READ_PERCENT}"],
    "seqrd": ["rw=read"],
    "seqwr": ["rw=write"],
}
"""fio's options for sysbench's modes."""

LIKELY_PER_S = 20_000.0
"""Requests a second that a log is made for before anything was measured."""

MARGIN = 2.0
"""How much longer a log is made than the measured pace needs: fio ends with it."""

DESCRIPTORS_A_THREAD = 4

MOST_ACTIONS = 2_000_000
"""Limit of a log: about 50 MB of fio's memory, and two seconds to make."""


@dataclass(frozen=True)
class Asked:
    """One phase of a load on bare files."""

    load: Fileio
    clients: int
    seconds: float
    seed: int
    direct: bool
    zeroes: bool
    """Whether zeroes are written; otherwise bytes that neither compression nor a thin volume can shrink."""
    per_s: float = LIKELY_PER_S
    """Expected requests a second: replayed logs are made for that."""
    time: TrialTime = REAL

    @property
    def replays(self) -> bool:
        """Whether fio replays a log.

        Its own patterns have no sync of all files after so many requests of all threads, and no threads that
        go through the files together.
        """
        return bool(self.load.syncs_every) or (not self.load.at_random and self.clients > 1)


def file_names(load: Fileio) -> list[str]:
    """Return the names of the files within their folder: short, since fio takes them on one line."""
    return [f"f{number}" for number in range(load.files)]


def layout_job(load: Fileio, *, zeroes: bool) -> str:
    """Return the job that writes the files in full, so that no hole or reserved block is ever read."""
    block = gcd(load.file_bytes, LAYOUT_BLOCK_BYTES)
    lines = ["[layout]", *_files(load), f"bs={block}", "rw=write", "ioengine=psync", "openfiles=1"]
    lines += ["thread=1"]  # a worker process would outlive a killed fio
    lines += ["file_service_type=sequential", "end_fsync=1", *(["zero_buffers=1"] if zeroes else [])]
    return "\n".join(lines) + "\n"


def load_job(asked: Asked, logs: list[Path], series: Path) -> str:
    """Return the job of a phase. `logs` are those of :func:`write_logs`; `series` begins its rates' names."""
    load = asked.load
    lines = ["[global]", *_files(load), f"bs={int(load.block_size)}", "ioengine=psync", "thread=1"]
    lines += ["group_reporting=1", f"direct={int(asked.direct)}", "allow_file_create=0", "invalidate=0"]
    lines.append(f"runtime={max(1, round(asked.seconds * 1000))}ms")
    lines += [] if load.is_pass or asked.replays else ["time_based"]
    lines += ["end_fsync=1"] if load.is_pass and load.writes else []
    lines += ["zero_buffers=1"] if asked.zeroes else []
    lines += [f"write_iops_log={series}", f"log_avg_msec={_interval_ms(asked)}", "disk_util=0"]
    lines += ["lat_percentiles=1", "clat_percentiles=0"]
    lines += [OWN_CLOCK.strip()] if asked.time.dilation > 1 else []
    for number, log in enumerate(logs):
        lines += [f"[client-{number}]", f"read_iolog={escaped(log)}", "replay_no_stall=1"]
    return "\n".join(lines if asked.replays else [*lines, *_pattern(asked)]) + "\n"


def write_logs(asked: Asked, stem: Path) -> list[Path]:
    """Write what each thread replays, and return the files; none if fio needs no log.

    The requests of one sequence go to the threads in turn, as sysbench's threads take theirs.
    """
    if not asked.replays:
        return []
    names = file_names(asked.load)
    actions = list(islice(_actions(asked, names), _most_actions(asked)))
    logs = [stem.with_name(f"{stem.name}-{number}.iolog") for number in range(asked.clients)]
    for number, log in enumerate(logs):
        own = actions[number :: asked.clients]
        log.write_text("\n".join(replay.log(names, own)) + "\n")
    return logs


def descriptors(load: Fileio, clients: int) -> int:
    """Return how many files fio holds open: each thread has all of them, its log, and its rates."""
    return clients * (load.files + DESCRIPTORS_A_THREAD) + FEW_DESCRIPTORS


def read_series(series: Path, asked: Asked, shift_s: float) -> list[tuple[float, str, str, float]]:
    """Return the rates that fio recorded, summed over all threads, as rows of a trial's series.

    Each thread records the interval just over, at times of its own within it. Requests of a warm-up
    (`shift_s` below 0) after its end belong to neither phase.
    """
    interval = _interval_ms(asked) / 1000
    rates: dict[int, float] = {}
    for log in _series_files(series):
        for line in log.read_text().splitlines():
            at_ms, per_s, *_ = line.split(",")
            number = round(int(at_ms) / 1000 / interval)
            rates[number] = rates.get(number, 0.0) + float(per_s)
    return [
        (number * interval + shift_s, "load", "requests_per_s", per_s)
        for number, per_s in sorted(rates.items())
        if shift_s >= 0 or number * interval + shift_s <= 0
    ]


def remove_scratch(series: Path, logs: list[Path]) -> None:
    """Remove fio's files of rates, and the logs that it replayed: they are large."""
    for path in (*_series_files(series), *logs):
        path.unlink(missing_ok=True)


def to_result(result: Result, asked: Asked) -> LoadResult:
    """Turn fio's result into a record: requests are its reads and writes; syncs are counted separately."""
    load, block = asked.load, int(asked.load.block_size)
    kinds = {"read": reads_of(result), "write": writes_of(result), "sync": syncs_of(result)}
    both, seconds = kinds["read"].with_(kinds["write"]), seconds_of(result)
    # fio relates CPU time, which is the machine's, to the trial's seconds.
    busy_s = result["job_runtime"] / 1000 / asked.time.cpus_count
    return LoadResult(
        workload=load.kind,
        mix=load.mode,
        clients=asked.clients,
        seconds=seconds,
        transactions=both.requests,
        transactions_per_s=both.requests / seconds if seconds else 0.0,
        statements=both.requests + kinds["sync"].requests,
        reads=kinds["read"].requests,
        writes=kinds["write"].requests,
        others=kinds["sync"].requests,
        latency_us=_latency(both),
        statement_types=[_statements(name, told) for name, told in kinds.items() if told.count],
        errors=[],
        failed_transactions=0,
        retries=0,
        reconnects=0,
        client=ClientAccount(
            workers=asked.clients,
            cpu_user_s=result["usr_cpu"] / 100 * busy_s,
            cpu_system_s=result["sys_cpu"] / 100 * busy_s,
            max_rss_bytes=None,
            delay_mean_us=None,
            delay_max_us=None,
        ),
        file_requests=FileRequests(
            files=load.files,
            block_bytes=block,
            direct=asked.direct,
            one_pass=load.is_pass,
            read_bytes=kinds["read"].requests * block,
            written_bytes=kinds["write"].requests * block,
            syncs=kinds["sync"].requests,
        ),
    )


def _files(load: Fileio) -> list[str]:
    return [
        f"filename={':'.join(file_names(load))}",
        f"filesize={load.file_bytes}",
        f"size={load.files * load.file_bytes}",
        "fallocate=none",
    ]


def _pattern(asked: Asked) -> list[str]:
    """Return the section of a load that fio's own patterns make."""
    load = asked.load
    section = [f"[{load.mode}]", f"numjobs={asked.clients}", *PATTERNS[load.mode]]
    if load.at_random:  # blocks may repeat, as in sysbench
        return [*section, "file_service_type=random", "norandommap", f"randseed={asked.seed}"]
    return [*section, "file_service_type=sequential"]


def _actions(asked: Asked, names: list[str]) -> Iterator[str]:
    load, block = asked.load, int(asked.load.block_size)
    draw = random.Random(asked.seed)  # noqa: S311 - a workload, no secret
    if load.at_random:
        requests = replay.at_random(draw, names, load.blocks_per_file, block, _verbs(load))
    else:
        verb = "write" if load.writes else "read"
        requests = replay.in_sequence(names, load.blocks_per_file, block, verb)
        if load.is_pass:
            requests = islice(requests, load.files * load.blocks_per_file)
    return replay.synced(requests, load.syncs_every, names)


def _verbs(load: Fileio) -> Iterator[str]:
    if load.mode == "rndrw":
        yield from replay.reads_and_writes()
    while True:
        yield "write" if load.writes else "read"


def _most_actions(asked: Asked) -> int:
    """Return the length of a log: requests at the expected pace, and the syncs between them."""
    load = asked.load
    syncs = load.files / load.syncs_every if load.syncs_every else 0.0
    wanted = MARGIN * asked.seconds * asked.per_s * (1 + syncs)
    if load.is_pass:
        wanted = load.files * load.blocks_per_file * (1 + syncs) + load.files
    # At least one round, or there would be no figure of syncs.
    return min(max(round(wanted), load.syncs_every + load.files), MOST_ACTIONS)


def _latency(told: Requests) -> Latency | None:
    if not told.count:
        return None
    names = known_percentiles(told.count, [f"{percentile:g}" for percentile in PERCENTILES])
    return as_latency(told, {name: told.percentile_ns(float(name)) for name in names})


def _statements(name: str, requests: Requests) -> StatementType:
    return StatementType.model_validate(
        {
            "name": name,
            "kind": "other" if name == "sync" else name,
            **dict.fromkeys(("rows", "affected", "errors"), 0),
            "count": requests.requests,
            "latency_us": _latency(requests),
        }
    )


def _series_files(series: Path) -> list[Path]:
    return sorted(series.parent.glob(f"{series.name}_iops.*.log"))


def _interval_ms(asked: Asked) -> int:
    return max(1, round(interval_s(asked.seconds) * 1000))
