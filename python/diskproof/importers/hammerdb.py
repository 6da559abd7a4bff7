"""HammerDB's TPROC-C: its result line, and what the lines above it say of the run."""

import re
from collections.abc import Iterator

from diskproof.importers.base import Format, Found, Text
from diskproof.importers.numbers import count
from diskproof.results.imported import ImportedResult, Source
from diskproof.results.load import LoadResult

RESULT = "TEST RESULT : System achieved "

_NEW = re.compile(r"(?P<nopm>\d{1,18}) NOPM (?:from|at) (?P<tpm>\d{1,18}) (?P<server>[\w .-]{1,40}?) TPM\b")
_OLD = re.compile(r"(?P<tpm>\d{1,18}) (?P<server>[\w .-]{1,40}?) TPM at (?P<nopm>\d{1,18}) NOPM\b")
"""Before version 4 the server's own count came first (HammerDB issue 99)."""

_USERS = re.compile(r"(\d{1,9}) Active Virtual Users configured")
_RAMP_UP = re.compile(r"Beginning rampup time of (\d{1,9}) minutes?")
_PERIOD = re.compile(r"Timing test period of (\d{1,9}) in minutes")
_VERSION = re.compile(r"HammerDB(?: CLI)?[ -]v(\d[\w.]*)")

MINUTE_S = 60


def _is_hammerdb(text: Text) -> bool:
    return RESULT in text.content


def _read(text: Text) -> Iterator[Found]:
    version = _VERSION.search(text.content)
    told: dict[str, int] = {}
    place = 0
    for line, said in enumerate(text.lines, start=1):
        for name, pattern in (("users", _USERS), ("ramp-up", _RAMP_UP), ("period", _PERIOD)):
            if found := pattern.search(said):
                told[name] = int(found[1])
        _, mark, rest = said.partition(RESULT)
        figures = (_NEW.match(rest) or _OLD.match(rest)) if mark else None
        if figures:
            place += 1
            yield _result(text, line, figures, told, place, f"HammerDB {version[1]}" if version else None)
            told = {}


def _result(
    text: Text, line: int, figures: re.Match[str], told: dict[str, int], place: int, tool: str | None
) -> ImportedResult:
    new_orders_per_minute = count(text, line, figures["nopm"], "NOPM")
    server = figures["server"]
    return ImportedResult(
        source=Source(file=text.file, line=line, format="HammerDB", tool=tool, sha256=text.sha256),
        name=f"HammerDB {place}",
        levels={"workload": "HammerDB TPROC-C", "server": server},
        load=LoadResult(
            workload="HammerDB TPROC-C",
            mix="new orders",
            clients=told.get("users") or None,
            seconds=told["period"] * MINUTE_S or None if "period" in told else None,
            transactions=None,
            transactions_per_s=new_orders_per_minute / MINUTE_S,
            half_digit=0.5 / MINUTE_S,
        ),
        warm_up_s=told["ramp-up"] * MINUTE_S if "ramp-up" in told else None,
        remarks=[
            f"{new_orders_per_minute} new orders a minute are counted as the transactions; "
            f"{figures['tpm']} are {server}'s own count of commits and rollbacks, which differs between "
            "servers and versions",
        ],
    )


HAMMERDB = Format("HammerDB", _is_hammerdb, _read)
