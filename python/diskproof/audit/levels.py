"""The variables that a server's tuning levels set, as the running servers answered."""

from collections.abc import Sequence
from dataclasses import dataclass

from diskproof.results.factor import FACTORS
from diskproof.results.plan import Cell, Plan
from diskproof.results.trial import Trial

NOT_SET = "not set"


@dataclass(frozen=True)
class Observed:
    """One variable of one server, by tuning level."""

    variable: str
    values: dict[str, str]
    """Only the levels in whose trials the variable was read back."""
    declared: bool
    """Whether a tuning level asked for the variable."""

    def value(self, tuning: str) -> str:
        """Return the value at a level; ``not set`` if the level leaves it to the server."""
        return self.values.get(tuning, NOT_SET)


def observed_by_level(plan: Plan, trials: Sequence[Trial], server: str) -> list[Observed]:
    """Return every variable of a server as its trials read it back, in the order of first appearance.

    A variable that varies for another reason than the level (memory, clients) has all its values joined.
    Only trials with a counterpart at every other level are used, so that equal levels show equal values.
    Paths are left out: they differ by trial.
    """
    found: dict[str, dict[str, set[str]]] = {}
    declared = set()
    for tuning, trial in _matched(plan, trials, server):
        for setting in trial.settings:
            if setting.observed is None or "/" in setting.observed:
                continue
            found.setdefault(setting.name, {}).setdefault(tuning, set()).add(setting.observed)
            if setting.level:
                declared.add(setting.name)
    return [
        Observed(
            variable=name,
            values={tuning: ", ".join(sorted(values)) for tuning, values in by_level.items()},
            declared=name in declared,
        )
        for name, by_level in found.items()
    ]


def _matched(plan: Plan, trials: Sequence[Trial], server: str) -> list[tuple[str, Trial]]:
    """Return (tuning, trial) of the server's trials whose other factors occur at each of its tunings."""
    cells = {cell.id: cell for cell in plan.cells if cell.server == server}
    ours = [(cells[trial.cell], trial) for trial in trials if trial.cell in cells]
    tunings_at: dict[tuple[str, ...], set[str]] = {}
    for cell, _ in ours:
        tunings_at.setdefault(_others(cell), set()).add(cell.tuning)
    every = {cell.tuning for cell, _ in ours}
    return [(cell.tuning, trial) for cell, trial in ours if tunings_at[_others(cell)] == every]


def _others(cell: Cell) -> tuple[str, ...]:
    return tuple(cell.level(factor) for factor in FACTORS if factor != "tuning")
