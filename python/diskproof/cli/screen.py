"""The two consoles: results on stdout, everything else on stderr."""

import errno
import io
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from types import TracebackType

from rich.console import Console
from rich.text import Text

for stream in (sys.stdout, sys.stderr):
    # A study's question may be in any script; a terminal that cannot show it must not end the run.
    if isinstance(stream, io.TextIOWrapper):
        stream.reconfigure(errors="replace")


class NotSaidError(OSError):
    """Stdout or stderr can no longer be written; other files raise other errors."""

    def __init__(self, error: OSError, descriptor: int) -> None:
        """Say of which stream it is: 1 or 2."""
        super().__init__(error.errno, error.strerror)
        self.descriptor = descriptor


@contextmanager
def saying(descriptor: int) -> Iterator[None]:
    """Turn an error of stdout or stderr into NotSaidError."""
    try:
        yield
    except OSError as error:
        raise NotSaidError(error, descriptor) from error


class Screen(Console):
    """A console that raises NotSaidError if its stream fails or its reader leaves."""

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Write the buffered output, as every print does last."""
        with saying(2 if self.stderr else 1):
            super().__exit__(kind, error, trace)

    def on_broken_pipe(self) -> None:
        """Raise the error: rich itself would end with exit code 1."""
        raise OSError(errno.EPIPE, os.strerror(errno.EPIPE))


results = Screen(highlight=False)
messages = Screen(stderr=True, highlight=False)


def put(text: str) -> None:
    """Write a text to stdout as it is, whatever it is for."""
    with saying(1):
        print(text, end="")


def complain(text: str) -> None:
    """Say on stderr what is wrong; the text is shown as it is, brackets and all."""
    messages.print(Text.assemble(("diskproof: ", "bold red"), text), soft_wrap=True)


def say(text: str) -> None:
    """Say something in passing on stderr."""
    messages.print(Text(text), soft_wrap=True)
