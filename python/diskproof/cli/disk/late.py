"""Whether a virtual disk answered on time while it was measured."""

from collections.abc import Iterator
from contextlib import contextmanager

from diskproof import disk
from diskproof.report import words
from diskproof.storage.attached import Attachment


@contextmanager
def punctuality(attached: Attachment | None) -> Iterator[list[str]]:
    """Yield a list that holds, in the end, what must be said of a virtual disk's lateness."""
    said: list[str] = []
    if attached is None:
        yield said
        return
    attached.control.ask("reset")
    yield said
    statistics = attached.control.ask("statistics")
    if facts := attached.facts.label:
        said.append(facts)
    if statistics["late"]:
        said.append(lateness_words(statistics))


def lateness_words(statistics: disk.Facts) -> str:
    """Return how late a disk's answers were, and what to do."""
    return (
        f"the virtual disk was late: the 99th percentile of lateness is "
        f"{words.number(100 * statistics['lateness_share'])} % of the mean modelled latency, more than the "
        "10 % at which its figures stop being the device's; ease the machine, or take a slower device"
    )
