"""When a measured ratio agrees with a published one: in its order, and in its size."""

from diskproof.analysis.published.shapes import Agreement, Mark
from diskproof.stats.intervals import Interval

SCATTER = 1.10
"""By what factor a published figure may be off by chance.

Most are of one run, or the best of a few, and carry no interval. Another start of the same server alone moved
one by a tenth (332.4 and 302.7 transactions per second: Percona, "Mystery variance").
"""

SIZE_BAND = 1.25
"""By what factor a measured ratio may be off and still be as large as the published one.

Two figures that are each off by :data:`SCATTER`, one up and one down, make a ratio that is off by its square,
1.21; the rest is rounding, since many are printed with two digits.
"""


TIE = SCATTER**2
"""Up to this factor a published ratio shows no order: its two figures may each be off by :data:`SCATTER`."""


def order_agreement(published: float, measured: Interval, same_within: float) -> Agreement:
    """Tell whether the order is as published: faster, slower, or the same.

    Where the published ratio is within :data:`TIE` of 1, no order was published but "the same": it agrees
    where the measured interval lies within that too, and differs where none of it does. A published order
    differs where the whole interval is on the other side of 1 or the same within the study's band, and agrees
    where it excludes 1 on the published side. All else is open; so is an order of which the size agrees: what
    was published may be off by as much as the two orders lie apart.
    """
    if measured.low is None or measured.high is None:
        return "open"
    tie = max(TIE, 1 + same_within)
    if published > tie:
        differs, agrees = measured.high <= 1 + same_within, measured.low > 1
    elif published < 1 / tie:
        differs, agrees = measured.low >= 1 - same_within, measured.high < 1
    else:
        differs, agrees = measured.excludes_all(1 / tie, tie), measured.within(1 / tie, tie)
    if differs:
        return "open" if size_agreement(measured.scaled(1 / published)) == "agrees" else "differs"
    return "agrees" if agrees else "open"


def size_agreement(of_published: Interval) -> Agreement:
    """Tell whether the size is as published: by the interval of measured over published, against the band.

    Wholly within it: as large; wholly outside: not; else open. That is equivalence by confidence interval
    (Westlake, Biometrics 32, 1976), as for the verdict "the same".
    """
    if of_published.within(1 / SIZE_BAND, SIZE_BAND):
        return "agrees"
    return "differs" if of_published.excludes_all(1 / SIZE_BAND, SIZE_BAND) else "open"


def mark_of(order: Agreement, size: Agreement) -> Mark:
    """Return the mark of a comparison that could be made: the gravest that its interval proves."""
    if order == "differs":
        return "order differs"
    if size == "differs":
        return "size differs"
    if order == "agrees":
        return "agrees" if size == "agrees" else "order agrees"
    return "inconclusive"
