"""What price cards sell, as configurations and their device files."""

import copy
import datetime
import math
from collections.abc import Sequence
from pathlib import Path

import tomlkit

from diskproof import disk
from diskproof.analysis.advised.records import Configuration
from diskproof.refusal import RefusalError
from diskproof.study.price_cards import GIB, SoldCard
from diskproof.wording.numbers import number

STALE = datetime.timedelta(days=365)

PAGE_MIB = 1 / 64
"""A page of 16 KiB in MiB: so many MiB a second serve one page a second."""


def sold(cards: Sequence[SoldCard], gib: float, folder: Path) -> tuple[list[Configuration], dict[str, str]]:
    """Return what can be bought by some cards, and the device file of each by its name.

    Disks that are sold whole and have less than `gib` are left out; RefusalError if nothing is left.
    """
    today = datetime.datetime.now(datetime.UTC).date()
    found, files = [], {}
    for card in (one for one in cards if one.gib is None or one.gib >= gib):
        shown = disk.show(card.device)
        sized = card.per_gib > 0
        for iops in card.iops.levels(gib) if card.iops else (None,):
            mib_per_s = None
            if card.mib_per_s:
                needed = math.ceil((iops or 0) * PAGE_MIB)
                mib_per_s = min(max(card.mib_per_s.included, needed), card.mib_per_s.limit(gib))
            parts = [card.title]
            parts += [f"{number(gib)} GiB"] if sized else []
            parts += [f"{number(iops)} IOPS"] if iops else []
            parts += [f"{number(mib_per_s)} MiB/s"] if mib_per_s else []
            bursts = iops is None and "burst" in shown["device"].get("cloud", {})
            parts += ["credits used up"] if sized and bursts else []
            name = ", ".join(parts)
            files[name] = card.device
            if len(parts) > 1:
                path = folder / f"{len(files)}.toml"
                path.write_text(_changed(card, shown, gib if sized else None, iops, mib_per_s))
                files[name] = str(path)
            configuration = Configuration(
                name=name,
                card=card.title,
                currency=card.currency,
                a_month=card.a_month(gib, iops, mib_per_s),
                outlives_machine=card.outlives_machine,
                stale_since=card.date.isoformat() if today - card.date > STALE else None,
                source=card.source,
            )
            found.append(configuration)
    if not found:
        raise RefusalError(f"no price card here sells a disk of {number(gib)} GiB")
    return found, files


def _changed(
    card: SoldCard, shown: disk.Facts, gib: float | None, iops: float | None, mib_per_s: float | None
) -> str:
    """Return a device file with what is bought of it."""
    made = copy.deepcopy(shown["device"])
    volume = made.get("cloud")
    if volume is None:
        raise RefusalError(
            f"the price card `{card.title}` sells size, IOPS or MiB/s of `{card.device}`, which is no cloud "
            "volume"
        )
    bought = {
        "capacity_bytes": None if gib is None else round(gib * GIB),
        "mib_per_s": mib_per_s,
    }
    for name, value in bought.items():
        if value is not None:
            volume[name] = {"value": value, "source": "bought"}
    burst = volume.pop("burst", None)
    if iops is not None:
        volume["iops"] = {"fixed": {"value": float(iops), "source": "bought"}}
    elif burst:
        volume["burst"] = burst | {"credits": {"value": 0.0, "source": "used up: what lasts is bought"}}
    return tomlkit.dumps({"title": card.title, "description": "as bought", "device": made})
