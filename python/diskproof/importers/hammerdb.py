"""HammerDB's TPROC-C: its result line with what the lines around it say; the JSON report of version 5."""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from diskproof.importers.base import Format, Found, Text
from diskproof.importers.jsontext import Node, objects
from diskproof.importers.numbers import count
from diskproof.results.imported import ImportedResult
from diskproof.results.load import LoadError, LoadResult

RESULT = "TEST RESULT : System achieved "

FAILED = "FINISHED FAILED"
"""What a virtual user says at its end."""

_NEW = re.compile(r"(?P<nopm>\d{1,18}) NOPM (?:from|at) (?P<tpm>\d{1,18}) (?P<server>[\w .-]{1,40}?) TPM\b")
_OLD = re.compile(r"(?P<tpm>\d{1,18}) (?P<server>[\w .-]{1,40}?) TPM at (?P<nopm>\d{1,18}) NOPM\b")
"""Before version 4 the server's own count came first (HammerDB issue 99)."""

_TOLD = {
    "users": re.compile(r"(\d{1,9}) Active Virtual Users configured"),
    "ramp_up_min": re.compile(r"Beginning rampup time of (\d{1,9}) minutes?"),
    "period_min": re.compile(r"Timing test period of (\d{1,9}) in minutes"),
}
"""The lines before a result: the field of `_Run` that each fills, and its pattern."""

_VERSION = re.compile(r"HammerDB(?: CLI)?[ -]v(\d[\w.]*)")

REPORT = "hammerdb-job-report-v1"
"""The schema that a report of version 5 names."""

ASKED = ("warehouses", "rampup_minutes", "duration_minutes")

MINUTE_S = 60


@dataclass
class _Run:
    """What HammerDB says of a run, in whichever form."""

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
        figures = (_NEW.match(rest) or _OLD.match(rest)) if mark else None
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


# ---------------------------------------------------------------- the report of version 5


def _is_report(text: Text) -> bool:
    return f'"{REPORT}"' in text.content


def _read_reports(text: Text) -> Iterator[Found]:
    place = 0
    for whole in objects(text):
        result = whole.node("result")
        if whole.word("schema") != REPORT or result is None or (nopm := result.count("nopm")) is None:
            continue
        place += 1
        job, config = (whole.node(name) or Node(text, whole.line, {}) for name in ("job", "benchmark_config"))
        server = job.word("database_display") or job.word("database") or "server"
        run = _Run(
            line=whole.line,
            nopm=nopm,
            tpm=result.count("tpm") or 0,
            server=" ".join(filter(None, (server, job.word("release")))),
            users=result.count("active_virtual_users") or config.count("virtual_users"),
            period_min=config.number("duration_minutes"),
            ramp_up_min=config.number("rampup_minutes"),
        )
        tool = f"HammerDB {version.removeprefix('v')}" if (version := job.word("hdb_version")) else None
        made = _result(text, run, place, tool)
        asked = {name: told for name in ASKED if (told := config.word(name))}
        yield made.model_copy(update={"asked": asked, "remarks": [*made.remarks, *_times(whole)]})


def _times(whole: Node) -> Iterator[str]:
    """Yield the response time of each kind of transaction; the result counts only new orders."""
    times = whole.node("response_times")
    for row in times.nodes("rows") if times else ():
        name, mean, p95 = row.word("name"), row.number("avg_ms"), row.number("p95_ms")
        if name and mean is not None and p95 is not None:
            yield f"{name} took {mean:g} ms on average, p95 {p95:g} ms ({row.count('calls') or 0:,} calls)"


def _error(message: str, count: int = 1) -> LoadError:
    return LoadError(code="HammerDB", statement=None, message=message, transient=False, count=count)


HAMMERDB = Format("HammerDB", _is_hammerdb, _read)
HAMMERDB_REPORT = Format("HammerDB", _is_report, _read_reports)
