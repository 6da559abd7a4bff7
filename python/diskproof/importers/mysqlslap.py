"""mysqlslap and mariadb-slap: the text block of each engine and number of clients, and lines of ``--csv``.

Both tell the average, the least and the most of the iterations' seconds, not how many iterations there were.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from diskproof.importers.base import Format, Found, ImportRefusedError, Text
from diskproof.importers.numbers import count, number
from diskproof.results.imported import ImportedResult, Source
from diskproof.results.load import Iterations, LoadResult

_SECONDS = re.compile(
    r"\s*(?P<which>Average|Minimum|Maximum) number of seconds to run all queries: +"
    r"(?P<value>\S{1,40}) seconds"
)
_CLIENTS = re.compile(r"\s*Number of clients running queries: +(?P<value>\S{1,40})")
_QUERIES = re.compile(r"\s*Average number of queries per client: +(?P<value>\S{1,40})")
_ENGINE = re.compile(r"\s*Running for engine (?P<value>\S{1,64})")
_BEGIN = re.compile(r"\s*Benchmark\s*$")
_OPTION = re.compile(r"--([a-z][\w-]{0,60})(?:=([^\s'\"]{0,200}))?")
_SECRET = re.compile(r"password|user|host|socket|ssl|-?port$|create|query$")

_CSV = re.compile(
    r"\s*(?P<engine>[A-Za-z_]{0,40}),(?P<type>mixed|read|write|key|update)?,"
    r"(?P<average>-?\d{1,12}\.\d{3}),(?P<minimum>-?\d{1,12}\.\d{3}),(?P<maximum>-?\d{1,12}\.\d{3}),"
    r"(?P<clients>\d{1,9}),(?P<queries>\d{1,12})\s*"
)
"""``innodb,mixed,0.172,0.057,0.318,1,80``; the engine is empty if none was asked for, and the type of the
user's own queries."""


HALF_DIGIT_S = 0.0005
"""Seconds are printed with three decimals."""

_FIGURES = ("average", "minimum", "maximum", "clients", "queries")


@dataclass
class _Block:
    """One block or line, as text."""

    line: int
    figures: dict[str, tuple[int, str]] = field(default_factory=dict)
    """By name (`_FIGURES`): the line, and what stands there."""
    engine: str | None = None
    kind: str | None = None
    options: dict[str, str] = field(default_factory=dict)


def _recognises(text: Text) -> bool:
    if "number of seconds to run all queries:" in text.content:
        return True
    lines = [line for line in text.lines[:200] if line and not line.isspace()]
    return bool(lines) and all(_CSV.fullmatch(line) for line in lines)


def _read(text: Text) -> Iterator[Found]:
    blocks = list(_blocks(text))
    whole = [block for block in blocks if set(_FIGURES) <= set(block.figures)]
    cut = [
        f"the result at line {block.line} is cut and was left out" for block in blocks if block not in whole
    ]
    if not whole:
        raise ImportRefusedError(
            f"{text.file}: mysqlslap's output is cut; give its lines from `Benchmark` to `queries per client`"
        )
    for place, block in enumerate(whole, start=1):
        result = _result(text, block, place)
        yield result.model_copy(update={"remarks": [*result.remarks, *cut]})


def _blocks(text: Text) -> Iterator[_Block]:
    """Yield the blocks in order; a figure that the block has already begins another one."""
    current: _Block | None = None
    options: dict[str, str] = {}
    for at, line in enumerate(text.lines, start=1):
        if ("mysqlslap " in line or "mariadb-slap " in line) and "--" in line:
            options = _options(line)
            continue
        if row := _CSV.fullmatch(line):
            told = {name: (at, row[name]) for name in _FIGURES}
            yield _Block(at, told, row["engine"] or None, row["type"], options)
            continue
        if _BEGIN.match(line):
            if current is not None and current.figures:
                yield current
            current = _Block(at, options=options)
            continue
        told_figure = _figure(line)
        if told_figure is not None:
            name, value = told_figure
            if current is None or name in current.figures:
                if current is not None:
                    yield current
                current = _Block(at, options=options)
            current.figures[name] = (at, value)
        elif current is not None and (engine := _ENGINE.match(line)):
            current.engine = engine["value"]
    if current is not None and current.figures:
        yield current


def _figure(line: str) -> tuple[str, str] | None:
    if seconds := _SECONDS.match(line):
        return seconds["which"].lower(), seconds["value"]
    if clients := _CLIENTS.match(line):
        return "clients", clients["value"]
    if queries := _QUERIES.match(line):
        return "queries", queries["value"]
    return None


def _options(command: str) -> dict[str, str]:
    return {name: value or "on" for name, value in _OPTION.findall(command) if not _SECRET.search(name)}


def _result(text: Text, block: _Block, place: int) -> ImportedResult:
    average_s, least_s, most_s = (_seconds(text, block, name) for name in _FIGURES[:3])
    clients, queries = (_count(text, block, name) for name in _FIGURES[3:])
    remarks = ["the number of iterations is not printed"] if "iterations" not in block.options else []
    statements = clients * queries
    rate_per_s = statements / average_s if average_s else 0.0
    if rate_per_s:
        remarks.append(f"{rate_per_s:.4g} queries a second, derived: {statements} queries / {average_s:g} s")
    if not average_s:
        remarks.append("the average is printed as 0.000 s: below its last digit")
    kind = block.kind or block.options.get("auto-generate-sql-load-type")
    told = {"auto-generate-sql-load-type": kind, "engine": block.engine}
    workload = " ".join(filter(None, ("slap", kind, block.engine, f"{statements} queries")))
    return ImportedResult(
        source=Source(file=text.file, line=block.line, format="mysqlslap", sha256=text.sha256),
        name=f"mysqlslap {place}: {workload}",
        levels={"workload": workload},
        load=LoadResult(
            workload="slap",
            mix=kind,
            clients=clients or None,
            seconds=average_s or None,
            transactions=statements,
            transactions_per_s=rate_per_s,
            derived=["transactions_per_s"],
            half_digit=HALF_DIGIT_S,
            statements=statements,
            iterations=Iterations(
                count=_iterations(block.options),
                mean_s=average_s,
                min_s=least_s,
                max_s=most_s,
                queries_per_client=queries,
            ),
        ),
        asked={**block.options, **{name: value for name, value in told.items() if value}},
        remarks=remarks,
    )


def _seconds(text: Text, block: _Block, name: str) -> float:
    line, told = block.figures[name]
    return number(text, line, told, f"the {name} of seconds")


def _count(text: Text, block: _Block, name: str) -> int:
    line, told = block.figures[name]
    return count(text, line, told, f"the number of {name}")


def _iterations(options: dict[str, str]) -> int | None:
    told = options.get("iterations", "")
    return int(told) if told.isdecimal() and len(told) < 10 and int(told) else None


MYSQLSLAP = Format("mysqlslap (text and CSV)", _recognises, _read)
