"""Scales: merged key by key, checked whenever the file is read, and no slip of the pen makes a new level."""

from pathlib import Path

import pytest

from diskproof.study.plan import make_plan
from diskproof.study.read import StudyError, StudyFile, parse_study, read_study
from diskproof.study.scales import scaled, whole_by

QUICKSTART = (Path(__file__).parents[1] / "support" / "eight_cells.toml").read_text()
SHORT = '\n[scales.short]\nshrinks = "rows"\ncarries = "the order"\n'


def complaint(text: str) -> str:
    with pytest.raises(StudyError) as refused:
        parse_study(text, "s.toml")
    return str(refused.value)


def test_tables_are_merged_and_lists_replaced() -> None:
    text = QUICKSTART + SHORT + "design.clients = [2]\nworkloads.complex.rows = 100\n"
    whole, short = parse_study(text, "s.toml"), parse_study(text, "s.toml", "short")
    assert (whole.design.clients, short.design.clients) == ([1, 8], [2])
    assert short.design.blocks == whole.design.blocks
    changed = short.workloads["complex"].model_dump()
    assert changed.pop("rows") == 100
    assert changed.items() <= whole.workloads["complex"].model_dump().items()


def test_a_scale_changes_the_tunings_that_a_file_has_by_saying_nothing() -> None:
    silent = QUICKSTART.replace("[tunings.safest]", "").replace("[tunings.fast]", "")
    assert "tunings" not in silent.partition("[servers")[2]
    short = parse_study(f"{silent}{SHORT}tunings.fast.variables = {{ x = 1 }}\n", "s.toml", "short")
    assert list(short.tunings) == ["safest", "fast"]
    assert short.tunings["fast"].variables == {"x": 1}
    said = "the file has no `[tunings.mine]`; known here: safest, fast"
    assert said in complaint(f'{silent}{SHORT}tunings.mine.base = "fast"\n')


def test_the_whole_study_needs_a_scale_without_changes_unless_it_is_the_usual_one() -> None:
    short = f"{QUICKSTART}{SHORT}design.blocks = 2\n"
    assert whole_by(short) == ""
    assert whole_by(f'scale = "short"\n{short}') is None
    full = '[scales.full]\nshrinks = "nothing"\ncarries = "all"\n'
    assert whole_by(f'scale = "short"\n{short}{full}') == "--scale full"
    assert whole_by('scale = "short"\nscales = 3\n') is None


def test_merging_leaves_the_file_as_it_was() -> None:
    content = {"design": {"clients": [1, 8]}, "workloads": {"w": {"rows": 5}}}
    changed = scaled(content, {"design": {"clients": [2]}, "workloads": {"w": {"tables": 3}}})
    assert changed == {"design": {"clients": [2]}, "workloads": {"w": {"rows": 5, "tables": 3}}}
    assert content == {"design": {"clients": [1, 8]}, "workloads": {"w": {"rows": 5}}}


def test_a_scale_leaves_levels_out_by_the_crossing_of_a_workload() -> None:
    text = QUICKSTART + SHORT + 'workloads.complex.storages = ["dram"]\nworkloads.complex.clients = [4]\n'
    plan = make_plan(StudyFile("s", text, parse_study(text, "s.toml", "short"), "short"))
    assert {(cell.storage, cell.clients) for cell in plan.cells} == {("dram", 4)}
    assert plan.scale
    assert (plan.scale.name, plan.scale.shrinks, plan.scale.carries) == ("short", "rows", "the order")


def test_the_files_own_choice_is_taken_where_none_is_asked_for(tmp_path: Path) -> None:
    study = tmp_path / "s.toml"
    study.write_text(f'scale = "short"\n{QUICKSTART}{SHORT}design.blocks = 2\n')
    assert read_study(study).study.design.blocks == 2
    study.write_text(f"{QUICKSTART}{SHORT}design.blocks = 2\n")
    assert read_study(study).study.design.blocks == 5
    assert read_study(study, "short").scale == "short"
    with pytest.raises(StudyError, match="has no scale `shrt`; it has short"):
        read_study(study, "shrt")


@pytest.mark.parametrize(
    ("keys", "said"),
    [
        (
            "workloads.complex.rowz = 5",
            "unknown key `scales.short.workloads.complex.rowz`; did you mean `rows`?",
        ),
        (
            "workloads.complex.rows = 0",
            "`scales.short.workloads.complex.rows`: give 1 or more, not 0",
        ),
        ("workloads.complx.rows = 5", "the file has no `[workloads.complx]`; did you mean `complex`?"),
        ("workloads.x.rows = 5", "`scales.short.workloads.x`: the file has no `[workloads.x]`; known here"),
        ('storages.tape.ram = "1 GiB"', "the file has no `[storages.tape]`; known here: dram, disk"),
        ('servers.other.family = "mysql"', "the file has no `[servers.other]`"),
        ('tunings.mine.base = "fast"', "the file has no `[tunings.mine]`"),
        ("design.bloks = 5", "unknown key `scales.short.design.bloks`; did you mean `blocks`?"),
        ('design.blocks = "x"', "`scales.short.design.blocks`: give a whole number"),
        ("design = 5", "`scales.short.design`: give a table, not 5"),
        ("workloads = [1]", "`scales.short.workloads`: give a table"),
        ("workloads.complex = 5", "`scales.short.workloads.complex`: give a table, not 5"),
        ('question = "?"', "unknown key `scales.short.question`"),
        ("scales.x = 5", "unknown key `scales.short.scales`"),
        ('workloads.complex.storages = ["x"]', "`scales.short.workloads.complex.storages`: this study has"),
        ('storages.dram.bought = ["x"]', "`scales.short.storages.dram.bought`: `x` is not in [prices]"),
        (
            'storages.dram.directory = "/mnt"',
            "`scales.short.storages.dram`: a storage needs exactly one place for its data",
        ),
    ],
)
def test_a_mistake_in_a_scale_is_named_at_its_line(keys: str, said: str) -> None:
    text = QUICKSTART + SHORT + keys
    told = complaint(text)
    assert said in told
    assert told.startswith(f"s.toml:{len(text.splitlines())}: ")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("scales = 5\n" + QUICKSTART, "s.toml:1: `scales`: give a table, not 5"),
        ("scales = { short = 5 }\n" + QUICKSTART, "s.toml:1: `scales.short`: give a table, not 5"),
        (QUICKSTART + "[scales.short]\n", "`scales.short.shrinks` is missing"),
        (
            QUICKSTART + SHORT.replace("scales.short", 'scales."a b"'),
            "`scales.a b`: a name has at most 40 letters",
        ),
        (
            'scale = "short"\n' + QUICKSTART,
            "s.toml:1: `scale`: `short` is not in [scales], which has nothing",
        ),
        ('scale = "shrt"\n' + QUICKSTART + SHORT, "`scale`: `shrt` is not in [scales], which has short"),
        ("scale = 5\n" + QUICKSTART, "s.toml:1: `scale`: give text in quotes"),
    ],
)
def test_what_is_no_scale_is_refused(text: str, said: str) -> None:
    assert said in complaint(text)


def test_what_a_scale_breaks_elsewhere_is_laid_at_its_door() -> None:
    claim = 'thresholds = ["ratio of clients 8 to 1 >= 1"]\n'
    text = claim + QUICKSTART + SHORT + "design.clients = [1]\n"
    assert "at scale `short`: `thresholds number 1`: clients compares nothing" in complaint(text)
    kind = QUICKSTART + SHORT + 'workloads.complex.kind = "slap"\n'
    assert "at scale `short`: unknown key `workloads.complex.mix`" in complaint(kind)


@pytest.mark.parametrize(
    ("keys", "said"),
    [
        ('storages = ["tape"]', "`workloads.complex.storages`: this study has dram, disk, not `tape`"),
        ('servers = ["oracle"]', "`workloads.complex.servers`: this study has mariadb, not `oracle`"),
        ('tunings = ["unsafe"]', "`workloads.complex.tunings`: this study has safest, fast, not `unsafe`"),
        ('storages = ["dram", "dram"]', "`workloads.complex.storages`: `dram` is here twice"),
        ("clients = [4, 4]", "`workloads.complex.clients`: `4` is here twice"),
        ("clients = []", "`workloads.complex.clients`: it is empty: give at least 1"),
        ("clients = [0]", "`workloads.complex.clients number 1`: give 1 or more"),
        ("measure_s = nan", "`workloads.complex.measure_s`"),
        ("warm_up_s = inf", "`workloads.complex.warm_up_s`"),
    ],
)
def test_a_crossing_with_what_is_not_there_is_refused_at_its_line(keys: str, said: str) -> None:
    text = QUICKSTART.replace("rows = 10_000", f"rows = 10_000\n{keys}")
    line = 1 + text.splitlines().index(keys)
    assert complaint(text).startswith(f"s.toml:{line}: {said}")
