"""`diskproof audit`: what results that somebody made can and cannot support."""

from pathlib import Path

from pydantic import TypeAdapter

from diskproof.analysis.audited.files import audit_found
from diskproof.analysis.audited.shapes import AuditAnswer, SubjectAnswer
from diskproof.analysis.folder import audit_folder
from diskproof.cli.exits import AUDIT_FAILED, DONE, REFUSED
from diskproof.cli.fenced import keep
from diskproof.cli.forms import Form, put_in_form
from diskproof.importers.assemble import assemble, write_run
from diskproof.importers.base import Found
from diskproof.importers.read import read_files
from diskproof.refusal import RefusalError
from diskproof.report.compose.audit import compose
from diskproof.results.folder import RunFolder, RunFolderError

FOUND: TypeAdapter[list[Found]] = TypeAdapter(list[Found])


def audit(
    *file: Path,
    why: bool = False,
    out: Path | None = None,
    format: Form = "text",  # noqa: A002 - the option's own name
) -> int:
    """Check what results can support: runs, other tools' output and settings.

    Files are recognised by their content: output of sysbench, fio, pgbench or HammerDB, a
    server's option file, or its answer to SHOW VARIABLES.

    Parameters
    ----------
    file
        Run folders, and files of other tools' output or settings. All of them are read as one experiment.
    why
        Say of each finding why it matters and what helps, and what else was checked.
    out
        Write the imported results to this new folder as a run, for `report` and `compare`.
    format
        Format of the output.

    """
    if not file:
        raise RefusalError("nothing to audit: name run folders, or files with a tool's output")
    folders = [path for path in file if path.is_dir()]
    found, refused = read_files([path for path in file if path not in folders])
    if out and (found or not refused):
        keep("audit", out, FOUND.dump_json(found).decode())
    subjects: list[SubjectAnswer] = []
    for path in folders:
        try:
            subjects.append(audit_folder(_opened(path)))
        except RefusalError as refusal:
            refused.append(str(refusal))
    subjects += audit_found(found)
    if refused and not subjects:
        raise RefusalError("\n".join(refused))
    made = AuditAnswer(subjects=subjects, refused=refused)
    put_in_form(format, compose(made), made, whole=why)
    if refused:
        return REFUSED
    return AUDIT_FAILED if made.failed else DONE


def keep_run(out: Path, made: str) -> None:
    """Write what was read as a run."""
    write_run(out, assemble(FOUND.validate_json(made), out.name))


def _opened(path: Path) -> RunFolder:
    """Open a run folder; a user who names another folder may mean the files in it."""
    try:
        return RunFolder.open(path)
    except RunFolderError as error:
        raise RefusalError(f"{error}; if it holds other tools' output, name its files: `{path}/*`") from None
