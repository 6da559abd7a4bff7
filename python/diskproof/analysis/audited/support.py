"""The conclusions that an imported result supports and does not support, by the outcomes of its checks."""

from collections.abc import Sequence
from dataclasses import dataclass

from diskproof.analysis.audited.shapes import CheckAnswer
from diskproof.audit import figures, files, in_force, intervals, kinds, load, server, storage
from diskproof.audit.check import Check, Evidence
from diskproof.audit.run import ENOUGH_BLOCKS
from diskproof.wording import NOTHING, Message, ms, per_s, say, seconds
from diskproof.wording import counted as count_of

Checks = tuple[Check[Evidence], ...]


@dataclass(frozen=True)
class Use:
    """A conclusion that a reader may draw from a result, and the checks that must have passed for it."""

    what: str
    needs: Checks
    untold: bool = True
    """Whether it is named even if nothing failed: as supported, or as not recorded."""
    refuted_by: Checks = ()
    """Checks that refute it even by a note, but do not support it by passing."""


INSTEAD = {
    load.finished.name: "its run broke off",
    load.short.name: "too little was measured",
}
"""Why a result supports nothing, by the check that found an error."""

USES: tuple[Use, ...] = (
    Use("a rate that lasts", (intervals.steady, intervals.stalls, intervals.warm_up)),
    Use(
        "a typical latency",
        (load.littles_law, load.tail, figures.latency_order, figures.mean_bounds),
        refuted_by=(kinds.rate,),
    ),
    Use(
        "a conclusion about the device",
        (files.arrived, files.cached_reads, server.placement, storage.data_size),
    ),
    Use(
        "a conclusion about durability",
        (server.settings, in_force.durable_commits, storage.physics),
        refuted_by=(in_force.durable_commits,),
    ),
    Use("that everything succeeded", (load.errors,), untold=False),
)


@dataclass(frozen=True)
class Support:
    """What a result supports: its own figure, and what else it does and does not support."""

    figure: Message = NOTHING
    uses: Message = NOTHING
    instead: Message = NOTHING
    """All that is said, if it supports nothing."""

    @property
    def verdict(self) -> Message:
        """All of it."""
        return self.instead or say("It supports {figure}{uses}", figure=self.figure, uses=self.uses)


def support(evidence: Evidence, answers: Sequence[CheckAnswer], repeats: int) -> Support:
    """Return what one result supports; `repeats` counts the results of the same cell."""
    by_name = {one.check: one for one in answers}
    if wrong := [one.check for one in answers if any(raised.severity == "invalid" for raised in one.raised)]:
        if set(wrong) <= INSTEAD.keys():
            why = [INSTEAD[name] for name in wrong]
            return Support(
                instead=say("It supports nothing: {why:/; } (see {checks}).", why=why, checks=wrong)
            )
        return Support(
            instead=say(
                "It supports nothing until this is explained: its figures cannot all be true ({checks}).",
                checks=wrong,
            )
        )
    if evidence.load.transactions == 0:
        return Support(instead=say("It supports nothing: none of its {work} completed.", work=evidence.work))
    can, cannot = list[Message](), list[Message]()
    for use in USES:
        needed = [by_name[one.name] for one in use.needs if one.name in by_name]
        refuting = {one.name for one in use.refuted_by}
        heard = dict.fromkeys(one.name for one in (*use.needs, *use.refuted_by) if one.name in by_name)
        failed = [
            name
            for name in heard
            if by_name[name].state == "failed" or (by_name[name].raised and name in refuting)
        ]
        missing = list(dict.fromkeys(what for one in needed for what in one.missing))
        if failed:
            cannot.append(say("{use} (see {checks})", use=use.what, checks=failed))
        elif use.untold and missing:
            cannot.append(say("{use} (not recorded: {missing})", use=use.what, missing=missing))
        elif use.untold and any(one.state == "passed" for one in needed):
            can.append(say(use.what))
    if repeats < ENOUGH_BLOCKS:
        few = "no scatter is known" if repeats == 1 else "too few for their scatter"
        cannot.append(
            say("a difference to another result ({runs}: {few})", runs=count_of(repeats, "run"), few=few)
        )
    return Support(
        _headline(evidence, repeats),
        say(
            "{can}{cannot}.",
            can=say("; {can:/; }", can=can) if can else NOTHING,
            cannot=say("; it does not support {cannot:/; }", cannot=cannot) if cannot else NOTHING,
        ),
    )


def _headline(evidence: Evidence, repeats: int) -> Message:
    """Return the figure itself, with how it was measured."""
    load = evidence.load
    match evidence.metric:
        case "latency_mean_us" if load.latency_us:
            figure = say(
                "a mean latency of {mean} at {rate}",
                mean=ms(load.latency_us.mean),
                rate=per_s(load.transactions_per_s),
            )
        case _:
            figure = say("{rate}", rate=per_s(load.transactions_per_s, evidence.work))
            if evidence.metric == "requests_per_s" and load.megabytes_per_s:
                figure = say("{figure} ({moved})", figure=figure, moved=per_s(load.megabytes_per_s, "MB"))
    return say(
        "{figure}{clients}{time}{times}",
        figure=figure,
        clients=say(" with {clients}", clients=count_of(load.clients, "client")) if load.clients else NOTHING,
        time=say(" over {time}", time=seconds(load.seconds)) if load.seconds else NOTHING,
        times=say(", one of {n} runs", n=repeats) if repeats > 1 else say(", once"),
    )
