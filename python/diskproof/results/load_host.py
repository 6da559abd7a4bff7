"""What is recorded of the machines that load a server on another one."""

from diskproof.results.load import ClientAccount
from diskproof.results.record import Record


class Network(Record):
    """The network between a load host and the database's machine, as measured without any load."""

    round_trip_us: float
    """Median of the round trips of a few bytes over TCP, with the waking of both programs."""
    to_database_bytes_per_s: float
    """Throughput of one connection."""
    from_database_bytes_per_s: float


class LoadHost(Record):
    """One machine of the load in a trial, over the measured phase."""

    name: str
    clients: int
    cpus: int
    """CPUs that the load generator may use there."""
    host_cpus: int
    """CPUs that the machine's counters cover."""
    seconds: float
    transactions_per_s: float
    latency_mean_us: float | None
    """None if nothing completed."""
    client: ClientAccount
    host_cpu_busy_s: float
    """CPU seconds of the whole machine."""
    host_cpu_steal_s: float
    to_database_bytes: int | None = None
    """Bytes that its network interface sent; None if the interface is not known."""
    from_database_bytes: int | None = None
    began_after_us: float
    """How much later than the first machine its measured phase began, by its own clock and the offset."""
    clock_error_us: float
    """How far that offset may be wrong: half of the least round trip."""
    network: Network

    @property
    def in_service(self) -> float | None:
        """How many clients throughput and latency account for (Little's law)."""
        return None if self.latency_mean_us is None else self.transactions_per_s * self.latency_mean_us / 1e6

    @property
    def busy_share(self) -> float:
        """Busy share of the machine's CPUs, by anybody."""
        return min(self.host_cpu_busy_s / self.seconds / self.host_cpus, 1.0)

    @property
    def network_share(self) -> float | None:
        """The larger of the shares of the measured throughput that the two directions carried."""
        if self.to_database_bytes is None or self.from_database_bytes is None:
            return None
        sent = self.to_database_bytes / self.network.to_database_bytes_per_s
        received = self.from_database_bytes / self.network.from_database_bytes_per_s
        return max(sent, received) / self.seconds
