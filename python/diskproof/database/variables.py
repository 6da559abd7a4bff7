"""The variables of a server that can be set while it runs: why not, set, and put back as they were."""

import re
import time
from abc import ABC, abstractmethod
from collections.abc import Callable
from contextlib import closing
from typing import Any

from diskproof.database.asking import NULLABLE, AnswerError, Shape, ask, driver_errors, said
from diskproof.database.connection import connect
from diskproof.database.secret import Secret
from diskproof.families.address import Address
from diskproof.families.names import VARIABLE, account
from diskproof.families.values import as_bytes, same
from diskproof.refusal import RefusalError
from diskproof.results.record import Protocol

ANSWER_LIMIT_S = 30.0

RELOAD_LIMIT_S = 10.0
"""How long PostgreSQL may take to read its configuration again; it takes milliseconds."""

POLL_S = 0.02

NUMBER = re.compile(r"-?\d+(\.\d+)?")
SIZE = re.compile(r"\d+[kmgt]b?", re.IGNORECASE)
WORD = re.compile(r"ON|OFF|TRUE|FALSE", re.IGNORECASE)

READ_ONLY, UNKNOWN = 1238, 1193
"""ER_INCORRECT_GLOBAL_LOCAL_VAR, ER_UNKNOWN_SYSTEM_VARIABLE (MySQL Server Error Message Reference)."""

RESTART = (
    "it cannot be set while the server runs: that needs a restart, and this server is not ours to restart"
)


class Variables(ABC):
    """The variables of one server. Each name must fit VARIABLE."""

    def __init__(self, open_connection: Callable[[], Any]) -> None:
        """Take what opens a connection. Each question gets a new one, which has the values of now."""
        self._open = open_connection

    @abstractmethod
    def holds(self, name: str, value: str) -> bool:
        """Return whether a variable has a value for new connections."""

    @abstractmethod
    def refusal(self, name: str) -> str:
        """Return why a variable cannot be set while the server runs, with what to do; empty if it can."""

    @abstractmethod
    def state(self, name: str) -> str:
        """Return what `put_back` must know of a variable that is about to be set."""

    @abstractmethod
    def set(self, name: str, value: str) -> None:
        """Set a variable for connections that are made from now on."""

    @abstractmethod
    def put_back(self, name: str, state: str) -> None:
        """Set a variable as it was."""

    def _rows(self, sql: str, *arguments: object, shape: Shape | None = None) -> list[tuple[Any, ...]]:
        with closing(self._open()) as connection:
            return ask(connection, ANSWER_LIMIT_S, sql, *arguments, shape=shape)

    def _row(self, sql: str, *arguments: object, shape: Shape) -> tuple[Any, ...]:
        """Return the first row of an answer that must have one."""
        rows = self._rows(sql, *arguments, shape=shape)
        if not rows:
            raise AnswerError(f"the answer to {sql!r} has no row")
        return rows[0]


class MysqlVariables(Variables):
    """Variables of the MySQL family, by SET GLOBAL: a restart of the server forgets them."""

    def holds(self, name: str, value: str) -> bool:
        """Return whether a variable has a value for new connections."""
        return same(value, self.state(name))

    def refusal(self, name: str) -> str:
        """Set the variable to the value that it has: the server itself says whether it takes it from us."""
        try:
            self._rows(f"SET GLOBAL {name} = @@GLOBAL.{name}")
        except driver_errors() as error:
            number, reason = (*error.args, "", "")[:2]
            if number == READ_ONLY:
                return RESTART
            if number == UNKNOWN:
                return "the server has no such variable"
            if found := re.search(r"at least one of\)? the (.+?) privilege", str(reason)):
                rights = found[1].replace(" or ", ", ").split(", ")
                right = next((one for one in rights if one != "SUPER"), "SUPER")
                whose = account_of(*self._row("SELECT CURRENT_USER()", shape=(str,)))
                return f"the right to set it is missing: GRANT {right} ON *.* TO {whose}"
            return str(reason)
        return ""

    def state(self, name: str) -> str:
        """Return the value of a variable."""
        asked = "SHOW GLOBAL VARIABLES WHERE Variable_name = %s"
        rows = self._rows(asked, name, shape=(str, NULLABLE))
        return str(rows[0][1]) if rows else ""

    def set(self, name: str, value: str) -> None:
        """Set a variable for connections that are made from now on."""
        self._rows(f"SET GLOBAL {name} = {mysql_value(value)}")

    def put_back(self, name: str, state: str) -> None:
        """Set a variable as it was."""
        self.set(name, state)


def account_of(current_user: str) -> str:
    """Return the account of the MySQL family's CURRENT_USER() as GRANT takes it: ``'app'@'%'``."""
    user, _, host = current_user.rpartition("@")
    return account(user, host)


def mysql_value(value: str) -> str:
    """Return a value as SET takes it: neither `512M` nor a number in quotes."""
    text = value.strip()
    if SIZE.fullmatch(text):
        return f"{as_bytes(text):.0f}"
    if NUMBER.fullmatch(text) or WORD.fullmatch(text):
        return text
    return "'{}'".format(text.replace("\\", "\\\\").replace("'", "''"))


class PostgresqlVariables(Variables):
    """Variables of PostgreSQL, by ALTER SYSTEM and a reload: they outlive a restart of the server."""

    def holds(self, name: str, value: str) -> bool:
        """Return whether a variable has a value for new connections."""
        asked = "SELECT setting, coalesce(unit, '') FROM pg_settings WHERE lower(name) = %s"
        rows = self._rows(asked, name, shape=(str, str))
        return bool(rows) and same(value, rows[0][0], unit=rows[0][1])

    def refusal(self, name: str) -> str:
        """Ask the server about the variable and the rights of the account."""
        asked = "SELECT context, source FROM pg_settings WHERE lower(name) = %s"
        rows = self._rows(asked, name, shape=(str, str))
        if not rows:
            return "the server has no such variable"
        context, source = rows[0]
        if context in ("postmaster", "internal"):
            return RESTART
        if source in ("database", "user", "database user"):
            return (
                f"it is set for this {source}, which wins over the server's value: "
                f"ALTER {'ROLE' if source == 'user' else 'DATABASE'} … RESET {name}"
            )
        if source in ("command line", "environment variable", "override"):
            return f"it is set by the server's {source}, which wins over any other value"
        rights = self._missing_rights(name, source)
        return f"rights are missing: {'; '.join(rights)}" if rights else ""

    def _missing_rights(self, name: str, source: str) -> list[str]:
        user, version, is_superuser = self._row(
            "SELECT quote_ident(current_user), current_setting('server_version_num')::int, "
            "current_setting('is_superuser') = 'on'",
            shape=(str, int, bool),
        )
        if is_superuser:
            return []
        if version < 150000:
            return [f"only a superuser may: ALTER ROLE {user} SUPERUSER"]
        may_set, may_reload = self._row(
            "SELECT has_parameter_privilege(%s, 'ALTER SYSTEM'), "
            "has_function_privilege('pg_reload_conf()', 'EXECUTE')",
            name,
            shape=(bool, bool),
        )
        rights = [] if may_set else [f"GRANT ALTER SYSTEM ON PARAMETER {name} TO {user}"]
        if not may_reload:
            rights.append(f"GRANT EXECUTE ON FUNCTION pg_reload_conf() TO {user}, given in this database")
        if source == "configuration file" and self._file(name) is None:
            rights.append(f"GRANT pg_read_all_settings TO {user} (to see which file sets it)")
        return rights

    def state(self, name: str) -> str:
        """Return the value, after `=` if postgresql.auto.conf sets it: another file's returns by itself."""
        asked = "SELECT setting FROM pg_settings WHERE lower(name) = %s"
        (setting,) = self._row(asked, name, shape=(str,))
        is_altered = (self._file(name) or "").endswith("/postgresql.auto.conf")
        return f"{'=' if is_altered else '~'}{setting}"

    def set(self, name: str, value: str) -> None:
        """Set a variable for connections that are made from now on."""
        if not self._alter(name, f"SET {name} = {_quoted(value)}", value):
            raise RefusalError(
                f"`{name}` is not {value} {RELOAD_LIMIT_S:g} s after ALTER SYSTEM and pg_reload_conf(): "
                "the server's log says why"
            )

    def put_back(self, name: str, state: str) -> None:
        """Set a variable as it was. If a file has got another value meanwhile, that one holds."""
        value = state[1:]
        how = f"SET {name} = {_quoted(value)}" if state.startswith("=") else f"RESET {name}"
        self._alter(name, how, value)

    def _alter(self, name: str, how: str, value: str) -> bool:
        """Change postgresql.auto.conf; return whether new connections then have the value."""
        self._rows(f"ALTER SYSTEM {how}")
        self._rows("SELECT pg_reload_conf()")
        end = time.monotonic() + RELOAD_LIMIT_S
        while not (holds := self.holds(name, value)) and time.monotonic() < end:
            time.sleep(POLL_S)
        return holds

    def _file(self, name: str) -> str | None:
        asked = "SELECT sourcefile FROM pg_settings WHERE lower(name) = %s"
        rows = self._rows(asked, name, shape=(NULLABLE,))
        return rows[0][0] or None if rows else None


def _quoted(value: str) -> str:
    return "'{}'".format(value.replace("'", "''"))


def variables_of(address: Address, password: str | None) -> Variables:
    """Return the variables of a server."""
    kinds: dict[Protocol, type[Variables]] = {"mysql": MysqlVariables, "postgresql": PostgresqlVariables}
    return kinds[address.protocol](lambda: connect(address, password, ANSWER_LIMIT_S))


def put_back(address: Address, secret: Secret, name: str, ours: str, state: str) -> bool:
    """Set a variable as it was if it still has our value; return whether it had.

    RefusalError if the server or its password cannot be reached.
    """
    if not VARIABLE.fullmatch(name):
        raise RefusalError(f"{name!r} is not the name of a variable")
    try:
        variables = variables_of(address, secret.read())
        if not variables.holds(name, ours):
            return False
        variables.put_back(name, state)
    except driver_errors() as error:
        raise RefusalError(f"{address}: {said(error)}") from error
    return True
