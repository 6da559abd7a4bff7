"""Which server it is whose options are judged: its flavour and its version, as far as they are known."""

import re
from dataclasses import dataclass
from typing import Annotated

from pydantic import BeforeValidator

from diskproof.results.record import FAMILY_OF, Family, Flavour

Version = tuple[int, ...]
"""As many numbers as are known: ``(8, 0)`` is a series and may be any of its releases."""

WHICH_SERVER = (
    "which server and version the settings are for (give what it answers to SHOW VARIABLES beside them)"
)
"""What is missing if the same option means other things on other servers."""


def _parted(at: str | None) -> BeforeValidator:
    return BeforeValidator(lambda given: given.split(at) if isinstance(given, str) else given)


Names = Annotated[tuple[str, ...], _parted(None)]
"""Names, in a file as one text."""

Number = Annotated[Version, _parted(".")]
"""A version, in a file as a text."""


RELEASE, LAST_PATCH = 3, 999
"""How many numbers name a release of the MySQL family, and a number above all that there are."""


@dataclass(frozen=True)
class Server:
    """Which server it is, as far as that is known."""

    flavour: Flavour | None
    """None: one of the MySQL family, which one is not known."""
    version: Version | None

    @property
    def family(self) -> Family:
        """The family whose options it has."""
        return FAMILY_OF[self.flavour] if self.flavour else "mysql"

    @property
    def is_mysql(self) -> bool:
        """Whether MySQL's version numbers apply to it."""
        return self.flavour in {"MySQL", "Percona Server"}

    @property
    def title(self) -> str:
        """Its name: ``Percona Server 5.7.27``."""
        number = "" if self.version is None else " " + dotted(self.version)
        return (self.flavour or "the server") + number

    def since(self, *version: int) -> bool | None:
        """Return whether it is of at least this version; None if too little of its version is known."""
        if self.version is None:
            return None
        known = len(self.version)
        if self.version == version[:known] and any(version[known:]):
            return None
        return self.version >= version[:known]

    @property
    def releases(self) -> tuple["Server", ...]:
        """The first and the last release that it may be; itself if its release is known."""
        if self.version is None or self.family != "mysql" or len(self.version) >= RELEASE:
            return (self,)
        padding = RELEASE - len(self.version)
        return tuple(Server(self.flavour, self.version + (patch,) * padding) for patch in (0, LAST_PATCH))


def dotted(version: Version) -> str:
    """Return a version as people write it: ``8.0.30``."""
    return ".".join(map(str, version))


def server_named(name: str) -> Server:
    """Return the server that a text names: ``Percona Server 5.7.27-30``, ``10.11.19-MariaDB (Debian 12)``.

    A bare number is judged by what it can be: 10 and above are MariaDB's; 5, 8 and 9 are MySQL's, unless
    Percona's release stands behind a dash.
    """
    number = re.search(r"(\d{1,3})(?:\.(\d{1,3}))?(?:\.(\d{1,3}))?(-\d)?", name)
    found = tuple(int(one) for one in number.groups()[:3] if one is not None) if number else ()
    version = found if len(found) > 1 else None
    words = name.lower()
    if "postgres" in words:
        return Server("PostgreSQL", found or None)
    if "mariadb" in words or (version and 10 <= version[0] < 20):
        return Server("MariaDB", version)
    if "percona" in words or (number and number[4] and "mysql" not in words):
        return Server("Percona Server", version)
    return Server("MySQL" if "mysql" in words or version else None, version)
