"""Which role a file of a server of the MySQL family has."""

import re
from pathlib import Path

from diskproof.results.record import Role
from diskproof.server.base import Dirs

BY_NAME: tuple[tuple[str, Role], ...] = (
    (r"ib_logfile\d+|#ib_redo\d+(_tmp)?|ib_redo\d+", "redo"),
    (r"aria_log\.\d+|aria_log_control", "redo"),
    (r"ibtmp\d+|temp_\d+\.ibt", "tmp"),
    (r"(binlog|.+-bin|.+-relay-bin|relay-log)\.(\d+|index|state)", "binlog"),
    (r"ibdata\d+|undo_?\d+|.+\.(ibd|ibu|dblwr|frm|MYD|MYI|MAD|MAI)", "data"),
)
"""Names that mean one role wherever the file lies, so that one in the wrong place is found.

Undo logs and the doublewrite buffer belong to the data: they are written back with the pages.
A ``#sql…`` file has the role of its folder: an ALTER TABLE's copy in the data directory, an internal
temporary table in the temporary one.
"""


def role_of(path: str, dirs: Dirs) -> Role | None:
    """Return the role of an open file by its name, then by its folder; None where it is no role's."""
    file = Path(path.removesuffix(" (deleted)"))
    if not file.name.startswith("#sql"):
        for pattern, role in BY_NAME:
            if re.fullmatch(pattern, file.name):
                return role
    for role in ("data", "redo", "binlog", "tmp"):
        if file.is_relative_to(dirs.of(role).resolve()):
            return role
    return None
