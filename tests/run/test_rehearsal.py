"""What the load generator refuses before a run: by the files as they were when the study was read."""

from pathlib import Path

import pytest

from diskproof import load
from diskproof.run.rehearsal import rehearse
from diskproof.study.plan import make_plan
from diskproof.study.read import StudyError, StudyFile, read_study

STUDY = """
question = "x"
[servers.db]
family = "sqlite"
[storages.memory]
ram = "1 GiB"
[tunings.fast]
[workloads.own]
kind = "script"
files = ["look.sql@3"]
"""


def rehearse_without_its_file(folder: Path, sql: str) -> None:
    (folder / "study.toml").write_text(STUDY)
    (folder / "look.sql").write_text(sql)
    file = read_study(folder / "study.toml")
    (folder / "look.sql").unlink()
    rehearse(file, make_plan(file), {})


def test_a_script_is_rehearsed_as_it_was_read(tmp_path: Path) -> None:
    rehearse_without_its_file(tmp_path, "SELECT 1;\n")


def test_a_refusal_names_the_file(tmp_path: Path) -> None:
    with pytest.raises(StudyError, match=r"^workload `own`: (--file: )?look\.sql:1: nothing has set nobody"):
        rehearse_without_its_file(tmp_path, "SELECT :nobody;\n")


@pytest.mark.parametrize(
    ("family", "sql", "said"),
    [
        ("mysql", b"INSERT INTO t VALUES (_binary '\xff\xfe')", ""),
        ("mysql", b"INSERT INTO t VALUES (\xff)", r"dump\.sql:1: not UTF-8 text"),
        ("postgresql", b"INSERT INTO t VALUES ('\xff')", r"dump\.sql:1: not UTF-8 text"),
    ],
)
def test_a_dump_is_rehearsed_with_raw_bytes_in_strings(
    tmp_path: Path, family: str, sql: bytes, said: str
) -> None:
    (tmp_path / "look.sql").write_text("SELECT 1;\n")
    (tmp_path / "dump.sql").write_bytes(sql + b";\n")
    text = STUDY.replace("sqlite", family) + 'prepare = "dump.sql"\n'
    (tmp_path / "study.toml").write_text(text)
    file = read_study(tmp_path / "study.toml")
    if not said:
        assert rehearse(file, make_plan(file), {}) == []
        return
    with pytest.raises(StudyError, match=said):
        rehearse(file, make_plan(file), {})


LUA = """
sysbench.cmdline.options = { goods = {"Number of goods", 10} }
function thread_init() error("only a server has these rows") end
function event() end
"""


def test_an_option_that_a_lua_script_lacks_is_refused(tmp_path: Path) -> None:
    (tmp_path / "shop.lua").write_text(LUA)
    text = STUDY.replace('kind = "script"\nfiles = ["look.sql@3"]', 'kind = "lua"\nscript = "shop.lua"')
    for options in ("options = { goods = 20 }\n", "prepare = false\n"):
        (tmp_path / "study.toml").write_text(text + options)
        file = read_study(tmp_path / "study.toml")
        rehearse(file, make_plan(file), {})
    (tmp_path / "study.toml").write_text(text + "prepare = false\noptions = { gods = 20 }\n")
    file = read_study(tmp_path / "study.toml")
    with pytest.raises(StudyError, match=r"^workload `own`: --gods is no option of the script"):
        rehearse(file, make_plan(file), {})


def lua_study(folder: Path, script: str) -> StudyFile:
    (folder / "shop.lua").write_text(script)
    text = STUDY.replace('kind = "script"\nfiles = ["look.sql@3"]', 'kind = "lua"\nscript = "shop.lua"')
    (folder / "study.toml").write_text(text)
    return read_study(folder / "study.toml")


@pytest.mark.parametrize("program", ["kill -SEGV $$", "exit 3"])
def test_a_program_that_ends_without_words_gets_some(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, program: str
) -> None:
    silent = tmp_path / "silent"
    silent.write_text(f"#!/bin/sh\n{program}\n")
    silent.chmod(0o755)
    monkeypatch.setattr(load, "program", lambda: silent)
    file = lua_study(tmp_path, LUA)
    how = r"was ended by signal 11|ended with exit code 3"
    with pytest.raises(StudyError, match=rf"^workload `own`: diskproof-load ({how}), without a message$"):
        rehearse(file, make_plan(file), {})
    with pytest.raises(load.LoadFailedError, match=r"^diskproof-load did not say its version: exit code"):
        load.version()


def test_a_hole_in_the_fence_around_a_script_is_noted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    gap = tmp_path / "gap"
    gap.write_text("#!/bin/sh\necho 'diskproof-load: this Landlock holds no connections' >&2\n")
    gap.chmod(0o755)
    monkeypatch.setattr(load, "program", lambda: gap)
    file = lua_study(tmp_path, LUA)
    assert rehearse(file, make_plan(file), {}) == ["workload `own`: this Landlock holds no connections"]
