"""A PostgreSQL that is there already."""

import re

from diskproof.database.connection import connect_postgresql
from diskproof.families.address import Address
from diskproof.families.names import quoted
from diskproof.results.machine import ServerFacts
from diskproof.server.base import Settings
from diskproof.server.given.base import MARK, Given
from diskproof.server.given.rights import Rights
from diskproof.server.postgresql.asked import Connection, PostgresqlAsked

OF_USERS = "nspname <> 'information_schema' AND nspname NOT LIKE 'pg\\_%'"

CONTENTS = f"""
    WITH ours AS (SELECT oid, nspname, nspowner FROM pg_namespace WHERE {OF_USERS}),
    held AS (SELECT classid, objid FROM pg_depend d JOIN ours ON ours.oid = refobjid
        WHERE refclassid = 'pg_namespace'::regclass AND deptype = 'n'
        AND NOT EXISTS (SELECT FROM pg_depend o
            WHERE o.classid = d.classid AND o.objid = d.objid AND o.refobjid <> o.objid
            AND o.deptype IN ('e', 'i')))
    SELECT type, identity FROM (
        SELECT type, identity FROM held, pg_identify_object(classid, objid, 0)
            WHERE name IS DISTINCT FROM '{MARK}'
        UNION ALL SELECT 'schema', quote_ident(nspname) FROM ours
            WHERE nspname <> 'public' AND pg_has_role(nspowner, 'USAGE')
            AND ours.oid <> coalesce((SELECT relnamespace FROM pg_class WHERE oid = to_regclass('{MARK}')),
                current_schema()::regnamespace, 0)
            AND NOT EXISTS (SELECT FROM pg_depend
                WHERE classid = 'pg_namespace'::regclass AND objid = ours.oid AND deptype = 'e')
        UNION ALL SELECT 'large object', oid::text FROM pg_largeobject_metadata) AS found
    ORDER BY type = 'schema', type = 'sequence', identity"""  # noqa: S608 - ours
"""What users have made, without parts of extensions and of other objects; first what holds the others."""

BEYOND = """
    WITH may AS (SELECT * FROM pg_roles WHERE pg_has_role(current_user, oid, 'MEMBER'))
    SELECT 'SUPERUSER' FROM may WHERE rolsuper
    UNION SELECT 'CREATEDB' FROM may WHERE rolcreatedb
    UNION SELECT 'CREATEROLE' FROM may WHERE rolcreaterole
    UNION SELECT 'REPLICATION' FROM may WHERE rolreplication
    UNION SELECT 'BYPASSRLS' FROM may WHERE rolbypassrls
    UNION SELECT 'role ' || rolname FROM may WHERE rolname IN (
        'pg_execute_server_program', 'pg_read_server_files', 'pg_write_server_files', 'pg_signal_backend',
        'pg_write_all_data', 'pg_maintain', 'pg_create_subscription', 'pg_signal_autovacuum_worker')
        AND NOT (SELECT rolsuper FROM pg_roles WHERE rolname = current_user)
    UNION SELECT 'owner of database ' || quote_ident(datname) FROM pg_database
        WHERE datname <> current_database()
        AND pg_has_role(current_user, datdba, 'MEMBER')
        AND NOT (SELECT rolsuper FROM pg_roles WHERE rolname = current_user)
    UNION SELECT 'USAGE of foreign server ' || quote_ident(srvname) FROM pg_foreign_server s, may
        WHERE has_server_privilege(may.oid, s.oid, 'USAGE')
        AND NOT (SELECT rolsuper FROM pg_roles WHERE rolname = current_user)
    UNION SELECT 'foreign table ' || c.oid::regclass FROM pg_class c, may
        WHERE relkind = 'f' AND (has_any_column_privilege(may.oid, c.oid, 'SELECT') OR EXISTS (
            SELECT FROM pg_depend WHERE classid = 'pg_rewrite'::regclass AND refobjid = c.oid))
        AND NOT (SELECT rolsuper FROM pg_roles WHERE rolname = current_user)
    ORDER BY 1"""
"""What an account may do outside of its database, or by a foreign server. A member of a role may take it."""

MAKES_LARGE_OBJECTS = "'lo_create', 'lo_creat', 'lo_from_bytea', 'lo_import'"
"""Functions that everybody may use, unless the right was taken from PUBLIC."""

MAY_WRITE = f"""
    WITH may AS (SELECT oid FROM pg_roles WHERE pg_has_role(current_user, oid, 'MEMBER')),
    spaces AS (SELECT * FROM pg_namespace WHERE {OF_USERS}),
    relations AS (SELECT c.oid, relkind, relowner, quote_ident(nspname) || '.' || quote_ident(relname) AS name
        FROM pg_class c JOIN spaces s ON s.oid = relnamespace WHERE relkind IN ('r', 'p', 'f', 'v', 'm', 'S'))
    SELECT 'owner of ' || name FROM relations, may WHERE relowner = may.oid
    UNION SELECT 'writes to ' || name FROM relations, may WHERE CASE WHEN relkind = 'S'
        THEN has_sequence_privilege(may.oid, relations.oid, 'USAGE, UPDATE')
        ELSE has_table_privilege(
                may.oid, relations.oid, 'INSERT, UPDATE, DELETE, TRUNCATE, TRIGGER, REFERENCES')
            OR has_any_column_privilege(may.oid, relations.oid, 'INSERT, UPDATE, REFERENCES') END
    UNION SELECT 'CREATE in schema ' || quote_ident(nspname) FROM spaces, may
        WHERE has_schema_privilege(may.oid, spaces.oid, 'CREATE')
    UNION SELECT 'CREATE in the database' FROM may
        WHERE has_database_privilege(may.oid, current_database(), 'CREATE')
    UNION SELECT 'EXECUTE on function ' || p.oid::regprocedure::text || ', which has the rights of its owner'
        FROM pg_proc p JOIN spaces s ON s.oid = pronamespace, may
        WHERE prosecdef AND (has_function_privilege(may.oid, p.oid, 'EXECUTE')
            OR EXISTS (SELECT FROM pg_depend WHERE classid = 'pg_proc'::regclass
                AND refclassid = 'pg_proc'::regclass AND refobjid = p.oid))
    UNION SELECT 'EXECUTE on function ' || p.oid::regprocedure::text FROM pg_proc p, may
        WHERE pronamespace = 'pg_catalog'::regnamespace AND proname IN ({MAKES_LARGE_OBJECTS})
        AND has_function_privilege(may.oid, p.oid, 'EXECUTE')
    UNION SELECT 'writes to large object ' || m.oid FROM pg_largeobject_metadata m, may
        WHERE lomowner = may.oid OR current_setting('lo_compat_privileges') = 'on'
        OR EXISTS (SELECT FROM aclexplode(lomacl) WHERE privilege_type = 'UPDATE' AND grantee IN (0, may.oid))
    ORDER BY 1 LIMIT 20"""  # noqa: S608 - ours
"""What an account and the roles that it may take can do in its database besides reading."""

LOCK = 0x6469736B
"""The number of our advisory lock: `disk` in ASCII."""

WORDS = {"composite type": "TYPE", "statistics object": "STATISTICS"}
"""What DROP calls them."""


class GivenPostgresql(PostgresqlAsked, Given[Connection]):
    """A PostgreSQL that is there already."""

    unguarded = "SET default_transaction_read_only = off"

    def __init__(
        self, facts: ServerFacts, settings: Settings, address: Address, password: str | None
    ) -> None:
        """Hold the address; `refuses_connections` connects."""
        Given.__init__(self, facts, settings, address, password)
        self.version = tuple(int(number) for number in re.findall(r"\d+", facts.version))

    def contents(self) -> list[tuple[str, str]]:
        """Return what users have made in the database, large objects and schemas included."""
        return [(kind, name) for kind, name in self._query(CONTENTS, shape=(str, str))]

    def data_bytes(self) -> int:
        """Return the size of the tables with their indexes."""
        (size,) = self._row(
            "SELECT coalesce(sum(pg_total_relation_size(c.oid)), 0) FROM pg_class c JOIN pg_namespace n "  # noqa: S608
            f"ON n.oid = relnamespace WHERE relkind IN ('r', 'm') AND relname <> '{MARK}' AND {OF_USERS}",
            shape=(int,),
        )
        return int(size)

    def clear(self) -> None:
        """Remove all that the database has but our mark."""
        drops = [
            f"DROP {WORDS.get(kind, kind)} IF EXISTS {name} CASCADE"
            for kind, name in self.contents()
            if kind != "large object"
        ]
        self._ask_at_length([*drops, "SELECT count(lo_unlink(oid)) FROM pg_largeobject_metadata"])

    def settle(self) -> None:
        """Vacuum, freeze and analyse the database's own tables; a checkpoint if the account may make one."""
        statements = [f"VACUUM (FREEZE, ANALYZE) {name}" for name in self.tables()]
        self._ask_at_length([*statements, *(["CHECKPOINT"] if self._may_checkpoint() else [])])

    def has_mark(self) -> bool:
        """Return whether the database has the table of our mark."""
        return self._row(f"SELECT to_regclass('{MARK}') IS NOT NULL", shape=(bool,)) == (True,)

    def why_no_tables(self) -> str:
        """Return the right that is missing to make tables."""
        user, schema, may = self._row(
            "SELECT quote_ident(current_user), coalesce(quote_ident(current_schema()), 'public'), "
            "current_schema() IS NOT NULL AND has_schema_privilege(current_schema(), 'CREATE')",
            shape=(str, str, bool),
        )
        return "" if may else f"in {self.database}: GRANT USAGE, CREATE ON SCHEMA {schema} TO {user}"

    def guard(self) -> tuple[str, str]:
        """Return the variable that keeps this session from writing."""
        name = "default_transaction_read_only"
        return name, *self._row(f"SHOW {name}", shape=(str,))

    def lock(self) -> str:
        """Take an advisory lock, which belongs to this database."""
        if self.version >= (14,):
            self._query("SET idle_session_timeout = 0")
        if self._row(f"SELECT pg_try_advisory_lock({LOCK})", shape=(bool,)) == (True,):
            return ""
        rows = self._query(
            "SELECT pid FROM pg_locks WHERE locktype = 'advisory' AND granted AND objid = %s "
            "AND database = (SELECT oid FROM pg_database WHERE datname = current_database())",
            LOCK,
            shape=(int,),
        )
        return f"SELECT pg_terminate_backend({rows[0][0] if rows else 'pid'})"

    @staticmethod
    def making(address: Address, database: str, who: str = "") -> str:  # noqa: ARG004 - has no host
        """Return the command that makes an empty database for an account."""
        names = [quoted("postgresql", name) for name in (database, address.user)]
        return f"CREATE DATABASE {names[0]} OWNER {names[1]}"

    def rights(self) -> Rights:
        """Return what the account and the roles that it may take could do outside of its database."""
        found = Rights([name for (name,) in self._query(BEYOND, shape=(str,))])
        if self.version >= (15,):
            settable = self._query(
                "SELECT parname FROM pg_parameter_acl "
                "WHERE has_parameter_privilege(current_user, parname, 'ALTER SYSTEM') ORDER BY 1",
                shape=(str,),
            )
            if "SUPERUSER" not in found.beyond:
                found.variables = [f"ALTER SYSTEM ON PARAMETER {name}" for (name,) in settable]
        return found

    def is_replica(self) -> bool:
        """Return whether the server only applies what another one writes."""
        return self._row("SELECT pg_is_in_recovery()", shape=(bool,)) == (True,)

    def may_write(self) -> list[str]:
        """Return the rights of the account that are more than reading."""
        return self.rights().beyond + [str(name) for (name,) in self._query(MAY_WRITE, shape=(str,))]

    def rows_written(self) -> int | None:
        """Return how many rows of users' tables were changed, and how many large objects there are."""
        asked = (
            "SELECT coalesce(sum(n_tup_ins + n_tup_upd + n_tup_del), 0) "  # noqa: S608 - ours
            "+ (SELECT count(*) FROM pg_largeobject_metadata) "
            f"FROM pg_stat_user_tables WHERE relname <> '{MARK}'"
        )
        (count,) = self._row(asked, shape=(int,))
        return int(count)

    def narrow(self) -> str:
        """Return the commands that make an account whose rights end at the database."""
        user, database = (quoted("postgresql", name) for name in (self._spare_user(), self.database))
        is_there = self._query("SELECT 1 FROM pg_roles WHERE rolname = %s", self._spare_user())
        made = "" if is_there else f"CREATE ROLE {user} LOGIN PASSWORD '…'; "
        if self.read_only:
            may = [f"GRANT SELECT ON ALL TABLES IN SCHEMA public TO {user}"]
            makers = "lo_create(oid), lo_creat(integer), lo_from_bytea(oid, bytea)"
            may += [f"REVOKE EXECUTE ON FUNCTION {makers} FROM PUBLIC"]
            if self.version < (15,):
                may += ["REVOKE CREATE ON SCHEMA public FROM PUBLIC"]
            return made + "; ".join(may)
        return made + f"ALTER DATABASE {database} OWNER TO {user}"

    def _may_checkpoint(self) -> bool:
        role = "pg_has_role(current_user, 'pg_checkpoint', 'USAGE')" if self.version >= (15,) else "false"
        asked = f"SELECT current_setting('is_superuser') = 'on' OR {role}"
        return self._row(asked, shape=(bool,)) == (True,)

    def _connect(self, database: str | None, limit_s: float) -> Connection:
        del database, limit_s  # the account may have no other; each answer has its own limit
        return connect_postgresql(self._address, self._password, read_only=self.read_only)
