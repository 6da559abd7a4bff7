"""HammerDB's TPROC-C: its result line with what the lines around it say."""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from diskproof.importers.base import Format, Found, Text
from diskproof.importers.numbers import count
from diskproof.results.imported import ImportedResult
from diskproof.results.load import LoadError, LoadResult

RESULT = "TEST RESULT : System achieved "

FAILED = "FINISHED FAILED"
"""What a virtual user says at its end."""

_FIGURES = re.compile(
    r"(?P<nopm>\d{1,18}) NOPM (?:from|at) (?P<tpm>\d{1,18}) (?P<server>[\w .-]{1,40}?) TPM\b"
)

_TOLD = {
    "users": re.compile(r"(\d{1,9}) Active Virtual Users configured"),
    "ramp_up_min": re.compile(r"Beginning rampup time of (\d{1,9}) minutes?"),
    "period_min": re.compile(r"Timing test period of (\d{1,9}) in minutes"),
}
"""The lines before a result: the field of `_Run` that each fills, and its pattern."""

_VERSION = re.compile(r"HammerDB(?: CLI)?[ -]v(\d[\w.]*)")

MINUTE_S = 60


@dataclass
class _Run:
    """What HammerDB says of a run."""

    line: int
    nopm: int
    tpm: int
    server: str
    users: int | None = None
    period_min: float | None = None
    ramp_up_min: float | None = None
    failed: int = 0
    """Virtual users that failed."""


def _is_hammerdb(text: Text) -> bool:
    return RESULT in text.content


def _read(text: Text) -> Iterator[Found]:
    version = _VERSION.search(text.content)
    told: dict[str, int] = {}
    runs: list[_Run] = []
    for line, said in enumerate(text.lines, start=1):
        for name, pattern in _TOLD.items():
            if found := pattern.search(said):
                told[name] = int(found[1])
        if FAILED in said:
            if runs and not told:  # other users end after the one that prints the result
                runs[-1].failed += 1
            else:
                told["failed"] = told.get("failed", 0) + 1
        _, mark, rest = said.partition(RESULT)
        figures = _FIGURES.match(rest) if mark else None
        if figures:
            nopm, tpm = (count(text, line, figures[name], name.upper()) for name in ("nopm", "tpm"))
            runs.append(_Run(line, nopm, tpm, figures["server"], **told))
            told = {}
    for place, run in enumerate(runs, start=1):
        yield _result(text, run, place, f"HammerDB {version[1]}" if version else None)


def _result(text: Text, run: _Run, place: int, tool: str | None) -> ImportedResult:
    errors = []
    if run.nopm and not run.tpm:
        errors.append(_error(f"0 TPM beside {run.nopm:,} NOPM: its server counted no transaction"))
    if run.failed:
        errors.append(_error(FAILED, run.failed))
    return ImportedResult(
        source=text.source(run.line, "HammerDB", tool),
        name=f"HammerDB {place}",
        levels={"workload": "HammerDB TPROC-C", "server": run.server},
        load=LoadResult(
            workload="HammerDB TPROC-C",
            mix="new orders",
            clients=run.users or None,
            seconds=run.period_min * MINUTE_S or None if run.period_min is not None else None,
            transactions=None,
            transactions_per_s=run.nopm / MINUTE_S,
            half_digit=0.5 / MINUTE_S,
            errors=errors,
        ),
        warm_up_s=run.ramp_up_min * MINUTE_S if run.ramp_up_min is not None else None,
        remarks=[
            f"{run.nopm} new orders a minute are counted as the transactions; "
            f"{run.tpm} are {run.server}'s own count of commits and rollbacks, which differs between "
            "servers and versions",
        ],
    )


def _error(message: str, count: int = 1) -> LoadError:
    return LoadError(code="HammerDB", statement=None, message=message, transient=False, count=count)


HAMMERDB = Format("HammerDB", _is_hammerdb, _read)
