"""What to do with a database, in words: each line from a record, nothing that was not found out."""

import pytest

from diskproof.analysis.decisions import Durability, FasterStorage, LevelChoice, OwnDisk, decide
from diskproof.analysis.safety.shapes import CutAnswer
from diskproof.report.compose import decision_words
from diskproof.report.document import Line
from diskproof.stats.intervals import Interval
from diskproof.wording import say
from support.cuts import make_crash_plan, make_cuts, make_ledger
from support.limits import make_limits
from support.runs import MakeRun
from support.safety import analysed, safety_of
from support.trials import change, make_plan


def cuts_of(tuning: str, lost: int, window_s: float = 0.5) -> CutAnswer:
    crash = make_crash_plan(tunings=(tuning,), cuts=15)
    cuts = [change(one, ledger=make_ledger(900, lost=lost, window_s=window_s)) for one in make_cuts(crash)]
    [found] = safety_of(crash, cuts).answers
    return found


def lines(other: LevelChoice) -> list[Line]:
    safe = LevelChoice(tuning="safest", settings={"sync_binlog": "1"}, cuts=[cuts_of("safest", 0)])
    one = Durability(server="mariadb", family="mysql", safe=safe, lost_on=[], others=[other])
    return list(decision_words.durability(one, ""))


def said(other: LevelChoice) -> str:
    [_, found] = lines(other)
    return f"{found.lead}: {found.text}"


FAST = LevelChoice(tuning="fast", settings={"sync_binlog": "0"})
GAIN = {"disk": [Interval(estimate=3.0, low=2.8, high=3.2, n=5)]}


def test_the_safe_level_is_said_with_its_settings_their_file_and_its_cuts() -> None:
    [safe, _] = lines(FAST)
    assert safe.lead == "If no commit may be lost"
    assert safe.text == "`safest` (`sync_binlog = 1` in my.cnf): it lost none in 15 cuts on ssd."


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        (
            {"gains": GAIN, "cuts": [cuts_of("fast", 4)]},
            "If 0.50 s of commits (the worst of 15 cuts on ssd), and perhaps more, may be lost: `fast` "
            "(`sync_binlog = 0`) is 3.0 times as fast on disk.",
        ),
        (
            {"outcomes": ["inconclusive"], "cuts": [cuts_of("fast", 4)]},
            "may be lost: `fast` (`sync_binlog = 0`): whether it is faster is not decided.",
        ),
        ({"cuts": [cuts_of("fast", 4)]}, "`fast` (`sync_binlog = 0`): how fast it is was not measured."),
        ({"outcomes": ["the same"]}, "Not worth its risk: `fast` (`sync_binlog = 0`) is no faster."),
        (
            {"may_ruin": True, "cuts": [cuts_of("fast", 4)]},
            "Not for data you need: `fast` (`sync_binlog = 0`): a crash of the machine may destroy the "
            "database, though none of 15 cuts on ssd did.",
        ),
        (
            {"gains": GAIN, "cuts": [cuts_of("fast", 0)]},
            "Or: `fast` (`sync_binlog = 0`) is 3.0 times as fast on disk, and lost none in 15 cuts on ssd.",
        ),
        (
            {"gains": GAIN},
            "`diskproof init cut.toml --storage desktop-7200 && diskproof crash cut.toml` tests what",
        ),
        (
            {"tuning": "mine", "gains": GAIN, "losses": [say("torn pages are not repaired")]},
            "At a risk: `mine` (`sync_binlog = 0`) is 3.0 times as fast on disk; after a power cut torn "
            "pages are not repaired.",
        ),
        (
            {"tuning": "mine", "outcomes": ["the same"], "losses": []},
            "Or: `mine` (`sync_binlog = 0`) is no faster; by its settings a power cut takes no commit.",
        ),
    ],
)
def test_a_faster_level_is_said_with_what_it_may_lose(changes: dict[str, object], expected: str) -> None:
    assert expected in said(change(FAST, **changes))


def own_disk(**changes: object) -> str:
    safe = LevelChoice(tuning="safest", settings={})
    disk = change(OwnDisk(name="vda", flush_us=34.0, has_no_cache=False, unsent=None), **changes)
    one = Durability(server="mariadb", family="mysql", safe=safe, lost_on=[], others=[], own_disks=[disk])
    [line] = decision_words.durability(one, "")
    return line.text.removeprefix("`safest`. ")


def test_the_safe_level_says_whether_the_machines_own_disk_may_be_believed() -> None:
    assert own_disk() == (
        "A flush of vda took 34 us. No platter can do that; a protected cache, or one that ignores flushes, "
        "can. Ask its maker which it is."
    )
    slow = own_disk(flush_us=8_300.0)
    assert slow == (
        "A flush of vda took 8.3 ms, long enough to reach the medium; only a power cut proves that it does."
    )
    assert own_disk(flush_us=None) == (
        "Whether vda flushes was not seen: `diskproof disk profile DIRECTORY --quick` times it."
    )
    assert own_disk(has_no_cache=True).startswith("vda says that it has no cache to flush")
    assert own_disk(unsent="nobarrier") == "But no flush reaches vda: it is mounted with `nobarrier`."


def test_a_faster_storage_of_the_study_comes_before_predictions(make_run: MakeRun) -> None:
    plan = make_plan(tunings=("safest",), clients=(8,), blocks=5)
    _, analysis = make_run(plan)
    measured = change(analysis, limits=make_limits(plan), plan__asks="limits")
    faster = FasterStorage(storage="ssd", than="disk", ratios=[2.7, 12.0])
    told = change(decide(measured), faster_storages=[faster])
    first, second, *_ = decision_words.lines(measured, told)
    assert f"{first.lead}: {first.text}" == "ssd: 2.7 to 12 times as fast as disk (measured)."
    assert second.lead.startswith("Against "), "a prediction"


def test_only_a_study_without_cuts_speaks_of_better_disks(make_run: MakeRun) -> None:
    plan = make_plan(tunings=("safest",), clients=(8,), blocks=5)
    _, analysis = make_run(plan)
    measured = change(analysis, limits=make_limits(plan))
    leads = [one.lead for one in decision_words.lines(measured, decide(measured))]
    assert "A better disk" in leads
    cut = analysed(make_crash_plan(cuts=5), speed=True)
    assert not [one for one in decision_words.lines(cut, decide(cut)) if one.lead.startswith("A better")]
