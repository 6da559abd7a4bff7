"""A signal ends every command with a word, whenever it comes."""

import signal
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

from support.command import begin, wait_until_it_begins

INTERRUPTED = 130


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
@pytest.mark.parametrize("early", [True, False])
def test_a_signal_at_the_start_has_a_word(tmp_path: Path, number: signal.Signals, early: bool) -> None:
    process = begin(tmp_path, "schema")
    if early:
        handled = Path(f"/proc/{process.pid}/status")
        while not int(handled.read_text().partition("SigCgt:")[2].split()[0], 16) & 1 << signal.SIGHUP - 1:
            pass
    else:
        wait_until_it_begins(process)
    process.send_signal(number)
    out, err = process.communicate(timeout=30)
    assert (process.returncode, out, err) == (INTERRUPTED, "", "interrupted\n")


DONE = """
    import atexit, os, signal, sys
    from diskproof.cli import main
    class Last:
        def __del__(self, kill=os.kill, pid=os.getpid(), number=signal.SIGTERM.value):
            kill(pid, number)
    last = Last()
    main(["completion", "bash"])
"""


def test_a_signal_after_the_result_leaves_the_exit_code() -> None:
    program = [sys.executable, "-c", textwrap.dedent(DONE)]
    done = subprocess.run(program, capture_output=True, text=True, timeout=60, check=False)
    assert (done.returncode, done.stderr) == (0, "")


AMID = """
    import os, signal, sys, time
    from diskproof.cli import app, main
    class Destroyed:
        def __del__(self):
            os.kill(os.getpid(), signal.SIGTERM)
            time.sleep(0.1)
    def swallowed():
        try:
            os.kill(os.getpid(), signal.SIGTERM)
            time.sleep(0.1)
        except KeyboardInterrupt as error:
            raise ValueError("SchemaError: KeyboardInterrupt") from error
    def lost():
        Destroyed()
        time.sleep(20)
    app.command(swallowed)
    app.command(lost)
    main(sys.argv[1:])
"""


@pytest.mark.parametrize("verb", ["swallowed", "lost"])
def test_an_interruption_that_a_library_swallows_is_not_lost(verb: str) -> None:
    program = [sys.executable, "-c", textwrap.dedent(AMID), verb]
    done = subprocess.run(program, capture_output=True, text=True, timeout=60, check=False)
    assert (done.returncode, done.stderr) == (INTERRUPTED, "interrupted\n")
