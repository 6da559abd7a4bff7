"""Optional servers: what is left of a study where the machine does not have them."""

from pathlib import Path

import pytest

from diskproof.server.base import ServerNotFoundError
from diskproof.server.choice import with_present_servers
from diskproof.study.plan import make_plan
from diskproof.study.read import StudyError, StudyFile, parse_study

STUDY = """
question = "Which server?"
[servers.lite]
family = "sqlite"
[servers.other]
family = "mysql"
basedir = "{nowhere}"
optional = true
[storages.here]
ram = "1 GiB"
[workloads.both]
rows = 100
[workloads.either]
rows = 100
servers = ["other", "lite"]
[workloads.others]
rows = 100
servers = ["other"]
"""


def study(folder: Path, changes: dict[str, str] | None = None) -> StudyFile:
    text = STUDY.format(nowhere=folder / "nowhere")
    for old, new in (changes or {}).items():
        assert old in text
        text = text.replace(old, new)
    return StudyFile("s", text, parse_study(text, "s.toml"))


def test_a_server_that_is_not_there_goes_with_what_only_it_would_run(tmp_path: Path) -> None:
    present = with_present_servers(study(tmp_path))
    [note] = present.notes
    assert note.startswith(
        f"server `other` is optional and left out: basedir {tmp_path}/nowhere is not a directory"
    )
    assert list(present.study.servers) == ["lite"]
    plan = make_plan(present)
    assert {(cell.server, cell.workload) for cell in plan.cells} == {("lite", "both"), ("lite", "either")}
    assert plan.left_out == ["other"]


def test_a_server_that_must_be_there_is_not_looked_for(tmp_path: Path) -> None:
    """The run refuses it, and says so; `plan` shows what there would be."""
    file = study(tmp_path, {"optional = true": ""})
    present = with_present_servers(file)
    assert present.notes == file.notes
    assert present.study == file.study
    assert make_plan(present).left_out == []


def test_where_none_is_left_the_first_is_asked_for(tmp_path: Path) -> None:
    alone = {'[servers.lite]\nfamily = "sqlite"\n': "", 'servers = ["other", "lite"]': ""}
    with pytest.raises(ServerNotFoundError, match="nowhere is not a directory; name the folder"):
        with_present_servers(study(tmp_path, alone))


def test_where_no_workload_is_left_the_server_is_asked_for(tmp_path: Path) -> None:
    alone = {"[workloads.both]\nrows = 100\n": "", '"other", "lite"': '"other"'}
    with pytest.raises(ServerNotFoundError, match="nowhere is not a directory"):
        with_present_servers(study(tmp_path, alone))


def test_a_folder_that_was_named_is_taken_as_it_is(tmp_path: Path) -> None:
    file = study(tmp_path, {"[servers.other]\n": '[servers.other]\nflavour = "MySQL"\n'})
    present = with_present_servers(file, ["other=unpacked/mysql"])
    choice = present.study.servers["other"]
    assert (choice.basedir, choice.optional) == (Path("unpacked/mysql").absolute(), False)
    assert file.study.servers["other"].optional, "the study itself stays as it is"
    assert choice.flavour is None, "a Percona Server may stand for a MySQL"


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (["mysql=/opt"], "--basedir mysql=/opt: s has no server `mysql`; it has lite, other"),
        (["/opt/mysql"], "--basedir /opt/mysql: write the name of a server and its folder"),
        (["other="], "--basedir other=: write the name"),
        (["other=/a", "other=/b"], "--basedir other=/b: server `other` has a folder already, /a"),
    ],
)
def test_a_folder_of_nothing_is_refused(tmp_path: Path, given: list[str], said: str) -> None:
    with pytest.raises(StudyError) as refusal:
        with_present_servers(study(tmp_path), given)
    assert said in str(refusal.value)


def test_a_flavour_belongs_to_its_family(tmp_path: Path) -> None:
    with pytest.raises(StudyError, match="`MySQL` is of family `mysql`; leave `flavour` out for `sqlite`"):
        study(tmp_path, {'family = "sqlite"': 'family = "sqlite"\nflavour = "MySQL"'})


CUTS = """
[tunings.safest]
[tunings.of-others]
base = "fast"
servers = ["other"]
[crash]
[[crash.controls]]
tunings = ["of-others"]
must = "lose"
[[crash.controls]]
servers = ["other"]
must = "keep"
[[crash.documented]]
servers = ["other"]
says = "may lose"
[[crash.documented]]
servers = ["other", "lite"]
says = "kept"
"""


def test_cuts_and_tunings_of_a_server_that_is_not_there_go_with_it(tmp_path: Path) -> None:
    text = STUDY.format(nowhere=tmp_path / "nowhere") + CUTS
    file = StudyFile("s", text, parse_study(text, "s.toml"))
    planned = make_plan(file).crash
    assert planned is not None
    assert [cell.id for cell in planned.cells] == [
        "lite/here/safest",
        "other/here/safest",
        "other/here/of-others",
    ]
    plan = make_plan(with_present_servers(file))
    assert {cell.tuning for cell in plan.cells} == {"safest"}
    assert plan.crash is not None
    assert [cell.id for cell in plan.crash.cells] == ["lite/here/safest"]
    assert [(one.servers, one.must) for one in plan.crash.controls] == [(["lite"], "lose")]
    assert [(one.servers, one.says) for one in plan.crash.documented] == [(["lite"], "kept")]
