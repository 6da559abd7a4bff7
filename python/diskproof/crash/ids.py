"""What a program of the user's own promised, beside what its check finds after recovery. Pure."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from diskproof.crash.ledger import Acknowledgement, Key, LedgerError, outcome
from diskproof.results.cut import LedgerOutcome

NEVER_US = 2**62
"""The time of an acknowledgement that never came, or came after `sync` began: it is later than any cut."""

VERBS = ("begin", "ack", "sync")
"""The first words of the lines of a program's acknowledgements."""


@dataclass(frozen=True)
class Ids:
    """What the check printed."""

    found: Counter[str]

    @property
    def there(self) -> Counter[Key]:
        """The ids that are there, each with how often."""
        return Counter({(name,): times for name, times in self.found.items()})


def read_ids(text: str) -> list[Acknowledgement]:
    """Read all that was begun, in order of acknowledgement; client and number are the lines of both."""
    begun: dict[str, int] = {}
    told: dict[str, tuple[int, int]] = {}
    synced_us = NEVER_US
    for number, line in enumerate(text.splitlines(), start=1):
        verb, *name, at = line.split(" ")
        if verb not in VERBS or len(name) != (verb != "sync") or not (at.isascii() and at.isdigit()):
            raise LedgerError(
                f"line {number} of the acknowledgements is {line!r}, not a verb, an id and a time"
            )
        match verb:
            case "begin":
                begun[name[0]] = number
            case "ack":
                told[name[0]] = (number, int(at))
            case _:
                synced_us = int(at)
    found = []
    for name_, began in begun.items():
        number, at_us = told.get(name_, (0, NEVER_US))
        at_us = at_us if at_us <= synced_us else NEVER_US
        found.append(Acknowledgement(began, number, at_us, (name_,)))
    return sorted(found, key=lambda one: (one.at_us, one.number))


def compare_ids(told: Sequence[Acknowledgement], ids: Ids, cut_us: int) -> LedgerOutcome:
    """Compare the ids that are there with those acknowledged until a moment.

    The order is broken by each that is lost although something is there that was begun after its `ack`.
    """
    there, begun = ids.there, {one.key for one in told}
    last = max((one.client for one in told if one.key in there), default=0)
    lost = (one for one in told if one.at_us <= cut_us and one.key not in there)
    return outcome(
        told,
        there,
        cut_us,
        never_sent=sum(key not in begun for key in there),
        half_applied=0,
        off_by=0,
    ).model_copy(update={"out_of_order": sum(one.number < last for one in lost)})
