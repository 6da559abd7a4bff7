"""A server that is asked over a driver's connections, whoever started it."""

import time
from abc import abstractmethod
from collections.abc import Iterator
from contextlib import closing, contextmanager
from typing import Any, ClassVar, Generic, Protocol, TypeVar

from diskproof.database.asking import AnswerError, Shape, ask, said
from diskproof.results.machine import ServerFacts
from diskproof.server.base import (
    ANSWER_LIMIT_S,
    CHECK_LIMIT_S,
    SETTLE_LIMIT_S,
    Dirs,
    Running,
    ServerFailedError,
    Settings,
)


class Closable(Protocol):
    """A driver's connection."""

    def close(self) -> None:
        """End it."""


Connection = TypeVar("Connection", bound=Closable)


class Asked(Running, Generic[Connection]):
    """A running server and connections of a driver to it."""

    driver_error: ClassVar[type[Exception]]
    """What the driver raises."""
    most_bytes: ClassVar[int | None] = None
    """How large an answer may be; None: a server of ours is trusted."""

    def __init__(self, facts: ServerFacts, dirs: Dirs | None, settings: Settings) -> None:
        """Hold a server without a connection to it."""
        super().__init__(facts, dirs, settings)
        self._connection: Connection | None = None

    def refuses_connections(self) -> str:
        """Return why the server cannot be asked yet; empty if it can."""
        try:
            self._connection = self._connect(None, ANSWER_LIMIT_S)
        except (self.driver_error, AnswerError) as error:
            return said(error)
        return ""

    def rows(self, sql: str) -> list[tuple[Any, ...]]:
        """Return the answer to one question to the workload's database."""
        with self._another(CHECK_LIMIT_S) as connection:
            return self._ask(connection, CHECK_LIMIT_S, sql)

    @contextmanager
    def _another(self, limit_s: float) -> Iterator[Connection]:
        """Connect to the workload's database once more; ServerFailedError if the server refuses."""
        try:
            connection = self._connect(self.database, limit_s)
        except (self.driver_error, AnswerError) as error:
            raise self._failed(f"cannot be asked about {self.database}: {said(error)}") from error
        with closing(connection):
            yield connection

    @abstractmethod
    def _connect(self, database: str | None, limit_s: float) -> Connection:
        """Connect; a server that then says nothing for `limit_s` counts as failed."""

    def _query(self, sql: str, *arguments: object, shape: Shape | None = None) -> list[tuple[Any, ...]]:
        return self._ask(self._connection, ANSWER_LIMIT_S, sql, *arguments, shape=shape)

    def _row(self, sql: str, *arguments: object, shape: Shape) -> tuple[Any, ...]:
        """Return the first row of an answer that must have one."""
        rows = self._query(sql, *arguments, shape=shape)
        if not rows:
            raise self._failed(f"did not answer {sql!r}: its answer has no row")
        return rows[0]

    def _ask(
        self,
        connection: Connection | None,
        limit_s: float,
        sql: str,
        *arguments: object,
        shape: Shape | None = None,
    ) -> list[tuple[Any, ...]]:
        asked = time.monotonic()
        try:
            if connection is None:
                raise self.driver_error("not connected")  # noqa: TRY301 - as the driver would
            return ask(connection, limit_s, sql, *arguments, shape=shape, most_bytes=self.most_bytes)
        except AnswerError as error:
            raise self._failed(f"did not answer {sql!r}: {error}") from error
        except self.driver_error as error:
            silence = self._silence(time.monotonic() - asked, limit_s)
            raise self._failed(f"did not answer {sql!r}{silence}: {said(error)}") from error

    def _ask_at_length(self, statements: list[str]) -> None:
        """Run statements that may each take SETTLE_LIMIT_S, on a connection of their own."""
        with self._another(SETTLE_LIMIT_S) as connection:
            for sql in statements:
                self._ask(connection, SETTLE_LIMIT_S, sql)

    def _silence(self, waited_s: float, limit_s: float) -> str:
        """Return why the server did not answer, if more is known than what the driver says."""
        return f" within {limit_s:g} s" if waited_s >= limit_s else ""

    def _failed(self, what: str) -> ServerFailedError:
        return ServerFailedError(
            f"{self.facts.flavour} {self.facts.version} {what}; last lines of its log:\n{self.log_tail()}"
        )

    def _disconnect(self) -> None:
        if self._connection is not None:
            self._connection.close()
        self._connection = None
