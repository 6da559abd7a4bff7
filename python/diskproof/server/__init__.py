"""The database under test: the MySQL family, PostgreSQL and SQLite, each with the same verbs."""

from diskproof.server.base import (
    DATABASE,
    Dirs,
    Running,
    ServerError,
    ServerFailedError,
    ServerKind,
    ServerNotFoundError,
    Settings,
)
from diskproof.server.samples import Samples, Status

__all__ = [
    "DATABASE",
    "Dirs",
    "Running",
    "Samples",
    "ServerError",
    "ServerFailedError",
    "ServerKind",
    "ServerNotFoundError",
    "Settings",
    "Status",
]
