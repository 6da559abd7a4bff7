"""Whatever a file holds, each reader ends soon, in a value or in a refusal in words, and steers no terminal.

`make test` tries some inputs, always the same. With DISKPROOF_TORTURE_CASES=5000 so many are tried, others
each time; `--hypothesis-seed` repeats them. `cases/` has each input that ever broke something.
"""

import io
import os
import shutil
import time
from collections.abc import Callable
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from diskproof.cli import call
from diskproof.cli.screen import complain
from diskproof.database import connection
from diskproof.refusal import RefusalError
from diskproof.server import asked
from diskproof.server.base import ServerError
from diskproof.server.given import find_given, found
from diskproof.study.plan import make_plan
from diskproof.study.read import read_study
from diskproof.study.servers import ServerChoice
from diskproof.system import journal
from support import liars
from support.damage import damaged_bytes, damaged_json
from support.runs import write_run
from support.samples import SAMPLES
from support.trials import make_machine, make_trials
from support.trials import make_plan as planned

ROOT = Path(__file__).parents[2]
CASES = Path(__file__).parent / "cases"

LONGEST_S = 10.0
"""Of CPU time: other work on the machine is none of a reader's."""

CODES = {0, 2, 10, 11, 12}
"""Of a command that was not interrupted and met no error of its own."""

STEERING = {chr(code) for code in (*range(9), *range(11, 32), *range(127, 160))} | set(
    "\u202a\u202e\u2066\u200f"
)

TESTS = 10
"""Among which the cases of a long run are divided."""

LONG = int(os.environ.get("DISKPROOF_TORTURE_CASES") or 0)

Given = Callable[[Path], None]


def tried(share: int) -> settings:
    """Return how often a test draws an input: so many times in the short run."""
    return settings(
        max_examples=max(LONG // TESTS, 1) if LONG else share,
        derandomize=not LONG,
        deadline=None,
        database=None,
        suppress_health_check=list(HealthCheck),
    )


@pytest.fixture(scope="module", autouse=True)
def _own_state(tmp_path_factory: pytest.TempPathFactory) -> None:
    os.environ["DISKPROOF_STATE"] = str(tmp_path_factory.mktemp("state"))


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("hostile")


def ends_well(read: Callable[[], int | None]) -> None:
    """Read something; hold how long it takes, how it ends, and what it says."""
    out, err = io.StringIO(), io.StringIO()
    began = time.process_time()
    with redirect_stdout(out), redirect_stderr(err):
        code = read()
    took_s = time.process_time() - began
    assert took_s < LONGEST_S
    assert code in CODES
    assert not STEERING & set(out.getvalue() + err.getvalue())
    assert code != 2 or err.getvalue().startswith("diskproof: ")


def read_as_study(path: Path) -> int:
    """Read a study and plan it: looking for its servers would take most of the time."""
    try:
        make_plan(read_study(path), None, None)
    except RefusalError as refusal:
        complain(str(refusal))
        return 2
    return 0


def read_as_journal(path: Path) -> int:
    """Read a journal; nothing that it names is undone."""
    try:
        journal._entries(path)
    except RefusalError as refusal:
        complain(str(refusal))
        return 2
    return 0


def contents(*patterns: str) -> list[bytes]:
    return [path.read_bytes() for pattern in patterns for path in sorted(ROOT.glob(pattern))]


SETTINGS = ("my.cnf", "postgresql", "variables", "status")
RESULTS = [path.read_bytes() for path in sorted(SAMPLES.iterdir()) if not path.name.startswith(SETTINGS)]
OPTIONS = [path.read_bytes() for path in sorted(SAMPLES.iterdir()) if path.name.startswith(SETTINGS)]
JOURNAL = (
    b'{"run": "study x", "boot": "4a3c2a0e", "mark": "0123abcd"}\n'
    b'{"directory": "/tmp/none/diskproof-0123abcd"}\n'
    b'{"mount": "/tmp/none/mount", "source": "tmpfs", "number": "0:99"}\n'
    b'{"loop": "/dev/loop99", "file": "/x"}\n'
    b'{"undone": "2"}\n'
)


@tried(8)
@given(content=damaged_bytes(contents("studies/*.toml")))
def test_studies(folder: Path, content: bytes) -> None:
    path = folder / "study.toml"
    path.write_bytes(content)
    ends_well(lambda: read_as_study(path))


@tried(25)
@given(content=damaged_bytes(contents("devices/*.toml")))
def test_device_files(folder: Path, content: bytes) -> None:
    path = folder / "device.toml"
    path.write_bytes(content)
    ends_well(lambda: call(["disk", "show", str(path)]))


GOOD = {
    "mysql": liars.table((b"8.0.36", b"MySQL")),
    "postgresql": liars.pg_table((b"16.2", b"")),
}


@tried(4)
@given(data=st.data(), family=st.sampled_from(sorted(GOOD)), known=st.booleans())
def test_answers_of_a_server(data: st.DataObject, family: str, known: bool) -> None:
    damaged = [data.draw(damaged_bytes([GOOD[family]])) for _ in range(3)]
    replies = [GOOD[family], *damaged] if known else damaged

    def answer(number: int, _: bytes) -> bytes:
        return replies[number % len(replies)]

    talk = liars.mysql(answer) if family == "mysql" else liars.postgresql(answer)
    with pytest.MonkeyPatch.context() as patch, liars.liar(talk) as at:
        for room, name in ((connection, "CONNECT"), (found, "ANSWER"), (asked, "ANSWER")):
            patch.setattr(room, f"{name}_LIMIT_S", 0.3)
        url = f"{family}://app@127.0.0.1:{at[0]}/load"
        ends_well(lambda: read_as_server(url))


def read_as_server(url: str) -> int:
    """Ask a server that is there already; what it is asked is refused or answered."""
    try:
        given = find_given("p", ServerChoice.model_validate({"url": url})).open()
        try:
            given.check_read_only()
        finally:
            given.stop()
    except ServerError as error:
        complain(str(error))
        return 2
    return 0


FORMS = st.sampled_from(("text", "markdown", "json"))


@tried(15)
@given(content=damaged_bytes(RESULTS), form=FORMS)
def test_results_of_other_tools(folder: Path, content: bytes, form: str) -> None:
    audit(folder / "results.txt", content, form)


@tried(15)
@given(content=damaged_bytes(OPTIONS), form=FORMS)
def test_option_files_and_answers_of_servers(folder: Path, content: bytes, form: str) -> None:
    audit(folder / "options.txt", content, form)


def audit(path: Path, content: bytes, form: str) -> None:
    path.write_bytes(content)
    ends_well(lambda: call(["audit", str(path), "--format", form]))
    shutil.rmtree(path.with_suffix(".run"), ignore_errors=True)
    ends_well(lambda: call(["audit", str(path), "--format", "json", "--out", str(path.with_suffix(".run"))]))


@tried(100)
@given(content=damaged_bytes([JOURNAL]))
def test_journals(folder: Path, content: bytes) -> None:
    path = folder / "0123abcd.jsonl"
    path.write_bytes(content)
    path.chmod(0o600)
    ends_well(lambda: read_as_journal(path))


# ---------------------------------------------------------------- run folders

SAFE = ("plan.json", "machine.json", "trials.jsonl", "study.toml")


@pytest.fixture(scope="module")
def sound(tmp_path_factory: pytest.TempPathFactory) -> Path:
    plan = planned(blocks=2)
    return write_run(tmp_path_factory.mktemp("run") / "run", plan, make_trials(plan), make_machine(plan)).path


def read_run(path: Path, form: str) -> None:
    if form == "audit":
        ends_well(lambda: call(["audit", str(path)]))
    elif form == "page":
        ends_well(lambda: call(["report", str(path), "--html", str(path / "page.html")]))
    else:
        ends_well(lambda: call(["report", str(path), "--format", form]))


FORMS_OF_RUNS = st.sampled_from(("text", "markdown", "json", "csv", "audit", "audit", "page"))


@tried(8)
@given(data=st.data(), name=st.sampled_from(SAFE), form=FORMS_OF_RUNS)
def test_run_folders_with_other_bytes(sound: Path, data: st.DataObject, name: str, form: str) -> None:
    content = (sound / name).read_bytes()
    try:
        (sound / name).write_bytes(data.draw(damaged_bytes([content])))
        read_run(sound, form)
    finally:
        (sound / name).write_bytes(content)


@tried(8)
@given(data=st.data(), name=st.sampled_from(SAFE[:3]), form=FORMS_OF_RUNS)
def test_run_folders_with_other_values(sound: Path, data: st.DataObject, name: str, form: str) -> None:
    content = (sound / name).read_text()
    first, rest = content.split("\n", 1) if name.endswith("l") else (content, "")
    try:
        (sound / name).write_text(data.draw(damaged_json([first])) + "\n" + rest)
        read_run(sound, form)
    finally:
        (sound / name).write_text(content)


@tried(4)
@given(data=st.data())
def test_damaged_series(sound: Path, data: st.DataObject) -> None:
    path = min((sound / "series").iterdir())
    content = path.read_bytes()
    try:
        path.write_bytes(data.draw(damaged_bytes([content])))
        read_run(sound, "page")
    finally:
        path.write_bytes(content)


# ---------------------------------------------------------------- what once broke something

LARGE: dict[str, tuple[str, Callable[[], str]]] = {
    "500 levels": ("study.toml", lambda: "x = " + "[" * 500 + "]" * 500),
    "500 tables": ("study.toml", lambda: "x = " + "{a = " * 500 + "1" + "}" * 500),
    "a key of 50,000 parts": ("study.toml", lambda: "a." * 50_000 + "a = 1"),
    "quotes that are never closed": ("study.toml", lambda: '\\"' * 200_000),
    "unknown keys": ("study.toml", lambda: "".join(f"k{at} = 1\n" for at in range(15_000))),
    "clients that repeat": ("study.toml", lambda: f"[design]\nclients = {[*range(1, 40_000), 1]}\n"),
    "a header of spaces": ("study.toml", lambda: "x = 1\n[" + " " * 300_000 + "\n"),
    "30,000 options": ("my.cnf", lambda: "[mysqld]\n" + "".join(f"key_{at} = 1\n" for at in range(30_000))),
    "9,000 options": ("my.cnf", lambda: "[mysqld]\n" + "".join(f"key_{at} = {at}\n" for at in range(9_000))),
    "one line of JSON": (
        "fio.json", lambda: '{"fio version": "fio-3.36", "jobs": [' + "{}," * 400_000 + "{}]}"),
    "lines of dashes and of digits": (
        "old.txt", lambda: "-" * 20_000 + "\n" + "9" * 20_000 + "\n"
        + (SAMPLES / "sysbench-1.0-oltp.txt").read_text()),
    "30 MB": ("fio.json", lambda: '{"fio version": "' + "x" * 30_000_000 + '"}'),
    "a byte-order mark": (
        "study.toml", lambda: "\ufeff" + (ROOT / "studies" / "quickstart.toml").read_text()),
    "a home of nobody's": (
        "study.toml", lambda: 'question = "?"\n[servers.s]\nfamily = "sqlite"\n'
        '[storages.d]\nvirtual = "~nobody-here/x.toml"\n[storages.e]\ndirectory = "~nobody-here"\n'
        '[workloads.w]\nkind = "script"\nfiles = ["~nobody-here/x.sql"]\n'),
}  # fmt: skip


@pytest.mark.parametrize("case", LARGE)
def test_what_took_too_long_or_broke(folder: Path, case: str) -> None:
    name, content = LARGE[case]
    path = folder / name
    path.write_text(content())
    ends_well(lambda: read_as_study(path) if name == "study.toml" else call(["audit", str(path)]))


@pytest.mark.parametrize("case", sorted(CASES.glob("*/*")), ids=lambda path: path.name)
def test_kept_cases(folder: Path, sound: Path, case: Path) -> None:
    if (kind := case.parent.name) in SAFE:
        content = (sound / kind).read_bytes()
        try:
            shutil.copy(case, sound / kind)
            for form in ("text", "audit", "page", "csv"):
                read_run(sound, form)
        finally:
            (sound / kind).write_bytes(content)
    elif kind == "studies":
        ends_well(lambda: read_as_study(case))
    elif kind == "devices":
        ends_well(lambda: call(["disk", "show", str(case)]))
    else:
        audit(folder / case.name, case.read_bytes(), "text")
