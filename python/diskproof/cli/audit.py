"""`diskproof audit`: what results that somebody made can and cannot support."""

from collections.abc import Sequence
from pathlib import Path
from typing import Literal

from diskproof.analysis.audited.audit import (
    audit_article,
    audit_configuration,
    audit_experiment,
    audit_results,
    configurations,
)
from diskproof.analysis.audited.shapes import AuditAnswer, SubjectAnswer
from diskproof.analysis.folder import audit_folder
from diskproof.cli.exits import AUDIT_FAILED, DONE
from diskproof.cli.screen import put, results, say
from diskproof.importers.assemble import assemble, write_run
from diskproof.importers.base import Found, ImportRefusedError
from diskproof.importers.beside import belonging
from diskproof.importers.read import read_files
from diskproof.refusal import RefusalError
from diskproof.report.audit import json, markdown, text
from diskproof.results.article import Article
from diskproof.results.folder import RunFolder, RunFolderError
from diskproof.results.imported import Counters, ImportedResult, Settings


def audit(
    *file: Path,
    out: Path | None = None,
    format: Literal["text", "markdown", "json"] = "text",  # noqa: A002 - the option's own name
) -> int:
    """Say what results can and cannot support: of runs, other tools' output, settings and articles.

    What a file is, its content tells: output of sysbench, mysqlslap, sql-bench, fio, dd, pgbench, HammerDB
    or BenchBase, a server's option file or what it answered to SHOW VARIABLES, an article in TOML.

    Parameters
    ----------
    file
        Run folders, and files of other tools' output or settings; all together are read as one experiment.
    out
        Leave the imported results as a run in this folder, which must be new, for `report` and `compare`.
    format
        What to print.

    """
    if not file:
        raise RefusalError("name what is to be audited: run folders, or files that hold a tool's output")
    folders = [path for path in file if path.is_dir()]
    found = read_files([path for path in file if path not in folders])
    if out:
        write_run(out, assemble(found, out.name))
        say(f"run: {out}")
    subjects = [*(audit_folder(_opened(path)) for path in folders), *_of_files(found)]
    if not subjects:
        raise RefusalError(
            "what these files hold cannot be audited alone, such as a server's counters: name the results "
            "beside them"
        )
    made = AuditAnswer(subjects=subjects)
    match format:
        case "text":
            text.render(made, results)
        case "markdown":
            put(markdown.render(made))
        case "json":
            put(json.render(made))
    return AUDIT_FAILED if made.failed else DONE


def _opened(path: Path) -> RunFolder:
    """Open a run folder; of one that is none, a user may have meant the files in it."""
    try:
        return RunFolder.open(path)
    except RunFolderError as error:
        raise RefusalError(
            f"{error}; if other tools' output lies in it, name its files: `{path}/*`"
        ) from None


def _of_files(found: Sequence[Found]) -> list[SubjectAnswer]:
    settings = [one for one in found if isinstance(one, Settings)]
    articles = [one for one in found if isinstance(one, Article)]
    return [
        *(audit_article(article) for article in articles),
        *_of_results(
            [one for one in found if isinstance(one, ImportedResult)],
            [one for one in found if isinstance(one, Settings | Counters)],
        ),
        *(audit_configuration(one) for one in configurations(settings)),
    ]


def _of_results(
    measured: Sequence[ImportedResult], given: Sequence[Settings | Counters]
) -> list[SubjectAnswer]:
    """Audit each result with the settings given beside it, and where there are several, their comparison."""
    besides = belonging(measured, given)
    try:
        plan, trials, _ = assemble(measured, "imported")
    except ImportRefusedError:
        return audit_results(measured, [], besides)
    together = audit_experiment(plan, trials, measured, besides)
    return [*audit_results(measured, trials, besides), *([together] if together else [])]
