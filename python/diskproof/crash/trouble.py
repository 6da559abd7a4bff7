"""What clients and server met until the death, from the file of acknowledgements. Pure."""

import math
from bisect import bisect_left
from collections import Counter
from collections.abc import Sequence
from itertools import pairwise

from diskproof.crash.ledger import Acknowledgement, Failure
from diskproof.results.fault import Trouble

BINS = 100
"""Of the time until the death, at most: what a picture can show."""

LEAST_BIN_S = 0.05


def trouble(
    told: Sequence[Acknowledgement],
    failed: Sequence[Failure],
    began_us: int,
    ended_us: int,
    after_s: float,
    hits: int | None,
) -> Trouble:
    """Return the course of the commits, and the longest silence since a fault began.

    `began_us`: the first answer, from which `after_s` counts; `ended_us`: the death.
    """
    lasted_s = max(ended_us - began_us, 0) / 1e6
    at_s = sorted((one.at_us - began_us) / 1e6 for one in told if began_us <= one.at_us <= ended_us)
    bin_s = max(lasted_s / BINS, LEAST_BIN_S)
    bins = Counter(int(at / bin_s) for at in at_s)
    since = at_s[bisect_left(at_s, after_s) :]
    ends = [after_s, *since, max(lasted_s, after_s)]
    silences = [(later - earlier, number) for number, (earlier, later) in enumerate(pairwise(ends))]
    silent_s, number = max(silences)
    return Trouble(
        lasted_s=lasted_s,
        hits=hits,
        errors=dict(Counter(one.code for one in failed if one.at_us <= ended_us).most_common()),
        bin_s=bin_s,
        course=[bins[number] for number in range(max(math.ceil(lasted_s / bin_s), 1))],
        silent_s=silent_s,
        serves_again_s=since[number] - after_s if number < len(since) else None,
    )
