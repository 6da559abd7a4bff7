"""How much data a load had: as our own trial measured it, or as the options of another tool say."""

from dataclasses import dataclass

from diskproof.audit.check import Evidence
from diskproof.results.imported import ImportedResult
from diskproof.results.record import recorded
from diskproof.wording import Message, bytes_, say

ROW_BYTES = 240
"""Bytes of a row of sysbench's tables, with the key on k: 4 + 4 + 120 + 60 bytes of columns and InnoDB's own.
Five million rows were 1.13 GiB."""

SCALE_BYTES = 15 * 2**20
"""Bytes of pgbench's tables per unit of the scaling factor: 100,000 accounts with their key."""

BUILTIN_WRITERS = ("tpc-b", "simple update")
"""How the names of pgbench's own scripts begin if every transaction of theirs writes."""

ROUGH = 0.2
"""Share by which a computed size may be wrong: pages are filled more or less. A judgement."""


@dataclass(frozen=True)
class Data:
    """How much data there was."""

    size_bytes: float
    words: Message
    """Its size, and how it was found: ``1.118 GiB: 10 x 500,000 rows of about 240 bytes``."""
    rough: bool = False
    """Whether it was computed."""

    def fits_in(self, memory_bytes: float) -> bool:
        """Tell whether it certainly fits."""
        return self.size_bytes <= memory_bytes * ((1 - ROUGH) if self.rough else 1)

    def exceeds(self, memory_bytes: float) -> bool:
        """Tell whether it certainly does not."""
        return self.size_bytes > memory_bytes * ((1 + ROUGH) if self.rough else 1)


def data_of(evidence: Evidence) -> Data:
    """Return the data of a load; NotRecordedError if nothing says its size."""
    if evidence.trial.data is not None:
        size = evidence.trial.data.data_bytes
        return Data(size, say("{size}", size=bytes_(size)))
    told = _by_options(evidence.result) if evidence.result else None
    return recorded(told, "the size of the data")


def _by_options(result: ImportedResult) -> Data | None:
    """Return the size from the options of sysbench or pgbench; None if they do not say it."""
    if result.source.format == "pgbench" and (scale := builtin_scale(result)):
        size = scale * SCALE_BYTES
        words = say("{size}: scaling factor {scale} x about 15 MiB", size=bytes_(size), scale=scale)
        return Data(size, words, rough=True)
    if not result.source.format.startswith("sysbench"):
        return None
    rows = _asked(result, "table-size", "table_size")
    tables = _asked(result, "tables", "tables-count", "tables_count") or 1
    if not rows:
        return None
    size = tables * rows * ROW_BYTES
    words = say(
        "{size}: {tables} x {rows} rows of about {each} bytes",
        size=bytes_(size),
        tables=tables,
        rows=rows,
        each=ROW_BYTES,
    )
    return Data(size, words, rough=True)


def builtin_scale(result: ImportedResult) -> int | None:
    """Return the scaling factor of pgbench's own tables; None for a user's script.

    For such a script pgbench prints 1, whatever its tables hold.
    """
    if result.load.mix is None or not result.load.mix.casefold().startswith(
        (*BUILTIN_WRITERS, "select only")
    ):
        return None
    return _asked(result, "scaling factor")


def _asked(result: ImportedResult, *names: str) -> int | None:
    told = next((result.asked[name] for name in names if name in result.asked), None)
    return int(told) if told and told.isdecimal() and 0 < len(told) < 13 else None
