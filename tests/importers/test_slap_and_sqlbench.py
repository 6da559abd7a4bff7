"""mysqlslap's and sql-bench's output, as the tools themselves printed it."""

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


def test_each_line_of_its_csv_is_a_result() -> None:
    first, second = results_of(OUTPUTS / "mysqlslap.csv")
    assert (first.load.clients, first.load.mix, first.load.statements) == (1, "mixed", 80)
    assert (second.load.clients, second.load.figure("seconds"), second.source.line) == (8, 0.025, 2)


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


def test_sql_bench_says_its_engine(tmp_path: Path) -> None:
    path = tmp_path / "RUN"
    sample = (OUTPUTS / "sqlbench-run.txt").read_text()
    assert sample.count("Arguments:") == 1
    head, _, rest = sample.partition("Arguments:")
    path.write_text(f"{head}Arguments:  --create-options=ENGINE=innodb\n{rest.partition(chr(10))[2]}")
    assert results_of(path)[0].asked["engine"] == "innodb"


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


def test_a_run_file_of_sql_bench() -> None:
    (found,) = results_of(OUTPUTS / "sqlbench-run.txt")
    ran = {one.name: one for one in found.load.operations if one.whole_s is not None}
    assert {name: one.seconds for name, one in ran.items()} == {
        "alter_table_add": 18,
        "alter_table_drop": 17,
        "connect": 15,
        "connect+select_1_row": 20,
        "drop_index": 0,
        "select_big_str": 103,
    }
    assert [name for name, one in ran.items() if one.estimated] == ["select_big_str"]
    skipped = {one.test: one.skipped for one in found.load.operations if one.skipped}
    assert skipped["transactions"] == "the database doesn't support transactions"
    assert skipped["wisconsin"] is not None
    assert skipped["wisconsin"].startswith("failed: ")
    assert found.load.figure("seconds") == 173
    assert found.levels["server"] == "MySQL 5.1.62"
    assert found.asked["comments"] == "disk, run 1"
    assert found.asked["date of test"] == "2012-05-09 19:48:47"
    assert "hardware" not in found.asked
    assert any("wrong answers: connect+select_1_row" in remark for remark in found.remarks)


def test_a_run_file_out_of_a_pdf_has_lost_its_line_ends(tmp_path: Path) -> None:
    path = tmp_path / "pdf.txt"
    path.write_text(" ".join((OUTPUTS / "sqlbench-run.txt").read_text().split()))
    (found,) = results_of(path)
    (plain,) = results_of(OUTPUTS / "sqlbench-run.txt")
    assert [
        (one.name, one.seconds, one.estimated) for one in found.load.operations if one.seconds is not None
    ] == [(one.name, one.seconds, one.estimated) for one in plain.load.operations if one.seconds is not None]


def test_a_cut_table_is_not_added_up(tmp_path: Path) -> None:
    path = tmp_path / "RUN-mysql"
    whole = (OUTPUTS / "sqlbench-run.txt").read_text()
    path.write_text(whole[: whole.index("select_big_str")])
    (found,) = results_of(path)
    assert found.load.figure("seconds") == 214, "the times of its tests"
    assert any("its table is cut: it has no TOTALS" in remark for remark in found.remarks)
    path.write_text(whole.replace("drop_index ", "drop_index2").replace("17.00    0.02", "7.00    0.02"))
    (found,) = results_of(path)
    assert any("add up to 163 s, its TOTALS are 173 s" in remark for remark in found.remarks)


def test_nothing_is_counted_twice(tmp_path: Path) -> None:
    path = tmp_path / "both"
    head, table = (OUTPUTS / "sqlbench-run.txt").read_text().split("Totals per operation:")
    path.write_text(head + head[head.index("alter-table") :])
    (found,) = results_of(path)
    assert found.load.figure("seconds") == 214
    assert table


def test_the_cpu_time_of_sql_benchs_client() -> None:
    (run,) = results_of(OUTPUTS / "sqlbench-run.txt")
    assert run.load.client
    assert (run.load.client.cpu_user_s, run.load.client.cpu_system_s) == (17.27, 7.85)
