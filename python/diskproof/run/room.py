"""The free space of a trial's places, watched while its load makes data and logs grow.

A server whose disk is full may wait for space, with all its clients, until they give up.
"""

import math
import shutil
from collections.abc import Iterable

from diskproof.results.machine import Place
from diskproof.run.dataset import FULL_BYTES
from diskproof.storage.kinds.base import StorageError
from diskproof.system.dilation import REAL, TrialTime
from diskproof.wording import Message, bytes_, say

NEARLY_FULL_BYTES = 16 * FULL_BYTES
"""With less, a server may fail that extends a file by much: a log's segment, InnoDB's system tablespace."""

RESERVE = 1.25
"""How much more than it would have grown to a place is to have."""

REMEDIES = {
    "ram": "set `ram` of this storage to {needed} or more, or lower `measure_s`",
    "virtual": "set `size` of this storage to {needed} or more, or lower `measure_s`",
}
OTHER_REMEDY = "free space there, {needed} in all, or lower `measure_s`"


class FullError(StorageError):
    """A place of a trial is full."""


class Room:
    """The file systems below a trial's places."""

    def __init__(self, places: Iterable[Place], lasts_s: float, own_time: TrialTime = REAL) -> None:
        """Begin to watch; the load lasts for `lasts_s` of its own time."""
        self._time = own_time
        self._places = {place.device_number: place for place in places}
        self._lasts_s = lasts_s
        self._began_s = own_time.now_s()
        self._used = {number: self._usage(number).used for number in self._places}

    def check(self) -> None:
        """Raise FullError if a place is full."""
        if why := self.full(FULL_BYTES):
            raise FullError(why.text)

    def full(self, least_bytes: int = NEARLY_FULL_BYTES) -> Message | None:
        """Say which place has less than this left, how fast it grew and what it needs; None if none."""
        for number, place in self._places.items():
            try:
                usage = self._usage(number)
            except OSError:
                continue  # its disk or folder is gone, which others say
            if usage.free >= least_bytes:
                continue
            grown, took_s = usage.used - self._used[number], self._time.now_s() - self._began_s
            rate = grown / max(took_s, 1.0)
            if rate <= 0:
                continue  # it was as full before, and the load added nothing
            needed = self._used[number] + RESERVE * rate * max(self._lasts_s, took_s)
            whole = math.ceil(needed / 2**28) * 2**28
            return say(
                "`{storage}` {is_full}: {free} of {size} are left at {path}, and this load grows by "
                "{rate}/s; " + REMEDIES.get(place.kind, OTHER_REMEDY),
                storage=place.storage,
                is_full="is full" if least_bytes == FULL_BYTES else "is nearly full",
                free=bytes_(usage.free),
                size=bytes_(usage.total),
                path=place.path,
                rate=bytes_(rate),
                needed=bytes_(whole),
            )
        return None

    def _usage(self, number: str) -> "shutil._ntuple_diskusage":
        return shutil.disk_usage(self._places[number].path)
