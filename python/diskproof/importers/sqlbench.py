"""sql-bench 2.15: its RUN files, in which each test and each operation has a line.

Operations are found in the whole text, not line by line: text out of a PDF has lost its line ends.
"""

import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from itertools import pairwise

from diskproof.importers.base import Format, Found, ImportRefusedError, Text
from diskproof.importers.numbers import count, number
from diskproof.results.factor import Factor
from diskproof.results.imported import ImportedResult
from diskproof.results.load import ClientAccount, LoadResult, Operation

_RUN = re.compile(r"Benchmark DBD suite: +(?P<suite>[\w.]{1,20})")
_HEADER = (
    "Date of test",
    "Running tests on",
    "Arguments",
    "Comments",
    "Limits from",
    "Optimization",
    "Hardware",
)
_SERVER = re.compile(r"Server version: +(?P<version>\S(?:[^\n]{0,80}?\S)?) *(?=\n|Optimization:|$)")
_HEADER_VALUE = "{}: +(?P<value>[^ \\n](?:[^\\n]{{0,160}}?[^ \\n])?) *(?=\\n|$|{})"

_SECS = r"(?P<seconds>-?[\d.]{1,20}) wallclock secs"

_TOTAL_OF_TEST = re.compile(rf"(?P<test>[\w-]{{1,40}}): (?:Estimated total|Total) time: +{_SECS}")
_SKIPPED = re.compile(
    r"(?P<test>[\w-]{1,40}): Test skipped because (?P<why>.{1,120}?)(?=\n|$| [\w-]{1,40}: Total time:)"
)
_FAILED = re.compile(r"(?P<test>[\w-]{1,40}): Failed \((?P<why>[^)\n]{1,200})\)")
_ROW = re.compile(
    r"(?<!\S)(?P<name>[A-Za-z][\w+-]{0,40})\s{1,80}(?P<seconds>-?\d{1,12}\.\d\d)(?:\s{1,20}-?\d{1,12}\.\d\d){3}"
    r"\s{1,20}(?P<tests>\d{1,12})(?: {1,4}(?P<marks>[+?]{1,20}))?(?!\S)"
)
"""A row of "Totals per operation": name, seconds, usr, sys, cpu, tests, and marks: + estimated, ? wrong."""

_TOTALS = re.compile(
    r"(?<!\S)TOTALS\s{1,80}(?P<seconds>\d{1,12}\.\d\d)\s"
    r"(?:\s{0,20}(?P<user>\d{1,12}\.\d\d)\s{1,20}(?P<system>\d{1,12}\.\d\d)\s)?"
)

HALF_DIGIT_S = 0.5
"""Times are whole seconds."""

ALL_TESTS = "all tests"

_ENGINE = re.compile(r"(?:ENGINE|TYPE) ?= ?(\w{1,40})|Table type: ?(\w{1,40})", re.IGNORECASE)
"""In `--create-options` of the arguments, or in the comments that run-all-tests is given."""


def _recognises(text: Text) -> bool:
    return _RUN.search(text.content) is not None


def _read(text: Text) -> Iterator[Found]:
    begins = [found.start() for found in _RUN.finditer(text.content)]
    runs = (_Run(text, start, end) for start, end in pairwise([*begins, len(text.content)]))
    results = [result for run in runs if (result := run.result()) is not None]
    if not results:
        raise ImportRefusedError(f"{text.file}: this RUN file of sql-bench has no time; give the whole file")
    for place, result in enumerate(results, start=1):
        yield result.model_copy(update={"name": f"sql-bench {place}: {ALL_TESTS}"})


class _Run:
    """One RUN file."""

    def __init__(self, text: Text, start: int, end: int) -> None:
        self.text, self.content = text, text.content[start:end]
        self.first_line = text.content.count("\n", 0, start) + 1
        self._ends = [found.start() for found in re.finditer("\n", self.content)]

    def result(self) -> ImportedResult | None:
        """Return the result: its table, or its tests' times if the table is missing or cut."""
        by_test = {found["test"]: found for found in reversed(list(_TOTAL_OF_TEST.finditer(self.content)))}
        totals = [self._operation(by_test[test], test, "total", 1) for test in reversed(by_test)]
        rows, marks = self._rows()
        skipped = self._skipped()
        if not rows and not totals:
            return None
        remarks = [f"the test {one.test} was skipped: {one.skipped}" for one in skipped]
        if rows and (cut := self._why_cut(rows)):
            remarks.append(
                f"its table is cut: {cut}" + ("; the times of its tests are read" if totals else "")
            )
            rows = [] if totals else rows
        if rows and totals:
            told = ", ".join(f"{one.test} {one.seconds:g} s" for one in totals)
            remarks.append(f"its tests took: {told}")
        if any("?" in mark for mark in marks.values()):
            wrong = ", ".join(name for name, mark in marks.items() if "?" in mark)
            remarks.append(f"sql-bench marks wrong answers: {wrong}")
        server = _SERVER.search(self.content)
        levels: dict[Factor, str] = {"server": server["version"].rstrip("/")} if server else {}
        return self._made([*(rows or totals), *skipped], remarks, levels)

    # ------------------------------------------------------------ parts

    def _line(self, at: int) -> int:
        return self.first_line + bisect_right(self._ends, at)

    def _operation(self, found: re.Match[str], test: str, name: str, planned: int) -> Operation:
        seconds = number(self.text, self._line(found.start()), found["seconds"], f"the time of {name}")
        return Operation(test=test, name=name, clients=1, planned=planned, count=planned, seconds=seconds)

    def _rows(self) -> tuple[list[Operation], dict[str, str]]:
        """Return the rows of the table, and the marks that stand behind some of them."""
        rows: dict[str, Operation] = {}
        marks: dict[str, str] = {}
        begin = self.content.find("Totals per operation")
        for found in _ROW.finditer(self.content, begin) if begin >= 0 else ():
            if found["name"] == "TOTALS":
                break
            planned = count(self.text, self._line(found.start()), found["tests"], "the number of tests")
            operation = self._operation(found, ALL_TESTS, found["name"], planned)
            if found["marks"]:
                marks[operation.name] = found["marks"]
                if "+" in found["marks"]:
                    estimated = {"cut": True, "extrapolated_s": operation.seconds}
                    operation = operation.model_copy(update=estimated)
            rows.setdefault(operation.name, operation)
        return list(rows.values()), marks

    def _why_cut(self, rows: Sequence[Operation]) -> str | None:
        """Return why a table is not whole: its last row, ``TOTALS``, is the sum of the others."""
        told = _TOTALS.search(self.content, self.content.find("Totals per operation"))
        if told is None:
            return "it has no TOTALS"
        sum_s, total_s = sum(one.whole_s or 0.0 for one in rows), float(told["seconds"])
        if abs(sum_s - total_s) <= HALF_DIGIT_S:
            return None
        return f"its rows add up to {sum_s:g} s, its TOTALS are {total_s:g} s"

    def _cpu(self) -> ClientAccount | None:
        """Return the CPU time of the client, a Perl program; None without a whole table."""
        told = _TOTALS.search(self.content)
        if told is None or told["user"] is None:
            return None
        return ClientAccount(
            workers=1,
            cpu_user_s=float(told["user"]),
            cpu_system_s=float(told["system"]),
        )

    def _skipped(self) -> list[Operation]:
        """Return the tests that were not run or failed, as operations without a time."""
        return [
            Operation(
                test=found["test"],
                name="all",
                clients=1,
                planned=0,
                count=0,
                seconds=None,
                skipped=f"{how}{found['why'].strip()}",
            )
            for pattern, how in ((_SKIPPED, ""), (_FAILED, "failed: "))
            for found in pattern.finditer(self.content)
        ]

    def _asked(self) -> dict[str, str]:
        """Return the head of a RUN file, without the server."""
        asked = {}
        following = "|".join(f"{re.escape(name)}:" for name in (*_HEADER, "Server version", "alter-table"))
        for name in _HEADER:
            if found := re.search(_HEADER_VALUE.format(re.escape(name), following), self.content[:5000]):
                value = found["value"].strip()
                if value and not re.match(following, value):
                    asked[name.lower()] = value
        if engine := _ENGINE.search(f"{asked.get('arguments', '')} {asked.get('comments', '')}"):
            asked["engine"] = (engine[1] or engine[2]).lower()
        return asked

    def _made(
        self, operations: Sequence[Operation], remarks: list[str], levels: dict[Factor, str]
    ) -> ImportedResult:
        ran = [one for one in operations if one.whole_s is not None]
        seconds = sum(one.whole_s or 0.0 for one in ran)
        estimated = [one.name for one in ran if one.estimated]
        if estimated:
            remarks.append(f"estimated, not measured to the end: {', '.join(estimated)}")
        if any(not one.seconds for one in ran):
            remarks.append("times are whole seconds: an operation of 0 took less than one")
        suite, cpu = _RUN.search(self.content), self._cpu()
        return ImportedResult(
            source=self.text.source(
                self.first_line, "sql-bench RUN file", f"sql-bench {suite['suite']}" if suite else None
            ),
            name=ALL_TESTS,
            levels={"workload": f"sql-bench, {ALL_TESTS}", **levels},
            load=LoadResult(
                workload="sqlbench",
                mix=ALL_TESTS,
                clients=1,
                seconds=seconds or None,
                transactions=None,
                transactions_per_s=sum(one.count for one in ran) / seconds if seconds else 0.0,
                derived=["transactions_per_s"],
                half_digit=HALF_DIGIT_S,
                operations=list(operations),
                client=cpu,
            ),
            asked=self._asked(),
            remarks=remarks,
        )


SQLBENCH = Format("sql-bench 2.15 (RUN files)", _recognises, _read)
