"""The two consoles: results on stdout, everything else on stderr."""

import io
import sys

from rich.console import Console
from rich.text import Text

for stream in (sys.stdout, sys.stderr):
    # A study may ask its question in any script; a terminal that cannot show it must not end the run.
    if isinstance(stream, io.TextIOWrapper):
        stream.reconfigure(errors="replace")


class Screen(Console):
    """A console whose reader may leave: that ends the command as it does any other, and is no error."""

    def on_broken_pipe(self) -> None:
        """Leave it to the command line, where rich itself would end with exit code 1."""
        raise BrokenPipeError


results = Screen(highlight=False)
messages = Screen(stderr=True, highlight=False)


def complain(text: str) -> None:
    """Say on stderr what is wrong; the text is shown as it is, brackets and all."""
    messages.print(Text.assemble(("diskproof: ", "bold red"), text), soft_wrap=True)


def say(text: str) -> None:
    """Say something in passing on stderr."""
    messages.print(Text(text), soft_wrap=True)
