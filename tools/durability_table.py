"""One server's settings beside all ways to die: what each lost, and whether its documentation says so."""

from collections.abc import Iterable, Sequence

from diskproof.analysis.safety.shapes import Agreement, CutAnswer, Safety
from diskproof.report.compose import cut_words as said
from diskproof.report.document import Column, Table
from diskproof.results.crash import WAYS, Way
from diskproof.stats.proportions import share
from diskproof.wording.numbers import NOT_OBSERVED

DIES: dict[Way, str] = {"kill": "Killed", "stop": "System stopped", "power": "Power cut"}

MARKS: dict[Agreement, str] = {"contradicts": "≠", "not seen": "?"}
"""Marks of entries that documentation does not simply agree with."""

LEGEND = (
    "0/6: after none of 6 cuts anything that had been acknowledged was missing, or damaged. 4/6 0.30 s: "
    "after 4 of them, from up to so long before the cut; + if nothing that had been acknowledged was left. "
    "damaged: so many came back worse than incomplete. gone: so many did not come back, or could not be "
    "read. ≠: against its documentation. ?: documented as possible, and not seen. n/a: not tried, or no cut "
    "tells."
)


def bounds(numbers_of_cuts: Iterable[int]) -> str:
    """Return the share of cuts that may lose something although none of so many did."""
    shown = [f"0/{n}: {said.points(share(0, n).high)}" for n in sorted(set(numbers_of_cuts)) if n]
    return f"The share of such cuts that may lose all the same (one-sided 95% bound): {', '.join(shown)}."


def by_setting(safety: Safety, server: str) -> Table:
    """Return a row a setting of a server, and a column for each way to die on each storage.

    Ways come in the order in which they take more, storages in that of the study. The first column is the
    setting's name.
    """
    answers = [one for one in safety.answers if one.cell.server == server]
    outcomes = {(one.cell.id, one.way): one.outcome for one in safety.documented}
    columns = deaths(answers)
    found = {(one.cell.tuning, one.way, one.cell.storage): one for one in answers}
    return Table(
        (Column("Setting"), *(Column(title(death)) for death in columns)),
        tuple(
            (tuning, *(entry(found.get((tuning, *death)), outcomes) for death in columns))
            for tuning in dict.fromkeys(one.cell.tuning for one in answers)
        ),
    )


def entry(answer: CutAnswer | None, outcomes: dict[tuple[str, Way], Agreement]) -> str:
    """Return what one setting's cuts in one way on one storage showed, in a few signs (``LEGEND``)."""
    if answer is None or not answer.telling:
        return NOT_OBSERVED
    mark = MARKS.get(outcomes.get(answer.key, "agrees"), "")
    return " ".join(filter(None, [mark, ", ".join(_shown(answer))]))


def deaths(answers: Sequence[CutAnswer]) -> list[tuple[Way, str]]:
    """Return the ways to die, each with the storages on which it was tried: what takes more comes later."""
    storages = list(dict.fromkeys(one.cell.storage for one in answers))
    there = {(one.way, one.cell.storage) for one in answers}
    return [(way, storage) for way in WAYS for storage in storages if (way, storage) in there]


def title(death: tuple[Way, str]) -> str:
    """Return the heading of a way to die on a storage."""
    way, storage = death
    return f"{DIES[way]}, {storage}"


def _shown(answer: CutAnswer) -> list[str]:
    n = answer.telling
    window = answer.window_s.worst if answer.window_s else 0.0
    only_gone = answer.with_loss <= answer.gone
    longest = "" if only_gone else f" {said.seconds(window)}{'+' if answer.open_windows else ''}"
    shown = [f"{answer.harmed}/{n}{longest}"]
    if answer.gone:
        shown.append(f"{answer.gone} gone")
    if answer.damaged > answer.gone:
        shown.append(f"{answer.damaged} damaged")
    return shown
