"""A trial's time series on its way to the disk and back: one long table in one Parquet file."""

import threading
from collections.abc import Iterable
from functools import cache, lru_cache, reduce
from pathlib import Path
from typing import TYPE_CHECKING, Any

from diskproof.reading import MIB, UnreadableError, opened
from diskproof.results.durable import sync, sync_folder, writing
from diskproof.results.live import Course

if TYPE_CHECKING:  # it loads slowly, and most verbs have no series
    import pyarrow as pa

Row = tuple[float, str, str, float]
"""(t_s, source, metric, value)."""

MOST_BYTES = 512 * MIB
"""A day, the longest trial, takes some 30 MB with a hundred metrics a second. It is read at once: Arrow asks
for dozens of pieces of a file, each through Python."""

MOST_ROWS = 50_000_000
"""More than a day has; a small file may claim thousands of times as many."""

BATCH_ROWS = 16_384
"""Rows that wait in memory for the next row group: a minute or two of a server's counters, 4 MB."""


@cache
def series_schema() -> "pa.Schema":
    """Return the columns of a series.

    `t_s`: seconds since the measured phase began, negative in the warm-up; `source`: load, host, server,
    device:<name>; `metric`, named with its unit: transactions_per_s, latency_p95_us.
    """
    import pyarrow as pa  # noqa: PLC0415

    # Arrow would catch Ctrl-C while it reads or writes, and report it as a file that cannot be read.
    pa.enable_signal_handlers(False)
    columns: dict[str, pa.DataType] = {
        "t_s": pa.float64(),
        "source": pa.string(),
        "metric": pa.string(),
        "value": pa.float64(),
    }
    return pa.schema(columns)


class SeriesWriter:
    """Writes one series in batches, so that a trial of a day needs no more memory than one of a minute.

    Any thread may add. The file has its name only once it is closed and on the disk: a kill before
    that leaves no series, never a part of one.
    """

    def __init__(self, path: Path, course: Course | None = None) -> None:
        """Begin the series that will be `path`; what an earlier attempt left half-written is gone.

        `course` gets the rows at once, for those who watch.
        """
        import pyarrow.parquet as pq  # noqa: PLC0415

        self._path = path
        self._scratch = path.with_name(path.name + ".partial")
        with writing(path):
            self._writer = pq.ParquetWriter(self._scratch, series_schema(), compression="lz4")
        self._waiting: list[Row] = []
        self._lock = threading.Lock()
        self._closed = False
        self._course = course

    def add(self, rows: Iterable[Row]) -> None:
        """Add rows, in any order of time. After `close` nothing is added: the series is what it is."""
        with self._lock:
            if self._closed:
                return
            for row in rows:
                self._waiting.append(row)
                if self._course is not None:
                    self._course.add(row)
                if len(self._waiting) >= BATCH_ROWS:
                    self._write_batch()

    def close(self) -> None:
        """Write the rest and have the whole file on the disk before it gets its name."""
        with self._lock:
            if self._closed:
                return
            self._closed = True
            if self._course is not None:
                self._course.end()
            with writing(self._path):
                self._write_batch()
                self._writer.close()
                sync(self._scratch)
                self._scratch.rename(self._path)
                sync_folder(self._path.parent)

    def _write_batch(self) -> None:
        import pyarrow as pa  # noqa: PLC0415

        if self._waiting:
            columns = [list(column) for column in zip(*self._waiting, strict=True)]
            self._writer.write_table(pa.table(columns, schema=series_schema()))
            self._waiting = []


def read_series(
    path: Path, source: str | None, metric: str | None, within: Path | None = None
) -> "pa.Table | None":
    """Read a series, or one source's or metric's part of it; None if there is none that can be read.

    A file that a failing disk or a copy cut short has torn is as good as none: the trial's record
    holds its figures, the series only their course.
    """
    import pyarrow as pa  # noqa: PLC0415
    import pyarrow.parquet as pq  # noqa: PLC0415

    wanted, schema = {"source": source, "metric": metric}, series_schema()
    try:
        with (
            opened(path, MOST_BYTES, within) as content,
            pq.ParquetFile(pa.BufferReader(content.read())) as file,
        ):
            # In this thread: a pool of readers may still be ending when a short command does, and abort it.
            if not file.schema_arrow.equals(schema) or file.metadata.num_rows > MOST_ROWS:
                return None
            batches = [_part(batch, wanted) for batch in file.iter_batches(use_threads=False)]
        table = pa.Table.from_batches(batches, schema=schema)
        table.validate(full=True)  # damaged text is no UTF-8, which is noticed only when it is read
    except (pa.ArrowException, OSError, UnreadableError):
        return None
    return table


@lru_cache(100)
def _scalar(text: str) -> "pa.Scalar[Any]":
    import pyarrow as pa  # noqa: PLC0415

    return pa.scalar(text)  # which takes longer than to compare all values of a short series


def _part(batch: "pa.RecordBatch", wanted: dict[str, str | None]) -> "pa.RecordBatch":
    import pyarrow.compute as pc  # noqa: PLC0415

    masks = [
        pc.equal(batch.column(name), _scalar(value)) for name, value in wanted.items() if value is not None
    ]
    return batch.filter(reduce(pc.and_, masks)) if masks else batch
