"""What files of the kernel say, below /proc and /sys."""

from pathlib import Path

CLOCK = Path("/sys/devices/system/clocksource/clocksource0/current_clocksource")
"""The kernel's clock source, which decides what reading the clock costs."""

QUICK_CLOCKS = {"tsc", "kvm-clock", "hyperv_clocksource_tsc_page", "arch_sys_counter"}
"""Clocks that a program reads without a system call (the vDSO; arch/*/include/asm of the Linux kernel)."""


def kernel_says(path: Path | str) -> str | None:
    """Return a file's text without white space at its ends; None if it is empty or cannot be read."""
    try:
        return Path(path).read_text().strip() or None
    except OSError:
        return None


def has_quick_clock(source: Path = CLOCK) -> bool:
    """Return whether reading the clock takes only some tens of ns; False if that is not known."""
    return kernel_says(source) in QUICK_CLOCKS
