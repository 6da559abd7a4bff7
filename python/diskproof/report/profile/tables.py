"""The tables of a profile."""

from collections.abc import Callable, Sequence

from diskproof.report import words
from diskproof.report.profile.words import OTHERS, PATTERNS, RANDOM, SEQUENTIAL, lies_on, probe
from diskproof.report.tables import Column, Table
from diskproof.results.profile import DOUBTFUL, Pattern, Profile, ProfileCell, Stream

Figure = Callable[[Stream], float | None]


def sections(profile: Profile) -> list[tuple[str, Table]]:
    """Return all tables of figures with their headings; one without a row is left out."""
    every = (
        ("Requests a second, at random offsets", iops(profile)),
        ("MB/s, one after the other", throughput(profile)),
        ("Mean latency, ms", mean_latency(profile)),
        ("99th percentile of latency, ms", tail_latency(profile)),
        ("One request at a time", others(profile)),
        ("The flushes among them", flushes(profile)),
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
    table = _by_depth(profile, (*RANDOM, *SEQUENTIAL), lambda stream: _ms(stream, "99"))
    return Table(table.columns, tuple(row for row in table.rows if set(row[1:]) != {words.NOT_OBSERVED}))


def others(profile: Profile) -> Table:
    """Return a row a cell that has no queue: synced writes, the mix, the passes."""
    columns = ("Requests/s", "MB/s", "mean ms", "p99 ms", "max ms")
    cells = [cell for pattern in OTHERS for cell in profile.measured(pattern)]
    rows = tuple(
        (
            probe(cell.probe),
            _marked(cell, words.number(stream.per_s)),
            _marked(cell, words.number(stream.megabytes_per_s)),
            words.milliseconds(stream.mean_us),
            words.number(_ms(stream, "99")),
            words.milliseconds(stream.max_us),
        )
        for cell in cells
        if (stream := cell.requests)
    )
    return Table((Column("Cell"), *(Column(title, figures=True) for title in columns)), rows)


def flushes(profile: Profile) -> Table:
    """Return a row a cell that flushes, with how long that took."""
    columns = ("Flushes/s", "mean ms", "p50 ms", "p99 ms", "max ms")
    rows = tuple(
        (
            probe(cell.probe),
            words.number(stream.per_s),
            words.milliseconds(stream.mean_us),
            words.number(_ms(stream, "50")),
            words.number(_ms(stream, "99")),
            words.milliseconds(stream.max_us),
        )
        for pattern in OTHERS
        for cell in profile.measured(pattern)
        if (stream := cell.flushes)
    )
    return Table((Column("After"), *(Column(title, figures=True) for title in columns)), rows)


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
    found = figure(cell.requests) if cell and cell.requests else None
    return words.number(found) if cell is None or found is None else _marked(cell, words.number(found))


def _marked(cell: ProfileCell, figure: str) -> str:
    return f"{figure}{DOUBTFUL}" if cell.doubt else figure


def _ms(stream: Stream, percentile: str) -> float | None:
    known = stream.percentiles_us.get(percentile)
    return None if known is None else known / 1000
