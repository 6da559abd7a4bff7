"""Time in which tasks stall for want of CPU, disk or memory (pressure stall information)."""

from pathlib import Path

from diskproof.results.usage import Stalls

PRESSURE = Path("/proc/pressure")


def stalls(folder: Path = PRESSURE) -> Stalls | None:
    """Return the seconds of stalls since the machine started; None if the kernel does not count them.

    ``some``: at least one task stalled; ``full``: no task could go on. The CPUs of the whole machine have no
    ``full``: something always runs. Source: Documentation/accounting/psi.rst of the Linux kernel.
    """
    try:
        cpu, io, memory = (_totals_s((folder / name).read_text()) for name in ("cpu", "io", "memory"))
    except OSError:  # no such file, or one that fails with EOPNOTSUPP: psi=0
        return None
    return Stalls(
        cpu_some_s=cpu["some"],
        io_some_s=io["some"],
        io_full_s=io["full"],
        memory_some_s=memory["some"],
        memory_full_s=memory["full"],
    )


def _totals_s(text: str) -> dict[str, float]:
    """Return the totals of ``some avg10=0.00 avg60=0.00 avg300=0.00 total=1234`` (in us), by first word."""
    lines = [line.split() for line in text.splitlines()]
    return {line[0]: int(line[-1].removeprefix("total=")) / 1e6 for line in lines}
