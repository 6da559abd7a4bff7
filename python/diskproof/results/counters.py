"""What is counted of a trial, each counter declared once: where it is read, what it is called, what it costs.

A table, CSV and a picture read these declarations; so does what a transaction takes. A counter of the machine
is a field of `system.counters.HostCounters` and of `Usage` of the same name.
"""

from collections.abc import Callable
from dataclasses import dataclass

from diskproof.results.load import LoadResult
from diskproof.results.usage import DeviceUsage, Usage

Read = Callable[[Usage | None, LoadResult | None], float | None]


@dataclass(frozen=True)
class Counter:
    """One figure that grows with the work of a trial."""

    name: str
    """As in CSV, with its unit last; empty: CSV has its parts."""
    of: Read
    """Reads it from a trial's record; None: it was not observed."""
    per: str = ""
    """What a transaction takes of it, with its unit last; empty: that is not asked."""
    title: str = ""
    """Of that, in a table."""
    scale: float = 1.0
    """From the counter's unit to that one's."""


def _usage(amount: Callable[[Usage], float | None]) -> Read:
    return lambda usage, _: amount(usage) if usage else None


def _devices(usage: Usage, amount: Callable[[DeviceUsage], float | None]) -> float | None:
    """Return the sum over the storage's devices; None if there is none, or one is not known."""
    known = [found for device in usage.devices.values() if (found := amount(device)) is not None]
    return sum(known) if known and len(known) == len(usage.devices) else None


def _of_devices(amount: Callable[[DeviceUsage], float | None]) -> Read:
    return _usage(lambda usage: _devices(usage, amount))


def _traffic(server: Callable[[Usage], float | None], amount: Callable[[DeviceUsage], float | None]) -> Read:
    """Of the devices; if the kernel shows none (tmpfs, ZFS), what the server's processes sent to storage."""
    return _usage(lambda usage: _devices(usage, amount) if usage.devices else server(usage))


COUNTERS = (
    Counter(
        "server_cpu_s",
        _usage(lambda usage: usage.server_cpu_s),
        per="server_cpu_us",
        title="Server CPU µs",
        scale=1e6,
    ),
    Counter(
        "client_cpu_s",
        lambda _, load: load.client.cpu_s if load and load.client else None,
        per="client_cpu_us",
        title="Client CPU µs",
        scale=1e6,
    ),
    Counter("server_read_bytes", _usage(lambda usage: usage.server_read_bytes)),
    Counter("server_written_bytes", _usage(lambda usage: usage.server_written_bytes)),
    Counter("device_reads", _of_devices(lambda device: device.reads), per="reads", title="Reads"),
    Counter("device_read_bytes", _of_devices(lambda device: device.read_bytes)),
    Counter(
        "",
        _traffic(lambda usage: usage.server_read_bytes, lambda device: device.read_bytes),
        per="read_kib",
        title="KiB read",
        scale=1 / 1024,
    ),
    Counter("device_writes", _of_devices(lambda device: device.writes), per="writes", title="Writes"),
    Counter("device_written_bytes", _of_devices(lambda device: device.written_bytes)),
    Counter(
        "",
        _traffic(lambda usage: usage.server_written_bytes, lambda device: device.written_bytes),
        per="written_kib",
        title="KiB written",
        scale=1 / 1024,
    ),
    Counter(
        "device_flushes",
        _of_devices(lambda device: device.flushes),
        per="flushes",
        title="Flushes",
    ),
    Counter(
        "context_switches",
        _usage(lambda usage: usage.context_switches),
        per="context_switches",
        title="Context switches",
    ),
)
"""In the order of tables. The legend of what a transaction takes is Callaghan's (smalldatum.blogspot.com,
2014), with flushes and context switches added."""

COSTS = tuple(one for one in COUNTERS if one.per)
"""What a transaction takes."""
