"""The command line: one file a verb. Results go to stdout, progress and warnings to stderr."""

import errno
import gc
import os
import stat
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from resource import RLIM_INFINITY, RLIMIT_AS, getrlimit
from typing import NoReturn

from cyclopts import App, CycloptsError, Parameter

import diskproof
from diskproof.cli import disk, fenced, history, host, load
from diskproof.cli.completion import completion_for
from diskproof.cli.exits import INTERRUPTED, REFUSED
from diskproof.cli.misuse import misused
from diskproof.cli.screen import NotSaidError, complain, results, say, saying
from diskproof.cli.verbs import add_group, add_verbs
from diskproof.refusal import RefusalError, refusal_of, why_refused
from diskproof.system.endings import ending_in_good_order, ignore_endings
from diskproof.system.fence import inside

VERBS = {
    "init": "Write a first study, with comments.",
    "run": "Run a study, show progress, print the verdict.",
    "crash": "Cut the power again and again while clients commit, and count the losses.",
    "plan": "Show a study's cells, their order, the time it takes and the bytes it writes.",
    "runs": "List the runs that lie here, a line each; give one a label or a note.",
    "report": "Print the answer of a run on one screen, or the whole report, from its folder alone.",
    "compare": "Compare the same cells of runs: ratio, interval, verdict.",
    "serve": "Show the runs in a folder as pages, which follow those under way, until Ctrl-C.",
    "publish": "Make a static site of runs and of other tools' results, each audited by its own records.",
    "predict": "Predict what the loads of a run would do on other disks.",
    "advise": "Name the cheapest disk on which a recorded load is predicted to meet a target.",
    "audit": "Check what results can support: runs, other tools' output and settings.",
    "studies": "List the studies that come with diskproof; each runs by its name.",
    "doctor": "Report what this machine can do, with a remedy for what is missing.",
    "clean": "End processes, unmount and remove what a killed run left behind.",
    "schema": "Print the JSON Schema of study files; editors complete and check with it.",
}

EXAMPLES = {
    "init": "diskproof init study.toml --storage /mnt/ssd/diskproof --storage ram",
    "run": "diskproof run quickstart",
    "crash": "diskproof crash study.toml --cuts 20",
    "plan": "diskproof plan study.toml --only safest",
    "runs": "diskproof runs newest --label before",
    "report": "diskproof report newest --html page.html",
    "compare": "diskproof compare runs/study/20260314-090000 runs/study/20260315-090000",
    "serve": "diskproof serve --port 8080",
    "publish": "diskproof publish newest --to site",
    "predict": "diskproof predict runs/study/20260314-090000 --on ebs-gp3 --on mine.toml",
    "advise": "diskproof advise runs/study/20260314-090000 --target 'p95 <= 20 ms'",
    "studies": "diskproof studies quickstart --to mine",
    "audit": "diskproof audit old-sysbench.txt my.cnf",
    "schema": "diskproof schema > study.schema.json",
}


def _default_shown(value: object) -> str | None:
    """Return the default of an option as shown; a switch has none."""
    return None if value is None or value is False else str(value)


app = App(
    name="diskproof",
    help="How fast, how safe and how expensive a database is on the storage under it, with proof.",
    help_epilogue="Start with: diskproof doctor, then: diskproof init",
    help_format="plaintext",
    version=lambda: diskproof.__version__,
    version_flags=["--version", "-V"],
    default_parameter=Parameter(negative="", show_default=_default_shown),
    console=results,
    result_action="return_value",
    suppress_keyboard_interrupt=False,
)
add_verbs(app, sys.modules[__name__])
for package in (disk, history, host, load):
    add_group(app, package)
app.command(completion_for(app), name="completion")


def main(arguments: Sequence[str] | None = None) -> NoReturn:
    """Run the command line and exit: 0 done, 1 internal error, 2 refused, 10, 12 and 130 as `exits` says."""
    if inside():
        gc.disable()  # it would walk over millions of figures again and again; the process ends soon
    code = call(sys.argv[1:] if arguments is None else arguments, apart=True)
    if code == INTERRUPTED or inside():
        # Python ends by SIGINT if the interruption came during an `exec`, although it was caught. In
        # the fence it would give back millions of figures one by one.
        for stream in (sys.stdout, sys.stderr):
            with suppress(OSError, ValueError):
                stream.flush()
        os._exit(code)
    ignore_endings()  # all is done and said; Python gives its handlers back before it ends
    sys.exit(code)


def call(arguments: Sequence[str], *, apart: bool = False) -> int:
    """Run one command line and return its exit code; one that reads foreign files may run `apart`."""
    try:
        return _answer(arguments, apart=apart)
    except NotSaidError as error:
        if error.errno == errno.EPIPE:
            _say_no_more(1, 2)  # the reader of our output has left
            return 0
        if error.errno == errno.EIO and _is_device(error.descriptor):
            return INTERRUPTED  # the terminal closed during the output
        _say_no_more(error.descriptor)  # Python would try again as it ends
        return _refused(f"the output could not be written: {error.strerror}: {why_refused(error)}")


OF_RUNS = ("report", "compare", "publish", "predict", "advise", "audit")
"""Verbs whose words before the first option with a value are runs."""

SWITCHES = ("--full", "--why", "--durable", "--keep")
"""Their options without a value."""


def with_runs(arguments: Sequence[str]) -> list[str]:
    """Return a command line with the folders of the runs that it calls `newest`, or by label or study."""
    words = list(arguments)
    if not words or words[0] not in OF_RUNS:
        return words
    for at in range(1, len(words)):
        if words[at] in SWITCHES or os.path.lexists(words[at]):
            continue
        if words[at].startswith("-"):
            break
        from diskproof.history.shelf import find  # noqa: PLC0415 - a path needs no shelf

        if (run := find(words[at])) is not None:
            say(f"{words[at]}: {run}")
            words[at] = str(run)
    return words


def _answer(arguments: Sequence[str], *, apart: bool) -> int:
    """Run one command line; NotSaidError if what it says can no longer be written."""
    try:
        with ending_in_good_order():
            arguments = with_runs(arguments)
            if apart and fenced.is_apart(arguments):
                code = fenced.obey(arguments)
            else:
                code = app(list(arguments) or ["--help"], exit_on_error=False, print_error=False)
            _flush()
    except CycloptsError as error:
        return _refused(misused(error))
    except RefusalError as refusal:
        return _refused(str(refusal))
    except KeyboardInterrupt:
        ignore_endings()
        with _if_anybody_hears():
            say("interrupted")
        return INTERRUPTED
    except (MemoryError, ImportError) as error:
        if isinstance(error, ImportError) and getrlimit(RLIMIT_AS)[0] == RLIM_INFINITY:
            raise  # with a limit, it is a library that cannot be mapped
        return _refused(
            "there is not enough memory: free some, raise the limit that `ulimit -v` shows, or name less"
        )
    except NotSaidError:
        raise
    except OSError as error:
        refused = refusal_of(error)
        if refused is None:
            raise
        return _refused(refused)
    return code if isinstance(code, int) else 0


def _refused(why: str) -> int:
    """Say why the command line is refused, and return the exit code."""
    with _if_anybody_hears():
        complain(why)
    return REFUSED


@contextmanager
def _if_anybody_hears() -> Iterator[None]:
    """Write a last message; if that fails, the exit code stays the same."""
    try:
        yield
    except NotSaidError as error:
        _say_no_more(error.descriptor)


def _flush() -> None:
    """Flush stdout, so that a full disk is reported here and not while Python ends."""
    if sys.stdout is not None:
        with saying(1):
            sys.stdout.flush()


def _is_device(descriptor: int) -> bool:
    """Tell whether this is a terminal, even a closed one, and not a file on a failing disk."""
    return stat.S_ISCHR(os.fstat(descriptor).st_mode)


def _say_no_more(*descriptors: int) -> None:
    """Discard all further output to these."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    for descriptor in descriptors:
        os.dup2(nowhere, descriptor)
    os.close(nowhere)
