"""Figures that others measured: fio's JSON."""

from collections.abc import Callable, Sequence
from pathlib import Path

from diskproof.importers.base import Found
from diskproof.importers.fio.options import size_of
from diskproof.importers.read import read_files
from diskproof.profile.clone.cells import Observation
from diskproof.profile.clone.material import Material
from diskproof.refusal import RefusalError
from diskproof.results.imported import ImportedResult
from diskproof.results.modelled import MeasureName
from diskproof.results.profile import Pattern, Probe
from diskproof.stats.grouping import grouped
from diskproof.wording import Message, per_s, say

Files = tuple[list[Found], list[str]]
Read = Callable[[Sequence[Path]], Files]

ASSUMED_CAPACITY_BYTES = 256 * 10**9

_PATTERNS: dict[str, Pattern] = {
    "randread": "random-read",
    "randwrite": "random-write",
    "read": "sequential-read",
    "write": "sequential-write",
}
_SYNCED: dict[Pattern, Pattern] = {"random-write": "synced-write", "sequential-write": "synced-append"}

_PERCENTILES: dict[str, MeasureName] = {"50": "median_us", "95": "p95_us", "99": "p99_us"}


def foreign(paths: Sequence[Path], capacity_bytes: int | None, read: Read = read_files) -> Material:
    """Return what others measured of one disk; RefusalError says what a file lacks.

    `read` reads other tools' output.
    """
    named, notes = _from_fio(read(paths), paths)
    observations, repeated = _one_a_probe(named)
    return Material(
        name=", ".join(path.name for path in paths),
        evidence="fio",
        how="Made by `diskproof disk clone` from fio's output: less evidence than a measurement.",
        observations=observations,
        capacity_bytes=capacity_bytes or ASSUMED_CAPACITY_BYTES,
        capacity_source="given with --capacity" if capacity_bytes else "assumed: not given",
        notes=[*notes, *repeated],
    )


def _one_a_probe(named: Sequence[tuple[str, Observation]]) -> tuple[list[Observation], list[Message]]:
    """Return one observation of each probe, that of most requests, and say which others do not count."""
    groups = grouped(named, lambda one: one[1].probe)
    kept, notes = [], []
    for alike in groups.values():
        best, *others = sorted(alike, key=lambda one: -one[1].requests)
        kept.append(best[1])
        notes += [
            say(
                "{job} does not count: it is {probe}, as {other} is, and made fewer requests ({less} and "
                "{more})",
                job=name,
                other=best[0],
                probe=one.probe.name,
                less=per_s(one.figures.get("iops", 0.0), "requests"),
                more=per_s(best[1].figures.get("iops", 0.0)),
            )
            for name, one in others
        ]
    return kept, notes


def _from_fio(was: Files, paths: Sequence[Path]) -> tuple[list[tuple[str, Observation]], list[Message]]:
    """Return the jobs that can be used, each with its name, and why others do not count."""
    found: list[tuple[str, Observation]] = []
    left: list[tuple[str, Message]] = []
    read, refused = was
    for result in read:
        source = result.source
        if not isinstance(result, ImportedResult) or source.format != "fio JSON":
            left.append((f"{source.file}, line {source.line},", say("it is no job of fio's JSON")))
            continue
        one = _of_job(result)
        if isinstance(one, Observation):
            found.append((result.name, one))
        else:
            left.append((result.name, one))
    if refused and not read:
        raise RefusalError("\n".join(refused))
    if not found:
        why = "; ".join(f"{name}: {one.text}" for name, one in left[:3])
        raise RefusalError(
            f"no job of fio's JSON in {', '.join(map(str, paths))} can be used"
            + (f" ({why})" if why else "")
            + ": run fio with --output-format=json, direct=1, and rw=randread at least"
        )
    notes = [say("{why}", why=one) for one in refused]
    return found, notes + [say("{job} does not count: {why}", job=name, why=one) for name, one in left]


def _of_job(result: ImportedResult) -> Observation | Message:
    """Return a job as a probe and its figures, or why it is none."""
    asked, load = result.asked, result.load
    pattern = _PATTERNS.get(asked.get("rw", "").partition(":")[0])
    files = load.file_requests
    if ended := next((error.message for error in load.errors if error.ended), None):
        return say("it broke off ({said})", said=ended)
    if pattern is None:
        return say("its rw is {rw}, not one kind of request", rw=asked.get("rw", "not printed"))
    if files is None or files.block_bytes is None or load.clients is None:
        return say("its block size or queue depth is not known, or it was held back")
    if files.direct is False:
        return say("it went through the page cache: direct=1 is missing")
    if files.sync_every == 1 and pattern in _SYNCED:
        pattern = _SYNCED[pattern]
    elif files.sync_every:
        return say("it syncs after every {count} requests", count=files.sync_every)
    figures: dict[MeasureName, float] = {"iops": load.transactions_per_s}
    if load.latency_us:
        figures |= {
            measure: exact_us
            for name, measure in _PERCENTILES.items()
            if (exact_us := load.latency_us.exact(name)) is not None
        }
    if not load.transactions_per_s or not 512 <= files.block_bytes <= 2**24:
        return say("no request was answered")
    probe = Probe(
        pattern=pattern,
        block_bytes=files.block_bytes,
        depth=1 if files.sync_every == 1 else load.clients,
        span_bytes=size_of(asked.get("size")),
    )
    return Observation(probe, figures, f"fio, {result.source.file}", load.seconds or 5.0)
