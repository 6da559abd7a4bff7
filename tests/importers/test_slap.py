"""mysqlslap's output, as the tool itself printed it."""

from pathlib import Path

import pytest

from diskproof.importers.base import ImportRefusedError
from diskproof.importers.read import read_file
from diskproof.results.imported import ImportedResult

OUTPUTS = Path(__file__).parent / "samples"


def results_of(path: Path) -> list[ImportedResult]:
    return [found for found in read_file(path) if isinstance(found, ImportedResult)]


def test_each_block_of_mysqlslap_is_a_result() -> None:
    found = results_of(OUTPUTS / "mysqlslap.txt")
    assert [(one.load.clients, one.asked["engine"]) for one in found] == [
        (1, "innodb"),
        (8, "innodb"),
        (1, "myisam"),
        (8, "myisam"),
    ]
    span = found[1].load.iterations
    assert span is not None
    assert (span.mean_s, span.min_s, span.max_s, span.queries_per_client) == (0.084, 0.017, 0.124, 10)
    assert span.count is None  # it is not told
    assert found[1].load.figure("seconds") == 0.084


def test_the_command_above_tells_the_iterations(tmp_path: Path) -> None:
    path = tmp_path / "log"
    command = "mysqlslap -u root --password=sesame --iterations=5 --concurrency=1,8 --auto-generate-sql\n"
    path.write_text(command + (OUTPUTS / "mysqlslap.txt").read_text())
    first = results_of(path)[0]
    assert first.load.iterations is not None
    assert first.load.iterations.count == 5
    assert "sesame" not in first.model_dump_json()


BLOCK = """Average number of seconds to run all queries: 1.780 seconds
Minimum number of seconds to run all queries: 1.696 seconds
Maximum number of seconds to run all queries: 1.957 seconds
Number of clients running queries: 500
Average number of queries per client: 0
"""


def test_connections_that_mysqlslap_was_refused_are_its_errors(tmp_path: Path) -> None:
    path = tmp_path / "log"
    refused = "mysqlslap: Error when connecting to server: 1040 Too many connections\n"
    command = "$ mysqlslap -a -c 500 -i 10\nmysqlslap: [Warning] Using a password is insecure.\n"
    path.write_text(f"{command}{refused * 4}Benchmark\n{BLOCK}{command}Benchmark\n{BLOCK}")
    first, second = results_of(path)
    assert [(one.count, one.message) for one in first.load.errors] == [
        (4, "connecting to server: 1040 Too many connections")
    ]
    assert second.load.errors == []
    assert first.load.iterations
    assert first.load.iterations.count == 10


def test_blocks_without_their_first_line_keep_their_engines(tmp_path: Path) -> None:
    path = tmp_path / "log"
    command = "mysqlslap \\\n  --iterations=5 \\\n  --number-of-queries=1000\n"
    path.write_text(command + "".join(f"Running for engine {name}\n{BLOCK}" for name in ("innodb", "myisam")))
    found = results_of(path)
    assert [(one.asked["engine"], one.source.line) for one in found] == [("innodb", 4), ("myisam", 10)]
    assert [one.load.iterations.count for one in found if one.load.iterations] == [5, 5]


def test_more_clients_than_queries_is_not_none(tmp_path: Path) -> None:
    path = tmp_path / "log"
    block = (
        "#Benchmark\n"
        "\t#Average number of seconds to run all queries: 0.522 seconds\n"
        "\t#Minimum number of seconds to run all queries: 0.407 seconds\n"
        "\t#Maximum number of seconds to run all queries: 1.165 seconds\n"
        "\t#Number of clients running queries: 100\n"
        "\t#Average number of queries per client: 0\n"
    )
    path.write_text(block)
    assert results_of(path)[0].load.transactions is None
    path.write_text(f"mysqlslap -a --concurrency=100 --number-of-queries=10\n{block}")
    assert results_of(path)[0].load.transactions == 10


def test_a_cut_block_is_left_out_and_remarked(tmp_path: Path) -> None:
    path = tmp_path / "cut"
    whole = (OUTPUTS / "mysqlslap.txt").read_text()
    path.write_text(whole[: whole.rindex("\tMaximum")])
    found = results_of(path)
    assert len(found) == 3
    assert "the result at line 25 is cut and was left out" in found[0].remarks
    path.write_text(whole[: whole.index("\tMaximum")])
    with pytest.raises(ImportRefusedError, match="is cut"):
        read_file(path)
