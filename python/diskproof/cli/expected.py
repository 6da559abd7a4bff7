"""What a planned run will probably come to, by the scatter of an earlier one."""

from collections.abc import Sequence
from pathlib import Path

from diskproof.analysis.expected import Expected
from diskproof.analysis.folder import expect_from
from diskproof.results.folder import RunFolder, RunFolderError
from diskproof.results.plan import Plan
from diskproof.wording.numbers import count, duration, percent


def expected(made: Plan, earlier_runs: Sequence[Path]) -> list[str]:
    """Say what the run will probably come to, by the newest earlier run of the study that can tell."""
    for path in earlier_runs:
        try:
            folder = RunFolder.open(path)
            earlier = folder.plan()
            found = expect_from(folder, made) if earlier.scale == made.scale else None
        except RunFolderError:
            continue
        if found is not None:
            return [f"by the scatter of {path}: {_in_words(made, found)}"]
    return []


def _in_words(made: Plan, found: Expected) -> str:
    verdicts = count(found.pairs - found.hopeless, "verdict")
    if made.at_most_s is None:
        within = percent(float(f"{found.precision:.2g}"))
        return f"{count(found.pairs, 'ratio')} to within about {within} or better"
    known = "decided" if made.precision is None else f"known within {percent(made.precision)}"
    rest = f"; {count(found.hopeless, 'verdict')} will hardly be {known}" if found.hopeless else ""
    return f"about {duration(found.seconds)} until {verdicts} will be {known}{rest}"
