"""`diskproof plan`: the cells, their order, the time, the bytes to be written."""

from pathlib import Path

from rich.table import Table

from diskproof import load
from diskproof.cli.screen import results, say
from diskproof.report.words import duration
from diskproof.results.records import Plan, format_bytes
from diskproof.run.rehearsal import rehearse
from diskproof.storage.claims import check_claims
from diskproof.study.plan import make_plan
from diskproof.study.read import read_study


def plan(
    study: Path,
    /,
    *,
    only: list[str] | None = None,
) -> None:
    """Show the cells of a study, their order, the time and the bytes to be written.

    Parameters
    ----------
    study
        The study file.
    only
        Only the cells whose id contains this text; may be given again.

    """
    file = read_study(study)
    made = make_plan(file, only)
    check_claims(file.study, made)
    if load.is_installed():
        rehearse(file, made)  # what `run` would refuse is refused here
    else:
        say("diskproof-load is not installed: the workloads could not be looked at")
    results.print(made.question, markup=False)
    results.print(_cell_table(made))
    results.print(
        f"{len(made.cells)} cells x {len(made.blocks())} blocks = {len(made.trials)} trials; "
        f"about {duration(made.estimated_s)}; about {format_bytes(made.estimated_bytes)} written to storage "
        f"(order from seed {made.seed})"
    )


def _cell_table(made: Plan) -> Table:
    """Return a table of the cells with the position that each has in every block."""
    positions = {(trial.block, trial.cell): trial.position for trial in made.trials}
    table = Table(box=None, pad_edge=False)
    table.add_column("cell", overflow="fold")
    shown = made.blocks()[:10]  # more columns than that say nothing more about the order
    for block in shown:
        table.add_column(f"block {block}" if block == 1 else str(block), justify="right")
    for cell in made.cells:
        table.add_row(cell.id, *(str(positions[block, cell.id]) for block in shown))
    return table
