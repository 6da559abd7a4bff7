"""What the cells of a profile are called."""

from diskproof.results.profile import Pattern, Probe, Profile, ProfilePlace
from diskproof.wording.numbers import NOT_OBSERVED, duration, size

PATTERNS: dict[Pattern, str] = {
    "random-read": "random read",
    "random-write": "random write",
    "sequential-read": "sequential read",
    "sequential-write": "sequential write",
    "mixed": "60 % read, 40 % write",
    "fileio": "fileio rndrw, synced",
    "synced-write": "random write + fdatasync",
    "synced-append": "append + fdatasync",
    "dsync-append": "append with O_DSYNC",
    "pass-read": "one pass, read (dd)",
    "pass-write": "one pass, written (dd)",
}

RANDOM: tuple[Pattern, ...] = ("random-read", "random-write")
SEQUENTIAL: tuple[Pattern, ...] = ("sequential-read", "sequential-write")
SYNCED: tuple[Pattern, ...] = ("synced-append", "dsync-append", "synced-write", "fileio")
OTHERS: tuple[Pattern, ...] = (*SYNCED, "mixed", "pass-write", "pass-read")


def probe(one: Probe) -> str:
    """Name a probe in words: ``random read 4 KiB, depth 32``."""
    depth = f", depth {one.depth}" if one.pattern in (*RANDOM, *SEQUENTIAL) or one.depth > 1 else ""
    return f"{PATTERNS[one.pattern]} {size(one.block_bytes)}{depth}"


def effort(profile: Profile) -> str:
    """Return how it was measured, in one sentence."""
    quick = "a quick look, " if profile.quick else ""
    through = "past the page cache" if profile.place.direct else "through the page cache"
    return (
        f"{quick}{duration(profile.seconds_per_cell)} per cell after "
        f"{duration(profile.ramp_s)} not measured, {through}, within "
        f"{size(profile.place.size_bytes)}, with fio {profile.fio_version} ({profile.engine})"
    )


def lies_on(place: ProfilePlace) -> str:
    """Return the file system and the device below a place."""
    device = place.device
    parts = [f"virtual disk {place.virtual}"] if place.virtual else []
    parts += [f"{place.filesystem} at {place.mount_point}"] if place.filesystem else []
    if device:
        model = f" ({device.model})" if device.model else ""
        parts.append(f"{device.name}{model}, {size(device.size_bytes)}")
    return ", ".join(parts) or NOT_OBSERVED
