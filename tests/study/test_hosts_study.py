"""Studies over machines: their cells, who runs which block, and what is refused."""

from pathlib import Path

import pytest

from diskproof.results.plan import Plan
from diskproof.study.plan import make_plan
from diskproof.study.read import StudyError, StudyFile, parse_study

TEXT = """
question = "Which machine?"
[hosts]
how = "compare"
names = ["a", "b", "c"]
[design]
blocks = 4
clients = [1]
[servers.sqlite]
family = "sqlite"
[storages.memory]
ram = "1 GiB"
[tunings.fast]
[tunings.unsafe]
[workloads.complex]
tables = 1
rows = 1000
"""
CRASH = "\n[crash]\n"
GIVEN = '\n[servers.theirs]\nurl = "mysql://app@db.example/test"\n'


def plan(text: str, at_most_s: float | None = None) -> Plan:
    file = StudyFile("machines", text, parse_study(text, str(Path("machines.toml"))))
    return make_plan(file, at_most_s=at_most_s, over_hosts=True)


def test_compared_machines_are_a_factor() -> None:
    made = plan(TEXT)
    assert len(made.cells) == 2 * 3
    assert {(cell.host, cell.id.rpartition("/")[2]) for cell in made.cells} == {(one, one) for one in "abc"}
    for block in made.blocks():
        of_block = [trial for trial in made.trials if trial.block == block]
        assert sorted(trial.cell for trial in of_block) == sorted(cell.id for cell in made.cells)
        assert all(trial.host == made.cell(trial.cell).host for trial in of_block)


def test_a_block_is_never_shared() -> None:
    made = plan(TEXT.replace("compare", "spread"))
    assert len(made.cells) == 2
    assert {trial.block: trial.host for trial in made.trials} == {1: "a", 2: "b", 3: "c", 4: "a"}
    alone = make_plan(StudyFile("machines", TEXT, parse_study(TEXT, "machines.toml")))
    assert alone.hosts == []
    assert [trial.cell for trial in alone.trials] == [trial.cell for trial in made.trials]
    assert made.estimated_s == pytest.approx(alone.estimated_s / 3)


@pytest.mark.parametrize(
    ("text", "at_most_s", "why"),
    [
        (TEXT.replace("[hosts]", "[hosts_]"), None, "unknown key `hosts_`"),
        (TEXT.replace('"a", "b", "c"', ""), None, "hosts.names"),
        (TEXT.replace('"b"', '"a"'), None, "hosts.names"),
        (TEXT.replace("compare", "spread").replace("blocks = 4", "blocks = 2"), None, "raise `blocks`"),
        (TEXT + CRASH, None, "power cuts run on one machine"),
        (TEXT + GIVEN, None, "hosts would load it at once"),
        (TEXT, 600.0, "a fixed number of `blocks`"),
        (TEXT[: TEXT.index("[hosts]")] + TEXT[TEXT.index("[design]") :], None, "--hosts needs \\[hosts\\]"),
        (
            TEXT.replace("compare", "spread")
            + '\n[[thresholds]]\nfactor = "host"\nlevel = "b"\nbaseline = "a"\nat_least = 1\n',
            None,
            "no machines are compared",
        ),
    ],
)
def test_what_cannot_be_is_refused(text: str, at_most_s: float | None, why: str) -> None:
    with pytest.raises(StudyError, match=why):
        plan(text, at_most_s)
