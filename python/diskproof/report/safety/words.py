"""The words around the tables of cuts."""

from collections import Counter
from collections.abc import Sequence

from diskproof.analysis.safety.shapes import (
    Agreement,
    ControlAnswer,
    CutFinding,
    DocumentedAnswer,
    Safety,
    SafetyOutcome,
    SafetyVerdict,
)
from diskproof.analysis.safety.words import cuts
from diskproof.analysis.words import listed
from diskproof.report import words
from diskproof.results.crash_plan import CrashPlan, Keep, Way

TITLES: dict[Way, str] = {
    "power": "The power cut",
    "stop": "The operating system stopped",
    "kill": "The server killed",
}

TAKEN: dict[Way, str] = {
    "power": "Taken: what only the page cache or a disk's volatile cache held.",
    "stop": "Taken: what only the page cache held. The disks kept all that had reached them: this is no "
    "power cut.",
    "kill": "Taken: what only the server's own memory held. The page cache and the disks kept all that had "
    "reached them: this is no power cut, and no proof against one.",
}

OUTCOME_MARKS: dict[SafetyOutcome, str] = {
    "kept": "=",
    "lost": "▼",
    "damaged": "✕",
    "unverified": "?",
    "not known": "?",
}
PLAIN_OUTCOME_MARKS: dict[SafetyOutcome, str] = {**OUTCOME_MARKS, "lost": "-", "damaged": "x"}

_KEPT_WORDS: dict[Keep, str] = {
    "random": "drawn for each disk and cut: nothing, all, a random subset, or a prefix in time",
    "nothing": "nothing",
    "all": "all of it",
    "subset": "a random subset",
    "prefix": "a prefix in time",
}

NOTE = (
    "Lost: transactions whose commit a client had been told, and that were not there after recovery; "
    "median, mean and worst are over all telling cuts, those without a loss among them. Window: from the "
    "first of them to the cut; the worst loss and the worst window may be of different cuts. The share of "
    "cuts with a loss has an exact two-sided 95% interval (Clopper and Pearson), or, where none, or each, "
    "of n cuts lost something, a one-sided 95% bound (about 3/n). At risk: cuts at which more commits had "
    "been acknowledged since the last flush than there were clients, or, where the power was cut, a disk "
    "had writes that were not safe yet, or something was taken; the others had nothing to take that is "
    "known of. Transactions that were there unasked had been committed while their answer was under way: "
    "nothing is wrong with them. A + after a window: in some cuts nothing that had been acknowledged was "
    "left, so that the window is as long as the load, and the true one is at least that. All: in some cut "
    "the whole database was lost."
)

_DOCUMENTED_ORDER: tuple[Agreement, ...] = ("contradicts", "not seen", "agrees", "not tried")


def outcome(verdict: SafetyVerdict) -> str:
    """Return a verdict's outcome; that nothing was lost never without the number of cuts that say so."""
    return f"kept in {cuts(verdict.cuts)}" if verdict.outcome == "kept" else verdict.outcome


def broken_controls(safety: Safety) -> list[ControlAnswer]:
    """Return the controls that did not do what they must, the failed ones first."""
    ranks = {"failed": 0, "too weak": 1, "not tried": 2}
    if not safety.complete:
        ranks = {"failed": 0}
    return sorted(
        (one for one in safety.controls if one.outcome in ranks), key=lambda one: ranks[one.outcome]
    )


def controls(safety: Safety) -> str:
    """Say what came of the controls, or that there are none."""
    if not safety.controls and not safety.unasked:
        return (
            "The campaign has no controls: `controls` in `[crash]` names cells that must keep, or lose, so "
            "that a campaign that sees nothing is known from one in which nothing is lost."
        )
    return " ".join(filter(None, (_held(safety), _unasked(safety))))


def _held(safety: Safety) -> str:
    if not safety.controls:
        return ""
    held = sum(one.outcome == "holds" for one in safety.controls)
    if held == len(safety.controls):
        return f"All {words.count(held, 'control')} did what they must." if held > 1 else "Its control holds."
    return f"{held} of {words.count(len(safety.controls), 'control')} did what they must."


def _unasked(safety: Safety) -> str:
    if not safety.unasked:
        return ""
    was = "was" if len(safety.unasked) == 1 else "were"
    return f"{words.count(len(safety.unasked), 'control')} {was} not asked: {'; '.join(safety.unasked)}."


def unverified(safety: Safety) -> list[str]:
    """Say of each storage on which only the server was killed that nothing is known of the power cut."""
    by_storage = {one.cell.storage: one.cell.unverified for one in safety.answers if one.cell.unverified}
    return [f"{storage}: {why}." for storage, why in by_storage.items()]


def by_outcome(documented: Sequence[DocumentedAnswer]) -> list[DocumentedAnswer]:
    """Order rows: what contradicts its documentation first, what agrees last."""
    return sorted(documented, key=lambda one: _DOCUMENTED_ORDER.index(one.outcome))


def documented_summary(safety: Safety) -> str:
    """Count how documentation fared: ``of 12 rows 9 agree, 1 contradicts, 2 were not seen``."""
    outcomes = [one.outcome for one in safety.documented]
    said = {
        "agrees": "{} as documented",
        "contradicts": "{} against its documentation",
        "not seen": "{} where a documented loss was not seen",
        "not tried": "{} without a telling cut",
    }
    counts = [text.format(outcomes.count(outcome)) for outcome, text in said.items() if outcome in outcomes]
    return f"{words.count(len(outcomes), 'row')}: {', '.join(counts)}"


def documented_words(answer: DocumentedAnswer) -> str:
    """Say a row of the documentation and what was observed beside it."""
    documented = answer.documented
    window = f", up to {documented.within_s:g} s" if documented.within_s is not None else ""
    notes = "; ".join(one.rstrip(".") for one in (documented.note, documented.source) if one)
    return (
        f"{answer.cell.id}, {answer.way}: documented “{documented.says}{window}”; it {answer.observed}"
        f"{f' ({notes})' if notes else ''}"
    )


def where(found: CutFinding, most: int = 4) -> str:
    """Return the cuts that a finding concerns, the first few by name."""
    return listed(found.cuts, most)


def progress(safety: Safety) -> str:
    """Return how far a campaign got: ``118 of 120 cuts, 115 telling``."""
    text = f"{safety.made:,} of {words.count(safety.planned, 'cut')}"
    if not safety.made:
        return f"{text} made"
    return f"{text}, all telling" if safety.telling == safety.made else f"{text}, {safety.telling:,} telling"


def design(crash: CrashPlan) -> str:
    """Return the campaign's shape: ``4 cells to die 50 times each by power and kill``."""
    dying = Counter(way for cell in crash.cells for way in cell.ways)
    times = "once" if crash.cuts == 1 else f"{crash.cuts:,} times"
    times += " each" if len(dying) > 1 else ""
    if set(dying.values()) == {len(crash.cells)}:
        return f"{words.count(len(crash.cells), 'cell')} to die {times} by {listed(list(dying))}"
    counts = [f"{number} by {way}" for way, number in dying.items()]
    return f"{words.count(len(crash.cells), 'cell')} to die {times}, {listed(counts)}"


def method(crash: CrashPlan) -> str:
    """Return in a few sentences how the cuts were made."""
    clients = sorted({cell.clients for cell in crash.cells})
    kept = f"What of the writes that were not yet safe a power cut left was {_KEPT_WORDS[crash.keep]}. "
    return (
        "Each cut: the data set restored, the server started, "
        f"{listed([str(one) for one in clients])} clients transferring between {crash.accounts:,} accounts, "
        "each writing down every commit that it was told before it went on; death at a seeded moment while "
        "commits were being acknowledged; recovery; then "
        "every account and every transfer held to what had been written down. A cut at which nobody was "
        "being acknowledged is no evidence and is counted apart. "
        f"{kept if any('power' in cell.ways for cell in crash.cells) else ''}"
        f"The cuts were made in {words.count(crash.cuts, 'block')}, in a random order in each."
    )
