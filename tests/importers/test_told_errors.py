"""Errors that the tools themselves tell are kept, and judged."""

import pytest

from diskproof.analysis.audited.audit import audit_result
from diskproof.analysis.audited.shapes import CheckAnswer
from diskproof.results.imported import ImportedResult
from support.audited import texts
from support.imported import make_result
from support.samples import SAMPLES, found_in


def only(content: str) -> ImportedResult:
    (found,) = found_in(content)
    assert isinstance(found, ImportedResult)
    return found


def answer_of(result: ImportedResult, check: str) -> CheckAnswer:
    return next(one for one in audit_result(result).checks if one.check == check)


def errors_of(result: ImportedResult) -> CheckAnswer:
    return answer_of(result, "errors")


def test_transactions_that_pgbench_asked_for_and_never_did() -> None:
    whole = (SAMPLES / "pgbench-old.txt").read_text()
    assert only(whole).load.failed_transactions == 0
    half = only(whole.replace("8000/8000", "4000/8000"))
    assert (half.load.transactions, half.load.failed_transactions) == (4000, 4000)
    assert errors_of(half).raised[0].message.text.startswith("50.0% of the transactions failed")
    skipped = whole.replace("8000/8000", "7000/8000\nnumber of transactions skipped: 1000 (12.5 %)")
    assert only(skipped).load.failed_transactions == 0


def test_what_pgbench_said_was_wrong() -> None:
    whole = (SAMPLES / "pgbench-tries.txt").read_text()
    error = "pgbench: error: client 1 script 0 aborted in command 4 query 0: ERROR:  no such table\n"
    earlier = (
        'pgbench: error: connection to server failed: FATAL:  role "me" does not exist\n$ pgbench -c 2\n'
    )
    aborted = (
        earlier
        + whole.replace("transaction type", f"{error}transaction type", 1)
        + "\npgbench: error: Run was aborted; the above results are incomplete.\n"
    )
    said = [raised.message.text for raised in answer_of(only(aborted), "finished").raised]
    assert said == [
        "the run, or a part of it, broke off: client 1 script 0 aborted in command 4 query 0: ERROR:  no "
        "such table",
        "the run, or a part of it, broke off: Run was aborted; the above results are incomplete",
    ]


def test_a_fatal_error_of_sysbench() -> None:
    whole = (SAMPLES / "sysbench-0.5-oltp.txt").read_text()
    told = whole.replace("OLTP test stat", "FATAL: error 1205: Lock wait timeout exceeded\nOLTP test stat")
    (raised,) = answer_of(only(told), "finished").raised
    assert raised.severity == "invalid"
    assert raised.message.text.endswith("broke off: FATAL: error 1205: Lock wait timeout exceeded")


def test_nothing_is_told_of_what_nobody_counted() -> None:
    """sysbench counts what was begun again and not what failed; and it does not say where."""
    whole = (SAMPLES / "sysbench-0.5-oltp.txt").read_text()
    assert "ignored errors:                      8" in whole
    answer = errors_of(only(whole.replace("ignored errors:                      8", "ignored errors: 50")))
    assert texts(answer.missing) == ["the number of failed transactions"]
    (raised,) = answer.raised
    assert raised.message.text == (
        "50 transactions were repeated: 2.5% of all; most often errors that sysbench ignored: it began "
        "the transaction again"
    )


@pytest.mark.parametrize("failed", [900, 30_000])
def test_what_failed_is_a_threat_and_no_contradiction(failed: int) -> None:
    said = audit_result(make_result(load__failed_transactions=failed)).verdict.text
    assert said.startswith("It supports 230")
    assert "it does not support" in said
    assert "that everything succeeded (see errors)" in said
    assert "succeeded" not in audit_result(make_result()).verdict.text


def test_a_result_of_nothing_supports_nothing() -> None:
    said = audit_result(make_result(load__transactions=0)).verdict.text
    assert said == "It supports nothing: none of its transactions completed."
