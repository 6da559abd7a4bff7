"""The last line of a bench: how many goals are met, and which are not."""

from collections.abc import Sequence
from typing import NamedTuple


class Judged(NamedTuple):
    """A figure and whether it meets its goal; None if it has none, or was measured too shortly.

    A program that failed meets nothing.
    """

    what: str
    met: bool | None


def conclude(judged: Sequence[Judged]) -> int:
    """Print the verdict; return 1 if a goal is missed."""
    goals = [one for one in judged if one.met is not None]
    missed = [one.what for one in goals if not one.met]
    many = f"{len(goals) - len(missed)} of {len(goals)} goals met" if goals else "nothing was judged"
    print(f"Verdict: {many}{'; missed: ' if missed else ''}{'; '.join(missed)}")
    return 1 if missed else 0
