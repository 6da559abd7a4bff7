"""fio's terse lines, of version 3, 4 and 5."""

from collections.abc import Iterator
from typing import Any

from diskproof.fio.figures import seconds_of
from diskproof.importers.base import Format, Found, Text
from diskproof.importers.fio.figures import SUBMITTED, errors_of, latency_of, of_one_clock
from diskproof.importers.numbers import broken, number
from diskproof.results.imported import ImportedResult
from diskproof.results.load import FileRequests, LoadResult

TERSE = ("3;fio-", "4;fio-", "5;fio-")

WIDTH = {"3": 41, "4": 41, "5": 47}
"""Fields of one direction: requests 4, submission 4, completion 4 and 20 percentiles, both 4, bandwidth 5;
version 5 adds the number of its samples and five about requests a second (fio's manual, TERSE OUTPUT)."""

DIRECTIONS = {"3": 2, "4": 3, "5": 3}
"""Version 4 added trims."""

FIRST = 5

HALF_WHOLE = 0.5
"""Half of the last digit of a rate, which a terse line prints without decimals."""


def _is_terse(text: Text) -> bool:
    return any(line.startswith(TERSE) for line in text.lines)


def _read_terse(text: Text) -> Iterator[Found]:
    for line, told in enumerate(text.lines, start=1):
        if told.startswith(TERSE):
            yield _terse(text, line, told.split(";"))


def _terse(text: Text, line: int, fields: list[str]) -> ImportedResult:
    version, name = fields[0], fields[2] or "fio"
    width = WIDTH[version]
    if len(fields) < FIRST + width * DIRECTIONS[version]:
        raise broken(text, line, f"a terse line of version {version} has more fields than {len(fields)}")
    reads = _direction(text, line, fields[FIRST : FIRST + width])
    writes = _direction(text, line, fields[FIRST + width : FIRST + 2 * width])
    figures = {"read": reads, "write": writes}
    seconds = seconds_of(figures)
    remarks = [
        f"the number of {kind}s is worked out: {one['iops']:g}/s x {one['runtime'] / 1000:g} s"
        for kind, one in figures.items()
        if one["total_ios"]
    ]
    remarks.append("terse output has neither block size nor kind of access")
    return ImportedResult(
        source=text.source(line, f"fio terse {version}", fields[1].replace("fio-", "fio ", 1)),
        name=name,
        levels={"workload": name},
        load=LoadResult(
            workload=name,
            clients=None,
            seconds=seconds or None,
            transactions=None,
            transactions_per_s=reads["iops"] + writes["iops"],
            half_digit=HALF_WHOLE,
            latency_us=latency_of(of_one_clock([figures]), [figures], remarks),
            errors=errors_of([fields[4]]),
            file_requests=FileRequests(
                sync_every=None, read_bytes=reads["bytes"], written_bytes=writes["bytes"]
            ),
        ),
        remarks=remarks,
    )


def _direction(text: Text, line: int, fields: list[str]) -> dict[str, Any]:
    """Return one direction's figures as fio's JSON has them."""
    kib, _, iops, runtime_ms = (number(text, line, told, "a figure of fio") for told in fields[:4])
    requests = round(iops * runtime_ms / 1000)
    completion, whole = (_terse_waits(text, line, fields[at : at + 4], requests) for at in (8, 32))
    table = {}
    for told in fields[12:32]:
        percentile, _, value_us = told.partition("%=")
        name = f"{number(text, line, percentile, 'a percentile'):g}"
        value_ns = number(text, line, value_us, "a percentile") * 1000
        if name != "0" and value_ns:  # a percentile of 0 us was below the last digit
            table[name] = value_ns
    submitted = _terse_waits(text, line, fields[4:8], requests)
    apart = bool(submitted["N"]) and completion["mean"] < whole["mean"] * (1 - SUBMITTED)
    return {
        "total_ios": requests,
        "iops": iops,
        "runtime": runtime_ms,
        "bytes": int(kib) * 1024,
        "lat_ns": whole,
        "one_clock_ns": whole if apart else completion,
        "percentiles_ns": {} if apart else table,
        "of_completion": not apart,
        **({"submitted_ns": whole["mean"] - completion["mean"]} if apart else {}),
    }


def _terse_waits(text: Text, line: int, fields: list[str], requests: int) -> dict[str, Any]:
    low, high, mean, stdev = (number(text, line, told, "a latency") * 1000 for told in fields)
    return {"N": requests if high else 0, "mean": mean, "stddev": stdev, "min": low, "max": high}


TERSE_LINES = Format("fio terse", _is_terse, _read_terse)
