"""A profile of a disk: its figures by cell, the place, and the jobs that make them again."""

from collections.abc import Callable, Iterator, Sequence

from diskproof.report.compose.head import moment
from diskproof.report.compose.machine import facts_table, host_facts
from diskproof.report.compose.probes import OTHERS, RANDOM, SEQUENTIAL, SYNCED, effort, lies_on, probe
from diskproof.report.compose.tables import figures, table
from diskproof.report.document import Block, Column, Document, Figure, Item, Items, Paragraph, Section, Table
from diskproof.results.profile import DOUBTFUL, Pattern, Profile, ProfileCell, Stream
from diskproof.wording import numbers
from diskproof.wording.numbers import NOT_OBSERVED, milliseconds, number

NOTHING_DRAWN = "There is nothing to draw: no cell that a chart shows was measured."


def compose(profile: Profile, drawn: Sequence[Figure] | None = None) -> Document:
    """Return what a profile says; figures are shown on a page alone."""
    notes = Items(tuple(Item(note.text, tone="warning") for note in profile.notes))
    lies = lies_on(profile.place)
    nothing: tuple[Block, ...] = (Paragraph(NOTHING_DRAWN),)
    return Document(
        name="profile",
        heading=f"{profile.place.kind} {profile.place.name}",
        answer=" ".join(answer(profile)),
        lead=(Paragraph(f"{lies}. Measured {moment(profile.started_at)}: {effort(profile)}."),),
        sections=(
            Section("Read this first", (notes,), anchor="notes"),
            Section("Charts", tuple(drawn) if drawn else nothing, anchor="charts", contents="Charts"),
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
    cache = device.write_cache if device else None
    rows = (
        ("Worked on", place.path),
        ("Mount options", place.mount_options or NOT_OBSERVED),
        ("Write cache", cache or NOT_OBSERVED),
        ("Scheduler", (device.scheduler if device else None) or NOT_OBSERVED),
        *host_facts(profile.machine),
    )
    return facts_table(rows, "What was measured, and where")


def _marked(cell: ProfileCell, figure: str) -> str:
    return f"{figure}{DOUBTFUL}" if cell.doubt else figure
