"""A series is read within bounds, whatever its file claims."""

from pathlib import Path

import pytest

from diskproof.results import series


def test_a_series_of_more_rows_than_any_trial_has_is_not_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A file of a few bytes may claim more rows than the memory holds."""
    path = tmp_path / "trial.parquet"
    writer = series.SeriesWriter(path)
    writer.add([(float(second), "load", "transactions_per_s", 1.0) for second in range(11)])
    writer.close()
    read = series.read_series(path, None, None)
    assert read is not None
    assert read.num_rows == 11
    monkeypatch.setattr(series, "MOST_ROWS", 10)
    assert series.read_series(path, None, None) is None
