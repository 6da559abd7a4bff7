"""The options of a family's servers: their names, values, versions, and which server has them.

``options.toml`` of a family has the facts, each with its source.
"""

import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache, cached_property
from importlib.resources import files
from typing import Annotated, Literal

from pydantic import BeforeValidator

from diskproof.results.record import Family, Record

Flavour = Literal["MySQL", "Percona Server", "MariaDB", "PostgreSQL"]
"""The servers whose versions are distinguished, as their own binaries call themselves."""

FAMILY_OF: Mapping[Flavour, Family] = {
    "MySQL": "mysql",
    "Percona Server": "mysql",
    "MariaDB": "mysql",
    "PostgreSQL": "postgresql",
}

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


class Life(Record):
    """When one flavour had some options; a bound is None if none is known."""

    options: Names
    source: str
    since: Number | None = None
    deprecated: Number | None = None
    removed: Number | None = None
    never: bool = False
    """No version of this flavour has them."""
    still_taken: bool = False
    """A server without them accepts and ignores them; other servers do not start."""
    instead: str = ""
    """The option that does their work now."""


class OffRule(Record):
    """An option that has no effect if one of some others is off."""

    option: str
    """Its name, or a pattern of names with a ``*``."""
    off: Names
    source: str


class Kinds(Record):
    """The values that options of a kind take."""

    switch: Names = ()
    number: str = ".*"
    """A regular expression that numbers match."""
    number_is: str = ""
    """What a number looks like, in words."""


class Options(Record):
    """What is known of a family's options. Of an option that is not here, nothing is claimed."""

    places: Names = ()
    """Options that say where files lie: they belong to the storage layout, not to a tuning."""
    names: dict[str, Names] = {}
    """Names by kind: ``number``, ``switch`` and others."""
    choices: dict[str, Names] = {}
    """The values that some options take, in any version."""
    values: Kinds = Kinds()
    lives: dict[Flavour, list[Life]] = {}
    read_as: dict[str, str] = {}
    """Variables that tell the value of an option, on servers that have none of the option's name."""
    idle: list[OffRule] = []

    @cached_property
    def known(self) -> frozenset[str]:
        """All names."""
        of_lives = (life.options for lives in self.lives.values() for life in lives)
        return frozenset().union(*self.names.values(), *of_lives)

    @cached_property
    def numbers(self) -> frozenset[str]:
        """The names that take a number."""
        return frozenset(self.names.get("number", ()))

    @cached_property
    def switches(self) -> frozenset[str]:
        """The names that take a switch and nothing else, as far as they are listed apart."""
        return frozenset(self.names.get("switch", ()))

    def life(self, name: str, flavour: Flavour) -> Life | None:
        """Return when a flavour had an option; None if nothing is known of that."""
        return next((life for life in self.lives.get(flavour, ()) if name in life.options), None)


@cache
def options_of(family: Family) -> Options:
    """Read what is known of a family's options."""
    file = files(__package__) / family / "options.toml"
    return Options.model_validate(tomllib.loads(file.read_text(encoding="utf-8")))


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

    def has(self, name: str) -> bool:
        """Return whether it has an option, as far as that is known; if nothing is, it has."""
        life = self.life(name)
        if life is None:
            return True
        gone = life.removed is not None and self.since(*life.removed)
        return not (life.never or gone or (life.since is not None and self.since(*life.since) is False))

    def life(self, name: str) -> Life | None:
        """Return what is known of an option on this flavour."""
        if self.flavour is None:
            return None
        options = options_of(self.family)
        found = options.life(name, self.flavour)
        if found is None and self.flavour == "Percona Server":
            found = options.life(name, "MySQL")
            # Percona has a thread pool of its own, so what MySQL never had says nothing of it.
            return None if found and found.never and name.startswith("thread_pool_") else found
        return found


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
