"""The kernel's clock source, which decides what reading the clock costs."""

from pathlib import Path

SOURCE = Path("/sys/devices/system/clocksource/clocksource0/current_clocksource")

QUICK = {"tsc", "kvm-clock", "hyperv_clocksource_tsc_page", "arch_sys_counter"}
"""Clocks that a program reads without a system call (the vDSO; arch/*/include/asm of the Linux kernel)."""


def has_quick_clock(source: Path = SOURCE) -> bool:
    """Return whether reading the clock takes only some tens of ns; False if that is not known."""
    try:
        return source.read_text().strip() in QUICK
    except OSError:
        return False
