"""Names in SQL, quoted as each protocol has them: whatever a name holds, it stays one name."""

import re

from diskproof.results.record import Protocol

VARIABLE = re.compile(r"[a-z_][a-z0-9_.]*")
"""A variable's name, which stands in SQL as it is."""


def quoted(protocol: Protocol, *parts: str) -> str:
    """Return a name with its qualifiers, such as a database and a table of it."""
    mark = "`" if protocol == "mysql" else '"'
    return ".".join(f"{mark}{part.replace(mark, 2 * mark)}{mark}" for part in parts)


def granted(database: str) -> str:
    r"""Return the database of a GRANT of the MySQL family, where `_` and `%` are patterns without a `\`."""
    escaped = database.replace("\\", "\\\\").replace("_", "\\_").replace("%", "\\%")
    return quoted("mysql", escaped)


def account(user: str, host: str) -> str:
    """Return an account of the MySQL family."""
    return "@".join("'" + part.replace("\\", "\\\\").replace("'", "''") + "'" for part in (user, host))
