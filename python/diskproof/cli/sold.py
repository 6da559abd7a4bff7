"""What price cards sell, as configurations."""

import datetime
import math
from collections.abc import Sequence

from diskproof import disk
from diskproof.analysis.advised.records import Configuration
from diskproof.refusal import RefusalError
from diskproof.study.part import changed
from diskproof.study.price_cards import GIB, SoldCard
from diskproof.wording.numbers import number

STALE = datetime.timedelta(days=365)

PAGE_MIB = 1 / 64
"""A page of 16 KiB in MiB: so many MiB a second serve one page a second."""


def sold(cards: Sequence[SoldCard], gib: float) -> list[Configuration]:
    """Return what can be bought by some cards.

    Disks that are sold whole and have less than `gib` are left out; RefusalError if nothing is left.
    """
    today = datetime.datetime.now(datetime.UTC).date()
    found = []
    for card in (one for one in cards if one.gib is None or one.gib >= gib):
        bursts = "burst" in disk.show(card.device)["device"].get("cloud", {})
        sized = card.per_gib > 0
        for iops in card.iops.levels(gib) if card.iops else (None,):
            mib_per_s = None
            if card.mib_per_s:
                needed = math.ceil((iops or 0) * PAGE_MIB)
                mib_per_s = min(max(card.mib_per_s.included, needed), card.mib_per_s.limit(gib))
            parts, bought = [card.title], []
            if sized:
                parts.append(f"{number(gib)} GiB")
                bought.append(f"capacity_bytes={round(gib * GIB)}")
            if iops:
                parts.append(f"{number(iops)} IOPS")
                bought.append(f"iops.fixed={iops}")
            if mib_per_s:
                parts.append(f"{number(mib_per_s)} MiB/s")
                bought.append(f"mib_per_s={mib_per_s:g}")
            if bursts and bought:
                parts.append("credits used up")
                bought.append("burst.credits=0")
            found.append(
                Configuration(
                    name=", ".join(parts),
                    device=changed(card.device, bought),
                    card=card.title,
                    currency=card.currency,
                    a_month=card.a_month(gib, iops, mib_per_s),
                    outlives_machine=card.outlives_machine,
                    stale_since=card.date.isoformat() if today - card.date > STALE else None,
                    source=card.source,
                )
            )
    if not found:
        raise RefusalError(f"no price card here sells a disk of {number(gib)} GiB")
    return found
