"""Checks of an article's figures beside each other: storages, levels of safety, numbers of clients."""

from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations, pairwise, permutations

from diskproof.audit.check import Configuration, NothingToCheckError, Said, Untold, check, warning
from diskproof.audit.claims import EXACT, TIE, UNITS, at, examples
from diskproof.audit.conditions import configurations
from diskproof.audit.configuration import effective, server_of
from diskproof.families.durability import at_risk
from diskproof.results.article import Article, Stated
from diskproof.results.factor import Factor
from diskproof.results.published import RATES, PublishedMeasure
from diskproof.wording import Message, printed, say, share

APART = 2.0
"""Ratio of means from which two sides count as unlike: a judgement."""

SAME = 1.03
"""Up to this ratio two figures count as the same: the project's own band."""

OF_SPEED: tuple[PublishedMeasure, ...] = ("transactions_per_s", "requests_per_s", "seconds")
"""Measures of a load's speed; bytes a second alone are a raw figure of a device."""


def _by(article: Article, factor: Factor, *measures: PublishedMeasure) -> list[dict[str, Stated]]:
    """Return the results that have all of some measures and differ in one factor alone, by its level."""
    groups: dict[object, dict[str, Stated]] = {}
    for one in article.cells:
        if factor in one.levels and all(measure in one.figures for measure in measures):
            rest = frozenset((key, level) for key, level in one.levels.items() if key != factor)
            groups.setdefault((rest, one.part), {})[one.levels[factor]] = one
    return [group for group in groups.values() if len(group) > 1]


def _kind(article: Article, storage: str) -> str:
    """Return the kind of device behind a storage, without its speed; empty if the article does not say."""
    return article.devices.get(storage, "").partition(" ")[0]


@check(
    "equal-minima",
    reason="The fastest transaction shows what all of them take without the disk. If it is the same on "
    "unlike disks, some transactions waited for no disk, and the means hide how many.",
    remedy="show the distribution of the latencies, and the reads and flushes of a transaction",
    source="Gregg, Systems Performance, 2020, chapter 2 (latencies are distributions, often of two kinds)",
)
def equal_minima(article: Article) -> Iterator[Said]:
    """Find storages of different kinds with equal minima and unlike means."""
    groups = _by(article, "storage", "latency_min_ms", "latency_mean_ms")
    if not groups:
        raise NothingToCheckError("an article without the fastest transactions of two storages")
    for group in groups:
        for one, other in combinations(group.values(), 2):
            kinds = {_kind(article, side.levels["storage"]) for side in (one, other)}
            fast, slow = sorted((one, other), key=lambda side: side.figures["latency_mean_ms"])
            means = slow.figures["latency_mean_ms"] / fast.figures["latency_mean_ms"]
            low, high = fast.figures["latency_min_ms"], slow.figures["latency_min_ms"]
            if len(kinds) == 2 and means >= APART and 1 / TIE <= high / low <= TIE:
                yield warning(
                    "{at}{fast} and {slow}: the fastest took {low} and {high} ms ({high} / {low} = "
                    "{ratio:.3g}), though the means are {means:.3g} times apart: the fastest waited for "
                    "neither disk",
                    at=at(slow.place),
                    fast=fast.name,
                    slow=slow.name,
                    low=printed(low),
                    high=printed(high),
                    ratio=high / low,
                    means=means,
                )


@check(
    "disk-free-load",
    reason="A load that is as fast on one kind of storage as on another does not wait for storage. It cannot "
    "show which is better.",
    remedy="more data than memory, or commits that wait for a flush; keep this load as a control",
    source="Amdahl, AFIPS 1967: what takes no part of the time saves none; the same: up to 3%",
)
def disk_free(article: Article) -> Iterator[Said]:
    """Find loads whose speed is the same on all storages, though these are of different kinds."""
    if not article.storage_under_test or len({_kind(article, one) for one in article.devices}) < 2:
        raise NothingToCheckError("an article without storages of two known kinds")
    controls = {name for one in article.alike for names in one.results for name in names}
    alike: dict[tuple[str, str], list[Message]] = {}
    for measure in OF_SPEED:
        for group in _by(article, "storage", measure):
            told = {storage: one for storage, one in group.items() if _kind(article, storage)}
            if len({_kind(article, storage) for storage in told}) < 2 or (
                all(one.name in controls for one in told.values())
            ):
                continue
            low, high = sorted(told.values(), key=lambda one: one.figures[measure])[:: len(told) - 1]
            ratio = high.figures[measure] / low.figures[measure]
            if ratio <= SAME:
                alike.setdefault((low.place, low.levels.get("workload", low.table)), []).append(
                    say(
                        "{high}: {a}; {low}: {b} {unit}, {a} / {b} = {ratio:.4g}",
                        high=high.name,
                        low=low.name,
                        a=printed(high.figures[measure]),
                        b=printed(low.figures[measure]),
                        ratio=ratio,
                        unit=UNITS[measure],
                    )
                )
    for (place, load), shown in alike.items():
        form = "{at}`{load}` waits for nothing that the storages differ in: {shown}"
        yield warning(form, at=at(place), load=load, shown=examples(shown))
    yield from _in_words(article)


def _in_words(article: Article) -> Iterator[Said]:
    """Find loads, of which no figure is printed, said to be the same on storages of several kinds."""
    for claim in article.claims:
        levels = {level for side in (claim.of, claim.than or "") for level in parts_of(side)}
        kinds = {_kind(article, level) for level in levels & article.devices.keys()}
        if claim.kind == "the same" and not claim.printed and len(kinds) > 1:
            yield warning(
                "{at}“{says}”: then this load waits for nothing that they differ in",
                at=at(claim.place),
                says=claim.says,
            )


def parts_of(name: str) -> set[str]:
    """Return the levels in the name of a result without a printed figure: ``read-only, ssd or dram``."""
    return {level for part in name.split(", ") for level in part.split(" or ")}


@check(
    "rates-against-clients",
    reason="If more clients slow one storage down and speed the other up, their ratio depends on the number "
    "of clients. No single ratio describes them.",
    remedy="show the rates over the number of clients, and name the number that a ratio is for",
    source="Gunther, Guerrilla Capacity Planning, 2007, chapter 4 (scalability is a curve)",
)
def against_clients(article: Article) -> Iterator[Said]:
    """Find numbers of clients between which one storage's rate falls and another's rises."""
    curves: dict[object, dict[str, dict[int, Stated]]] = {}
    for one in article.cells:
        if one.clients is not None and any(measure in one.figures for measure in OF_SPEED):
            rest = [item for item in one.levels.items() if item[0] not in ("clients", "storage")]
            sides = curves.setdefault((frozenset(rest), one.part), {})
            sides.setdefault(one.levels.get("storage", ""), {})[one.clients] = one
    several = [sides for sides in curves.values() if len(sides) > 1 and len(_common(sides)) > 1]
    if not several:
        raise NothingToCheckError("an article without two storages and two numbers of clients")
    for sides in several:
        for few, many in pairwise(_common(sides)):
            yield from _crossing(article, [(curve[few], curve[many]) for curve in sides.values()])


def _common(sides: Mapping[str, Mapping[int, Stated]]) -> list[int]:
    return sorted(set.intersection(*(set(curve) for curve in sides.values())))


def _crossing(article: Article, steps: Sequence[tuple[Stated, Stated]]) -> Iterator[Said]:
    """Yield a problem if one storage's rate falls and another's rises between two numbers of clients."""
    changes: dict[bool, list[Message]] = {False: [], True: []}
    for few, many in steps:
        before, after = _rate(article, few), _rate(article, many)
        if before is None or after is None:
            yield Untold("how many statements the jobs of `{load}` have", load=few.levels.get("workload", ""))
            return
        ratio = after[0] / before[0]
        if not 1 / TIE <= ratio <= TIE:
            changes[ratio > 1].append(
                say(
                    "{storage} ({before}; {after})",
                    storage=few.levels.get("storage", ""),
                    before=before[1],
                    after=after[1],
                )
            )
    if all(changes.values()):
        few, many = steps[0]
        yield warning(
            "{at}from {few} to {many} clients, the rate falls on {falling:/ and }, but rises on "
            "{rising:/ and }",
            at=at(few.place),
            few=few.clients or 0,
            many=many.clients or 0,
            falling=changes[False],
            rising=changes[True],
        )


def _rate(article: Article, one: Stated) -> tuple[float, Message] | None:
    """Return a rate with its arithmetic; None if a job's statements are not told."""
    for measure in ("transactions_per_s", "requests_per_s"):
        if measure in one.figures:
            return one.figures[measure], say("{rate} a second", rate=printed(one.figures[measure]))
    told = (one.levels.get("workload"), one.clients)
    job = next((job for job in article.jobs if (job.workload, job.clients) == told), None)
    if job is None:
        return None
    seconds = one.figures["seconds"]
    rate = job.statements / seconds
    form = "{statements} / {seconds} s = {rate:,.4g} a second"
    return rate, say(form, statements=printed(job.statements), seconds=printed(seconds), rate=rate)


@check(
    "safer-and-faster",
    reason="A commit that waits for a flush takes at least as long as one that does not. If the safer level "
    "is faster, its settings did not take effect, or chance is as large as the difference.",
    remedy="publish what SHOW VARIABLES answers at each level, and repeat both in random order",
    source="MySQL Reference Manual, innodb_flush_log_at_trx_commit and sync_binlog; PostgreSQL "
    "documentation, synchronous_commit",
)
def safer_faster(article: Article) -> Iterator[Said]:
    """Find levels that are faster than others which wait for fewer flushes."""
    at_levels = {one.level: one for one in configurations(article)}
    ordered = [
        (safe, loose)
        for safe, loose in permutations(at_levels, 2)
        if _at_risk(at_levels[safe]) < _at_risk(at_levels[loose])
    ]
    if not ordered:
        raise NothingToCheckError("an article without two levels of durability")
    for safe, loose in ordered:
        pairs = [
            (group[safe], group[loose], measure)
            for measure in OF_SPEED
            for group in _by(article, "tuning", measure)
            if safe in group and loose in group
        ]
        faster = [shown for pair in pairs if (shown := _faster(*pair))]
        if faster:
            yield warning(
                "{at}`{safe}` is faster than `{loose}` in {faster} of {all} pairs: {shown}",
                at=at(pairs[0][0].place),
                safe=safe,
                loose=loose,
                faster=len(faster),
                all=len(pairs),
                shown=examples(faster),
            )


def _at_risk(level: Configuration) -> set[str]:
    return set(at_risk(server_of(level).family, effective(level)))


def _faster(safe: Stated, loose: Stated, measure: PublishedMeasure) -> Message | None:
    """Return the arithmetic of how much faster the first is; None if it is not."""
    a, b = safe.figures[measure], loose.figures[measure]
    over, under = (a, b) if measure in RATES else (b, a)
    if over / under <= 1 + EXACT:
        return None
    return say(
        "{name}: {over} / {under} = {ratio:.3g}",
        name=safe.name,
        over=printed(over),
        under=printed(under),
        ratio=over / under,
    )


@check(
    "coarse-times",
    reason="A time in whole steps is uncertain by up to a step. Two times that are less than a step apart "
    "have no order.",
    remedy="time with a finer clock, or give each test more work",
    source="the difference of two times that are cut to whole steps is off by up to one step",
)
def coarse_times(article: Article) -> Iterator[Said]:
    """Find storages whose times are less than a step of the clock apart."""
    groups = _by(article, "storage", "seconds")
    if not groups:
        raise NothingToCheckError("an article without times of jobs on two storages")
    pairs: dict[str, list[tuple[Stated, Stated]]] = {}
    for group in groups:
        for one, other in combinations(group.values(), 2):
            pairs.setdefault(one.levels.get("workload", one.table), []).append((one, other))
    for load, compared in pairs.items():
        step = article.procedure.steps_s.get(load)
        if step is None:
            yield Untold("in which steps the times of `{load}` are", load=load)
            continue
        close = [pair for pair in compared if abs(_seconds(pair[0]) - _seconds(pair[1])) < step]
        if close:
            shortest = min(min(map(_seconds, pair)) for pair in compared)
            yield warning(
                "{at}the times of `{load}` are in steps of {step} s, which is up to {share} of a time; "
                "{close} of {all} pairs are less than a step apart: {shown}",
                at=at(close[0][0].place),
                load=load,
                step=printed(step),
                share=share(step / shortest),
                close=len(close),
                all=len(compared),
                shown=examples([_beside(*pair) for pair in close]),
            )


def _seconds(one: Stated) -> float:
    return one.figures["seconds"]


def _beside(one: Stated, other: Stated) -> Message:
    return say(
        "{one}: {a}, {other}: {b} s",
        one=one.name,
        a=printed(_seconds(one)),
        other=other.levels["storage"],
        b=printed(_seconds(other)),
    )


@check(
    "cut-axis",
    reason="Bars show ratios by their lengths. If the axis does not begin at 0, a small difference looks "
    "like a large one.",
    remedy="begin the axis at 0, or draw points with their intervals",
    source="Tufte, The Visual Display of Quantitative Information, 1983, chapter 2 (the lie factor)",
)
def cut_axis(article: Article) -> Iterator[Said]:
    """Find axes that begin above 0, and how much longer a bar looks than it is."""
    if not article.axes:
        raise NothingToCheckError("an article whose pictures have no known axes")
    for axis in article.axes:
        shown = sorted(
            one.figures[axis.measure]
            for one in article.cells
            if one.levels.get("workload") == axis.workload and axis.measure in one.figures
        )
        if not shown:
            yield Untold("the figures of {picture}", picture=axis.place)
        elif 0 < axis.begins_at < shown[0]:
            low, high = shown[0], shown[-1]
            yield warning(
                "{at}the axis begins at {begin}: {high} looks ({high} - {begin}) / ({low} - {begin}) = "
                "{drawn:.3g} times as long as {low}, but is {high} / {low} = {ratio:.3g} times",
                at=at(axis.place),
                begin=printed(axis.begins_at),
                high=printed(high),
                low=printed(low),
                drawn=(high - axis.begins_at) / (low - axis.begins_at),
                ratio=high / low,
            )
