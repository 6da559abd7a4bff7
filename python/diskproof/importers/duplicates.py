"""The same output read twice: it counts once, so that a copy is no repeat."""

from collections.abc import Sequence

from diskproof.importers.base import Found
from diskproof.results.imported import ImportedResult

FEWEST_COUNTED = 100
"""Transactions from which two runs do not agree in count, time and each latency by chance. A judgement."""

MOST_NAMED = 5


def without_copies(found: Sequence[Found]) -> list[Found]:
    """Return what was found without the copies of results; the first of each names them in a remark."""
    first: dict[object, int] = {}
    copies: dict[int, list[ImportedResult]] = {}
    kept: list[Found] = []
    for one in found:
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
    be enough of them: three figures of three digits each may agree by chance.
    """
    load = result.load
    identities: list[object] = []
    if result.source.sha256:
        identities.append((result.source.sha256, result.source.line, result.source.format, result.name))
    if load.latency_us and (load.transactions or 0) >= FEWEST_COUNTED:
        figures = load.model_dump_json()
        identities.append((result.source.format, figures, tuple(result.intervals_per_s)))
    return identities


def _remark(copies: Sequence[ImportedResult]) -> str:
    places = list(dict.fromkeys(f"{one.source.file}, line {one.source.line}" for one in copies))
    more = f" and {len(places) - MOST_NAMED} more places" if len(places) > MOST_NAMED else ""
    return f"the same output stands in {'; '.join(places[:MOST_NAMED])}{more} again, and counts once"
