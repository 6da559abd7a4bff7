"""Questions to a server over a driver's connection: each answer has limits of time and size, and a shape."""

import os
import socket
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

MIB = 2**20

MOST_BYTES = 256 * MIB
"""How much this process may grow while a foreign server answers: the names of a million tables take less."""

MOST_ROWS = 1_000_000

LONGEST_TEXT = 64 * 2**10
"""Characters of a name, a value or a grant: the longest that servers have are some thousands."""

LONGEST_COMPLAINT = 500

LOOKS_S = 0.02
"""How often the size of the process is read during a question."""

Shape = tuple[type, ...]
"""A type a column: `str`, `NULLABLE`, `int` (from 0 on), `bool`, `dict`; `object` is taken as it is."""

NULLABLE = type(None)
"""A text; NULL is an empty one."""


class AnswerError(Exception):
    """An answer without an end, too large, or of another shape than the question has."""


def driver_errors() -> tuple[type[Exception], ...]:
    """Return what the drivers raise, and what a question raises here."""
    # A sixth of the start of most commands, which ask no server.
    import psycopg  # noqa: PLC0415
    import pymysql  # noqa: PLC0415

    return pymysql.Error, psycopg.Error, AnswerError


class Watch:
    """Cuts a connection whose server does not end its answer, or sends too much."""

    def __init__(self, descriptor: int, limit_s: float, most_bytes: int | None) -> None:
        """Watch the socket of a descriptor, which may be closed meanwhile."""
        self._socket = socket.socket(fileno=os.dup(descriptor))
        self._limit_s, self._most_bytes = limit_s, most_bytes
        self._end = time.monotonic() + limit_s
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._look, daemon=True)
        self.why = ""
        """Why the connection was cut; empty if it was not."""

    def __enter__(self) -> "Watch":
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._over.set()
        self._thread.join()
        self._socket.close()

    def _look(self) -> None:
        before = resident_bytes() if self._most_bytes else 0
        while not self._over.wait(LOOKS_S if self._most_bytes else self._end - time.monotonic()):
            if self._most_bytes and resident_bytes() - before > self._most_bytes:
                self._cut(f"its answer is larger than {self._most_bytes // MIB} MiB")
                return
            if time.monotonic() >= self._end:
                self._cut(f"its answer has not ended within {self._limit_s:g} s")
                return

    def _cut(self, why: str) -> None:
        """Let the driver see the end of the connection: a server that hangs enforces no limit of its own."""
        self.why = why
        with suppress(OSError):  # it has ended itself
            self._socket.shutdown(socket.SHUT_RDWR)


@contextmanager
def bounded(descriptor: int, limit_s: float, most_bytes: int | None = MOST_BYTES) -> Iterator[None]:
    """Limit what is done with a connection; AnswerError if a limit is passed, or the driver cannot read it.

    Other errors of the driver pass through. `most_bytes` is None for a server of ours, whose end is one.
    """
    with Watch(descriptor, limit_s, most_bytes) as watch:
        try:
            yield
        except Exception as error:
            if watch.why and most_bytes is not None:
                raise AnswerError(watch.why) from error
            if isinstance(error, driver_errors()):
                raise
            # A driver takes a server's bytes on trust: what they break is anything.
            raise AnswerError(f"its answer is malformed ({type(error).__name__}: {said(error)})") from error


def ask(
    connection: Any,  # noqa: ANN401 - of either driver
    limit_s: float,
    sql: str,
    *arguments: object,
    shape: Shape | None = None,
    most_bytes: int | None = MOST_BYTES,
) -> list[tuple[Any, ...]]:
    """Return the rows of an answer, each in the shape; AnswerError, or what the driver raises."""
    is_postgresql = hasattr(connection, "pgconn")
    if not is_postgresql and connection._sock is None:
        import pymysql  # noqa: PLC0415 - see above

        raise pymysql.OperationalError(2006, "the connection was lost")
    descriptor = connection.fileno() if is_postgresql else connection._sock.fileno()
    with bounded(descriptor, limit_s, most_bytes), connection.cursor() as cursor:
        # Without arguments, a % is a %.
        cursor.execute(sql.encode() if is_postgresql else sql, arguments or None)
        rows = list(cursor.fetchall()) if cursor.description else []
    if most_bytes is not None and len(rows) > MOST_ROWS:
        raise AnswerError(f"its answer has {len(rows):,} rows, more than {MOST_ROWS:,}")
    return rows if shape is None else [_fitted(row, shape) for row in rows]


def _fitted(row: Sequence[Any], shape: Shape) -> tuple[Any, ...]:
    if len(row) != len(shape):
        raise AnswerError(f"its answer has {len(row)} columns instead of {len(shape)}")
    try:
        return tuple(kind_of(value) for kind_of, value in zip(map(_FIT.__getitem__, shape), row, strict=True))
    except RecursionError as error:  # an array in an array, thousands of times
        raise AnswerError("its answer has a value that is nested too deeply") from error


def _text(value: object) -> str:
    text = value.decode(errors="replace") if isinstance(value, bytes) else str(value)
    if value is None or len(text) > LONGEST_TEXT:
        raise _unfit(value, "a text")
    return text


def _number(value: Any) -> int:  # noqa: ANN401
    try:
        number = int(value)
    except (ValueError, TypeError, ArithmeticError):
        raise _unfit(value, "a number") from None
    if not 0 <= number < 2**63:
        raise _unfit(value, "a number from 0 on")
    return number


def _truth(value: object) -> bool:
    if value not in (True, False):
        raise _unfit(value, "true or false")
    return bool(value)


def _fields(value: object) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise _unfit(value, "an object")
    return value


_FIT: dict[type, Any] = {
    str: _text,
    int: _number,
    bool: _truth,
    dict: _fields,
    NULLABLE: lambda value: "" if value is None else _text(value),
    object: lambda value: value,
}


def _unfit(value: object, wanted: str) -> AnswerError:
    found = "NULL" if value is None else repr(value)
    return AnswerError(f"its answer has {_short(found, 60)} in place of {wanted}")


def said(error: BaseException) -> str:
    """Return what a server or a driver says, on one line of bounded length."""
    return _short(" ".join(str(error).split()), LONGEST_COMPLAINT)


def _short(text: str, most: int) -> str:
    return text if len(text) <= most else f"{text[:most]}…"


def resident_bytes() -> int:
    """Return how much memory this process has in use."""
    return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")
