"""A disk behind a USB bridge, which passes one command at a time."""

from collections.abc import Iterator
from dataclasses import replace
from functools import partial

from diskproof.profile.clone.device import Parameter, Tree
from diskproof.profile.clone.fit import Candidate, Knob, Setting
from diskproof.profile.clone.kinds import flash, spinning
from diskproof.profile.clone.sight import SMALL_BLOCK, Sight
from diskproof.results.profile import Pattern

MOST_GAIN = 1.25
"""A disk that answers more than this many times as much at depth has a queue."""

COMMAND_US = 60.0
"""Of a bridge. It cannot be told from the disk's own overhead, so it is assumed and the rest is fitted."""

RANDOM: frozenset[Pattern] = frozenset({"random-read", "random-write"})

BUS = Knob("bus_mb_per_s", spinning.SEQUENTIAL | RANDOM, 5.0, 5_000.0)


def candidates(sight: Sight) -> Iterator[Candidate]:
    """Yield disks behind a bridge, if a queue gains nothing."""
    gain = sight.gain_by_depth("random-read")
    if gain is None or gain > MOST_GAIN:
        return
    inner = list(spinning.single(sight)) if spinning.is_possible(sight) else [flash.single(sight)]
    rate = sight.top_mb_per_s("sequential-read", "sequential-write") or 400.0
    for one in inner:
        yield replace(
            one,
            kind=f"bridge over {one.kind}",
            start={**one.start, "bus_mb_per_s": rate * 1.2},
            knobs=(BUS, *one.knobs),
            build=partial(_build, one),
        )


def _build(inner: Candidate, setting: Setting) -> Tree:
    # The bridge takes its part of what was measured, and the drive behind it the rest.
    before_us = COMMAND_US + SMALL_BLOCK / setting.number("bus_mb_per_s")
    inside = {
        name: max(float(value) - before_us, 1.0) if name in flash.TOTALS else value
        for name, value in setting.values.items()
    }
    return {
        "bridge": {
            "command_us": Parameter(COMMAND_US, "assumed: part of the time of each command"),
            "bus_mb_per_s": setting.fitted("bus_mb_per_s"),
            "disk": inner.build(replace(setting, values=inside)),
        }
    }
