"""What a plan costs, as far as it can be known beforehand: bytes that are copied, bytes that loads write."""

from diskproof.study.places import PlaceChoice

COPY_BYTES_PER_S = 250e6
"""A cautious rate of copying a data set."""

WRITE_BYTES_PER_S = 20e6
"""An allowance for what a writing load itself puts on the disk."""


def copied_bytes(place: PlaceChoice, data_bytes: int, times: int) -> int:
    """Return what is copied where a data set is asked for so often: once where the place keeps it."""
    return data_bytes * (1 if place.keeps_data_sets else times)


def written_bytes(place: PlaceChoice, load_s: float) -> int:
    """Estimate what writing loads put on storage that wears: nothing where the data lies in memory."""
    return 0 if place.in_memory else round(load_s * WRITE_BYTES_PER_S)
