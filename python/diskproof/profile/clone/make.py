"""A clone from beginning to end: figures, kinds, the device file, and how near it comes."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime

from diskproof import __version__
from diskproof.profile.clone.cells import Observation, split
from diskproof.profile.clone.choose import Tell, choose
from diskproof.profile.clone.device import Tree, device_text
from diskproof.profile.clone.fit import Fitted, Model
from diskproof.profile.clone.material import Material
from diskproof.profile.simulated import MODELLED
from diskproof.refusal import RefusalError
from diskproof.results.clone import Clone, Tried
from diskproof.results.modelled import ModelledFigure
from diskproof.results.profile import Profile
from diskproof.system.temporary import temporary_folder
from diskproof.wording import Message, bytes_, say, seconds

LEAST_SHARE = 1 / 3
"""Of the cells of a measurement that must count. A judgement: of a slow disk's deep queues many do not."""

FAR = math.log(2)
"""The error if the model misses each figure by just its goal (`Tried.error`)."""

SEED_OF_THE_CHECK = 2
"""The figures beside the measured ones come from other draws than those that were fitted."""


@dataclass(frozen=True)
class Made:
    """A clone, and its device file's text."""

    clone: Clone
    text: str


def make(material: Material, device_file: str, title: str | None, tell: Tell) -> Made:
    """Fit all kinds to the material, and write down the nearest; RefusalError if it shows too little."""
    if material.profile is not None:
        _refuse_too_little(material, material.profile)
    observations = split(material.observations)
    fitted_to = [one for one in observations if not one.held]
    if not any(one.probe.pattern == "random-read" for one in fitted_to):
        raise RefusalError(
            f"{material.name} has no figure of random reads, without which no kind of disk can be chosen: "
            "measure random reads of 4 KiB, at best at depths 1 and 32"
        )
    with temporary_folder() as folder:
        fitted = choose(replace(material, observations=fitted_to), Model(folder), fitted_to, tell)
        tell("the nearest kind, compared with all figures", 1, 1)
        check = Model(folder, SEED_OF_THE_CHECK)
        figures = _figures(fitted[0].tree, observations, check)
    kind = fitted[0].candidate.kind
    clone = Clone(
        diskproof_version=__version__,
        started_at=datetime.now(UTC).isoformat(timespec="seconds"),
        device_file=device_file,
        title=title or f"Clone of {material.name}",
        kind=kind,
        tried=[Tried(kind=one.candidate.kind, error=one.error) for one in fitted],
        figures=figures,
        unknown=unknown(material, fitted[0]),
        notes=[*_far(fitted[0].error), *material.notes],
        profile=material.profile,
    )
    return Made(clone, _text(clone, material, fitted[0]))


def _refuse_too_little(material: Material, profile: Profile) -> None:
    """Refuse a measurement of which too many cells do not count: a fit to the rest would look like one."""
    asked = [cell for cell in profile.cells if cell.probe.pattern in MODELLED]
    count, least = len(material.observations), math.ceil(LEAST_SHARE * len(asked))
    lost_writes = any(cell.probe.writes and cell.requests for cell in asked) and not any(
        one.probe.writes for one in material.observations
    )
    if count >= least and not lost_writes:
        return
    what = "no cell that writes counts" if count >= least else f"at least {least} must count"
    why = "".join(f"\n- {note.text}" for note in material.notes)
    raise RefusalError(
        f"{count} of {len(asked)} cells of {material.name} count, and {what}: too little was measured for a "
        f"clone, and none is written{why}\nMeasure again while the machine is idle, or longer, with --seconds"
    )


def _figures(tree: Tree, observations: Sequence[Observation], model: Model) -> list[ModelledFigure]:
    return [
        ModelledFigure(
            probe=one.probe,
            measure=measure,
            published=one.figures[measure],
            source=one.source,
            fitted=not one.held,
            model=modelled,
        )
        for one, found in zip(observations, model.figures(tree, observations), strict=True)
        for measure, modelled in found.items()
    ]


def _far(error: float) -> list[Message]:
    """Say if no kind comes near the figures."""
    if error <= FAR:
        return []
    return [
        say(
            "no kind comes near these figures: the error is {error:.2f}; {far:.2f} is each figure at its "
            "goal. The machine may have been busy, or no model does what the disk does: measure again when "
            "it is idle, and do not rely on this clone",
            error=error,
            far=FAR,
        )
    ]


def _text(clone: Clone, material: Material, best: Fitted) -> str:
    others = ", ".join(f"{one.kind} {one.error:.2f}" for one in clone.tried[1:])
    lines = [
        material.how,
        "",
        f"The kind, {clone.kind}, was chosen by the error of the fitted figures: {best.error:.2f}"
        + (f" (others: {others})." if others else "."),
        "",
        "What it cannot know:",
        *(f"- {one.text}" for one in clone.unknown),
    ]
    latencies = ("median_us", "p95_us", "p99_us")
    published = [one for one in clone.figures if one.measure not in latencies]
    return device_text(clone.title, "\n".join(lines), best.tree, published)


# ---------------------------------------------------------------- what no figure shows


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
            say("whether the volume has credits: the clone keeps its limits for ever, as far as measured")
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
