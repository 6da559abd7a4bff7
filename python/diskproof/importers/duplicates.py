"""The same output read twice: it counts once, so that a copy is no repeat."""

from collections.abc import Sequence

from diskproof.importers.base import Found
from diskproof.results.imported import ImportedResult
from diskproof.stats.groups import grouped

FEWEST_COUNTED = 100
"""Transactions from which two runs do not agree in count, time and each latency by chance. A judgement."""

MOST_NAMED = 5


def without_copies(found: Sequence[Found]) -> list[Found]:
    """Return what was found without the copies of results; the first of each names them in a remark."""
    first: dict[object, int] = {}
    copies: dict[int, list[ImportedResult]] = {}
    kept: list[Found] = []
    for one in _in_one_form(found):
        identities = _identities(one) if isinstance(one, ImportedResult) else []
        known = next((first[identity] for identity in identities if identity in first), None)
        if known is not None and isinstance(one, ImportedResult):
            copies.setdefault(known, []).append(one)
            continue
        first |= {identity: len(kept) for identity in identities}
        kept.append(one)
    return [
        one.model_copy(update={"remarks": [*one.remarks, _remark(copies[at])]})
        if at in copies and isinstance(one, ImportedResult)
        else one
        for at, one in enumerate(kept)
    ]


def _identities(result: ImportedResult) -> list[object]:
    """Return what no other measurement has in common with this one.

    It is the same place of a file with the same content, or figures that agree to the last digit. There must
    be enough of them: three figures of three digits each (mysqlslap) may agree by chance.
    """
    load = result.load
    identities: list[object] = []
    if result.source.sha256:
        identities.append((result.source.sha256, result.source.line, result.source.format, result.name))
    if load.latency_us and (load.transactions or 0) >= FEWEST_COUNTED:
        figures = load.model_dump_json()
        identities.append((result.source.format, figures, tuple(result.intervals_per_s)))
    return identities


def _in_one_form(found: Sequence[Found]) -> list[Found]:
    """Return each job of fio once, also if it was printed both for people and tersely.

    Its latencies have more digits in the terse line; all else is in the other form. Repeats may have equal
    times, so the first of one form is the first of the other.
    """
    fio = [one for one in found if isinstance(one, ImportedResult) and one.source.format.startswith("fio")]
    terse = grouped(filter(_is_terse, fio), _job)
    twins: dict[int, ImportedResult] = {}
    for one in fio:
        if not _is_terse(one) and (alike := terse.get(_job(one))):
            twins[id(one)] = alike.pop(0)
    paired = set(map(id, twins.values()))
    return [
        _with_latency_of(twins[id(one)], one) if isinstance(one, ImportedResult) and id(one) in twins else one
        for one in found
        if id(one) not in paired
    ]


def _is_terse(result: ImportedResult) -> bool:
    return result.source.format.startswith("fio terse")


def _with_latency_of(twin: ImportedResult, result: ImportedResult) -> ImportedResult:
    load = result.load.model_copy(update={"latency_us": twin.load.latency_us or result.load.latency_us})
    return result.model_copy(update={"load": load})


def _job(result: ImportedResult) -> object:
    """Return what a job of fio has in all its forms of output; its time is in ms."""
    return result.source.file, result.source.tool, result.name, result.load.seconds


def _remark(copies: Sequence[ImportedResult]) -> str:
    places = list(dict.fromkeys(f"{one.source.file}, line {one.source.line}" for one in copies))
    more = f" and {len(places) - MOST_NAMED} more places" if len(places) > MOST_NAMED else ""
    return f"the same output stands in {'; '.join(places[:MOST_NAMED])}{more} again, and counts once"
