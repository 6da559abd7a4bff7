"""PostgreSQL: one cluster on a private socket, under the unprivileged user that it demands."""

from diskproof.server.postgresql.installation import find_postgresql
from diskproof.server.postgresql.running import PostgresqlRunning
from diskproof.server.postgresql.server import PostgresqlServer

__all__ = ["PostgresqlRunning", "PostgresqlServer", "find_postgresql"]
