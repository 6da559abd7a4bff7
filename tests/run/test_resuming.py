"""Which run `--resume` goes on with, and what must not have changed since."""

from pathlib import Path

import pytest

from diskproof.results.folder import RunFolder, RunFolderError
from diskproof.run.resume import changed_machine, check_same_machine, folder_to_resume
from diskproof.study.plan import make_plan
from diskproof.study.read import StudyError, StudyFile, parse_study
from support.trials import change, make_machine

QUICKSTART = (Path(__file__).parents[1] / "support" / "eight_cells.toml").read_text()
SCALES = "".join(
    f'\n[scales.{name}]\nshrinks = "blocks"\ncarries = "the order"\ndesign.blocks = {blocks}\n'
    for name, blocks in (("smoke", 1), ("short", 2))
)


def study(scale: str | None, text: str = QUICKSTART + SCALES) -> StudyFile:
    return StudyFile("study", text, parse_study(text, "study.toml", scale), scale)


def begun(out: Path, name: str, file: StudyFile, only: list[str] | None = None) -> Path:
    folder = RunFolder.create(out / "study" / name, file.text, make_plan(file, only))
    return folder.path


def resumed(out: Path, file: StudyFile, only: list[str] | None = None) -> Path:
    return folder_to_resume(out, file, make_plan(file, only)).path


def complaint(out: Path, file: StudyFile, only: list[str] | None = None) -> str:
    with pytest.raises(StudyError) as refused:
        resumed(out, file, only)
    return str(refused.value)


def test_the_newest_run_of_the_same_scale_is_resumed(tmp_path: Path) -> None:
    begun(tmp_path, "20260101-000000", study("short"))
    newest_short = begun(tmp_path, "20260102-000000", study("short"))
    smoke = begun(tmp_path, "20260103-000000", study("smoke"))
    assert resumed(tmp_path, study("short")) == newest_short
    assert resumed(tmp_path, study("smoke")) == smoke


def test_a_refusal_names_the_newest_run_and_its_difference(tmp_path: Path) -> None:
    begun(tmp_path, "20260103-000000", study("smoke"))
    said = complaint(tmp_path, study("short"))
    assert "as this study at scale `short`: the newest, 20260103-000000, is at scale `smoke`" in said
    assert "this study without a scale: the newest" in complaint(tmp_path, study(None))
    assert "has other cells" in complaint(tmp_path, study("smoke"), ["dram"])
    edited = study("smoke", QUICKSTART + SCALES + "# a thought\n")
    assert "was made from another version of this study" in complaint(tmp_path, edited)


def test_a_run_that_cannot_be_read_hides_no_other(tmp_path: Path) -> None:
    older = begun(tmp_path, "20260101-000000", study("short"))
    damaged = begun(tmp_path, "20260103-000000", study("short"))
    (damaged / "plan.json").write_text('{"study": 5')
    assert resumed(tmp_path, study("short")) == older
    said = complaint(tmp_path, study("smoke"))
    assert f"20260103-000000, cannot be resumed: {damaged / 'plan.json'} cannot be read: " in said


def test_a_missing_run_is_reported(tmp_path: Path) -> None:
    with pytest.raises(RunFolderError, match="there is no run under"):
        resumed(tmp_path, study(None))


CRASH = """question = "What is lost?"
[servers.lite]
family = "sqlite"
[storages.ssd]
virtual = "laptop-ssd-2012"
size = "500 MiB"
[crash]
cuts = {cuts}
ways = ["kill", "power"]
accounts = {accounts}
"""


def campaign(cuts: int, accounts: int = 100) -> StudyFile:
    """A study as `--cuts` would have it: its text is that of every number of cuts."""
    text = CRASH.format(cuts=cuts, accounts=accounts)
    return StudyFile("study", "the same", parse_study(text, "study.toml", None), None)


def test_a_campaign_resumes_beyond_its_end_and_keeps_its_cuts(
    tmp_path: Path,
) -> None:
    path = begun(tmp_path, "20260101-000000", campaign(2))
    assert resumed(tmp_path, campaign(5)) == path
    folder, longer = RunFolder.open(path), make_plan(campaign(5))
    before = folder.plan().crash
    folder.write(longer)
    assert before and longer.crash
    assert longer.crash.trials[: len(before.trials)] == before.trials
    assert resumed(tmp_path, campaign(5)) == path
    assert "plans 5 cuts of each cell: resume it with `--cuts 5` or more" in complaint(tmp_path, campaign(2))


def test_a_campaign_with_other_cells_or_another_load_is_not_resumed(tmp_path: Path) -> None:
    begun(tmp_path, "20260101-000000", campaign(2))
    assert "has other cells" in complaint(tmp_path, campaign(5, accounts=200))
    assert "has other cells" in complaint(tmp_path, campaign(5), ["safest"])
    assert "has other cells" in complaint(tmp_path, campaign(2), ["safest"])


def test_another_fio_is_another_load(tmp_path: Path) -> None:
    folder = RunFolder.open(begun(tmp_path, "20260101-000000", study(None)))
    before = change(make_machine(), fio_version="3.33")
    folder.write(before)
    check_same_machine(folder, before)
    with pytest.raises(RunFolderError, match=r"\(fio: 3\.33 then, 3\.41 now\)"):
        check_same_machine(folder, change(before, fio_version="3.41"))


def test_another_server_or_disk_is_another_machine() -> None:
    before = make_machine()
    [server] = before.servers
    moved = [change(one, device__name="nvme0n1") if one.role == "redo" else one for one in before.places[4:]]
    after = change(
        before, servers=[change(server, version="11.4.2")], places=[*before.places[:4], *moved], held_cpus=[1]
    )
    assert changed_machine(before, after) == [
        "CPUs of server and load: all then, 1 now",
        "server mariadb: MariaDB 10.11.11 (/usr/sbin/mariadbd) then, MariaDB 11.4.2 (/usr/sbin/mariadbd) now",
        "redo of disk: ext4 on vda then, ext4 on nvme0n1 now",
    ]
    assert changed_machine(before, change(before, servers=[]))[0].endswith(" then, none now")
