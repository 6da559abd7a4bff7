"""Where the password of a server is, and how it is read: it is never written down."""

import os
from dataclasses import dataclass
from pathlib import Path

from diskproof.reading import read_text
from diskproof.refusal import RefusalError

LARGEST_BYTES = 64 * 2**10
"""A password is a line; a larger file is of another kind."""

OTHERS = 0o077
"""The permissions of everybody but the owner."""


@dataclass(frozen=True)
class Secret:
    """Where a password is: in a file, in the environment, or nowhere."""

    file: str | None = None
    variable: str | None = None

    def read(self) -> str | None:
        """Return the password; None if the server asks for none. RefusalError says why it cannot be read."""
        if self.variable is not None:
            found = os.environ.get(self.variable)
            if found is None:
                raise RefusalError(
                    f"the environment has no variable {self.variable}, which `password_env` names: set it "
                    "to the server's password"
                )
            return found
        if self.file is None:
            return None
        path = Path(self.file)
        text = read_text(path, LARGEST_BYTES)
        if path.stat().st_mode & OTHERS:
            raise RefusalError(f"{path} holds a password, and other users may use it: `chmod 600 {path}`")
        return text.splitlines()[0] if text else ""
