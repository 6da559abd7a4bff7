"""The tables of a profile."""

from collections.abc import Callable, Sequence

from diskproof.report import words
from diskproof.report.profile.words import OTHERS, PATTERNS, RANDOM, SEQUENTIAL, lies_on
from diskproof.report.tables import Column, Table
from diskproof.results.profile import Pattern, Profile, ProfileCell, Stream

Figure = Callable[[Stream], float | None]


def sections(profile: Profile) -> list[tuple[str, Table]]:
    """Return all tables of figures with their headings; one without a row is left out."""
    every = (
        ("Requests a second, at random offsets", iops(profile)),
        ("MB/s, one after the other", throughput(profile)),
        ("Mean latency, ms", mean_latency(profile)),
        ("99th percentile of latency, ms", tail_latency(profile)),
        ("One request at a time: synced, mixed, and one pass through the page cache", others(profile)),
    )
    return [section for section in every if section[1].rows]


def iops(profile: Profile) -> Table:
    """Return requests a second at random offsets, a column a queue depth."""
    return _by_depth(profile, RANDOM, lambda stream: stream.per_s)


def throughput(profile: Profile) -> Table:
    """Return 10^6 bytes a second one after the other, a column a queue depth."""
    return _by_depth(profile, SEQUENTIAL, lambda stream: stream.megabytes_per_s)


def mean_latency(profile: Profile) -> Table:
    """Return mean latencies in milliseconds, a column a queue depth."""
    return _by_depth(profile, (*RANDOM, *SEQUENTIAL), lambda stream: stream.mean_us / 1000)


def tail_latency(profile: Profile) -> Table:
    """Return 99th percentiles in milliseconds; n/a where too few requests lie beyond."""
    return _by_depth(profile, (*RANDOM, *SEQUENTIAL), lambda stream: _ms(stream, "99"))


def others(profile: Profile) -> Table:
    """Return a row a cell that has no queue: synced writes, the mix, the passes."""
    columns = (
        Column("Cell"),
        Column("Block", figures=True),
        Column("Requests/s", figures=True),
        Column("MB/s", figures=True),
        Column("mean ms", figures=True),
        Column("p99 ms", figures=True),
        Column("Flushes/s", figures=True),
        Column("flush mean ms", figures=True),
        Column("flush p99 ms", figures=True),
        Column("flush max ms", figures=True),
    )
    return Table(columns, tuple(_other(cell) for pattern in OTHERS for cell in profile.measured(pattern)))


def facts(profile: Profile) -> Table:
    """Return a row a fact of what was measured and on which machine."""
    place, machine, device = profile.place, profile.machine, profile.place.device
    cache = device.write_cache if device else None
    rows = (
        ("Place", f"{place.kind} {place.name}"),
        ("Worked on", place.path),
        ("Lies on", lies_on(place)),
        ("Mount options", place.mount_options or words.NOT_OBSERVED),
        ("Write cache", cache or words.NOT_OBSERVED),
        ("Scheduler", (device.scheduler if device else None) or words.NOT_OBSERVED),
        ("Bytes touched", words.size(place.size_bytes)),
        ("Page cache", "passed by" if place.direct else "in between"),
        ("Host", machine.host),
        ("CPU", f"{machine.cpu_model}, {words.count(machine.cpus, 'CPU')} usable"),
        ("CPU governor", machine.governor or "not visible"),
        ("Memory", words.size(machine.memory_bytes)),
        ("Virtual machine", machine.virtualised or "no sign of one"),
        ("System", f"{machine.distribution}, {machine.kernel}"),
        ("fio", f"{profile.fio_version}, engine {profile.engine}"),
        ("diskproof", profile.diskproof_version),
        ("Begun", words.moment(profile.started_at)),
    )
    return Table((Column("Fact"), Column("Value")), rows)


def _by_depth(profile: Profile, patterns: Sequence[Pattern], figure: Figure) -> Table:
    cells = [cell for pattern in patterns for cell in profile.measured(pattern)]
    depths = sorted({cell.probe.depth for cell in cells})
    lines = dict.fromkeys((cell.probe.pattern, cell.probe.block_bytes) for cell in cells)
    found = {(cell.probe.pattern, cell.probe.block_bytes, cell.probe.depth): cell for cell in cells}
    columns = (Column("Queue depth"), *(Column(str(depth), figures=True) for depth in depths))
    rows = tuple(
        (
            f"{PATTERNS[pattern]} {words.size(block)}",
            *(_shown(found.get((pattern, block, depth)), figure) for depth in depths),
        )
        for pattern, block in lines
    )
    return Table(columns, rows)


def _shown(cell: ProfileCell | None, figure: Figure) -> str:
    return words.number(figure(cell.requests) if cell and cell.requests else None)


def _other(cell: ProfileCell) -> tuple[str, ...]:
    requests, flushes = cell.requests, cell.flushes
    assert requests is not None
    flush = (
        (words.number(flushes.per_s), words.milliseconds(flushes.mean_us), words.number(_ms(flushes, "99")))
        if flushes
        else ("",) * 3
    )
    return (
        PATTERNS[cell.probe.pattern],
        words.size(cell.probe.block_bytes),
        words.number(requests.per_s),
        words.number(requests.megabytes_per_s),
        words.milliseconds(requests.mean_us),
        words.number(_ms(requests, "99")),
        *flush,
        words.milliseconds(flushes.max_us) if flushes else "",
    )


def _ms(stream: Stream, percentile: str) -> float | None:
    known = stream.percentiles_us.get(percentile)
    return None if known is None else known / 1000
