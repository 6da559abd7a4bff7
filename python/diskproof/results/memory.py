"""A run folder in memory: what is to be published, before anything is written."""

from collections.abc import Mapping, Sequence
from pathlib import Path

import pyarrow as pa

from diskproof.results.folder import RunFolder, RunFolderError
from diskproof.results.series import SERIES_SCHEMA, Row


class MemoryFolder(RunFolder):
    """A run folder whose files are texts; it is read as any other, and cannot be written."""

    def __init__(self, name: str, texts: Mapping[str, str], rows: Mapping[str, Sequence[Row]]) -> None:
        """Take the files by their names, and the rows of each trial's series."""
        super().__init__(Path(name))
        self.texts, self.rows = texts, rows

    def series(
        self, trial_id: str, *, source: str | None = None, metric: str | None = None
    ) -> pa.Table | None:
        """Return one trial's time series, or one source's or metric's part of it; None if there is none."""
        rows = [
            row
            for row in self.rows.get(trial_id, ())
            if source in (None, row[1]) and metric in (None, row[2])
        ]
        if not rows:
            return None
        columns = [list(column) for column in zip(*rows, strict=True)]
        return pa.table(columns, schema=SERIES_SCHEMA)

    def _has(self, name: str) -> bool:
        return name in self.texts

    def _read(self, name: str) -> bytes:
        try:
            return self.texts[name].encode()
        except KeyError:
            raise RunFolderError(f"{self.path} has no {name}") from None
