"""A server of the MySQL family that is there already."""

import hashlib
import re
from typing import Any

import pymysql

from diskproof.database.asking import NULLABLE
from diskproof.database.connection import connect_mysql
from diskproof.database.variables import account_of
from diskproof.families.address import Address
from diskproof.families.names import account, granted, quoted
from diskproof.families.values import same
from diskproof.results.machine import ServerFacts
from diskproof.server.base import ServerFailedError, Settings
from diskproof.server.given.base import MARK, Given
from diskproof.server.given.rights import NOWHERE, Rights, rights_of, roles_in
from diskproof.server.mysql.asked import MysqlAsked
from diskproof.server.mysql.release import Release

IDLE_S = 31_536_000
"""How long the connection with the lock may be idle: the longest that the server takes."""

WAYS_TO_WRITE = 3

MOST_ROLES = 100
"""An account has a few; a server could name new ones for ever."""

MOST_VIEWS = 1000


class GivenMysql(MysqlAsked, Given["pymysql.Connection[Any]"]):
    """A server of the MySQL family that is there already."""

    unguarded = "SET SESSION TRANSACTION READ WRITE"

    def __init__(
        self, facts: ServerFacts, settings: Settings, address: Address, password: str | None
    ) -> None:
        """Hold the address; `refuses_connections` connects."""
        Given.__init__(self, facts, settings, address, password)
        numbers = [int(number) for number in re.findall(r"\d+", facts.version)[:3]]
        first, second, third = (*numbers, 0, 0, 0)[:3]
        self.release = Release(facts.flavour, (first, second, third), facts.version)
        if not self.release.is_mariadb:
            self.counted = " of InnoDB tables"
        self._may: dict[str, bool] = {}

    def refuses_connections(self) -> str:
        """Connect, and take the server's own name of the database: some have all names in small letters."""
        why = super().refuses_connections()
        if not why:
            (self.database,) = self._row("SELECT DATABASE()", shape=(str,))
        return why

    def contents(self) -> list[tuple[str, str]]:
        """Return tables, views, sequences, routines and events; triggers go with their tables."""
        rows = self._query(
            "SELECT CASE WHEN table_type IN ('VIEW', 'SEQUENCE') THEN table_type ELSE 'TABLE' END, "
            "table_name FROM information_schema.tables WHERE table_schema = %s AND table_name <> %s "
            "UNION ALL SELECT routine_type, routine_name FROM information_schema.routines "
            "WHERE routine_schema = %s "
            "UNION ALL SELECT 'EVENT', event_name FROM information_schema.events WHERE event_schema = %s "
            "ORDER BY 2",
            *(self.database, MARK, self.database, self.database),
            shape=(str, str),
        )
        return [(kind, quoted("mysql", self.database, name)) for kind, name in rows]

    def data_bytes(self) -> int:
        """Return the size of the tables with their indexes, as of their last ANALYZE."""
        (size,) = self._row(
            "SELECT COALESCE(SUM(data_length + index_length), 0) FROM information_schema.tables "
            "WHERE table_schema = %s AND table_name <> %s",
            *(self.database, MARK),
            shape=(int,),
        )
        return int(size)

    def clear(self) -> None:
        """Remove all that the database has but our mark."""
        drops = [f"DROP {kind} IF EXISTS {name}" for kind, name in self.contents()]
        if drops:
            self._ask_at_length(["SET foreign_key_checks = 0", *drops])

    def has_mark(self) -> bool:
        """Return whether the database has the table of our mark."""
        where = "WHERE table_schema = %s AND table_name = %s"
        return bool(self._query(f"SELECT 1 FROM information_schema.tables {where}", self.database, MARK))  # noqa: S608

    def lacking(self) -> list[str]:
        """Return what the account may not see, each with the GRANT that would show it."""
        who = self.who()
        lacks = []
        if super()._reads_metrics() and not self._reads_metrics():
            lacks.append(f"INNODB_METRICS (undo history): GRANT PROCESS ON *.* TO {who}")
        if super()._times_files() and not self._times_files():
            lacks.append(
                f"the time of reads, writes and flushes: GRANT SELECT ON performance_schema.* TO {who}"
            )
        return lacks

    def who(self) -> str:
        """Return the account as the server knows it."""
        return account_of(*self._row("SELECT CURRENT_USER()", shape=(str,)))

    def guard(self) -> tuple[str, str]:
        """Return the variable that keeps this session from writing, by the server's own name."""
        names = "('transaction_read_only', 'tx_read_only')"
        name, value = self._row(f"SHOW SESSION VARIABLES WHERE Variable_name IN {names}", shape=(str, str))
        return name, value

    def lock(self) -> str:
        """Take a lock of the server's own, whose name has at most 64 characters."""
        name = f"diskproof {hashlib.sha256(self.database.encode()).hexdigest()[:16]}"
        self._query(f"SET SESSION wait_timeout = {IDLE_S}")
        if self._row("SELECT GET_LOCK(%s, 0)", name, shape=(object,)) == (1,):
            return ""
        (holder,) = self._row("SELECT IS_USED_LOCK(%s)", name, shape=(NULLABLE,))
        return f"KILL {holder}"

    @staticmethod
    def making(address: Address, database: str, who: str = "") -> str:
        """Return the commands that make an empty database for an account."""
        who = who or account(address.user, "localhost" if address.socket else "%")
        return f"CREATE DATABASE {quoted('mysql', database)}; GRANT ALL ON {granted(database)}.* TO {who}"

    def rights(self) -> Rights:
        """Return what the account may do that leaves its database, its roles included."""
        grants, unread = self._grants()
        found = rights_of(grants, self.database, self.other_databases())
        found.beyond += [*unread, *self._open_to_all(found)]
        return found

    def may_write(self) -> list[str]:
        """Return the rights of the account that are more than reading."""
        grants, unread = self._grants()
        found = rights_of(grants, NOWHERE, ())
        return [*found.beyond, *found.variables, *unread, *self._open_to_all(found), *self._definers_views()]

    def _open_to_all(self, found: Rights) -> list[str]:
        """Return the databases that everybody may use and that hold something, perhaps of other rights."""
        columns = {"tables": "table_schema", "routines": "routine_schema"}
        asked = " UNION ".join(
            f"SELECT {name} FROM information_schema.{kind} WHERE {name} = 'test' OR LEFT({name}, 5) = 'test_'"  # noqa: S608
            for kind, name in columns.items()
        )
        rows = self._query(asked, shape=(str,)) if found.scratch else []
        others = [name for (name,) in rows if name != self.database or self.read_only]
        return [f"everybody's rights in {name}, which is not empty" for name in others]

    def _definers_views(self) -> list[str]:
        """Return the views with the rights of their definer that are not seen to read alone.

        To explain a view, the server wants rights to all that it reads, views in it included.
        """
        views = self._query(
            "SELECT table_schema, table_name, CASE WHEN COALESCE(view_definition, '') = '' "
            "THEN 'its text needs SHOW VIEW' WHEN view_definition REGEXP '[`\"][(]|(next|set)val[(]' "
            "THEN 'it calls a function' ELSE '' END "
            "FROM information_schema.views WHERE security_type = 'DEFINER' AND table_schema <> 'sys'",
            shape=(str, str, str),
        )
        found = []
        for number, (schema, name, why) in enumerate(views):
            unseen = why or ("" if number < MOST_VIEWS else "there are too many to look at")
            try:
                if not unseen:
                    self._query(f"EXPLAIN SELECT * FROM {quoted('mysql', schema, name)}")  # noqa: S608
            except ServerFailedError:
                unseen = "the account may not see all that it reads"
            if unseen:
                found.append(f"view {schema}.{name} has its definer's rights, and {unseen}")
        return found

    def may_pass_replica(self) -> bool:
        """Return whether the account can write to a replica, a procedure's definer included."""
        grants, unread = self._grants()
        return bool(unread) or rights_of(grants, NOWHERE, ()).calls or super().may_pass_replica()

    def _grants(self) -> tuple[list[str], list[str]]:
        """Return the grants of the account and its roles, and the roles whose grants it may not see."""
        grants = [grant for (grant,) in self._query("SHOW GRANTS", shape=(str,))]
        unread: list[str] = []
        waiting, seen = list(roles_in(grants)), set[str]()
        while waiting and len(seen) < MOST_ROLES:
            role = waiting.pop()
            if role in seen:
                continue
            seen.add(role)
            of_role = role if self.release.is_mariadb else f"CURRENT_USER() USING {role}"
            try:
                more = [grant for (grant,) in self._query(f"SHOW GRANTS FOR {of_role}", shape=(str,))]
            except ServerFailedError:
                unread.append(f"role {role}")
                continue
            grants += more
            waiting += roles_in(more)
        return list(dict.fromkeys(grants)), unread + [f"role {role}" for role in waiting]

    def is_replica(self) -> bool:
        """Return whether the server takes no writes of accounts without special rights."""
        found = self._query("SHOW GLOBAL VARIABLES LIKE 'read_only'", shape=(str, str))
        return [same("on", value) for _, value in found] == [True]

    def rows_written(self) -> int | None:
        """Return how many rows were inserted, updated and deleted, without those of temporary tables."""
        names = "('Innodb_rows_inserted', 'Innodb_rows_updated', 'Innodb_rows_deleted')"
        if self.release.is_mariadb:  # which counts temporary tables apart
            names = "('Handler_write', 'Handler_update', 'Handler_delete')"
        asked = f"SHOW GLOBAL STATUS WHERE Variable_name IN {names}"
        counts = [count for _, count in self._query(asked, shape=(str, int))]
        return sum(counts) if len(counts) == WAYS_TO_WRITE else None

    def other_databases(self) -> list[str]:
        """Return the server's other databases, as far as the account sees them."""
        rows = self._query("SELECT schema_name FROM information_schema.schemata", shape=(str,))
        return [name for (name,) in rows if name not in (self.database, "information_schema")]

    def narrow(self) -> str:
        """Return the commands that make an account whose rights end at the database."""
        user, host = self._spare_user(), "localhost" if self._address.socket else "%"
        who = account(user, host)
        try:
            found = self._query("SELECT 1 FROM mysql.user WHERE user = %s AND host = %s", user, host)
        except ServerFailedError:
            found = []  # the account may not look there
        makes = "" if found else f"CREATE USER {who} IDENTIFIED BY '…'; "
        may = "SELECT, SHOW VIEW" if self.read_only else "ALL"
        return f"{makes}GRANT {may} ON {granted(self.database)}.* TO {who}"

    def _reads_metrics(self) -> bool:
        return super()._reads_metrics() and self._sees("information_schema.innodb_metrics")

    def _times_files(self) -> bool:
        return super()._times_files() and self._sees("performance_schema.file_summary_by_event_name")

    def _sees(self, table: str) -> bool:
        """Return whether the account may read a table of the server's own."""
        if table not in self._may:
            try:
                self._query(f"SELECT 1 FROM {table} LIMIT 1")  # noqa: S608 - one of the two above
                self._may[table] = True
            except ServerFailedError:
                self._may[table] = False
        return self._may[table]

    def _connect(self, database: str | None, limit_s: float) -> "pymysql.Connection[Any]":
        del database  # the account may have no other
        charset, guard = self.release.character_set, self.read_only
        return connect_mysql(self._address, self._password, limit_s, charset, read_only=guard)
