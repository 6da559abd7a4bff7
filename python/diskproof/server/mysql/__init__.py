"""The MySQL family: MySQL, Percona Server and MariaDB of any age, found by what their own binary says."""

from diskproof.server.mysql.installation import find_mysql
from diskproof.server.mysql.server import MysqlServer

__all__ = ["MysqlServer", "find_mysql"]
