"""The two consoles: results on stdout, everything else on stderr.

This is the one place where the lab writes to a terminal. Here, names and messages of others lose what could
steer it.
"""

import errno
import io
import os
import re
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from types import TracebackType
from typing import Any

from rich.console import Console, ConsoleOptions, RenderableType
from rich.segment import Segment
from rich.text import Text

from diskproof.visible import visible, visible_json

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
    """A console that shows texts as they are, and obeys nothing in them.

    NotSaidError if its stream fails or its reader leaves.
    """

    def __init__(self, **choices: Any) -> None:  # noqa: ANN401 - as the base class has them
        """Take the choices of rich's own console; no text has markup."""
        super().__init__(highlight=False, markup=False, emoji=False, **choices)

    def render(self, renderable: RenderableType, options: ConsoleOptions | None = None) -> Iterable[Segment]:
        """Yield what is to be written; all that is printed comes through here."""
        for text, style, control in super().render(renderable, options):
            shown = text if control else visible(text)
            yield Segment(
                shown if self.encoding.startswith("utf") else shown.replace("µ", "u"), style, control
            )

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


SEEN = "DISKPROOF_SEEN"
"""Environment variable of a process in the fence: which streams of the one outside are terminals."""

_seen = os.environ.get(SEEN, "")
results = Screen(force_terminal="1" in _seen or None)
messages = Screen(stderr=True, force_terminal="2" in _seen or None)


def put(text: str) -> None:
    """Write a text of many lines to stdout, such as Markdown or CSV."""
    with saying(1):
        print(visible(text), end="")


def put_json(text: str) -> None:
    """Write JSON to stdout, whose values stay exact."""
    put(visible_json(text))


_COLOURS = re.compile(r"(\x1b\[[0-9;]{0,40}m)")


def pass_on(text: str, where: Console, *, paged: bool = False) -> None:
    """Write what a process in the fence said: of all that could steer a terminal, only colours may.

    If it is to be `paged`, a terminal shows it in a pager.
    """
    said = "".join(part if _COLOURS.fullmatch(part) else visible(part) for part in _COLOURS.split(text))
    with saying(2 if where.stderr else 1):
        if paged and where.is_terminal:
            import pydoc  # noqa: PLC0415 - few reports are paged

            pydoc.pager(said)
        else:
            print(said, end="", file=where.file)


def complain(text: str) -> None:
    """Say on stderr what is wrong."""
    messages.print(Text.assemble(("diskproof: ", "bold red"), text), soft_wrap=True)


def say(text: str) -> None:
    """Say something in passing on stderr."""
    messages.print(text, soft_wrap=True)
