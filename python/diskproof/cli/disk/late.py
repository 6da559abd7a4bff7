"""Whether a virtual disk answered on time while it was measured."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from diskproof import disk
from diskproof.report import words
from diskproof.storage.attached import Attachment


@dataclass
class Punctuality:
    """What is known of a virtual disk's lateness once it has been measured."""

    notes: list[str] = field(default_factory=list)
    invalid: bool = False
    """More than a tenth of the latency: what was measured is not the device's."""


@contextmanager
def punctuality(attached: Attachment | None) -> Iterator[Punctuality]:
    """Watch a virtual disk, if it is one; in the end the yielded object tells how it was."""
    found = Punctuality()
    if attached is None:
        yield found
        return
    attached.control.ask("reset")
    yield found
    statistics = attached.control.ask("statistics")
    found.invalid = bool(statistics["late"])
    if found.invalid:
        found.notes.append(_late_words(statistics))
    if label := attached.facts.label:
        found.notes.append(label)


def _late_words(statistics: disk.Facts) -> str:
    return (
        f"the virtual disk was late: the 99th percentile of lateness is "
        f"{words.number(100 * statistics['lateness_share'])} % of the mean modelled latency, more than the "
        "10 % at which its figures stop being the device's; ease the machine, or take a slower device"
    )
