"""The facts of this machine that every figure depends on."""

import os
import platform

import psutil

from diskproof import __version__
from diskproof.results.machine import Machine, Place, ServerFacts
from diskproof.system.cpus import Division, usable
from diskproof.system.kernel import kernel_says


def describe_machine(
    places: list[Place],
    servers: list[ServerFacts],
    load_version: str,
    idle_wake_up_us: int | None = None,
    division: Division | None = None,
    fio_version: str | None = None,
) -> Machine:
    """Return the facts of this machine with the places and servers of a study.

    `idle_wake_up_us` is what the run asked the kernel for, `division` how it divided its CPUs; `fio_version`
    is None if fio makes no load.
    """
    return Machine(
        host=platform.node(),
        kernel=f"{platform.system()} {platform.release()}",
        distribution=_distribution(),
        cpu_model=_cpu_model(),
        cpus=len({*division.held, *division.others, *division.idle}) if division else len(usable()),
        host_cpus=os.cpu_count(),
        held_cpus=list(division.held) if division else [],
        memory_bytes=psutil.virtual_memory().total,
        virtualised=_hypervisor(),
        governor=kernel_says("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor"),
        idle_wake_up_us=idle_wake_up_us,
        diskproof_version=__version__,
        load_version=load_version,
        fio_version=fio_version,
        privileged=os.geteuid() == 0,
        places=places,
        servers=servers,
    )


def _distribution() -> str:
    try:
        return platform.freedesktop_os_release()["PRETTY_NAME"]
    except (OSError, KeyError):
        return "unknown"


def _cpu_model() -> str:
    for line in (kernel_says("/proc/cpuinfo") or "").splitlines():
        if line.startswith("model name"):
            return line.partition(":")[2].strip()
    return platform.machine()


def _hypervisor() -> str | None:
    """Return the hypervisor's name if the firmware or the CPU shows one."""
    product = kernel_says("/sys/class/dmi/id/product_name")
    if product and any(word in product for word in ("KVM", "Virtual", "VMware", "HVM", "Compute Engine")):
        return product
    cpu_flags = kernel_says("/proc/cpuinfo") or ""
    return "a hypervisor" if " hypervisor" in cpu_flags else None
