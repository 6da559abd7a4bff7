"""`diskproof report`: a run's report again, in any form, from the run folder alone."""

from pathlib import Path
from typing import Annotated, Literal

from cyclopts import Parameter

from diskproof.analysis.folder import analyse_folder
from diskproof.cli.fenced import keep
from diskproof.cli.screen import put, put_json, results
from diskproof.report import csv, markdown
from diskproof.report.compose.one_screen import run as answer
from diskproof.report.compose.run import compose
from diskproof.report.write import one_screen, terminal
from diskproof.results.folder import RunFolder


def report(
    run: Path,
    /,
    *,
    format: Literal["text", "markdown", "csv", "json"] = "text",  # noqa: A002 - the option's own name
    full: bool = False,
    page: Annotated[Path | None, Parameter(name="--html")] = None,
) -> None:
    """Print the answer of a run on one screen, or the whole report, from its folder alone.

    Parameters
    ----------
    run
        The run folder.
    format
        Format of the output.
    full
        Print the whole report, in a pager if there is a terminal.
    page
        Write the page to this file as well.

    """
    folder = RunFolder.open(run)
    analysis = analyse_folder(folder)
    if page:
        from diskproof.report import html  # noqa: PLC0415 - drawing takes long to load; text needs none of it

        keep("report", page, html.render(analysis))
    match format:
        case "text":
            if full:
                terminal.write(compose(analysis), results)
            else:
                one_screen.write(answer(analysis), results)
        case "markdown":
            put(markdown.render(analysis))
        case "csv":
            put(csv.render(folder, analysis))
        case "json":
            put_json(analysis.model_dump_json(indent=2) + "\n")
