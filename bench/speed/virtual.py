"""What is measured of virtual disks: models without a disk, and the way to a disk without a model."""

import json
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from diskproof import disk
from diskproof.fio import program as fio
from diskproof.storage import filesystem, virtual
from diskproof.system.journal import Journal
from speed.figures import Bound, Figure
from speed.programs import summary, timed

MODEL_PER_CPU_S = Bound(at_least=2_000_000)
READ_US = Bound(at_most=40)
READS_PER_S = Bound(at_least=60_000)

MODEL_DEPTH = 32
MODEL_VIRTUAL_S = 10_000_000
"""No end: the number of requests is the end. A disk that needs 10 ms for each does a billion in it."""

DISK_BYTES = 2**30
FILE_BYTES = 2**28
DEPTH = 64


@dataclass(frozen=True)
class Size:
    """How long and how often."""

    rounds: int
    seconds: float
    requests: int


FULL = Size(rounds=5, seconds=3, requests=2_000_000)
SMOKE = Size(rounds=1, seconds=0.2, requests=100_000)


def models(size: Size) -> Iterator[Figure]:
    """Let every device's model answer random reads and writes as fast as it computes them.

    Per second of the program's processor time; what it takes for a single request, which is its start and the
    warm-up, is taken off.
    """
    for device in (facts["name"] for facts in disk.devices()):
        values = [_model_per_cpu_s(device, size) for _ in range(size.rounds)]
        yield Figure("model", device, "requests/CPU s", values, MODEL_PER_CPU_S)


def _model_per_cpu_s(device: str, size: Size) -> float:
    requests, cpu_s = _simulated(device, size.requests)
    _, start_s = _simulated(device, 1)
    return requests / (cpu_s - start_s)


def _simulated(device: str, requests: int) -> tuple[float, float]:
    """Return the requests that were measured, and the program's processor time in seconds."""
    probe = {"pattern": "mixed", "block_bytes": 4096, "depth": MODEL_DEPTH}
    wanted = {"probe": probe, "requests": requests, "seconds": MODEL_VIRTUAL_S}
    with tempfile.NamedTemporaryFile("w") as file:
        file.write(json.dumps(wanted))
        file.flush()
        said, cpu_s = timed([str(disk.program()), "simulate", device, "--probes", file.name])
    return float(summary(said)["requests"]), cpu_s


def floor(size: Size) -> Iterator[Figure]:
    """Measure the way to the null device through a loop device and ext4, with direct I/O."""
    with _file_on_the_null_device() as file:
        alone, many = [], []
        for _ in range(size.rounds):
            alone.append(_read(file, 1, size.seconds)["lat_ns"]["mean"] / 1000)
            many.append(_read(file, DEPTH, size.seconds)["iops"])
    what = "null, loop, ext4, direct: 4 KiB reads, depth"
    yield Figure("floor", f"{what} 1", "us", alone, READ_US)
    yield Figure("floor", f"{what} {DEPTH}", "reads/s", many, READS_PER_S)


@contextmanager
def _file_on_the_null_device() -> Iterator[Path]:
    """Yield a written file on ext4 on the null device; all of it is gone at the end."""
    journal = Journal.begin("bench")
    try:
        wanted = virtual.Wanted("null", size_bytes=DISK_BYTES, path_us=0.0, below_floor=True, timing=True)
        attached = virtual.attach(wanted, journal)
        try:
            mount_point = journal.directory(Path(tempfile.gettempdir()) / f"diskproof-{journal.mark}-floor")
            filesystem.make_filesystem(attached.block, "ext4", blank=True)
            filesystem.mount(attached.block, mount_point, filesystem.blank_options("ext4", None), journal)
            file = mount_point / "file"
            # Blocks that were never written are read from nowhere.
            timed([*_fio(file), "--rw=write", "--bs=1m", "--end_fsync=1"])
            yield file
            filesystem.unmount(mount_point, attached.block)
        finally:
            attached.detach()
    finally:
        journal.finish()


def _read(file: Path, depth: int, seconds: float) -> dict[str, Any]:
    argv = [*_fio(file), "--rw=randread", "--bs=4k", f"--iodepth={depth}", "--norandommap"]
    argv += ["--time_based", f"--runtime={round(seconds * 1000)}ms", "--ramp_time=100ms"]
    said, _ = timed(argv)
    found: dict[str, Any] = json.loads(said[said.index("{") :])["jobs"][0]["read"]
    return found


def _fio(file: Path) -> list[str]:
    argv = ["fio", "--name=floor", f"--filename={file}", f"--size={FILE_BYTES}", "--direct=1"]
    return [*argv, f"--ioengine={fio.engine()}", "--output-format=json"]
