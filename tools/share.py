"""Man page and completions of the lab, from the declarations that its help has: tools/share.py FOLDER.

The man pages of the two programs come from theirs: `cargo run --package diskproof-man`.
"""

import re
import sys
from pathlib import Path
from typing import Literal

from docutils.core import publish_string

from diskproof import __version__
from diskproof.cli import app

COMPLETIONS: dict[Literal["bash", "zsh", "fish"], str] = {
    "bash": "bash-completion/completions/diskproof",
    "zsh": "zsh/site-functions/_diskproof",
    "fish": "fish/vendor_completions.d/diskproof.fish",
}
"""Where shells look below a prefix; pipx links them there."""


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
        f":Version: {__version__}\n:Manual section: 1\n\nSynopsis\n--------\n"
    )
    settings = {"output_encoding": "unicode", "report_level": 3, "halt_level": 3}
    return str(publish_string(head + body, writer="manpage", settings_overrides=settings))


def main(folder: Path) -> None:
    """Write all of it."""
    texts = {path: f"{app.generate_completion(shell=shell)}\n" for shell, path in COMPLETIONS.items()}
    for path, text in {**texts, "man/man1/diskproof.1": page()}.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(text)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
