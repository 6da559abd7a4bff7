"""What no figure of a clone shows, so that nobody takes it for measured."""

from diskproof.profile.clone.fit import Fitted
from diskproof.profile.clone.material import Material
from diskproof.wording import Message, bytes_, say, seconds


def unknown(material: Material, best: Fitted) -> list[Message]:
    """Return what the clone assumes, that which matters to data first."""
    kind = next(iter(best.tree))
    patterns = {one.probe.pattern for one in material.observations}
    writes = any(one.probe.writes for one in material.observations)
    said = [_power(kind)]
    if not writes:
        said.append(say("nothing was written: all that concerns writes and flushes is assumed"))
    elif not patterns & {"synced-append", "synced-write"}:
        said.append(say("no flush was measured: its time is assumed"))
    if kind == "cloud":
        said.append(
            say("whether the volume has credits: the clone keeps its limits for ever, as far as it was measured")
        )
    if "spinning" in best.candidate.kind and not material.whole_disk:
        said.append(say("no read went over the whole disk: usual seeks and a usual inner rate are assumed"))
    spans = [one.probe.span_bytes for one in material.observations if one.probe.span_bytes]
    if spans and "spinning" not in best.candidate.kind:
        said.append(
            say(
                "requests went to the first {span} alone: a cache that is smaller than the disk and larger "
                "than that is not seen",
                span=bytes_(max(spans)),
            )
        )
    if material.longest_s:
        said.append(
            say(
                "no kind of request was measured for longer than {length} at a time: what a disk does after "
                "minutes of it (a full cache, heat) is not seen",
                length=seconds(material.longest_s),
            )
        )
    return said


def _power(kind: str) -> Message:
    if kind == "cloud":
        return say(
            "whether an answered write survives a power cut. The model of a volume keeps every answered "
            "write: do not judge power cuts by this clone"
        )
    return say(
        "whether an answered write survives a power cut, and whether a flush is honest. The clone loses what "
        "was not flushed, as a disk without capacitors does"
    )
