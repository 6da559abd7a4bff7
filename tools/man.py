"""Man page of the lab, from the declarations that its help has: tools/man.py diskproof.1.

The pages of the two programs come from theirs: `cargo run --package diskproof-man`.
"""

import re
import sys
from pathlib import Path

from docutils.core import publish_string

from diskproof import __version__
from diskproof.cli import app


def page() -> str:
    """Return the page as troff."""
    text = app.generate_docs(output_format="rst")
    _, _, after_title = text.partition("=========\ndiskproof\n=========\n")
    assert after_title, "cyclopts titles its pages in another way"
    body = re.sub(r"\.\. contents::.*?\n\n", "", after_title, flags=re.DOTALL)
    body = re.sub(r"^\.\. _cyclopts-.*\n", "", body, flags=re.MULTILINE)
    head = (
        "=========\ndiskproof\n=========\n\n"
        f"{'-' * len(app.help)}\n{app.help}\n{'-' * len(app.help)}\n\n"
        f":Version: {__version__}\n:Manual section: 1\n\n"
    )
    settings = {"output_encoding": "unicode", "report_level": 3, "halt_level": 3}
    return str(publish_string(head + body, writer="manpage", settings_overrides=settings))


if __name__ == "__main__":
    Path(sys.argv[1]).write_text(page())
