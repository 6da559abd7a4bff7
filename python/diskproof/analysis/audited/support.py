"""What an imported result can support, and what not: a sentence out of the outcomes of its checks."""

from collections.abc import Sequence
from dataclasses import dataclass

from diskproof.analysis.audited.shapes import CheckAnswer
from diskproof.analysis.words import listed
from diskproof.audit.check import Evidence
from diskproof.audit.run import ENOUGH_BLOCKS
from diskproof.results.record import format_figure

MOST_NAMED = 4


@dataclass(frozen=True)
class Use:
    """Something that one may want to conclude from a result, and the checks that must have passed for it."""

    what: str
    needs: tuple[str, ...]
    about: tuple[str, ...] = ("transactions_per_s", "requests_per_s", "latency_mean_us", "seconds")
    """The metrics of the results that one would conclude it from."""
    untold: bool = True
    """Whether a sentence speaks of it where nothing failed: that it can be concluded, or cannot be told."""
    refuted_by: tuple[str, ...] = ()
    """Checks of which even a note speaks against it, and whose silence says nothing."""


SCATTER = {True: "no scatter is known", False: "too few for their scatter"}

STEADY_LOADS = ("transactions_per_s", "requests_per_s", "latency_mean_us")

USES: tuple[Use, ...] = (
    Use("a rate that lasts", ("steady", "stalls", "warm-up", "interval-sum"), STEADY_LOADS),
    Use(
        "a typical latency",
        ("littles-law", "tail", "latency-order", "mean-bounds"),
        STEADY_LOADS,
        refuted_by=("client-shares",),
    ),
    Use("a sum of what was measured alone", ("estimates", "operations"), ("seconds",)),
    Use(
        "a statement about the device", ("arrived", "cached-reads", "buffered-copy", "placement", "data-size")
    ),
    Use(
        "a statement about durability",
        ("settings", "durable-commits", "counted-flushes", "physics"),
        refuted_by=("durable-commits",),
    ),
    Use("that all of it succeeded", ("errors",), untold=False),
)


@dataclass(frozen=True)
class Support:
    """What a result supports, as a sentence: its own figure, and what else can and cannot be concluded."""

    figure: str = ""
    uses: str = ""
    instead: str = ""
    """The whole sentence, where it supports nothing."""

    @property
    def sentence(self) -> str:
        """Return all of it."""
        return self.instead or f"It supports {self.figure}{self.uses}"


def support(evidence: Evidence, answers: Sequence[CheckAnswer], repeats: int) -> Support:
    """Return what one result supports; `repeats` counts the results that were read of the same cell."""
    by_name = {one.check: one for one in answers}
    if wrong := [one.check for one in answers if any(raised.severity == "invalid" for raised in one.raised)]:
        return Support(
            instead="It supports nothing before this is explained: its figures cannot all be true "
            f"({listed(wrong, MOST_NAMED)})."
        )
    if evidence.load.transactions == 0:
        return Support(instead=f"It supports nothing: none of its {evidence.work} completed.")
    can, cannot = list[str](), list[str]()
    for use in USES:
        if evidence.metric not in use.about:
            continue
        asked = [by_name[name] for name in use.needs if name in by_name]
        heard = dict.fromkeys((*use.needs, *use.refuted_by))
        failed = [
            one.check
            for one in (by_name[name] for name in heard if name in by_name)
            if one.state == "failed" or (one.raised and one.check in use.refuted_by)
        ]
        missing = list(dict.fromkeys(what for one in asked for what in one.missing))
        if failed:
            cannot.append(f"{use.what} (see {listed(failed, MOST_NAMED)})")
        elif not use.untold:
            continue
        elif missing:
            cannot.append(f"{use.what} (not recorded: {listed(missing, MOST_NAMED)})")
        elif any(one.state == "passed" for one in asked):
            can.append(use.what)
    if repeats < ENOUGH_BLOCKS:
        runs = "one run" if repeats == 1 else f"{repeats} runs"
        cannot.append(f"a difference to another result ({runs} of it: {SCATTER[repeats == 1]})")
    uses = "".join(f"; {one}" for one in can)
    uses += f"; it cannot support {'; '.join(cannot)}." if cannot else "."
    return Support(_headline(evidence, repeats), uses)


def _headline(evidence: Evidence, repeats: int) -> str:
    """Return the figure itself, with what is told of how it came about."""
    load = evidence.load
    rate = format_figure(load.transactions_per_s)
    match evidence.metric:
        case "seconds":
            figure = load.figure("seconds")
            said = f"{format_figure(figure)} s for its job" if figure else "no figure"
        case "latency_mean_us" if load.latency_us:
            said = f"a mean latency of {format_figure(load.latency_us.mean / 1000)} ms at {rate}/s"
        case "requests_per_s" if load.megabytes_per_s:
            said = f"{rate} requests/s ({format_figure(load.megabytes_per_s)} MB/s)"
        case _:
            said = f"{rate} {evidence.work}/s"
    clients = f" with {load.clients} clients" if load.clients and load.clients > 1 else ""
    clients = " with 1 client" if load.clients == 1 else clients
    lasted = f" over {format_figure(load.seconds)} s" if load.seconds and evidence.metric != "seconds" else ""
    times = f", one of {repeats} runs" if repeats > 1 else ", once"
    return f"{said}{clients}{lasted}{times}"
