"""HammerDB's TPROC-C: its result line with what the lines around it say; the JSON report of version 5."""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from diskproof.importers.base import Format, Found, Text
from diskproof.importers.jsontext import Node, objects
from diskproof.importers.numbers import count
from diskproof.results.imported import ImportedResult, Source
from diskproof.results.load import LoadError, LoadResult

RESULT = "TEST RESULT : System achieved "

FAILED = "FINISHED FAILED"
"""What a virtual user says at its end."""

_NEW = re.compile(r"(?P<nopm>\d{1,18}) NOPM (?:from|at) (?P<tpm>\d{1,18}) (?P<server>[\w .-]{1,40}?) TPM\b")
_OLD = re.compile(r"(?P<tpm>\d{1,18}) (?P<server>[\w .-]{1,40}?) TPM at (?P<nopm>\d{1,18}) NOPM\b")
"""Before version 4 the server's own count came first (HammerDB issue 99)."""

_USERS = re.compile(r"(\d{1,9}) Active Virtual Users configured")
_RAMP_UP = re.compile(r"Beginning rampup time of (\d{1,9}) minutes?")
_PERIOD = re.compile(r"Timing test period of (\d{1,9}) in minutes")
_VERSION = re.compile(r"HammerDB(?: CLI)?[ -]v(\d[\w.]*)")

REPORT = "hammerdb-job-report-v1"
"""The schema that a report of version 5 names."""

ASKED = ("warehouses", "rampup_minutes", "duration_minutes")

MINUTE_S = 60


def _is_hammerdb(text: Text) -> bool:
    return RESULT in text.content


def _read(text: Text) -> Iterator[Found]:
    version = _VERSION.search(text.content)
    told: dict[str, int] = {}
    place = 0
    last: ImportedResult | None = None
    for line, said in enumerate(text.lines, start=1):
        for name, pattern in (("users", _USERS), ("ramp-up", _RAMP_UP), ("period", _PERIOD)):
            if found := pattern.search(said):
                told[name] = int(found[1])
        if FAILED in said:  # other users end after the one that prints the result
            if last is not None and not told:
                last = _failed(last, 1)
            else:
                told["failed"] = told.get("failed", 0) + 1
        _, mark, rest = said.partition(RESULT)
        figures = (_NEW.match(rest) or _OLD.match(rest)) if mark else None
        if figures:
            place += 1
            if last is not None:
                yield last
            last = _result(text, line, figures, told, place, f"HammerDB {version[1]}" if version else None)
            told = {}
    if last is not None:
        yield last


def _result(
    text: Text, line: int, figures: re.Match[str], told: dict[str, int], place: int, tool: str | None
) -> ImportedResult:
    run = _Run(
        nopm=count(text, line, figures["nopm"], "NOPM"),
        tpm=count(text, line, figures["tpm"], "TPM"),
        server=figures["server"],
        users=told.get("users"),
        period_min=told.get("period"),
        ramp_up_min=told.get("ramp-up"),
    )
    made = _made(text, line, run, place, tool)
    return _failed(made, told["failed"]) if "failed" in told else made


@dataclass(frozen=True)
class _Run:
    """What HammerDB says of a run, in whichever form."""

    nopm: int
    tpm: int
    server: str
    users: int | None
    period_min: float | None
    ramp_up_min: float | None


def _made(text: Text, line: int, run: _Run, place: int, tool: str | None) -> ImportedResult:
    errors = []
    if run.nopm and not run.tpm:
        errors.append(_error(f"0 TPM beside {run.nopm:,} NOPM: its server counted no transaction"))
    return ImportedResult(
        source=Source(file=text.file, line=line, format="HammerDB", tool=tool, sha256=text.sha256),
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
            nopm=nopm,
            tpm=result.count("tpm") or 0,
            server=" ".join(filter(None, (server, job.word("release")))),
            users=result.count("active_virtual_users") or config.count("virtual_users"),
            period_min=config.number("duration_minutes"),
            ramp_up_min=config.number("rampup_minutes"),
        )
        tool = f"HammerDB {version.removeprefix('v')}" if (version := job.word("hdb_version")) else None
        made = _made(text, whole.line, run, place, tool)
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


def _failed(result: ImportedResult, users: int) -> ImportedResult:
    """Return a result with virtual users that failed, beside those that it had."""
    kept = [one for one in result.load.errors if one.message != FAILED]
    users += sum(one.count for one in result.load.errors if one.message == FAILED)
    load = result.load.model_copy(update={"errors": [*kept, _error(FAILED, users)]})
    return result.model_copy(update={"load": load})


HAMMERDB = Format("HammerDB", _is_hammerdb, _read)
HAMMERDB_REPORT = Format("HammerDB", _is_report, _read_reports)
