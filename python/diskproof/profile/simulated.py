"""What a device's model answers to a probe, in virtual time."""

from diskproof import disk
from diskproof.results.modelled import MeasureName

MODELLED = frozenset(
    {
        *("random-read", "random-write", "sequential-read", "sequential-write"),
        *("mixed", "fileio", "synced-write", "synced-append"),
    }
)
"""The patterns that a model can be asked; a profile has three more."""


def figure_of(told: disk.Facts, measure: MeasureName) -> float | None:
    """Return one figure of a simulation; None if no time passed or no request was answered."""
    if measure == "flushes_per_s":
        return float(told["flushes"] / told["seconds"]) if told["seconds"] else None
    return float(told[measure]) if told["requests"] and told[measure] is not None else None
