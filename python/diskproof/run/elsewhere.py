"""Loads on other machines than the server's, as a trial sees them."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from diskproof.load import Event
from diskproof.results.load_host import LoadHost
from diskproof.results.plan import Phases
from diskproof.server.endpoint import Endpoint


@dataclass(frozen=True)
class Order:
    """A load that several machines make together."""

    url: str
    kind: str
    arguments: Sequence[Sequence[str]]
    """One list for each machine that takes part, the first ones of all."""
    files: Mapping[str, bytes]
    """The files that the arguments name."""
    phases: Phases


class LoadElsewhere(Protocol):
    """A running load on other machines; the trial uses it as one on its own."""

    @property
    def argv(self) -> list[str]:
        """The command of the first machine."""

    @property
    def pids(self) -> list[int]:
        """Empty: no process of it is here."""

    @property
    def hosts(self) -> list[LoadHost]:
        """Return what each machine did; nothing before the summary."""

    def go_on(self) -> None:
        """Let it pass the point at which it waits."""

    def events(self, longest_s: float) -> Iterator[Event]:
        """Yield its events until the summary of all machines; LoadFailedError if one of them fails."""

    def end(self) -> None:
        """End it, if it still runs."""


class Loaders(Protocol):
    """The machines of the load."""

    endpoint: Endpoint
    files: str
    """Stands in arguments for the folder of the files."""
    names: Sequence[str]

    def check(self) -> None:
        """RefusalError if one of them is gone for good."""

    def begin(self, order: Order) -> LoadElsewhere:
        """Prepare a load; it starts when its events are asked for."""
