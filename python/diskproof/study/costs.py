"""Estimates of what a plan costs: bytes that are copied, bytes that loads write."""

from diskproof.study.places import PlaceChoice

COPY_BYTES_PER_S = 250e6
"""A cautious rate of copying."""

WRITE_BYTES_PER_S = 20e6
"""An allowance for what a writing load itself puts on the disk."""


def copied_bytes(place: PlaceChoice, data_bytes: int, times: int) -> int:
    """Return the bytes copied for so many uses of a data set: once if the place keeps it."""
    return data_bytes * (1 if place.keeps_data_sets else times)


def written_bytes(place: PlaceChoice, load_s: float) -> int:
    """Estimate what writing loads put on storage that wears: nothing if the data is in memory."""
    return 0 if place.in_memory else round(load_s * WRITE_BYTES_PER_S)
