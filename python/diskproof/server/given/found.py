"""Finding a server that is there already: which one answers at its URL, and setting its variables."""

import re
from collections.abc import Mapping
from contextlib import closing
from typing import Any

from diskproof.database.asking import AnswerError, ask, driver_errors, said
from diskproof.database.connection import connect
from diskproof.database.secret import Secret
from diskproof.database.variables import Variables, variables_of
from diskproof.families import of
from diskproof.families.address import ENCRYPTION, SOCKETS, Address
from diskproof.results.machine import ServerFacts
from diskproof.server.base import ANSWER_LIMIT_S, ServerError, ServerNotFoundError, Settings, variable_name
from diskproof.server.given.base import Given
from diskproof.server.given.mysql import GivenMysql
from diskproof.study.servers import ServerChoice
from diskproof.system.own_folder import expanded
from diskproof.system.processes import Starter

NO_DATABASE = ("1049", "1044", "does not exist")
"""What servers say if the database is missing, or not the account's: ER_BAD_DB_ERROR,
ER_DBACCESS_DENIED_ERROR, and PostgreSQL's words."""

NO_LOGIN = (
    "1045",
    "1698",
    "password authentication failed",
    "no password supplied",
    "Peer authentication failed",
)
"""What servers say if they refuse the account or its password: ER_ACCESS_DENIED_ERROR,
ER_ACCESS_DENIED_NO_PASSWORD_ERROR, and PostgreSQL's words."""

BY_SOCKET = {"root", "postgres"}
"""Accounts that distributions let in by the socket, without a password."""

NO_ROLE = re.compile(r'role ".*" does not exist')

ANONYMOUS = "''@"
"""How MySQL names the account that it takes for one that it does not have."""

NO_RIGHTS = (
    "an account for `read_only = true` may set no variable: set it at the server yourself, or leave it out "
    "of the tuning"
)

NO_TLS = ("SSL is required", "does not support SSL")
"""What the clients of MySQL and of PostgreSQL say if the server has no TLS."""


class GivenServer:
    """A server that is there already."""

    def __init__(
        self, facts: ServerFacts, address: Address, secret: Secret, *, read_only: bool = False
    ) -> None:
        """Hold a server that was found."""
        self.facts, self._address, self._secret = facts, address, secret
        self.read_only = read_only
        """Whether all sessions in its database are read-only."""
        self._recorded: set[tuple[str, str]] = set()
        self._before: dict[str, str] = {}
        self._set: list[str] = []
        self._keeper: Given[Any] | None = None

    def open(self, wanted: Mapping[str, str] | None = None) -> Given[Any]:
        """Connect; `wanted` are the variables to be read back. ServerError if the server refuses."""
        settings = Settings({}, dict(wanted or {}))
        kind = _kind(self._address)
        given = kind(self.facts, settings, self._address, self._secret.read())
        given.read_only = self.read_only
        if why := given.refuses_connections():
            raise ServerError(f"{self._address} refuses the connection: {why}")
        if self.read_only:
            given.check_guard()
        return given

    def databases(self) -> tuple[str, list[str]]:
        """Return our database, and the others that a statement could reach."""
        with closing(self.open()) as connection:
            return connection.database, connection.other_databases()

    def hold(self) -> None:
        """Keep other runs out of the database until `release`; ServerError if one is using it.

        A connection that was lost is replaced.
        """
        if self.is_held():
            return
        self.release()
        keeper = self.open()
        if ending := keeper.lock():
            keeper.stop()
            raise ServerError(
                f"another run of diskproof is using the database of {self._address}, and each would "
                f"overwrite the other's data: wait for it. If its machine is gone, end its session: {ending}"
            )
        self._keeper = keeper

    def is_held(self) -> bool:
        """Whether the connection that keeps other runs out is still there, and still has the lock."""
        if self._keeper is None:
            return False
        try:
            return not self._keeper.lock()
        except ServerError:
            return False

    def release(self) -> None:
        """Let other runs use the database."""
        if self._keeper is not None:
            self._keeper.stop()
        self._keeper = None

    def check(self, variables: Mapping[str, str]) -> None:
        """Refuse variables that do not hold and cannot be set while the server runs (ServerError)."""
        server = self._variables()
        try:
            for name, value in _named(variables).items():
                if server.holds(name, value):
                    continue
                if why := NO_RIGHTS if self.read_only else server.refusal(name):
                    raise ServerError(f"`{name}` = {value}: {why}")
        except driver_errors() as error:
            raise ServerError(f"{self._address}: {said(error)}") from error

    def set(self, variables: Mapping[str, str], starter: Starter) -> dict[str, str]:
        """Set variables, each recorded first; return them by the server's names."""
        wanted, server = _named(variables), self._variables()
        try:
            for name, value in wanted.items():
                if server.holds(name, value):
                    continue
                before = self._before.setdefault(name, server.state(name))
                if (name, value) not in self._recorded:
                    starter.sets_variable(name, value, before, self._address, self._secret)
                    self._recorded.add((name, value))
                self._set.append(name)
                server.set(name, value)
        except driver_errors() as error:
            raise ServerError(f"{self._address} does not take `{name}` = {value}: {said(error)}") from error
        return wanted

    def put_back(self) -> None:
        """Set the variables that were set as they were; ServerError if one cannot be."""
        server = self._variables()
        while self._set:
            name = self._set[-1]
            try:
                server.put_back(name, self._before[name])
            except driver_errors() as error:
                raise ServerError(
                    f"`{name}` of {self._address} is not as it was ({said(error)}): `diskproof clean` tries "
                    "again"
                ) from error
            self._set.pop()

    def _variables(self) -> Variables:
        return variables_of(self._address, self._secret.read())


def find_given(name: str, choice: ServerChoice) -> GivenServer:
    """Connect to a server that a study gives; ServerNotFoundError says what to do if that fails."""
    address, file = choice.address, choice.password_file
    secret = Secret(None if file is None else str(expanded(file).absolute()), choice.password_env)
    kind = _kind(address)
    try:
        with closing(connect(address, secret.read(), ANSWER_LIMIT_S)) as connection:
            version, says = _version(address, connection)
    except driver_errors() as error:
        words = said(error)
        by_socket = _by_socket(address)
        remedy = f"check `url`, the password and whether the server lets this machine in{by_socket}"
        if ANONYMOUS in words or any(one in words for one in NO_LOGIN) or NO_ROLE.search(words):
            remedy = (
                "check the account and its password: `password_file` names the file that has it, or "
                f"`password_env` an environment variable{by_socket if address.user in BY_SOCKET else ''}"
            )
            if ANONYMOUS in words:  # its name of a host goes before the account's '%'
                remedy += f"; the server took `{address.user}` for its anonymous user: drop that, or make "
                remedy += f"`{address.user}` an account of that host, too"
        elif any(one in words for one in NO_DATABASE):
            remedy = f"name a database that is there, or make one: {kind.making(address, address.database)}"
        elif any(one in words for one in NO_TLS):
            how = ENCRYPTION[address.protocol][0]
            remedy = f"turn TLS on there, or remove `{how}` from `url`: then nothing is encrypted"
        raise ServerNotFoundError(
            f"server `{name}`: {address} cannot be reached: {words}; {remedy}"
        ) from error
    family = of(choice.family)
    other = next((title for words, title in family.others.items() if words in says), None)
    flavour = next((flavour for words, flavour in family.flavours.items() if words in says), None)
    if other is not None or flavour is None:
        raise ServerNotFoundError(
            f"server `{name}`: {address} is {other or f'not {family.title}'}. It speaks as {family.title} "
            "does, but diskproof does not know its settings, counters and files"
        )
    facts = ServerFacts(
        name=name,
        family=family.name,
        flavour=flavour,
        version=version,
        address=str(address),
        may_be_here=address.may_be_here,
    )
    return GivenServer(facts, address, secret, read_only=choice.read_only)


def _by_socket(address: Address) -> str:
    """Return how a server of this machine is reached by its socket, if its port was tried."""
    if address.socket is not None or not address.may_be_here:
        return ""
    return (
        "; a server on this machine may listen on its socket alone, or let the account in there: "
        f"`?{SOCKETS[address.protocol]}`"
    )


def _kind(address: Address) -> type[Given[Any]]:
    match address.protocol:
        case "mysql":
            return GivenMysql
        case "postgresql":
            # Its driver takes long to load.
            from diskproof.server.given.postgresql import GivenPostgresql  # noqa: PLC0415

            return GivenPostgresql


def _version(address: Address, connection: Any) -> tuple[str, str]:  # noqa: ANN401 - of either driver
    """Return the number of a server's version, and all that it says of it, in small letters."""
    question = "SELECT VERSION(), @@version_comment"
    if address.protocol == "postgresql":
        question = "SELECT current_setting('server_version'), version()"
    rows = ask(connection, ANSWER_LIMIT_S, question, shape=(str, str))
    version, comment = rows[0] if rows else ("", "")
    number = re.match(r"[0-9]{1,4}(\.[0-9]{1,6}){0,3}", version)
    if number is None:
        raise AnswerError(f"its version begins with {version[:40]!r}, which is no number")
    return number[0], f"{version} {comment}".lower()


def _named(variables: Mapping[str, str]) -> dict[str, str]:
    return {variable_name(name): value for name, value in variables.items()}
