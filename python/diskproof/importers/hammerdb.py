"""HammerDB's TPROC-C: its result line with what the lines around it say."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from diskproof.importers.base import NO_SUMMARY, Format, Found, Text, ending
from diskproof.importers.numbers import count
from diskproof.results.factor import Factor
from diskproof.results.imported import ImportedResult
from diskproof.results.load import LoadResult

RESULT = "TEST RESULT : System achieved "

_WRONG = re.compile(
    r"Vuser \d{1,9}:(?P<said>FINISHED FAILED|.{0,200}?\bError\b.{0,200})"
    r"|Error in Virtual User \d{1,9}: ?(?P<more>.{1,200})"
)
"""What a virtual user says of a procedure that failed, or at its end."""

_FIGURES = (
    re.compile(r"(?P<nopm>\d{1,18}) NOPM (?:from|at) (?P<tpm>\d{1,18}) (?P<server>[\w .-]{1,40}?) TPM\b"),
    re.compile(r"(?P<tpm>\d{1,18}) (?P<server>[\w .-]{1,40}?) TPM at (?P<nopm>\d{1,18}) NOPM\b"),
)
"""Up to version 3, and later if asked to, TPM comes first."""

_TOLD = {
    "users": re.compile(r"(\d{1,9}) Active Virtual Users configured"),
    "ramp_up_min": re.compile(r"(?:Beginning rampup time of|Rampup) (\d{1,9}) minutes?"),
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
    errors: list[str] = field(default_factory=list)
    """What virtual users said of what failed."""


def _is_hammerdb(text: Text) -> bool:
    forms = (_WRONG, _TOLD["period_min"])
    return RESULT in text.content or any(form.search(line) for line in text.lines for form in forms)


def _read(text: Text) -> Iterator[Found]:
    version = _VERSION.search(text.content)
    tool = f"HammerDB {version[1]}" if version else None
    told: dict[str, int] = {}
    errors: list[str] = []
    runs: list[_Run] = []
    for line, said in enumerate(text.lines, start=1):
        for name, pattern in _TOLD.items():
            if found := pattern.search(said):
                told[name] = int(found[1])
        if wrong := _WRONG.search(said):
            # Other users end after the one that prints the result.
            here = runs[-1].errors if runs and not told else errors
            here.append(wrong["said"] or wrong["more"])
        _, mark, rest = said.partition(RESULT)
        if figures := next(filter(None, (form.match(rest) for form in _FIGURES if mark)), None):
            nopm, tpm = (count(text, line, figures[name], name.upper()) for name in ("nopm", "tpm"))
            runs.append(_Run(line, nopm, tpm, figures["server"], errors=errors, **told))
            told, errors = {}, []
    if errors or "period_min" in told:  # no result follows
        runs.append(_Run(1, 0, 0, "", errors=errors or [NO_SUMMARY], **told))
    for place, run in enumerate(runs, start=1):
        yield _result(text, run, place, tool)


def _result(text: Text, run: _Run, place: int, tool: str | None) -> ImportedResult:
    errors = ending("HammerDB", run.errors)
    if run.nopm and not run.tpm:
        errors += ending("HammerDB", [f"0 TPM beside {run.nopm:,} NOPM: its server counted no transaction"])
    levels: dict[Factor, str] = {"workload": "HammerDB TPROC-C"}
    return ImportedResult(
        source=text.source(run.line, "HammerDB", tool),
        name=f"HammerDB {place}",
        levels={**levels, "server": run.server} if run.server else levels,
        load=LoadResult(
            workload="HammerDB TPROC-C",
            mix="new orders",
            clients=run.users or None,
            seconds=run.period_min * MINUTE_S or None if run.period_min is not None else None,
            transactions=None,
            transactions_per_s=run.nopm / MINUTE_S,
            errors=errors,
        ),
        warm_up_s=run.ramp_up_min * MINUTE_S if run.ramp_up_min is not None else None,
        remarks=[
            f"{run.nopm} new orders a minute are counted as the transactions; "
            f"{run.tpm} are {run.server}'s own count of commits and rollbacks, which differs between "
            "servers and versions",
        ]
        if run.server
        else [],
    )


HAMMERDB = Format("HammerDB", _is_hammerdb, _read)
