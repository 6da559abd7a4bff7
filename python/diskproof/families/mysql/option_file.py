"""How servers of the MySQL family read an option file: which groups, and what a name means there."""

import re
from collections.abc import Collection

from diskproof.families.options import Server

GROUP = re.compile(
    r"(?P<name>mysqld|server|mariadbd?|client-server|galera)(?:-(?P<series>\d{1,3}(?:\.\d{1,3}){0,2}))?",
    re.IGNORECASE,
)
"""The groups that some server reads (the head of ``mysqld --verbose --help`` lists a server's own)."""

SWITCHES = {"skip_": "OFF", "disable_": "OFF", "enable_": "ON"}
"""What servers take before a name (MySQL Reference Manual, Program Option Modifiers)."""

_OPPOSITE = {"OFF": "ON", "ON": "OFF"}


def is_read(group: str, server: Server) -> bool | None:
    """Return whether a server reads a group; None if that depends on its version, which is not known."""
    found = GROUP.fullmatch(group or "mysqld")
    if found is None or (found["name"].lower() not in {"mysqld", "server"} and server.is_mysql):
        return False
    if not found["series"]:
        return True
    if server.version is None:
        return None
    parts = tuple(int(part) for part in found["series"].split("."))
    return server.version[: len(parts)] == parts


def resolved(name: str, value: str | None, known: Collection[str], server: Server) -> tuple[str, str | None]:
    """Return an option by the name and value that it has among the `known` ones: ``skip_x`` turns x off.

    MySQL before 5.7 and MariaDB also take the beginning of a name if no other one begins so.
    """
    if name in known:
        return name, value
    for prefix, switch in SWITCHES.items():
        if (plain := name.removeprefix(prefix)) != name and plain in known:
            return plain, _OPPOSITE[switch] if value == "0" else switch
    whole = server.is_mysql and server.since(5, 7)
    begun = [] if whole else [one for one in known if one.startswith(name)]
    return (begun[0], value) if len(begun) == 1 else (name, value)
