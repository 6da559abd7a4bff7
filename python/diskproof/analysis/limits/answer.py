"""What holds the cells of a run back: each cell by itself, and over numbers of clients."""

from collections.abc import Sequence
from dataclasses import replace

from diskproof.analysis.gather import Gathered
from diskproof.analysis.limits.awaited import awaited_of
from diskproof.analysis.limits.demands import bound_of, demands_of, parties_of_cpu
from diskproof.analysis.limits.imagine import imagine
from diskproof.analysis.limits.name import Named, name_limit
from diskproof.analysis.limits.observed import Observed
from diskproof.analysis.limits.proofs import answer_proofs
from diskproof.analysis.limits.sentence import sentence_of, where_of
from diskproof.analysis.limits.shapes import CellLimit, Limits, Split
from diskproof.analysis.limits.signals.ask import signals_of
from diskproof.analysis.limits.split import split_of
from diskproof.analysis.limits.sweeps import answer_sweeps
from diskproof.analysis.limits.troubles import troubles_of
from diskproof.analysis.limits.words import share
from diskproof.results.limit import ProofPair


def answer_limits(gathered: Gathered, proofs: Sequence[ProofPair] = ()) -> Limits | None:
    """Return what holds the cells back; None where no valid trial of any counted anything."""
    observed = [seen for cell in gathered.plan.cells if (seen := Observed.of(gathered, cell)) is not None]
    if not observed:
        return None
    cells = [answer_limit(gathered, seen) for seen in observed]
    return Limits(cells=cells, sweeps=answer_sweeps(gathered, cells), proofs=answer_proofs(gathered, proofs))


def answer_limit(gathered: Gathered, seen: Observed) -> CellLimit:
    """Return what holds one cell back."""
    split, demands = split_of(seen), demands_of(seen)
    named = _named(seen, split)
    draft = CellLimit(
        cell=seen.cell,
        limit=named.limit,
        sentence="",
        where=where_of(seen, named.limit),
        signals=named.signals,
        split=split,
        awaited=awaited_of(seen, split),
        demands=demands,
        bound_per_s=bound_of(demands),
        data_bytes=seen.data_bytes,
        disks_cpu_share=parties_of_cpu(seen).get("disks"),
        others_cpu_share=seen.others_share,
        troubles=troubles_of(gathered, seen, named.limit),
    )
    what_if = imagine(seen, draft) if seen.speaks_of_the_load else None
    sentence = sentence_of(seen, named, split, what_if)
    return draft.model_copy(update={"what_if": what_if, "sentence": sentence})


def _named(seen: Observed, split: Split | None) -> Named:
    """Return the limit of a cell; of a job of which the counters tell too little, why there is none."""
    named = name_limit(signals_of(seen), split)
    if named.limit is not None or seen.speaks_of_the_load:
        return named
    own = share(seen.timed or 0.0)
    why = f"{own} of the time that was counted is the job's own; in the rest its tables were made and dropped"
    return replace(named, missing=why)
