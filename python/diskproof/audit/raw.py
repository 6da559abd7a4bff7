"""Checks of an article's raw figures of devices: what these can do, and what the figures are taken for."""

from collections.abc import Iterator
from itertools import product

from diskproof.audit.check import Apart, Problem, Said, Untold, check
from diskproof.audit.claims import TIE
from diskproof.audit.device import SPINNING_MB_PER_S
from diskproof.audit.rounding import half_a_digit
from diskproof.audit.wording import at
from diskproof.results.article import Article, Peak, Stated
from diskproof.results.published import RATES

BUS_MB_S = {"USB 2": 48.0, "USB 3": 500.0, "SATA I": 150.0, "SATA II": 300.0, "SATA III": 600.0}
"""What a bus carries at most after its line coding: 8 of 10 bits of 480 (USB 2: of its microframes), 5,000,
1,500, 3,000 and 6,000 Mbit/s."""

ABOVE = 0.05
"""Share by which a figure may lie above what its maker promises: a judgement, of drives of one kind."""


@check(
    "cache-answered",
    reason="A request that is faster than its bytes can travel was answered by a cache: the figures are of "
    "drive and cache together.",
    remedy="direct I/O, or files larger than memory",
    source="the bus's rate after its line coding; for hard disks the fastest platters",
)
def cached(article: Article) -> Iterator[Said]:
    """Find requests whose bytes could not have come from the device, and writes that never reached it."""
    said = [*_too_quick(article), *_writes_before_reads(article)]
    yield from (one for one in said if one)
    if not said:
        yield Apart("an article without the fastest requests of a load on files, and random reads and writes")


def _too_quick(article: Article) -> Iterator[Problem | None]:
    """Yield what each fastest request tells; None where the device can be as fast."""
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
            else Problem(
                "warning",
                f"{at(one.place)}{one.name}: {moved:,.10g} MB/s / {rate:,.10g} = {request_bytes:,.0f} "
                f"bytes a "
                "request; the "
                f"fastest took {least:,.10g} ms (at most {longest_ms:,.10g}), which is {speed:.0f} MB/s or "
                f"more, "
                f"and {what} "
                f"gives no more than {most:,.10g}: a cache answered that one, at least",
            )
        )


def _writes_before_reads(article: Article) -> Iterator[Problem | None]:
    """Yield what random reads and writes of one size tell of each spinning disk."""
    random = [peak for peak in article.peaks if peak.order == "random"]
    for read, write in product(random, random):
        if (read.direction, write.direction) != ("read", "write") or read.block_bytes != write.block_bytes:
            continue
        reads, writes = _by_storage(article, read.workload), _by_storage(article, write.workload)
        for storage in reads.keys() & writes.keys():
            if not article.devices.get(storage, "").startswith("spinning"):
                continue
            ratio = writes[storage] / reads[storage]
            yield (
                None
                if ratio <= TIE
                else Problem(
                    "warning",
                    f"{at(write.place)}{storage}: {writes[storage]:,.10g} random writes a second and "
                    f"{reads[storage]:,.10g} "
                    f"random reads of the same size, {writes[storage]:,.10g} / {reads[storage]:,.10g} = "
                    f"{ratio:.3g} "
                    "times as "
                    f"many, though the heads have as far to go for both: a cache, the drive's or the "
                    "system's, took "
                    f"the writes, and what it holds is not yet safe",
                )
            )


def _fastest(article: Article, storage: str) -> tuple[float, str] | None:
    """Return what a storage can move at most, in MB/s, and what limits it; None where it is not known."""
    if article.devices.get(storage, "").startswith("spinning"):
        return SPINNING_MB_PER_S, "a platter"
    told = (
        one.facts.get("bus", "")
        for one in article.conditions
        if (one.factor, one.level) == ("storage", storage)
    )
    bus = next((bus for bus in told if bus in BUS_MB_S), None)
    return (BUS_MB_S[bus], bus) if bus else None


@check(
    "raw-peak",
    reason="What a device gives depends on direction, size of request, depth of queue and caches: one figure "
    "of bytes is a peak of one of them, and no ceiling for a database that waits for flushes.",
    remedy="measure reads and writes apart, past the page cache, and the synced small writes that a log "
    "makes",
    source="dd as published: neither block size nor direction nor flags; Gregg, Systems Performance, 2020, "
    "chapter 9 (workload characterisation)",
)
def raw_peak(article: Article) -> Iterator[Said]:
    """Find a raw figure that is taken for more than it says, or that does not say of what it is one."""
    if not article.peaks:
        yield Apart("an article without a raw figure of its devices")
    for peak in article.peaks:
        missing = [
            word
            for word, told in (
                ("its direction", peak.direction),
                ("its size of request", peak.block_bytes),
                ("whether it passed the page cache by", peak.direct),
            )
            if told is None
        ]
        is_are = "is" if len(missing) == 1 else "are"
        gaps = f", and {', '.join(missing)} {is_are} not told" if missing else ""
        against = _against_the_words(article, peak)
        if gaps or against:
            yield Problem(
                "warning",
                f"{at(peak.place)}`{peak.workload}` is taken for {peak.taken_for}{gaps}"
                f"{against or _against_the_database(article, peak)}",
            )


def _against_the_words(article: Article, peak: Peak) -> str:
    """Return the peaks' ratio beside what is said, without figures, of the load that they are to foretell."""
    raw = _by_storage(article, peak.workload)
    for claim in article.claims:
        said = claim.value if claim.kind == "times as fast" else 1.0 if claim.kind == "the same" else None
        of, than = _levels_in(claim.of), _levels_in(claim.than or "")
        if claim.printed or said is None or peak.load not in of:
            continue
        for fast, slow in product(raw.keys() & of, raw.keys() & than):
            ratio = raw[fast] / raw[slow]
            if not 1 / TIE <= ratio / said <= TIE:
                return (
                    f"; {raw[fast]:,.10g} / {raw[slow]:,.10g} = {ratio:.3g} ({fast} / {slow}) by it, and of "
                    f"`{peak.load}` it is said that {claim.says} ({claim.place})"
                )
    return ""


def _levels_in(name: str) -> set[str]:
    """Return the levels in the name of what has no printed figure: ``read-only, ssd or dram``."""
    return {level for part in name.split(", ") for level in part.split(" or ")}


def _against_the_database(article: Article, peak: Peak) -> str:
    """Return the peaks' ratio beside those of the loads on the same two storages."""
    raw = _by_storage(article, peak.workload)
    if len(raw) < 2:
        return ""
    high, low = max(raw, key=lambda at: raw[at]), min(raw, key=lambda at: raw[at])
    peaks = {one.workload for one in article.peaks}
    cells: dict[object, dict[str, float]] = {}
    for one in article.cells:
        if (rate := _rate(one)) and one.levels.get("workload") not in peaks:
            rest = frozenset((factor, level) for factor, level in one.levels.items() if factor != "storage")
            cells.setdefault(rest, {})[one.levels.get("storage", "")] = rate
    ratios = [rates[high] / rates[low] for rates in cells.values() if high in rates and low in rates]
    if not ratios:
        return ""
    return (
        f"; {raw[high]:,.10g} / {raw[low]:,.10g} = {raw[high] / raw[low]:.3g} ({high} / {low}) by this peak, "
        f"{min(ratios):.3g} to {max(ratios):.3g} in the load itself"
    )


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
    reason="A drive that is faster than its maker promises was measured at its best: flash that is fresh, a "
    "small part of it, or a cache. What lasts is slower.",
    remedy="fill the drive, write until the rate is level, and tell for how long",
    source="SNIA, Solid State Storage Performance Test Specification: fresh out of the box against steady "
    "state",
)
def above_specified(article: Article) -> Iterator[Said]:
    """Find raw figures above what the maker of the device promises."""
    raw = any("requests_per_s" in one.figures or "megabytes_per_s" in one.figures for one in article.cells)
    if not raw:
        yield Apart("an article without raw figures of devices")
    elif not article.specified:
        yield Untold("what the makers of an article's devices promise")
    for limit in article.specified:
        for one in article.cells:
            figure = one.figures.get(limit.measure, 0.0)
            meant = (one.levels.get("storage"), one.levels.get("workload"))
            if meant == (limit.storage, limit.workload) and figure > limit.most * (1 + ABOVE):
                yield Problem(
                    "warning",
                    f"{at(one.place)}{one.name}: {figure:,.10g} is printed, {limit.most:,.10g} is the most "
                    f"that is "
                    "promised "
                    f"({limit.source}): {figure:,.10g} / {limit.most:,.10g} = {figure / limit.most:.3g} "
                    f"times as "
                    "much",
                )
