"""Whether a virtual disk answered on time while it was measured."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from diskproof import disk
from diskproof.profile.place import Wanted
from diskproof.results.usage import Waiting
from diskproof.storage.attached import Attachment, find
from diskproof.storage.waiting import watched
from diskproof.wording import Message, as_message, say, share, us


@dataclass
class Punctuality:
    """What is known of a virtual disk's lateness once it has been measured."""

    notes: list[Message] = field(default_factory=list)
    invalid: bool = False
    """More than a tenth of the latency: what was measured is not the device's."""


def named(place: str, size_bytes: int, write: str | None) -> tuple[Attachment | None, Wanted]:
    """Return what the user calls so: a path, or else an attached disk."""
    attached = None if Path(place).exists() else find(place)
    if attached is None:
        return None, Wanted(place, size_bytes, write)
    at = attached.mount_point or attached.block
    return attached, Wanted(place, size_bytes, write, at, attached.facts.device, attached.time)


@contextmanager
def punctuality(attached: Attachment | None) -> Iterator[Punctuality]:
    """Watch a virtual disk, if it is one; the yielded object then says how late it was."""
    found = Punctuality()
    if attached is None:
        yield found
        return
    with watched(attached.control, attached.block.name, attached.facts.path_us, attached.time) as account:
        yield found
    statistics, waiting = account.statistics, account.waiting
    if statistics["late"]:
        found.notes.append(_late_words(statistics))
    if waiting and waiting.late:
        found.notes.append(_waited_words(waiting))
    found.invalid = bool(found.notes)
    if attached.dilation > 1:
        found.notes.append(
            say(
                "time passed {times} times slower for disk and fio; figures are in its own",
                times=attached.dilation,
            )
        )
    if label := attached.facts.label:
        found.notes.append(as_message(label))


def _late_words(statistics: disk.Facts) -> Message:
    return say(
        "the virtual disk was late, so these are not the device's figures: the 99th percentile of lateness "
        "is {late} of the mean modelled latency (allowed: 10%); stop other work, or use a slower device",
        late=share(statistics["lateness_share"]),
    )


def _waited_words(waiting: Waiting) -> Message:
    return say(
        "the virtual disk was late, because requests waited in the kernel: at its block device they took "
        "{mean} on average, {more} more than its model says (allowed: 10%); stop other work, or use a slower "
        "device",
        mean=us(waiting.await_us),
        more=share(waiting.share),
    )
