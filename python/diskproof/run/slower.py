"""Slow time of trials: how slow a study's disks need it, and whether a server follows."""

import os
from collections.abc import Collection, Iterable
from dataclasses import replace

from diskproof import disk
from diskproof.families import of
from diskproof.refusal import RefusalError
from diskproof.results.record import Protocol
from diskproof.results.usage import ALLOWED_LATENESS_SHARE
from diskproof.server.base import Running, ServerKind
from diskproof.study.design import DILATIONS
from diskproof.study.model import Study
from diskproof.study.read import StudyFile
from diskproof.study.storages import StorageChoice
from diskproof.system.cpu_quota import why_no_quota
from diskproof.system.dilation import FOLLOWS, TrialTime
from diskproof.wording import numbers

LATE_PATHS = 5.0
"""At most 1 answer in 100 is later than so many times the path. It was 3.3 to 4.0 times for MariaDB and
PostgreSQL with 1 to 64 clients on a model of 17 µs, alone on two CPUs; the rest is a reserve."""

SLEEP: dict[Protocol, str] = {"mysql": "SELECT SLEEP({seconds})", "postgresql": "SELECT pg_sleep({seconds})"}

PROBE_S = 0.05
"""How long a server is asked to sleep, in its own time."""


class OwnTimeError(RefusalError):
    """A server whose clocks do not follow the trial's."""


def with_dilation(file: StudyFile) -> StudyFile:
    """Return a study that says how many times slower time is to pass, if it leaves that to its disks.

    A disk is late if 1 in 100 answers is later than `ALLOWED_LATENESS_SHARE` of the mean by its model. That
    is expected as long as `LATE_PATHS` times the path to a virtual disk is more than this.
    """
    study = file.study
    if study.design.dilation != "auto":
        return file
    places = [place for storage in study.storages.values() for place in storage.places().values()]
    devices = {device for place in places for device in place.virtual_disks}
    late_us = LATE_PATHS * disk.floor_us() if devices else 0.0
    allowed_us = [ALLOWED_LATENESS_SHARE * quickest_us(device) for device in devices]
    # A disk that answers at once needs more than there is, and is not made right by it.
    needed = [late_us / own_us for own_us in allowed_us if late_us <= DILATIONS[-1] * own_us]
    dilation = least(max(needed, default=1.0))
    design = study.design.model_copy(update={"dilation": dilation})
    return replace(file, study=study.model_copy(update={"design": design}))


def without_late(file: StudyFile, kept: Collection[str] | None = None) -> StudyFile:
    """Return a study without the values of a varied disk that cannot be served in time, with a note on them.

    They are those of which more than 1 in 100 synced writes would be late, as for `with_dilation`; of a run
    that is resumed, those that it has not `kept`, because the path to a disk takes another time today.
    """
    varied = {name: one for name, one in file.study.storages.items() if one.vary and not one.below_floor}
    if not varied:
        return file
    late_us = LATE_PATHS * disk.floor_us() / file.study.design.slower if kept is None else 0.0
    late = [
        name
        for name, storage in varied.items()
        if (kept is not None and name not in kept)
        or late_us > ALLOWED_LATENESS_SHARE * _append_us_of(name, storage)
    ]
    if len(late) == len(file.study.storages):
        raise RefusalError(
            f"this machine serves none of the varied disks in time: its path to a disk takes "
            f"{late_us / LATE_PATHS:.0f} µs of the study's time; give slower values, or set a `dilation`"
        )
    said = f"left out, as this machine cannot serve them in time: {numbers.listed(late)}"
    notes = (said, *file.notes) if late else file.notes
    return replace(file, study=_without(file.study, late), notes=notes)


def _append_us_of(name: str, storage: StorageChoice) -> float:
    try:
        return append_us(str(storage.places()["data"].virtual))
    except disk.DiskError as error:
        raise RefusalError(f"storage `{name}`: {error}") from None


def _without(study: Study, late: Collection[str]) -> Study:
    """Return a study without some storages, also where its cuts name them."""
    storages = {name: storage for name, storage in study.storages.items() if name not in late}
    crash = study.crash
    if crash and crash.storages:
        cut = [name for name in crash.storages if name not in late]
        crash = crash.model_copy(update={"storages": cut})
    return study.model_copy(update={"storages": storages, "crash": crash})


def least(needed: float) -> int:
    """Return the least dilation that is at least so large."""
    return next((one for one in DILATIONS if one >= needed), DILATIONS[-1])


def quickest_us(device: str) -> float:
    """Return the mean latency of the quickest of what databases ask of a disk: reads, or writes with a flush.

    In microseconds, of 4 KiB one after the other, by its model.
    """
    read = disk.simulate(device, "random-read", seconds=5, requests=2000)
    return min(float(read["mean_us"]), append_us(device))


def append_us(device: str) -> float:
    """Return the mean latency of writes of 4 KiB and their flushes, in microseconds, by its model."""
    append = disk.simulate(device, "synced-append", seconds=5, requests=2000)
    return float(append["mean_us"] + append["flush_mean_us"]) / 2


def check_slower(own_time: TrialTime, servers: Iterable[ServerKind]) -> None:
    """Refuse time that is slower than the machine's if something here cannot follow it."""
    if own_time.dilation == 1:
        return
    from diskproof.run.bench import RUNTIME  # noqa: PLC0415 - it loads all that a trial needs

    started = [kind.facts for kind in servers if of(kind.facts.family).protocol is not None]
    if started and os.statvfs(RUNTIME).f_flag & os.ST_NOEXEC:
        raise RefusalError(
            f"`dilation` starts servers with a library in {RUNTIME}, which is mounted `noexec`: mount it "
            "with `exec`, or leave `dilation` out"
        )
    if own_time.cpu_share < 1 and (why := why_no_quota()):
        raise RefusalError(why)


def check_follows(running: Running, own_time: TrialTime) -> None:
    """Let a server sleep; OwnTimeError if its second is not the trial's."""
    protocol = of(running.facts.family).protocol
    if own_time.dilation == 1 or protocol is None:
        return
    began_s = own_time.now_s()
    running.rows(SLEEP[protocol].format(seconds=PROBE_S))
    slept_s = own_time.now_s() - began_s
    if slept_s < FOLLOWS * PROBE_S:
        raise OwnTimeError(
            f"time is to pass {own_time.dilation} times slower, but the server slept for {PROBE_S:g} s in "
            f"{slept_s:.3f} s of that time: its program does not take a preloaded library's clocks (is it "
            "linked statically?). Leave `dilation` out, or name another build"
        )
