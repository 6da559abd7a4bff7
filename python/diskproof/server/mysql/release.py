"""Which server of the MySQL family it is, as far as its behaviour depends on that."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Release:
    """A flavour and a version."""

    flavour: str
    version: tuple[int, int, int]
    version_text: str

    @property
    def is_mariadb(self) -> bool:
        """Whether it is MariaDB, which has version numbers of its own."""
        return self.flavour == "MariaDB"

    def mysql_since(self, *version: int) -> bool:
        """Return whether this is a MySQL or Percona Server of at least this version."""
        return not self.is_mariadb and self.version >= version

    @property
    def character_set(self) -> str:
        """The widest UTF-8 that it has: utf8mb4 came with MySQL 5.5.3 and MariaDB 5.5."""
        return "utf8mb4" if self.version >= (5, 5, 3) else "utf8"
