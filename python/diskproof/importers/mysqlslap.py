"""mysqlslap and mariadb-slap: the text block of each engine and number of clients.

Both tell the average, the least and the most of the iterations' seconds, not how many iterations there were.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from diskproof.importers.base import Format, Found, ImportRefusedError, Text, contradictions, ending
from diskproof.importers.numbers import count, number
from diskproof.results.imported import ImportedResult
from diskproof.results.load import Contradiction, Iterations, LoadResult

_FIGURES = {
    "average": re.compile(r"[\s#]*Average number of seconds to run all queries: +(\S{1,40}) seconds"),
    "minimum": re.compile(r"[\s#]*Minimum number of seconds to run all queries: +(\S{1,40}) seconds"),
    "maximum": re.compile(r"[\s#]*Maximum number of seconds to run all queries: +(\S{1,40}) seconds"),
    "clients": re.compile(r"[\s#]*Number of clients running queries: +(\S{1,40})"),
    "queries": re.compile(r"[\s#]*Average number of queries per client: +(\S{1,40})"),
}
"""The lines of a block."""

_ENGINE = re.compile(r"[\s#]*Running for engine (?P<value>\S{1,64})")
_BEGIN = re.compile(r"[\s#]*Benchmark\s*$")
_OPTION = re.compile(r"--([a-z][\w-]{0,60})(?:=([^\s'\"]{0,200}))?")
_SHORT = {"-i": "iterations", "-c": "concurrency", "-e": "engine"}
_SHORT_OPTION = re.compile(r"(?<=\s)(-[ice])\s?(\w{1,64})(?=\s|$)")
_CONTINUED = re.compile(r"\s*--?[a-z]")
_ERROR = re.compile(r"mysqlslap: (?:\[ERROR\] |Error when |Cannot )(?P<said>.{1,200})")
_SECRET = re.compile(r"password|user|host|socket|ssl|-?port$|create|query$")


@dataclass
class _Block:
    """One block, as text."""

    line: int
    figures: dict[str, tuple[int, str]] = field(default_factory=dict)
    """By name (`_FIGURES`): the line, and what stands there."""
    engine: str | None = None
    options: dict[str, str] = field(default_factory=dict)
    errors: list[str] = field(default_factory=list)


def _recognises(text: Text) -> bool:
    if "number of seconds to run all queries:" in text.content:
        return True
    return any(_ERROR.search(line) for line in text.lines)


def _read(text: Text) -> Iterator[Found]:
    blocks, errors = _blocks(text)
    if not blocks and errors:
        yield _broken_off(text, errors)
        return
    whole = [block for block in blocks if block.figures.keys() == _FIGURES.keys()]
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


def _broken_off(text: Text, errors: list[str]) -> ImportedResult:
    """Return the errors of a run that printed nothing else."""
    line = next(at for at, said in enumerate(text.lines, start=1) if _ERROR.search(said))
    load = LoadResult(
        workload="slap",
        clients=None,
        seconds=None,
        transactions=None,
        transactions_per_s=0.0,
        iterations=None,
        errors=ending("mysqlslap", errors),
    )
    source = text.source(line, "mysqlslap")
    return ImportedResult(source=source, name="mysqlslap 1", levels={"workload": "slap"}, load=load)


def _blocks(text: Text) -> tuple[list[_Block], list[str]]:
    """Return the blocks and the errors below them; a figure that a block has already begins another one."""
    blocks: list[_Block] = []
    options: dict[str, str] = {}
    errors: list[str] = []
    command = False
    engine: tuple[int, str] | None = None

    def begin(at: int) -> None:
        nonlocal errors, engine
        first, named = engine or (at, None)
        blocks.append(_Block(first, engine=named, options=options, errors=errors))
        errors, engine = [], None

    for at, line in enumerate(text.lines, start=1):
        goes_on = line.rstrip().endswith("\\")
        if ("mysqlslap " in line or "mariadb-slap " in line) and (goes_on or " -" in line):
            options, command = _options(line), goes_on
        elif command and _CONTINUED.match(line):
            options, command = {**options, **_options(line)}, goes_on
        elif wrong := _ERROR.search(line):
            errors.append(wrong["said"])
        elif _BEGIN.match(line):
            begin(at)
        elif figure := _figure(line):
            name, value = figure
            if not blocks or name in blocks[-1].figures:
                begin(at)
            blocks[-1].figures[name] = (at, value)
        elif running := _ENGINE.match(line):
            if blocks and not blocks[-1].figures:
                blocks[-1].engine = running["value"]
            else:  # a block without its first line
                engine = (at, running["value"])
    if blocks and errors:  # the run broke off after the figures of some of its numbers of clients
        blocks[-1].errors = [*blocks[-1].errors, *errors]
    return [block for block in blocks if block.figures], errors


def _figure(line: str) -> tuple[str, str] | None:
    matches = ((name, pattern.match(line)) for name, pattern in _FIGURES.items())
    return next(((name, match[1]) for name, match in matches if match), None)


def _options(command: str) -> dict[str, str]:
    told = {name: value or "on" for name, value in _OPTION.findall(command) if not _SECRET.search(name)}
    short = {_SHORT[name]: value for name, value in _SHORT_OPTION.findall(command)}
    return {**short, **told}


def _result(text: Text, block: _Block, place: int) -> ImportedResult:
    average_s, least_s, most_s = (
        number(text, *block.figures[name], f"the {name} of seconds")
        for name in ("average", "minimum", "maximum")
    )
    clients, queries = (
        count(text, *block.figures[name], f"the number of {name}") for name in ("clients", "queries")
    )
    remarks = ["the number of iterations is not printed"] if "iterations" not in block.options else []
    unlike = _contradictions(block.options, clients, queries)
    statements = None if unlike else _statements(block.options, clients * queries)
    rate_per_s = statements / average_s if average_s and statements else 0.0
    if rate_per_s:
        remarks.append(f"{rate_per_s:.4g} queries a second, derived: {statements} queries / {average_s:g} s")
    if not average_s:
        remarks.append("the average is printed as 0.000 s: below its last digit")
    kind = block.options.get("auto-generate-sql-load-type")
    told = {"auto-generate-sql-load-type": kind, "engine": block.engine}
    asked = statements or clients * queries
    queries_told = f"{asked} queries" if asked else None
    workload = " ".join(filter(None, ("slap", kind, block.engine, queries_told)))
    return ImportedResult(
        source=text.source(block.line, "mysqlslap"),
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
            statements=statements,
            iterations=Iterations(
                count=_iterations(block.options),
                mean_s=average_s,
                min_s=least_s,
                max_s=most_s,
                queries_per_client=queries,
            ),
            errors=ending("mysqlslap", block.errors),
            contradictions=unlike,
        ),
        asked={**block.options, **{name: value for name, value in told.items() if value}},
        remarks=remarks,
    )


def _contradictions(options: dict[str, str], clients: int, queries: int) -> list[Contradiction]:
    """Compare what the command asks for with what is printed; it may ask for several numbers of clients.

    Queries are asked for together, and printed for each client as a whole number.
    """
    asked = {int(told) for told in options.get("concurrency", "").split(",") if told.isdecimal()}
    total = options.get("number-of-queries", "")
    known = total.isdecimal() and len(total) < 13 and clients > 0
    of_clients: tuple[str | None, str] = (None, f"{clients:,}")
    if asked and clients not in asked:
        of_clients = (", ".join(f"{one:,}" for one in sorted(asked)), of_clients[1])
    return contradictions(
        clients=of_clients,
        queries=(int(total), clients * queries)
        if known and queries != int(total) // clients
        else (None, None),
    )


def _statements(options: dict[str, str], printed: int) -> int | None:
    """Return how many queries an iteration had; None if unknown.

    The queries of each client are printed as a whole number: 0 if there are more clients than queries, and
    if the number of queries was not set.
    """
    told = options.get("number-of-queries", "")
    return printed or (int(told) if told.isdecimal() and len(told) < 13 and int(told) else None)


def _iterations(options: dict[str, str]) -> int | None:
    told = options.get("iterations", "")
    return int(told) if told.isdecimal() and len(told) < 10 and int(told) else None


MYSQLSLAP = Format("mysqlslap", _recognises, _read)
