"""How far a run got, its shape and its method: of its speed trials and of its cuts, as far as it has them."""

from diskproof.analysis.answers import Analysis
from diskproof.report import imported, words
from diskproof.report.safety import words as safety
from diskproof.results.plan import Plan


def has_speed(plan: Plan) -> bool:
    """Tell whether anything is to be said of speed: a study may ask for cuts alone."""
    return bool(plan.trials) or plan.crash is None


def progress(analysis: Analysis) -> str:
    """Return how much of the run there is: ``40 of 40 trials, 39 valid; 118 of 120 cuts, all telling``."""
    if analysis.plan.imported:
        return imported.progress(analysis)
    told = [words.progress(analysis)] if has_speed(analysis.plan) else []
    return "; ".join([*told, *([safety.progress(analysis.safety)] if analysis.safety else [])])


def no_machine(plan: Plan) -> str:
    """Return why nothing is said of the machine."""
    return imported.NO_MACHINE if plan.imported else "The run ended before the machine's facts were gathered."


def no_settings(plan: Plan) -> str:
    """Return why no setting is shown."""
    if plan.imported:
        return imported.NO_SETTINGS
    return "No setting has been read back: no server was started, or none was asked for any."


def design(plan: Plan) -> str:
    """Return the experiment's shape: ``8 cells in 5 blocks, …; 4 cells to die 50 times by power``."""
    if plan.imported:
        return imported.design(plan)
    told = [words.design(plan)] if has_speed(plan) else []
    return "; ".join([*told, *([safety.design(plan.crash)] if plan.crash else [])])


def method(analysis: Analysis) -> list[str]:
    """Return a paragraph on how the speed trials were made, and one on the cuts."""
    if analysis.plan.imported:
        return [imported.method(analysis)]
    told = [words.method(analysis)] if has_speed(analysis.plan) else []
    return [*told, *([safety.method(analysis.plan.crash)] if analysis.plan.crash else [])]
