"""What a report says of results that another tool measured: where they were read, and what nobody told."""

from diskproof.analysis.answers import Analysis
from diskproof.analysis.words import listed, percent
from diskproof.report import words
from diskproof.results.plan import Plan

MOST_SOURCES = 4

NO_MACHINE = "Nothing is told of the machine: imported results do not describe it."

NO_SETTINGS = (
    "Nothing is told of settings as the running server answered: another tool measured these results."
)


def progress(analysis: Analysis) -> str:
    """Return how many results there are: ``4 results, all valid``."""
    told = words.count(analysis.trials_run, "result")
    if analysis.trials_valid == analysis.trials_run:
        return f"{told}, all valid"
    return f"{told}, {analysis.trials_valid:,} valid" if analysis.trials_valid else f"{told}, none valid"


def design(plan: Plan) -> str:
    """Return what was imported: ``4 cells, imported from `old.txt` (sysbench 1.0.17)``."""
    shown = plan.imported_from[:MOST_SOURCES]
    rest = len(plan.imported_from) - len(shown)
    files = listed([*shown, *([f"{rest} more"] if rest else [])])
    repeats = len(plan.blocks())
    often = f", measured up to {repeats} times" if repeats > 1 else ""
    left_out = f"; left out: {'; '.join(plan.left_out)}" if plan.left_out else ""
    return f"{words.count(len(plan.cells), 'cell')}{often}, imported from {files}{left_out}"


def method(analysis: Analysis) -> str:
    """Return how such a run came about, and what its intervals mean."""
    plan = analysis.plan
    return (
        f"diskproof ran nothing of this: {words.count(analysis.trials_run, 'result')} "
        f"{'was' if analysis.trials_run == 1 else 'were'} read from other tools' output "
        f"({'; '.join(plan.imported_from)}). What no file tells is shown as “not told”, “-” or n/a. It is "
        "not established whether data and server were put back between the runs, in which order these were "
        "made, and whether there was a warm-up. A cell that was measured again makes another block, in the "
        "order of reading. "
        f"A cell's figure is the geometric mean over its blocks, with a {words.confidence(analysis)} "
        "t-interval on the logarithms. A verdict pairs two cells block by block; “the same” means that the "
        f"whole interval of the ratio lies within ±{percent(plan.same_within)}, and two cells are called "
        "different only after Holm's adjustment over all verdicts."
    )
