"""The verbs that need no run: help, plan, doctor, clean, schema, completion."""

import errno
import json
import os
import pty
import shutil
import subprocess
import sys
from pathlib import Path
from typing import NoReturn

import pytest

from diskproof import cli
from diskproof.cli import EXAMPLES, VERBS, doctor
from diskproof.cli.screen import NotSaidError
from diskproof.storage import virtual
from diskproof.study.model import Study
from diskproof.system import temporary
from diskproof.system.mounts import mount_of
from support.command import diskproof, diskproof_here

QUICKSTART_SQLITE = Path(__file__).parents[2] / "studies" / "quickstart-sqlite.toml"
QUICKSTART = Path(__file__).parents[1] / "support" / "eight_cells.toml"


def test_help_names_every_verb_with_its_purpose(tmp_path: Path) -> None:
    said = " ".join(diskproof_here(tmp_path).stdout.replace("│", " ").split())
    assert all(purpose in said for purpose in VERBS.values())


@pytest.mark.parametrize("verb", VERBS)
def test_a_verbs_own_help_agrees_with_the_list(tmp_path: Path, verb: str) -> None:
    module = __import__(f"diskproof.cli.{verb}", fromlist=[verb])
    assert getattr(module, verb).__doc__.splitlines()[0] == VERBS[verb]
    shown = diskproof_here(tmp_path, verb, "--help")
    assert shown.returncode == 0
    assert EXAMPLES.get(verb, "") in " ".join(shown.stdout.split()), "on however many lines"
    assert EXAMPLES.get(verb, f"diskproof {verb}").startswith(f"diskproof {verb}")
    assert "default: False" not in shown.stdout
    assert "default: None" not in shown.stdout


@pytest.mark.parametrize(
    ("module", "heavy"),
    [
        ("diskproof.cli", {"importlib.metadata", "pydantic", "pyarrow", "scipy", "vl_convert"}),
        ("diskproof.cli.plan", {"diskproof.importers.options", "pyarrow", "pymysql", "scipy", "ssl"}),
    ],
)
def test_help_and_a_plan_do_not_wait_for_what_they_do_not_use(module: str, heavy: set[str]) -> None:
    code = f"import sys, {module}; print(sorted({heavy} & set(sys.modules)))"
    said = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    assert said.stdout.strip() == "[]"


def test_plan_shows_cells_order_time_and_bytes(tmp_path: Path) -> None:
    said = diskproof_here(tmp_path, "plan", str(QUICKSTART)).stdout
    assert "mariadb/dram/safest/complex/128MiB/1c" in said
    assert "8 cells x 5 blocks = 40 trials; about " in said
    assert "written to storage (order from seed 1)" in said


SMALL_STUDY = """
question = "x"
[servers.db]
family = "mysql"
[storages.d]
ram = "1 GiB"
[workloads.w]
"""


@pytest.mark.parametrize(
    ("workload", "complaint"),
    [
        ('kind = "slap"\nqueries = 10\nload_type = "key"', "key"),
        ('kind = "conditions"\ntables = 2\ntables_per_visit = 5', "--tables-per-visit"),
        ('kind = "script"\nfiles = ["own.sql"]', "own.sql:1: nothing has set rows"),
    ],
)
def test_plan_refuses_what_run_would_refuse(tmp_path: Path, workload: str, complaint: str) -> None:
    (tmp_path / "own.sql").write_text("SELECT :rows;\n")
    (tmp_path / "study.toml").write_text(SMALL_STUDY + workload)
    result = diskproof_here(tmp_path, "plan", "study.toml")
    assert result.returncode == 2, result.stdout
    assert "workload `w`:" in result.stderr
    assert complaint in result.stderr


@pytest.mark.parametrize(
    ("design", "options", "complaint"),
    [
        ("[design]\ncpus = 999\n", [], "`design.cpus` is 999"),
        ("", ["--basedir", "db=/opt/nowhere"], "/opt/nowhere"),
    ],
)
def test_plan_refuses_what_this_machine_has_not(
    tmp_path: Path, design: str, options: list[str], complaint: str
) -> None:
    (tmp_path / "study.toml").write_text(SMALL_STUDY + 'kind = "oltp"\n' + design)
    result = diskproof_here(tmp_path, "plan", "study.toml", *options)
    assert result.returncode == 2, result.stdout
    assert complaint in result.stderr


@pytest.mark.parametrize(
    ("storage", "said"),
    [
        ('ram = "1 GiB"', "storage in memory will hold about"),
        ('virtual = "ebs-magnetic"', "virtual disks will hold about"),
    ],
)
def test_plan_says_that_memory_is_no_disk(tmp_path: Path, storage: str, said: str) -> None:
    (tmp_path / "study.toml").write_text(SMALL_STUDY.replace('ram = "1 GiB"', storage) + 'kind = "oltp"\n')
    result = diskproof_here(tmp_path, "plan", "study.toml")
    told = " ".join(result.stdout.split())
    assert "nothing is written to your own disks but data sets of about " in told, result.stderr
    assert said in told


@pytest.mark.skipif(bool(virtual.missing_means(block=os.geteuid() == 0)), reason="no virtual disk here")
@pytest.mark.parametrize(("key", "is_said"), [("", True), ("below_floor = true\n", False)])
def test_plan_names_a_disk_that_is_too_fast_for_the_machine(tmp_path: Path, key: str, is_said: bool) -> None:
    storage = f'virtual = "null"\n{key}'
    (tmp_path / "study.toml").write_text(SMALL_STUDY.replace('ram = "1 GiB"\n', storage) + 'kind = "oltp"\n')
    result = diskproof_here(tmp_path, "plan", "study.toml")
    assert result.returncode == 0, result.stderr
    said = " ".join(result.stderr.split())
    assert ("`run` would stop now: `null` is too fast for this machine" in said) == is_said


def test_doctor_says_what_is_there(tmp_path: Path) -> None:
    result = diskproof_here(tmp_path, "doctor")
    assert result.returncode == 0, result.stdout
    assert "diskproof-load" in result.stdout
    assert "servers of a killed run end with it" in result.stdout
    assert "working directory" in result.stdout
    named = diskproof_here(tmp_path, "doctor", "--basedir", "postgresql=/nowhere").stdout
    assert "basedir /nowhere holds no PostgreSQL server" in " ".join(named.split())
    assert diskproof_here(tmp_path, "doctor", "--basedir", "oracle=/nowhere").returncode == 2


def test_the_studies_that_come_along_run_by_name(tmp_path: Path) -> None:
    """Below any folder, and with the server that is there."""
    listed = " ".join(diskproof_here(tmp_path, "studies").stdout.split())
    assert "quickstart-sqlite How fast is an embedded database on" in listed
    text = diskproof_here(tmp_path, "studies", "quickstart").stdout
    assert text == (Path(__file__).parents[2] / "studies/quickstart.toml").read_text()
    copied = diskproof_here(tmp_path, "studies", "limits-rarer", "--to", "mine")
    assert copied.returncode == 0, copied.stderr
    assert (tmp_path / "mine/waits/basket.sql").is_file() and (tmp_path / "mine/limits-rarer.toml").is_file()
    assert diskproof_here(tmp_path, "studies", "limits-rarer", "--to", "mine").returncode == 2
    assert diskproof_here(tmp_path, "studies", "--to", "mine").returncode == 2
    planned = diskproof_here(tmp_path, "plan", "quickstart-sqlite")
    assert planned.returncode == 0 and "6 cells x" in planned.stdout, planned.stderr
    for verb in ("plan", "studies"):
        refused = diskproof_here(tmp_path, verb, "quickstrt")
        assert refused.returncode == 2 and "did you mean" in refused.stderr and "quickstart" in refused.stderr


def test_doctor_names_the_engine_that_answers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    for engine in ("podman", "docker"):
        (tmp_path / engine).write_text(f"#!/bin/sh\necho {engine} is asleep >&2; exit 125\n")
        (tmp_path / engine).chmod(0o755)
    silent = " ".join(diskproof_here(tmp_path, "doctor").stdout.split())
    assert "no engine answers" in silent
    assert "podman: podman is asleep; docker: docker is asleep" in silent
    (tmp_path / "docker").write_text("#!/bin/sh\n")
    assert "docker can run servers of an `image`" in " ".join(
        diskproof_here(tmp_path, "doctor").stdout.split()
    )


def test_doctor_warns_of_what_a_run_would_lack(monkeypatch: pytest.MonkeyPatch) -> None:
    here = Path("/dev/shm") / f"diskproof-doctor-{os.getpid()}"
    here.mkdir()
    monkeypatch.setattr("diskproof.cli.doctor.shutil.which", lambda _: None)
    monkeypatch.chdir(here)
    try:
        lacking = doctor._setpriv(), doctor._working_directory()
    finally:
        here.rmdir()
    assert [one.what for one in lacking] == ["setpriv", "working directory"]
    assert "install util-linux" in lacking[0].remedy
    assert lacking[1].found.startswith("tmpfs, ") and "this is main memory" in lacking[1].remedy


def test_clean_has_nothing_to_do(tmp_path: Path) -> None:
    result = diskproof_here(tmp_path, "clean")
    assert (result.returncode, result.stdout) == (0, "nothing to clean\n")


def test_clean_removes_loaded_data_sets_when_asked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DISKPROOF_STATE", str(tmp_path / "state"))
    images = tmp_path / "runs" / ".golden"
    for name in ("image", "holiday"):
        (images / name).mkdir(parents=True)
        (images / name / "image.json").write_text("{}")
    (images / "image" / ".diskproof-owned").write_text("0badcafe")
    diskproof_here(tmp_path, "clean")
    assert (images / "image").is_dir()
    diskproof_here(tmp_path, "clean", "--images")
    assert [path.name for path in images.iterdir()] == ["holiday"], "what does not carry our mark stays"


def test_schema_is_the_declaration(tmp_path: Path) -> None:
    assert json.loads(diskproof_here(tmp_path, "schema").stdout) == Study.model_json_schema()


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion_is_a_script_that_the_shell_takes(tmp_path: Path, shell: str) -> None:
    script = diskproof_here(tmp_path, "completion", shell).stdout
    assert "diskproof" in script
    if shutil.which(shell):
        checked = subprocess.run([shell, "-n"], input=script, capture_output=True, text=True, check=False)
        assert checked.returncode == 0, checked.stderr


def test_output_is_plain_where_there_is_no_terminal(tmp_path: Path) -> None:
    assert "\x1b" not in diskproof(tmp_path, "doctor").stdout


def test_a_reader_that_leaves_is_no_error() -> None:
    for verb in ("schema", "doctor"):
        script = f"{sys.executable} -m diskproof {verb} | true; exit ${{PIPESTATUS[0]}}"
        result = subprocess.run(["bash", "-c", script], capture_output=True, text=True, check=False)
        assert (result.returncode, result.stderr) == (0, "")


def test_a_full_disk_behind_the_output_is_told() -> None:
    for verb in ("schema", "doctor", "--help"):
        script = f"{sys.executable} -m diskproof {verb} > /dev/full"
        result = subprocess.run(["bash", "-c", script], capture_output=True, text=True, check=False)
        assert result.returncode == 2
        assert "the output could not be written: No space left on device" in result.stderr
        assert len(result.stderr.splitlines()) == 1


@pytest.mark.parametrize("number", [errno.EMFILE, errno.EPERM, errno.ENOSPC])
def test_what_the_system_refuses_elsewhere_is_not_said_of_the_output(
    number: int, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    """Of a pipe, a signal, a write to an open file the system names no file either."""

    def refused(*_: object, **__: object) -> NoReturn:
        raise OSError(number, os.strerror(number))

    monkeypatch.setattr(cli, "app", refused)
    assert cli.call(["doctor"]) == 2
    os.write(1, b"stdout is still open")
    said = capfd.readouterr()
    assert said.err.startswith(f"diskproof: {os.strerror(number)}: ")
    assert "what was said" not in said.err
    assert said.out == "stdout is still open"


def test_a_pipe_that_is_not_our_output_is_no_reader_that_leaves(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: object, **__: object) -> NoReturn:
        raise BrokenPipeError(errno.EPIPE, os.strerror(errno.EPIPE))

    monkeypatch.setattr(cli, "app", broken)
    with pytest.raises(BrokenPipeError):
        cli.call(["doctor"])


def test_a_file_that_fails_is_no_terminal_that_closed(
    monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    def failing(*_: object, **__: object) -> NoReturn:
        raise NotSaidError(OSError(errno.EIO, os.strerror(errno.EIO)), 1)

    monkeypatch.setattr(cli, "app", failing)
    assert cli.call(["doctor"]) == 2
    assert "the output could not be written: Input/output error" in capfd.readouterr().err


def test_a_terminal_that_closes_ends_a_verb_as_an_interruption_does() -> None:
    terminal, shown = pty.openpty()
    argv = [sys.executable, "-m", "diskproof", "schema"]
    process = subprocess.Popen(argv, stdout=shown, stderr=shown, start_new_session=True)
    os.close(shown)
    os.close(terminal)
    assert process.wait(30) == 130


@pytest.mark.parametrize("stderr", ["/dev/full", ">(true)"])
def test_a_refusal_that_nobody_hears_is_one(stderr: str) -> None:
    script = f"exec 2> {stderr}; wait $!; {sys.executable} -m diskproof plan nosuch.toml"
    assert subprocess.run(["bash", "-c", script], check=False).returncode == 2


def test_no_verb_waits_for_libraries_that_only_some_answers_need() -> None:
    verbs = ", ".join(f"diskproof.cli.{verb}" for verb in VERBS)
    heavy = "{'vl_convert', 'scipy', 'psycopg'}"
    said = subprocess.run(
        [sys.executable, "-c", f"import sys, {verbs}; print(sorted({heavy} & set(sys.modules)))"],
        check=True,
        capture_output=True,
        text=True,
    )
    assert said.stdout.strip() == "[]"


def test_a_plan_refuses_what_a_run_would(tmp_path: Path) -> None:
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "letter").touch()
    study, text = tmp_path / "study.toml", QUICKSTART_SQLITE.read_text().replace("= 240", "= 86_400")
    for old, new, said in (
        (".diskproof/disk", "full", "`disk`: {}/full is not empty (it holds `letter`)"),
        (".diskproof/disk", "/mntt/ssd/x", "`disk`: /mntt/ssd does not exist, so /mntt/ssd/x would lie on /"),
        ("10_000", "1_500_000", "data set and load need about 1.495 GiB, but the tmpfs holds 1 GiB"),
        ("measure_s = 1.0", "measure_s = 600", "or lower `measure_s`"),
        ("[tunings.fast]", 'variables.synchronus = "off"', "`safest` on server `sqlite`: SQLite refuses its"),
    ):
        study.write_text(text.replace(old, new))
        for verb in ("plan", "run"):
            result = diskproof_here(tmp_path, verb, "study.toml")
            assert result.returncode == 2
            assert said.format(tmp_path) in result.stderr, result.stderr
    assert {path.name for path in tmp_path.iterdir()} <= {"full", "study.toml", "state"}


def test_a_plan_says_on_which_file_system_a_directory_lies(tmp_path: Path) -> None:
    mount = mount_of(tmp_path)
    said = diskproof_here(tmp_path, "plan", str(QUICKSTART_SQLITE)).stdout
    assert "--was" not in said, "main memory has a model"
    assert f"on {mount.mount_point} ({mount.filesystem}, {mount.source}): disk\n" in said


@pytest.mark.parametrize(
    ("place", "said"),
    [
        (
            'zpool = { data = [{ virtual = "null", size = "1 GiB" }] }',
            "only root may make a ZFS pool; run as root",
        ),
        ('block = "/dev/nosuch"\nformat = "/dev/nosuch"', "there is no /dev/nosuch; `lsblk` lists the"),
    ],
)
def test_a_plan_refuses_disks_as_a_run_would(
    place: str, said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """As the run would: who learns it an hour later has planned in vain."""
    study = tmp_path / "study.toml"
    study.write_text(
        f'question = "x"\n[servers.db]\nfamily = "sqlite"\n[storages.disk]\n{place}\n[workloads.load]\n'
    )
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    monkeypatch.setattr(temporary, "check_owner", lambda *_: None)  # its folders are really root's
    assert cli.call(["plan", str(study)]) == 2
    assert f"storage `disk`: {said}" in capsys.readouterr().err
