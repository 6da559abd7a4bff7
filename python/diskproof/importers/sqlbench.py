"""sql-bench 2.15: RUN files, and what each of its tests prints.

Operations are found in the whole text, not line by line: text out of a PDF has lost its line ends.
"""

import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence

from diskproof.importers.base import Format, Found, ImportRefusedError, Text
from diskproof.importers.numbers import count, number
from diskproof.results.factor import Factor
from diskproof.results.imported import ImportedResult, Source
from diskproof.results.load import ClientAccount, LoadResult, Operation

_RUN = re.compile(r"Benchmark DBD suite: +(?P<suite>[\w.]{1,20})")
_TEST = re.compile(
    r"Testing server '(?P<server>[^'\n]{1,100})' at (?P<at>\d{4}-\d\d-\d\d +\d{1,2}:\d\d:\d\d)"
)

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

_TIME = re.compile(
    r"(?P<estimated>Estimated )?time (?:to|for) (?P<name>[A-Za-z][\w+ -]{0,60}?) ?"
    rf"\((?P<planned>\d{{1,12}})(?::\d{{1,15}})*\):? +{_SECS}",
    re.IGNORECASE,
)
_BASIS = re.compile(
    r"(?P<done>\d{1,12}) queries in \d{1,12} loops of \d{1,12} loops took (?P<took>[\d.]{1,20}) seconds"
)
"""What an estimated time rests on; printed before it."""

_WHOLE = re.compile(
    rf"^(?:Estimated total|Total) time: +{_SECS}"
    r"(?: \( ?(?P<user>\d{1,12}\.\d\d) usr +(?P<system>\d{1,12}\.\d\d) sys)?",
    re.MULTILINE,
)
_SKIPPED_TEST = re.compile(r"^Test skipped because (?P<why>.{1,120})", re.MULTILINE)

TEST_WITH = {
    "alter_table_add": "alter-table",
    "select_simple_join": "ATIS",
    "select_many_fields": "big-tables",
    "connect": "connect",
    "create_MANY_tables": "create",
    "order_by_big": "insert",
    "prepared_select": "insert",
    "select_range": "select",
    "count_distinct_2": "select",
    "insert_rollback": "transactions",
    "wisc_benchmark": "wisconsin",
}
"""The test that has an operation of that name, and no other has: a test does not print its own name."""

HALF_DIGIT_S = 0.5
"""Times are whole seconds."""

ALL_TESTS = "all tests"


def _recognises(text: Text) -> bool:
    return bool(_RUN.search(text.content) or _TEST.search(text.content) or _TIME.search(text.content))


def _read(text: Text) -> Iterator[Found]:
    place = 0
    for start, end in _sections(text.content):
        section = _Section(text, start, end)
        result = section.run() if _RUN.match(section.content) else section.test()
        if result is not None:
            place += 1
            yield result.model_copy(update={"name": f"sql-bench {place}: {result.load.mix}"})
    if not place:
        raise ImportRefusedError(
            f"{text.file}: sql-bench's output has no time of any operation; give the output of a whole test"
        )


def _sections(content: str) -> Iterator[tuple[int, int]]:
    """Yield the first and last line of each RUN file and each test's output; an excerpt has no beginning."""
    begins = {found.start() for pattern in (_RUN, _TEST) for found in pattern.finditer(content)}
    if not _RUN.search(content):  # a test's total ends its output: what follows is another one's
        ends = [found.end() for found in _WHOLE.finditer(content)]
        begins |= {0, *(end for end in ends if _TIME.search(content, end))}
    places = sorted(begins)
    yield from zip(places, [*places[1:], len(content)], strict=True)


class _Section:
    """One RUN file, or the output of one test."""

    def __init__(self, text: Text, start: int, end: int) -> None:
        self.text, self.content = text, text.content[start:end]
        self.first_line = text.content.count("\n", 0, start) + 1
        self._ends = [found.start() for found in re.finditer("\n", self.content)]

    def run(self) -> ImportedResult | None:
        """Return the result of a RUN file: its table, or its tests' times if the table is missing or cut."""
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
        return self._result(
            ALL_TESTS, [*(rows or totals), *skipped], remarks, levels, self._asked(), "sql-bench RUN file"
        )

    def test(self) -> ImportedResult | None:
        """Return the result of one test's own output; equal names are added up, as sql-bench does."""
        head = _TEST.match(self.content)
        found = list(_TIME.finditer(self.content))
        named = {one["name"] for one in found}
        test = next((test for name, test in TEST_WITH.items() if name in named), "one test")
        summed: dict[str, Operation] = {}
        for one in found:
            operation = self._timed(one, test)
            known = summed.get(operation.name)
            summed[operation.name] = _added(known, operation) if known else operation
        remarks = []
        skipped = [
            Operation(
                test=test, name="all", clients=1, planned=0, count=0, seconds=None, skipped=one["why"].strip()
            )
            for one in _SKIPPED_TEST.finditer(self.content)
        ]
        remarks += [f"the test was skipped: {one.skipped}" for one in skipped]
        if not summed:
            return None
        if whole := _WHOLE.search(self.content):
            remarks.append(f"sql-bench itself says {whole['seconds']} s in all")
        else:
            remarks.append("its total is missing: the test was ended before its time, or its output is cut")
        levels: dict[Factor, str] = {"server": head["server"]} if head else {}
        asked = {"date of test": head["at"]} if head else {}
        return self._result(test, [*summed.values(), *skipped], remarks, levels, asked, "sql-bench test")

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
        """Return the CPU time of the client, a Perl program: of a whole table, or of a test's own total."""
        told = _TOTALS.search(self.content) or _WHOLE.search(self.content)
        if told is None or told["user"] is None:
            return None
        return ClientAccount(
            workers=1,
            cpu_user_s=float(told["user"]),
            cpu_system_s=float(told["system"]),
            max_rss_bytes=None,
            delay_mean_us=None,
            delay_max_us=None,
        )

    def _timed(self, found: re.Match[str], test: str) -> Operation:
        """Return one timed operation; of an estimated one what was really done, if printed."""
        planned = count(self.text, self._line(found.start()), found["planned"], "what was planned")
        operation = self._operation(found, test, found["name"], planned)
        if not found["estimated"]:
            return operation
        basis = next(
            reversed(list(_BASIS.finditer(self.content, max(0, found.start() - 400), found.start()))), None
        )
        line = self._line(found.start())
        return operation.model_copy(
            update={
                "cut": True,
                "extrapolated_s": operation.seconds,
                "seconds": number(self.text, line, basis["took"], "seconds") if basis else operation.seconds,
                "count": min(int(basis["done"]), planned) if basis else planned,
            }
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
        return asked

    def _result(
        self,
        mix: str,
        operations: Sequence[Operation],
        remarks: list[str],
        levels: dict[Factor, str],
        asked: dict[str, str],
        form: str,
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
            source=Source(
                file=self.text.file,
                line=self.first_line,
                format=form,
                tool=f"sql-bench {suite['suite']}" if suite else None,
                sha256=self.text.sha256,
            ),
            name=mix,
            levels={"workload": f"sql-bench, {mix}", **levels},
            load=LoadResult(
                workload="sqlbench",
                mix=mix,
                clients=1,
                seconds=seconds or None,
                transactions=None,
                transactions_per_s=sum(one.count for one in ran) / seconds if seconds else 0.0,
                derived=["transactions_per_s"],
                half_digit=HALF_DIGIT_S,
                operations=list(operations),
                client=cpu,
            ),
            asked=asked,
            remarks=remarks,
        )


def _added(one: Operation, other: Operation) -> Operation:
    """Return two operations of one name as one."""
    extrapolated_s = (one.whole_s or 0.0) + (other.whole_s or 0.0) if one.cut or other.cut else None
    return one.model_copy(
        update={
            "planned": one.planned + other.planned,
            "count": one.count + other.count,
            "seconds": (one.seconds or 0.0) + (other.seconds or 0.0),
            "cut": one.cut or other.cut,
            "extrapolated_s": extrapolated_s,
        }
    )


SQLBENCH = Format("sql-bench 2.15 (RUN files and tests)", _recognises, _read)
