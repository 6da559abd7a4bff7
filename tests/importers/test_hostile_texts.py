"""Whatever a text holds, a reader gives records or refuses politely, and soon."""

import time
from pathlib import Path

import pytest

from diskproof.importers.base import ImportRefusedError, Text
from diskproof.importers.registry import FORMATS
from diskproof.results.imported import ImportedResult
from support.hostile import damaged
from support.samples import SAMPLES, as_text

DAMAGES = 40
LONGEST_S = 2.0
"""Of CPU time: other work on the machine is none of a reader's."""


def read_all(text: Text) -> list[object]:
    """Read with every format that takes the text for its own; refusals name the file."""
    found: list[object] = []
    for one in FORMATS:
        if not one.recognises(text):
            continue
        try:
            found += one.read(text)
        except ImportRefusedError as refusal:
            assert text.file in str(refusal)
            assert len(str(refusal)) < 500
    return found


def figures_of(value: object) -> list[float]:
    match value:
        case dict():
            return [figure for one in value.values() for figure in figures_of(one)]
        case list():
            return [figure for one in value for figure in figures_of(one)]
        case bool():
            return []
        case int() | float():
            return [float(value)]
    return []


READ = [path for path in sorted(SAMPLES.iterdir()) if path.name != "status-table.txt"]
"""Counters are refused."""


@pytest.mark.parametrize("sample", READ, ids=lambda path: path.name)
def test_damaged_texts_are_read_or_refused(sample: Path) -> None:
    content = sample.read_text()
    assert read_all(as_text(content)), "the sound one is read"
    for number, text in enumerate(damaged(content, seed=len(content), times=DAMAGES)):
        began = time.process_time()
        found = read_all(as_text(text))
        assert time.process_time() - began < LONGEST_S, f"damage {number} took too long"
        for one in found:
            if isinstance(one, ImportedResult):
                assert all(0 <= figure < 1e30 for figure in figures_of(one.model_dump()))


@pytest.mark.parametrize(
    "content",
    ["", "\n", "{" * 100_000, "[" * 100_000, " " * 100_000, "a=" * 50_000, "\t" * 100_000, "|" * 100_000,
     '"fio version"' + '{"a":' * 50_000, '{"Throughput (requests/second)": ' + "9" * 10_000 + "}",
     "[mysqld]\n" + "\0\x1b[31m" * 1000, "1" * 100_000 + " bytes", "[mysqld]\n" + "a=1\n" * 20_000,
     "Variable_name\tValue\n" + "A\t1\n" * 20_000, '"fio version"\n' + "{}\n" * 20_000],
    ids=range(15),
)  # fmt: skip
def test_what_is_no_output_at_all_does_no_harm(content: str) -> None:
    began = time.process_time()
    read_all(as_text(content))
    assert time.process_time() - began < LONGEST_S
