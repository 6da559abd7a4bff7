"""Which statements of a replay became faster, and whose plan differs."""

from diskproof.analysis.analyse import analyse
from diskproof.analysis.answers import Analysis
from diskproof.report.compose.further import sections
from diskproof.report.document import Table
from diskproof.report.html import render
from diskproof.results.load import StatementType
from diskproof.results.trial import Trial
from support.replay import make_certificate
from support.trials import change, make_latency, make_machine, make_plan, make_trials

PLAN = make_plan(storages=("disk",), tunings=("safest", "fast"), clients=(8,), blocks=5)

QUICK, RARE, SAME = "SELECT a FROM t WHERE b=?", "SELECT sum(a) FROM t", "SELECT a FROM t WHERE id=?"

SCAN, KEY = "t ALL", "t ref b"


def analysed(
    *, both: dict[str, str], fast: dict[str, str], shaky: str = "", ordered: tuple[int, int] | None = None
) -> Analysis:
    """Return what is said if these statements have these plans, at `fast` others, in one trial `shaky`."""

    def replayed(one: Trial) -> Trial:
        is_fast = "/fast/" in one.cell
        plans = both | (fast if is_fast else {})
        plans |= {QUICK: shaky} if shaky and is_fast and one.block == 1 else {}
        means = {QUICK: 100.0 if is_fast else 400.0, RARE: 9_000.0, SAME: 50.0}
        types = [
            StatementType(
                name=name, kind="read", count=count, latency_us=make_latency(means[name] + one.block, count)
            )
            for name, count in ((QUICK, 500), (RARE, 3), (SAME, 500))
        ]
        made, logged = (1198, 1200) if one.block == 1 else (1200, 1200)
        certificate = make_certificate(
            plans=plans, preparations=made, preparations_recorded=logged, ordered=ordered
        )
        return change(one, load__replay=certificate, load__statement_types=types)

    return analyse(PLAN, make_machine(PLAN), [replayed(one) for one in make_trials(PLAN)], {})


def test_a_statement_with_another_plan_is_marked_and_has_both() -> None:
    said = analysed(
        both={QUICK: SCAN, RARE: SCAN, SAME: KEY}, fast={QUICK: KEY, RARE: "t index"}, ordered=(980, 1100)
    )
    found = {one.statement: (one.outcome, one.plans) for one in said.statements}
    assert found == {
        QUICK: ("faster", (SCAN, KEY)),
        RARE: ("inconclusive", (SCAN, "t index")),
        SAME: ("the same", None),
    }
    assert [one.explained for one in said.replays] == [3, 3]
    (statements, plans, _) = (
        one for one in sections(said) if one.anchor in ("statements", "plans", "replay")
    )
    assert "differs" in str(statements.blocks)
    assert [word in str(plans.blocks) for word in (QUICK, RARE, SAME)] == [True, True, False]
    page = render(said)
    assert 'href="#plans"' in page
    assert all(f"<code>{plan}</code>" in page for plan in (SCAN, KEY, "t index"))
    assert "1,198 of 1,200" in page
    assert "Order by binary log" in page
    assert "980 of 1,100" in page


def test_a_plan_that_one_trial_shares_does_not_differ() -> None:
    said = analysed(both={QUICK: SCAN}, fast={QUICK: KEY}, shaky=SCAN)
    assert not any(one.plans for one in said.statements)
    said = analysed(both={QUICK: SCAN}, fast={QUICK: KEY}, shaky="t range b")
    assert said.statements[0].plans == (SCAN, "t range b or t ref b")


def test_without_plans_nothing_is_said_of_them() -> None:
    said = analysed(both={}, fast={})
    assert not any(one.plans for one in said.statements)
    tables = [block for one in sections(said) for block in one.blocks if isinstance(block, Table)]
    titles = {column.title for table in tables for column in table.columns}
    assert "Speed" in titles
    assert not titles & {"Plan", "Explained", "Order by binary log"}
