"""Whether a virtual disk answered on time while it was measured."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from diskproof import disk
from diskproof.report import words
from diskproof.results.usage import Waiting
from diskproof.storage.attached import Attachment
from diskproof.storage.waiting import watched


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
    with watched(attached.control, attached.block.name, attached.facts.path_us) as account:
        yield found
    statistics, waiting = account.statistics, account.waiting
    if statistics["late"]:
        found.notes.append(_late_words(statistics))
    if waiting and waiting.late:
        found.notes.append(_waited_words(waiting))
    found.invalid = bool(found.notes)
    if label := attached.facts.label:
        found.notes.append(label)


def _late_words(statistics: disk.Facts) -> str:
    return (
        f"the virtual disk was late: the 99th percentile of lateness is "
        f"{words.number(100 * statistics['lateness_share'])} % of the mean modelled latency, more than the "
        "10 % at which its figures stop being the device's; ease the machine, or take a slower device"
    )


def _waited_words(waiting: Waiting) -> str:
    return (
        f"the virtual disk was late: its requests took {words.number(waiting.await_us)} us at its block "
        f"device in the mean, {words.number(100 * waiting.share)} % more than its model says "
        "(10 % are allowed): they waited in the kernel before the disk saw them; ease the machine, or take "
        "a slower device"
    )
