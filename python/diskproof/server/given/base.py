"""Statements to a server that is there already, in the one database that the study names."""

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from diskproof.database.asking import MOST_BYTES
from diskproof.families.address import Address
from diskproof.families.values import same
from diskproof.results.machine import ServerFacts
from diskproof.results.record import Role
from diskproof.results.trial import Setting
from diskproof.server.asked import Asked, Connection
from diskproof.server.base import ServerError, ServerFailedError, Settings
from diskproof.server.given.rights import Rights

MARK = "diskproof_mark"
"""The table that makes a database ours: all in it may be removed."""

NO_RIGHT = {1142, 1044, 1290, "42501", "25006"}
"""What servers say of a write that an account may not do, or that the server does not take:
ER_TABLEACCESS_DENIED_ERROR, ER_DBACCESS_DENIED_ERROR, ER_OPTION_PREVENTS_STATEMENT, insufficient_privilege,
read_only_sql_transaction."""

MOST_TRIED = 100
"""Tables that are written to for a trial, of a database that may have very many."""


@dataclass(frozen=True)
class Mark:
    """What our table says of the database."""

    data_set: str
    """Which data set it was loaded with; empty: a load has not ended."""
    changed: bool
    """Whether a load that writes has begun since."""


class Given(Asked[Connection]):
    """A connection to a server that is there already."""

    where = "elsewhere"
    pids: list[int] = []  # noqa: RUF012 - they are not ours to look at
    alive = True
    most_bytes = MOST_BYTES
    counted = ""
    """Of which tables `rows_written` knows, if not of all."""
    unguarded: ClassVar[str]
    """The statement that lets this session write again, as far as the account may."""

    def __init__(
        self, facts: ServerFacts, settings: Settings, address: Address, password: str | None
    ) -> None:
        """Hold the address; `refuses_connections` connects."""
        super().__init__(facts, None, settings)
        self._address, self._password = address, password
        self.database = address.database
        self.read_only = False

    @property
    def url(self) -> str:
        """Where diskproof-load finds the database, and whether it only reads there."""
        url = self._address.url
        return f"{url}{'&' if '?' in url else '?'}read-only=on" if self.read_only else url

    @property
    def password(self) -> str | None:
        """What diskproof-load must know to connect."""
        return self._password

    def role_of(self, path: str) -> Role | None:
        """Return None: its files are out of reach."""
        del path
        return None

    def read_settings(self) -> list[Setting]:
        """Read back every requested variable, and those that say what commits and memory are like."""
        settings = super().read_settings()
        observed = self._observed()
        asked = {setting.name for setting in settings}
        needs = self._family.needs({name: value for name, (value, _) in observed.items()})
        for name in (self._family.memory_variable, *needs):
            if name in observed and name not in asked:
                settings.append(Setting.read_only(name, *observed[name]))
        if self.read_only:
            name, value = self.guard()
            settings.append(Setting(name=name, requested="on", observed=value, holds=same("on", value)))
        return settings

    def check_guard(self) -> None:
        """Refuse a session in which the server would write (ServerError)."""
        name, value = self.guard()
        if not same("on", value):
            raise ServerError(
                f"{self._address} does not keep sessions read-only, as `read_only = true` asks: `{name}` is "
                f"{value}. Connect to the server itself, not through a proxy"
            )

    def damage(self) -> list[str]:
        """Refuse: only servers of ours are crashed."""
        raise ServerError("the tables of a server that is there already are not checked")

    def log_tail(self, lines: int = 20) -> str:
        """Say that its log is out of reach."""
        del lines
        return f"(the log of {self._address} is out of reach)"

    def stop(self, deadline_s: float = 60.0) -> bool:
        """Disconnect: the server goes on."""
        del deadline_s
        self._disconnect()
        return True

    def close(self) -> None:
        """Disconnect: the server goes on."""
        self._disconnect()

    kill = close

    # ---------------------------------------------------------------- the database

    @abstractmethod
    def contents(self) -> list[tuple[str, str]]:
        """Return all that `clear` removes: its kind in the server's words, and its name as SQL has it."""

    def tables(self) -> list[str]:
        """Return the tables of the database, each as SQL names it, without our mark."""
        return [name for kind, name in self.contents() if kind.lower() == "table"]

    @abstractmethod
    def data_bytes(self) -> int:
        """Return the size of the tables with their indexes."""

    @abstractmethod
    def clear(self) -> None:
        """Remove all that the database has but our mark; the database must be ours."""

    @abstractmethod
    def has_mark(self) -> bool:
        """Return whether the database has the table of our mark."""

    def why_no_tables(self) -> str:
        """Return the right that is missing to make tables, if that is known without making one."""
        return ""

    def lacking(self) -> list[str]:
        """Return what the account may not see, each with the GRANT that would show it."""
        return []

    @abstractmethod
    def guard(self) -> tuple[str, str]:
        """Return the variable that keeps this session from writing, and its value."""

    @abstractmethod
    def lock(self) -> str:
        """Take the database for this connection, until it ends.

        Return the command that ends the connection that has taken it; empty if none but this one has.
        """

    @staticmethod
    @abstractmethod
    def making(address: Address, database: str, who: str = "") -> str:
        """Return the commands that make an empty database; `who` is the account's whole name, if known."""

    def who(self) -> str:
        """Return the whole name of the account, if it is more than the user's."""
        return ""

    @abstractmethod
    def rights(self) -> Rights:
        """Return what the account may do that leaves the database."""

    def other_databases(self) -> list[str]:
        """Return the databases that a statement could reach besides ours."""
        return []

    @abstractmethod
    def narrow(self) -> str:
        """Return the commands that make an account whose rights end at the database."""

    @abstractmethod
    def is_replica(self) -> bool:
        """Return whether the server itself takes no writes."""

    @abstractmethod
    def may_write(self) -> list[str]:
        """Return the rights of the account that are more than reading."""

    @abstractmethod
    def rows_written(self) -> int | None:
        """Return how many rows the server has written by its own counters; None if it does not report it."""

    def check_read_only(self) -> str:
        """Refuse a database that the server would let the account write (ServerError).

        Return what keeps it from that: the guard of a session can be lifted, a missing right cannot.
        """
        found = self.may_write()
        if self.is_replica() and not self.may_pass_replica():
            return "the server is a replica that takes no writes"
        if found:
            raise ServerError(
                f"the account {self._address.user} may do more than read: {_some(found)}. A script can lift "
                "the guard of its session, so `read_only = true` needs an account that cannot write, or a "
                f"replica: {self.narrow()}"
            )
        self._try_to_write()
        said = "the account has no right to write"
        if scratch := self.rights().scratch:
            said += f", except in databases that everybody may write to ({_some(scratch)})"
        return said

    def may_pass_replica(self) -> bool:
        """Return whether the account can write to a server that is a replica."""
        rights = self.rights()
        return bool(rights.beyond + rights.variables)

    def _try_to_write(self) -> None:
        """Try to delete no row, in a session without the guard; ServerError unless the server refuses it."""
        self._query(self.unguarded)
        for table in self.tables()[:MOST_TRIED]:
            why = "which its grants do not show"
            try:
                self._query(f"DELETE FROM {table} WHERE 1 = 0")  # noqa: S608 - quoted
            except ServerFailedError as error:
                cause = error.__cause__
                if {getattr(cause, "sqlstate", ""), *getattr(cause, "args", ())[:1]} & NO_RIGHT:
                    continue
                why = f"as its refusal is about something else ({cause})"
            raise ServerError(
                f"the account {self._address.user} may write to {table}, {why}: use another account: "
                f"{self.narrow()}"
            )

    def _spare_user(self) -> str:
        return "diskproof" if self._address.user != "diskproof" else "diskproof_load"

    def check_reach(self, workloads: Sequence[str], *, sets_variables: bool) -> list[str]:
        """Refuse an account that reaches more than the database, for loads with statements of the user's.

        Return what is allowed though it reaches further.
        """
        rights = self.rights()
        if not sets_variables:
            rights.beyond += rights.variables
        named = " and ".join(f"`{name}`" for name in workloads)
        if rights.beyond:
            raise ServerError(
                f"the account {self._address.user} may do more than use `{self.database}`: "
                f"{_some(rights.beyond)}. So the SQL of {named} could reach other databases. Make an account "
                f"whose rights end there, and name it in `url`: {self.narrow()}. Or let statements reach "
                "other databases with `any_database = true`"
            )
        if not rights.variables:
            return []
        return [f"the SQL of {named} could set variables of the server: {_some(rights.variables)}"]

    def mark(self) -> Mark | None:
        """Return our mark; None if the database has none."""
        if not self.has_mark():
            return None
        rows = self._query(f"SELECT data_set, changed FROM {MARK}", shape=(str, bool))  # noqa: S608 - ours
        return Mark(*rows[0]) if rows else Mark("", changed=True)

    def write_mark(self, mark: Mark) -> None:
        """Make or change our mark; the database must be empty or ours."""
        if not self.has_mark():
            self._query(f"CREATE TABLE {MARK} (data_set VARCHAR(64) NOT NULL, changed INTEGER NOT NULL)")
            self._query(f"INSERT INTO {MARK} VALUES ('', 1)")  # noqa: S608 - ours
        self._query(f"UPDATE {MARK} SET data_set = %s, changed = %s", mark.data_set, int(mark.changed))  # noqa: S608

    def check_database(self) -> None:
        """Refuse a database that has somebody's tables, or in which we may make none."""
        if not self.has_mark() and (theirs := self.contents()):
            named = _some([f"{kind.lower()} {name}" for kind, name in theirs])
            raise ServerError(
                f"the database of {self._address} has what diskproof did not make ({named}). "
                f"It writes only to an empty database or one of its own: "
                + self.making(self._address, f"{self.database}_load", self.who())
            )
        if missing := self.why_no_tables():
            raise ServerError(
                f"the account may not make tables in the database of {self._address}: {missing}"
            )


def _some(names: Sequence[str]) -> str:
    return ", ".join([*names[:3], *(["…"] if len(names) > 3 else [])])
