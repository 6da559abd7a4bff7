"""`diskproof audit`: what results that somebody made can and cannot support."""

from collections.abc import Sequence
from pathlib import Path
from typing import Literal

from diskproof.analysis.audited.audit import (
    audit_article,
    audit_configuration,
    audit_results,
    configurations,
)
from diskproof.analysis.audited.shapes import AuditAnswer, SubjectAnswer
from diskproof.analysis.folder import audit_folder
from diskproof.cli.exits import AUDIT_FAILED, DONE
from diskproof.cli.screen import results
from diskproof.importers.base import Found
from diskproof.importers.read import read_files
from diskproof.refusal import RefusalError
from diskproof.report.audit import json, markdown, text
from diskproof.results.article import Article
from diskproof.results.folder import RunFolder
from diskproof.results.imported import ImportedResult, Settings


def audit(
    *file: Path,
    format: Literal["text", "markdown", "json"] = "text",  # noqa: A002 - the option's own name
) -> int:
    """Say what results can and cannot support: of runs, other tools' output, settings and articles.

    What a file is, its content tells: output of sysbench, mysqlslap, sql-bench, fio, dd, pgbench, HammerDB
    or BenchBase, a server's option file or what it answered to SHOW VARIABLES, an article in TOML.

    Parameters
    ----------
    file
        Run folders, and files that hold other tools' output; what each is, its content tells. What is named
        together is read as one experiment. Exit code 0: no check failed; 10: one did, see what failed.
    format
        What to print.

    """
    if not file:
        raise RefusalError("name what is to be audited: run folders, or files that hold a tool's output")
    folders = [path for path in file if path.is_dir()]
    found = read_files([path for path in file if path not in folders])
    subjects = [audit_folder(RunFolder.open(path)) for path in folders]
    made = AuditAnswer(subjects=[*subjects, *_of_files(found)])
    match format:
        case "text":
            text.render(made, results)
        case "markdown":
            print(markdown.render(made), end="")
        case "json":
            print(json.render(made), end="")
    return AUDIT_FAILED if made.failed else DONE


def _of_files(found: Sequence[Found]) -> list[SubjectAnswer]:
    measured = [one for one in found if isinstance(one, ImportedResult)]
    settings = [one for one in found if isinstance(one, Settings)]
    articles = [one for one in found if isinstance(one, Article)]
    return [
        *(audit_article(article) for article in articles),
        *audit_results(measured),
        *(audit_configuration(one) for one in configurations(settings)),
    ]
