"""A profile of a disk: its figures by cell, the place, and the jobs that make them again."""

from collections.abc import Callable, Iterator, Sequence

from diskproof.report.compose.head import moment
from diskproof.report.compose.machine import facts_table, host_facts
from diskproof.report.compose.tables import figures, table
from diskproof.report.document import Column, Document, Figure, Item, Items, Paragraph, Section, Table
from diskproof.results.profile import DOUBTFUL, Pattern, Probe, Profile, ProfileCell, ProfilePlace, Stream
from diskproof.wording import numbers
from diskproof.wording.numbers import NOT_OBSERVED, duration, milliseconds, number, size


def compose(profile: Profile, drawn: Sequence[Figure] = ()) -> Document:
    """Return what a profile says; figures are shown on a page alone."""
    notes = Items(tuple(Item(note.text, tone="warning") for note in profile.notes))
    lies = lies_on(profile.place)
    return Document(
        name="profile",
        heading=f"{profile.place.kind} {profile.place.name}",
        answer=" ".join(answer(profile)),
        lead=(Paragraph(f"{lies}. Measured {moment(profile.started_at)}: {effort(profile)}."),),
        sections=(
            Section("Read this first", (notes,), anchor="notes"),
            Section("Charts", tuple(drawn), anchor="charts", contents="Charts"),
            Section("Figures", (cells(profile), flushes(profile)), anchor="figures", contents="Figures"),
            Section("Place and machine", (facts(profile),), anchor="place", contents="Place"),
        ),
        foot=f"Made by diskproof {profile.diskproof_version} from the profile's record alone.",
    )


def answer(profile: Profile) -> Iterator[str]:
    """Yield what the disk does for a database: durable commits, random reads, and bytes in sequence."""
    if durable := next((cell for pattern in SYNCED for cell in profile.measured(pattern)), None):
        per_s = _per_s(durable)
        yield (
            f"One client makes {_marked(durable, number(per_s))} durable writes a second "
            f"({probe(durable.probe)}): {milliseconds(1e6 / per_s if per_s else None)} ms each."
        )
    reads = profile.measured("random-read")
    if reads:
        most = max(reads, key=_per_s)
        said = [f"{_marked(one, number(_per_s(one)))} at depth {one.probe.depth}" for one in (reads[0], most)]
        yield f"Random reads a second: {' and up to '.join(dict.fromkeys(said))}."
    rates = [
        f"{pattern.replace('-', ' ')} {_marked(most, number(_megabytes_per_s(most)))} MB/s"
        for pattern in SEQUENTIAL
        if (found := profile.measured(pattern)) and (most := max(found, key=_megabytes_per_s))
    ]
    if rates:
        yield f"{numbers.sentence_case(' and '.join(rates))} at most."
    if not (durable or reads or rates):
        yield "No figure that a database depends on was measured."


def _per_s(cell: ProfileCell) -> float:
    return cell.requests.per_s if cell.requests else 0.0


def _megabytes_per_s(cell: ProfileCell) -> float:
    return cell.requests.megabytes_per_s if cell.requests else 0.0


Timed = tuple[ProfileCell, Stream]

TIMES: tuple[tuple[Column, Callable[[Timed], str]], ...] = (
    (figures("mean ms"), lambda row: milliseconds(row[1].mean_us)),
    (figures("p99 ms"), lambda row: milliseconds(row[1].percentiles_us.get("99"))),
    (figures("max ms"), lambda row: milliseconds(row[1].max_us)),
)


def cells(profile: Profile) -> Table:
    """Return a row a cell; n/a: too few requests lie beyond a percentile."""
    return table(
        _streams(profile, (*RANDOM, *SEQUENTIAL, *OTHERS), lambda cell: cell.requests),
        ("Cell", lambda row: probe(row[0].probe)),
        (figures("Requests/s"), lambda row: _marked(row[0], number(row[1].per_s))),
        (figures("MB/s"), lambda row: _marked(row[0], number(row[1].megabytes_per_s))),
        *TIMES,
    )


def flushes(profile: Profile) -> Table:
    """Return a row a cell that flushes, with how long that took."""
    return table(
        _streams(profile, OTHERS, lambda cell: cell.flushes),
        ("After", lambda row: probe(row[0].probe)),
        (figures("Flushes/s"), lambda row: number(row[1].per_s)),
        *TIMES,
    )


def _streams(
    profile: Profile, patterns: Sequence[Pattern], stream_of: Callable[[ProfileCell], Stream | None]
) -> list[Timed]:
    found = (cell for pattern in patterns for cell in profile.measured(pattern))
    return [(cell, stream) for cell in found if (stream := stream_of(cell))]


def facts(profile: Profile) -> Table:
    """Return a row a fact of what was measured and on which machine."""
    place, device = profile.place, profile.place.device
    rows = (
        ("Worked on", place.path),
        ("Mount options", place.mount_options or NOT_OBSERVED),
        ("Write cache", (device.write_cache if device else None) or NOT_OBSERVED),
        ("Scheduler", (device.scheduler if device else None) or NOT_OBSERVED),
        *host_facts(profile.machine),
    )
    return facts_table(rows, "What was measured, and where")


def _marked(cell: ProfileCell, figure: str) -> str:
    return f"{figure}{DOUBTFUL}" if cell.doubt else figure


PATTERNS: dict[Pattern, str] = {
    "random-read": "random read",
    "random-write": "random write",
    "sequential-read": "sequential read",
    "sequential-write": "sequential write",
    "mixed": "60 % read, 40 % write",
    "fileio": "fileio rndrw, synced",
    "synced-write": "random write + fdatasync",
    "synced-append": "append + fdatasync",
    "dsync-append": "append with O_DSYNC",
    "pass-read": "one pass, read (dd)",
    "pass-write": "one pass, written (dd)",
}

RANDOM: tuple[Pattern, ...] = ("random-read", "random-write")
SEQUENTIAL: tuple[Pattern, ...] = ("sequential-read", "sequential-write")
SYNCED: tuple[Pattern, ...] = ("synced-append", "dsync-append", "synced-write", "fileio")
OTHERS: tuple[Pattern, ...] = (*SYNCED, "mixed", "pass-write", "pass-read")


def probe(one: Probe) -> str:
    """Name a probe in words: ``random read 4 KiB, depth 32``."""
    depth = f", depth {one.depth}" if one.pattern in (*RANDOM, *SEQUENTIAL) or one.depth > 1 else ""
    return f"{PATTERNS[one.pattern]} {size(one.block_bytes)}{depth}"


def effort(profile: Profile) -> str:
    """Return how it was measured, in one sentence."""
    quick = "a quick look, " if profile.quick else ""
    through = "past the page cache" if profile.place.direct else "through the page cache"
    return (
        f"{quick}{duration(profile.seconds_per_cell)} per cell after "
        f"{duration(profile.ramp_s)} not measured, {through}, within "
        f"{size(profile.place.size_bytes)}, with fio {profile.fio_version} ({profile.engine})"
    )


def lies_on(place: ProfilePlace) -> str:
    """Return the file system and the device below a place."""
    device = place.device
    parts = [f"virtual disk {place.virtual}"] if place.virtual else []
    parts += [f"{place.filesystem} at {place.mount_point}"] if place.filesystem else []
    if device:
        model = f" ({device.model})" if device.model else ""
        parts.append(f"{device.name}{model}, {size(device.size_bytes)}")
    return ", ".join(parts) or NOT_OBSERVED
