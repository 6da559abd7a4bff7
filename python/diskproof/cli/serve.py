"""`diskproof serve`: the runs that lie here as pages, which follow those under way."""

import errno
import ipaddress
import os
import secrets
import socket
from contextlib import suppress
from pathlib import Path

from diskproof.cli.screen import results, say
from diskproof.history.shelf import RUNS
from diskproof.refusal import RefusalError, why_refused

PORT = 8040

GIVES_WAY = 10
"""Of 19 steps by which it gives way to other programs: it may run beside a measurement."""


def serve(folder: Path = RUNS, /, *, address: str = "127.0.0.1", port: int = PORT) -> None:
    """Show the runs in a folder as pages, which follow those under way, until Ctrl-C.

    Parameters
    ----------
    folder
        Root of the run folders.
    address
        IP address to listen on. If other machines can reach it, the printed address has a token.
    port
        Port to listen on; 0: any free one.

    """
    try:
        is_own = ipaddress.ip_address(address).is_loopback
    except ValueError:
        raise RefusalError(f"--address is an IP address of this machine, not `{address}`") from None
    if not 0 <= port < 2**16:
        raise RefusalError(f"--port is a number from 0 to 65535, not {port}")
    from diskproof.site.serve import server_of  # noqa: PLC0415 - `--help` needs no server

    token = None if is_own else secrets.token_urlsafe(24)
    with _listening(address, port) as listener, suppress(KeyboardInterrupt):
        os.nice(GIVES_WAY)
        host = f"[{address}]" if ":" in address else address
        first = f"http://{host}:{listener.getsockname()[1]}/"
        results.print(first if token is None else f"{first}?token={token}", soft_wrap=True)
        results.file.flush()
        if not folder.is_dir():
            say(f"{folder} is not there yet: runs show up once it is")
        server_of(folder, token).run([listener])


def _listening(address: str, port: int) -> socket.socket:
    family = socket.AF_INET6 if ":" in address else socket.AF_INET
    try:
        return socket.create_server((address, port), family=family)
    except OSError as error:
        if error.errno == errno.EADDRINUSE:
            raise RefusalError(f"port {port} of {address} is taken: --port 0 takes a free one") from None
        if error.errno == errno.EADDRNOTAVAIL:
            why = f"--address: this machine does not have {address}: `ip address` lists its own"
            raise RefusalError(why) from None
        raise RefusalError(f"--address {address} --port {port}: {why_refused(error)}") from None
