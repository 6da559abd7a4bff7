"""`diskproof publish`: a static site of runs and of other tools' results, each audited by its own records."""

from pathlib import Path

from diskproof.cli.exits import AUDIT_FAILED, DONE, REFUSED
from diskproof.cli.fenced import keep as hand_over
from diskproof.cli.screen import complain, results, say
from diskproof.refusal import RefusalError
from diskproof.site import publish as site


def publish(*run: Path, to: Path | None = None, check: Path | None = None, keep: bool = False) -> int:
    """Make a static site of runs and of other tools' results, each audited by its own records.

    Parameters
    ----------
    run
        Run folders, and files of other tools' output, which are read as one experiment.
    to
        Folder of the site; runs that it has already stay.
    check
        Audit the runs of this site again: exit code 10 if a figure contradicts its own records.
    keep
        Keep names of hosts, people and folders, addresses and serial numbers.

    """
    if check is not None:
        if run or to is not None:
            raise RefusalError("--check looks at a site that is there: leave runs and --to out")
        return _check(check)
    if to is None:
        raise RefusalError("name the folder of the site with --to, or a site to look at with --check")
    if not run:
        raise RefusalError("nothing to publish: name run folders, or files with a tool's output")
    made = site.publish(run, to, keep=keep)
    for line in site.listing(made.taken_out):
        say(f"{'kept' if keep else 'taken out'}: {line}")
    for one in made.entries:
        results.print(f"{site.RUNS}/{one.id}: {site.judged(one)}", soft_wrap=True)
    hand_over("publish", to, made.made.model_dump_json())
    return DONE


def _check(folder: Path) -> int:
    if not (folder / site.SCHEMA).is_file():
        raise RefusalError(f"{folder} is no site of diskproof: it has no {site.SCHEMA}")
    code = DONE
    for run in sorted((folder / site.RUNS).glob("*")):
        try:
            entry, wrong = site.contradictions(run)
        except RefusalError as refusal:
            complain(f"{run.name}: {refusal}")
            code = code or REFUSED
            continue
        for one in wrong:
            complain(f"{run.name}: {one}")
        if wrong:
            code = AUDIT_FAILED
        else:
            results.print(f"{run.name}: as its records say; {site.judged(entry)}", soft_wrap=True)
    return code
