"""Checks of an article's raw figures of devices: what devices can do, and what the figures are used for."""

from collections.abc import Iterator
from itertools import product

from diskproof.audit.check import NothingToCheckError, Problem, Said, Untold, check, warning
from diskproof.audit.claims import TIE, at, half_a_digit
from diskproof.audit.device import SPINNING_MB_PER_S
from diskproof.audit.sides import parts_of
from diskproof.results.article import Article, Peak, Stated
from diskproof.results.published import RATES
from diskproof.wording import NOTHING, Message, printed, say

BUS_MB_S = {"USB 2": 48.0, "USB 3": 500.0, "SATA I": 150.0, "SATA II": 300.0, "SATA III": 600.0}
"""What a bus carries at most after its line coding: 8 of 10 bits of 480 (USB 2: of its microframes), 5,000,
1,500, 3,000 and 6,000 Mbit/s."""

ABOVE = 0.05
"""Share by which a figure may lie above what its maker promises: a judgement, of drives of one kind."""


@check(
    "cache-answered",
    reason="A request that is faster than its bytes can travel was answered by a cache. The figures are of "
    "drive and cache together.",
    remedy="direct I/O, or files larger than memory",
    source="the bus's rate after its line coding; for hard disks the fastest platters",
)
def cached(article: Article) -> Iterator[Said]:
    """Find requests whose bytes could not have come from the device, and writes that never reached it."""
    found = [*_too_fast(article), *_faster_writes(article)]
    if not found:
        raise NothingToCheckError(
            "an article without the fastest requests of a load on files, and without random reads and writes"
        )
    yield from (one for one in found if one)


def _too_fast(article: Article) -> Iterator[Problem | None]:
    """Yield a problem for each fastest request that beats its device, else None."""
    for one in article.cells:
        rate, moved = one.figures.get("requests_per_s"), one.figures.get("megabytes_per_s")
        least = one.figures.get("latency_min_ms")
        limit = _fastest(article, one.levels.get("storage", ""))
        if rate is None or moved is None or least is None or limit is None:
            continue
        request_bytes = moved * 1e6 / rate
        longest_ms = least + half_a_digit(least)
        speed = request_bytes / 1e6 / (longest_ms / 1000)
        most, what = limit
        yield (
            None
            if speed <= most
            else warning(
                "{at}{name}: {moved} MB/s / {rate} = {each} bytes a request; the fastest took {least} ms (at "
                "most {longest}), which is {speed:.0f} MB/s or more, but {what} gives at most {most}: a "
                "cache answered it",
                at=at(one.place),
                name=one.name,
                moved=printed(moved),
                rate=printed(rate),
                each=request_bytes,
                least=printed(least),
                longest=printed(longest_ms),
                speed=speed,
                what=what,
                most=printed(most),
            )
        )


def _faster_writes(article: Article) -> Iterator[Problem | None]:
    """Yield a problem for each spinning disk with more random writes than reads of one size, else None."""
    random = [peak for peak in article.peaks if peak.order == "random"]
    for read, write in product(random, random):
        if (read.direction, write.direction) != ("read", "write") or read.block != write.block:
            continue
        reads, writes = _by_storage(article, read.workload), _by_storage(article, write.workload)
        for storage in reads.keys() & writes.keys():
            if not article.devices.get(storage, "").startswith("spinning"):
                continue
            ratio = writes[storage] / reads[storage]
            yield (
                None
                if ratio <= TIE
                else warning(
                    "{at}{storage}: {writes} random writes and {reads} random reads a second of the same "
                    "size, {writes} / {reads} = {ratio:.3g} times as many, though the heads move as far for "
                    "both: a cache of the drive or the system probably took the writes",
                    at=at(write.place),
                    storage=storage,
                    writes=printed(writes[storage]),
                    reads=printed(reads[storage]),
                    ratio=ratio,
                )
            )


def _fastest(article: Article, storage: str) -> tuple[float, str] | None:
    """Return what a storage can move at most, in MB/s, and what limits it; None if unknown."""
    if article.devices.get(storage, "").startswith("spinning"):
        return SPINNING_MB_PER_S, "a platter"
    told = (
        one.told.get("bus", "")
        for one in article.conditions
        if (one.factor, one.level) == ("storage", storage)
    )
    bus = next((bus for bus in told if bus in BUS_MB_S), None)
    return (BUS_MB_S[bus], bus) if bus else None


@check(
    "raw-peak",
    reason="A device's speed depends on direction, request size, queue depth and caches. One figure in bytes "
    "is one peak, and no limit of a database that waits for flushes.",
    remedy="measure reads and writes separately, with direct I/O, and the small synced writes of a log",
    source="dd as published: neither block size nor direction nor flags; Gregg, Systems Performance, 2020, "
    "chapter 9 (workload characterisation)",
)
def raw_peak(article: Article) -> Iterator[Said]:
    """Find a raw figure that is used for more than it shows, or that does not say what it measures."""
    if not article.peaks:
        raise NothingToCheckError("an article without a raw figure of its devices")
    for peak in article.peaks:
        missing = [
            word
            for word, told in (
                ("its direction", peak.direction),
                ("its request size", peak.block),
                ("whether it bypassed the page cache", peak.direct),
            )
            if told is None
        ]
        against = _against_the_words(article, peak)
        if missing or against:
            yield warning(
                "{at}`{workload}` is used as {use}{gaps}{against}",
                at=at(peak.place),
                workload=peak.workload,
                use=peak.taken_for,
                gaps=say("; not reported: {missing}", missing=missing) if missing else NOTHING,
                against=against or _against_the_database(article, peak),
            )


def _against_the_words(article: Article, peak: Peak) -> Message:
    """Return the peaks' ratio beside a claim, without figures, about the load that they should predict."""
    raw = _by_storage(article, peak.workload)
    for claim in article.claims:
        said = claim.value if claim.kind == "times as fast" else 1.0 if claim.kind == "the same" else None
        of, than = parts_of(claim.of), parts_of(claim.than or "")
        if claim.printed or said is None or peak.load not in of:
            continue
        for fast, slow in product(raw.keys() & of, raw.keys() & than):
            ratio = raw[fast] / raw[slow]
            if not 1 / TIE <= ratio / said <= TIE:
                return say(
                    "; by it {sum}, but the article says of `{load}`: {claim} ({place})",
                    sum=_ratio(raw, fast, slow),
                    load=peak.load,
                    claim=claim.says,
                    place=claim.place,
                )
    return NOTHING


def _ratio(raw: dict[str, float], high: str, low: str) -> Message:
    return say(
        "{a} / {b} = {ratio:.3g} ({high} / {low})",
        a=printed(raw[high]),
        b=printed(raw[low]),
        ratio=raw[high] / raw[low],
        high=high,
        low=low,
    )


def _against_the_database(article: Article, peak: Peak) -> Message:
    """Return the peaks' ratio beside those of the loads on the same two storages."""
    raw = _by_storage(article, peak.workload)
    if len(raw) < 2:
        return NOTHING
    high, low = max(raw, key=lambda at: raw[at]), min(raw, key=lambda at: raw[at])
    peaks = {one.workload for one in article.peaks}
    cells: dict[object, dict[str, float]] = {}
    for one in article.cells:
        if (rate := _rate(one)) and one.levels.get("workload") not in peaks:
            rest = frozenset((factor, level) for factor, level in one.levels.items() if factor != "storage")
            cells.setdefault(rest, {})[one.levels.get("storage", "")] = rate
    ratios = [rates[high] / rates[low] for rates in cells.values() if high in rates and low in rates]
    if not ratios:
        return NOTHING
    form = "; {sum} by this peak, {least:.3g} to {most:.3g} in the load itself"
    return say(form, sum=_ratio(raw, high, low), least=min(ratios), most=max(ratios))


def _by_storage(article: Article, workload: str) -> dict[str, float]:
    """Return the rate of a raw load on each storage."""
    return {
        storage: rate
        for one in article.cells
        if one.levels.get("workload") == workload
        and (storage := one.levels.get("storage"))
        and (rate := _rate(one))
    }


def _rate(one: Stated) -> float | None:
    return next((one.figures[measure] for measure in RATES if measure in one.figures), None)


@check(
    "above-specified",
    reason="A drive that is faster than its maker promises was measured at its best: fresh flash, a small "
    "part of it, or a cache. Its lasting speed is lower.",
    remedy="fill the drive, write until the rate is level, and say for how long",
    source="SNIA, Solid State Storage Performance Test Specification: fresh out of the box against steady "
    "state",
)
def above_specified(article: Article) -> Iterator[Said]:
    """Find raw figures above those that the device's maker promises."""
    raw = any("requests_per_s" in one.figures or "megabytes_per_s" in one.figures for one in article.cells)
    if not raw:
        raise NothingToCheckError("an article without raw figures of devices")
    if not article.specified:
        yield Untold("what the makers of an article's devices promise")
    for limit in article.specified:
        for one in article.cells:
            figure = one.figures.get(limit.measure, 0.0)
            meant = (one.levels.get("storage"), one.levels.get("workload"))
            if meant == (limit.storage, limit.workload) and figure > limit.most * (1 + ABOVE):
                yield warning(
                    "{at}{name}: the printed {figure} is {figure} / {most} = {ratio:.3g} times the most that "
                    "is promised ({source})",
                    at=at(one.place),
                    name=one.name,
                    figure=printed(figure),
                    most=printed(limit.most),
                    ratio=figure / limit.most,
                    source=limit.source,
                )
