"""Whole runs on servers that are there already: reached by a URL, with a password and limited rights."""

import hashlib
import re
import signal
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from diskproof.analysis.folder import invalidating
from diskproof.results.folder import RunFolder
from support.command import Begun, begin, diskproof_here, wait_for
from support.given import KINDS, PASSWORD, Theirs, their_server, write_password

pytestmark = pytest.mark.timeout(300)

STUDY = """
question = "Does the binding of commits to flushes cost much?"
[design]
blocks = {blocks}
warm_up_s = 0.2
measure_s = {measure_s}
clients = [2]
repeat_disturbed = false
[servers.production]
url = "{url}"
{keys}
{tunings}
[workloads.load]
mix = "{mix}"
rows = 300
rate = 100
"""

READS = """
question = "How fast are the reads of our log?"
[design]
blocks = 1
warm_up_s = 0.1
measure_s = 0.5
clients = [2]
repeat_disturbed = false
[servers.production]
url = "{url}"
{keys}
[workloads.replay]
kind = "script"
files = ["reads.sql"]
"""

VARIABLE = {"mysql": ("innodb_flush_log_at_trx_commit", "2"), "postgresql": ("synchronous_commit", "off")}

TUNINGS = """
[tunings.as-it-is]
[tunings.relaxed]
base = "as-it-is"
variables = {{ {name} = "{value}" }}
"""

GRANTS = {
    "mariadb": ["GRANT SUPER ON *.* TO 'app'@'%'"],
    "mysql9": ["GRANT SYSTEM_VARIABLES_ADMIN ON *.* TO 'app'@'%'"],
    "postgresql": [
        "GRANT ALTER SYSTEM ON PARAMETER synchronous_commit TO app",
        "GRANT EXECUTE ON FUNCTION pg_reload_conf() TO app",
    ],
}


of_each_protocol = pytest.mark.parametrize("theirs", ["mariadb", "postgresql"], indirect=True, scope="module")
"""Where flavours of MySQL do not differ: other tests ask of rights and of counters, which do."""


@pytest.fixture(scope="module", params=KINDS)
def theirs(request: pytest.FixtureRequest) -> Iterator[Theirs]:
    with their_server(request.param) as server:
        yield server


@pytest.fixture
def empty(theirs: Theirs) -> Theirs:
    """The server with an empty database and the rights to set what the studies set."""
    theirs.empty()
    kind = next(name for name, one in KINDS.items() if one is type(theirs))
    if theirs.scheme == "mysql":  # a test takes them away
        theirs.ask("GRANT ALL ON `load`.* TO 'app'@'%'")
    theirs.ask(*GRANTS[kind], database="load")
    return theirs


def write_study(
    folder: Path,
    theirs: Theirs,
    *,
    keys: str = "",
    tunings: str | None = None,
    mix: str = "read-write",
    blocks: int = 2,
    measure_s: float = 0.5,
) -> None:
    password = write_password(folder)
    if tunings is None:
        name, value = VARIABLE[theirs.scheme]
        tunings = TUNINGS.format(name=name, value=value)
    keys = f'password_file = "{password}"\n{keys}'
    text = STUDY.format(
        url=theirs.url, keys=keys, tunings=tunings, mix=mix, blocks=blocks, measure_s=measure_s
    )
    (folder / "study.toml").write_text(text)


def the_run(folder: Path) -> RunFolder:
    return RunFolder.open(max((folder / "runs" / "study").iterdir()))


def test_a_study_sets_reads_back_and_puts_back(tmp_path: Path, empty: Theirs) -> None:
    # Of one row each: PostgreSQL looks for a deadlock after a second, and would spend the trial in one.
    write_study(tmp_path, empty, mix="update-index")
    name, value = VARIABLE[empty.scheme]
    before = empty.value(name)
    said: set[bytes] = set()
    run = begin(tmp_path, "run", "study.toml")
    values = set()
    while run.poll() is None:
        values.add(empty.value(name))
        for command in Path("/proc").glob("[0-9]*/cmdline"):
            with suppress(OSError):  # it has ended
                said.update(command.read_bytes().split(b"\0"))
        time.sleep(0.4)
    assert run.stdout is not None
    assert run.stderr is not None
    out, err = run.stdout.read(), run.stderr.read()
    assert run.returncode in (0, 12), err
    assert any(empty.url.encode() in word for word in said)
    assert not [word for word in said if PASSWORD.encode() in word]
    files = [path for path in (tmp_path / "runs").rglob("*") if path.is_file()]
    assert not [path for path in files if PASSWORD.encode() in path.read_bytes()]
    assert PASSWORD not in out + err
    assert values == {before, value}
    assert empty.value(name) == before
    assert list((tmp_path / "state").glob("*.jsonl")) == []

    folder = the_run(tmp_path)
    trials = folder.trials()
    assert [trial.finished for trial in trials] == [True] * 4, [trial.findings for trial in trials]
    for trial in trials:
        wrong = {finding.check for finding in invalidating(folder, trial)}
        assert not wrong & {"finished", "settings", "placement", "engine", "rows"}, wrong
        read = {setting.name: setting for setting in trial.settings}
        assert read[name].observed == (value if "relaxed" in trial.cell else before)
        assert (read[name].requested == value) == ("relaxed" in trial.cell)
        pool = "shared_buffers" if empty.scheme == "postgresql" else "innodb_buffer_pool_size"
        assert read[pool].requested is None
        assert read[pool].observed
        assert trial.usage is not None
        seen = (trial.usage.server_cpu_s, trial.usage.activity)
        assert seen == (None, None)
        assert "server" not in trial.usage.cpu
        assert trial.usage.account is not None
        assert trial.usage.account.page_requests
        assert (trial.open_files, trial.places, trial.usage.devices) == ([], [], {})
        assert "only asked" in {finding.check for finding in trial.findings}
        assert trial.data is not None
        assert trial.data.data_bytes > 10_000
    # The first was loaded before the run; each later one found what a load had changed.
    assert [trial.data.restored_by for trial in trials if trial.data] == ["unchanged"] + ["loaded"] * 3
    machine = folder.machine()
    assert machine is not None
    assert machine.servers[0].address == f"app@127.0.0.1:{empty.port}/load"


@of_each_protocol
def test_a_load_that_reads_needs_its_data_once(tmp_path: Path, empty: Theirs) -> None:
    write_study(tmp_path, empty, tunings="", mix="read-only")
    first = diskproof_here(tmp_path, "run", "study.toml")
    write_study(tmp_path, empty, tunings="", mix="read-only", blocks=1)
    again = diskproof_here(tmp_path, "run", "study.toml")
    for result in (first, again):
        assert result.returncode in (0, 12), result.stderr
    assert "loading 300 rows into production" in first.stderr
    assert "loading" not in again.stderr
    trials = the_run(tmp_path).trials()
    assert {trial.data.restored_by for trial in trials if trial.data} == {"unchanged"}
    assert {trial.cell for trial in trials} == {"production/theirs/as-it-is/load/2c"}


@of_each_protocol
def test_data_that_are_not_put_back_are_told(tmp_path: Path, empty: Theirs) -> None:
    write_study(tmp_path, empty, tunings="", keys="reload = false")
    result = diskproof_here(tmp_path, "run", "study.toml")
    assert result.returncode in (0, 12), result.stderr
    trials = the_run(tmp_path).trials()
    assert [trial.data.restored_by for trial in trials if trial.data] == ["unchanged", "not put back"]
    assert "the data were not put back" in (the_run(tmp_path).path / "report.md").read_text()


@of_each_protocol
def test_a_database_of_others_is_refused(tmp_path: Path, empty: Theirs) -> None:
    empty.ask("CREATE TABLE customers (id INTEGER)", "INSERT INTO customers VALUES (7)", database="load")
    if empty.scheme == "postgresql":
        empty.ask("ALTER TABLE customers OWNER TO app", database="load")
    write_study(tmp_path, empty, tunings="")
    for verb in ("plan", "run"):
        result = diskproof_here(tmp_path, verb, "study.toml")
        assert result.returncode == 2, result.stdout
        assert "what diskproof did not make" in result.stderr
        assert "customers" in result.stderr
        assert "CREATE DATABASE" in result.stderr
    assert empty.ask("SELECT id FROM customers", database="load") == [(7,)]


def test_a_database_of_others_is_read_and_never_written(tmp_path: Path, empty: Theirs) -> None:
    kind = next(name for name, one in KINDS.items() if one is type(empty))
    for grant in GRANTS[kind]:  # nothing that the study does not need
        words = grant.split()
        empty.ask(f"REVOKE {' '.join(words[1:-2])} FROM {words[-1]}", database="load")
    empty.ask("CREATE TABLE customers (id INTEGER)", "INSERT INTO customers VALUES (7)", database="load")
    makes = (
        "CREATE FUNCTION adds() RETURNS INTEGER {} BEGIN INSERT INTO customers VALUES (8); RETURN 1; END{}"
    )
    if empty.scheme == "postgresql":
        empty.ask(makes.format("LANGUAGE plpgsql AS $$", " $$"), database="load")
    else:
        empty.ask("SET GLOBAL log_bin_trust_function_creators = 1", makes.format("", ""), database="load")
    keys = 'password_file = "{}"\nread_only = true'.format(tmp_path / "password")
    study = READS.format(url=empty.url, keys=keys)
    (tmp_path / "password").write_text(f"{PASSWORD}\n")
    (tmp_path / "password").chmod(0o600)
    (tmp_path / "study.toml").write_text(study)
    reads = tmp_path / "reads.sql"

    reads.write_text("SELECT id FROM customers;\n")
    refused = diskproof_here(tmp_path, "plan", "study.toml")
    assert refused.returncode == 2
    assert "may do more than read" in " ".join(refused.stderr.split())
    if empty.scheme == "postgresql":
        empty.ask("ALTER DATABASE load OWNER TO root")
        makers = "lo_create(oid), lo_creat(integer), lo_from_bytea(oid, bytea)"
        lets = ["GRANT SELECT ON customers TO app", f"REVOKE EXECUTE ON FUNCTION {makers} FROM PUBLIC"]
        empty.ask(*lets, "REVOKE ALTER SYSTEM ON PARAMETER synchronous_commit FROM app", database="load")
    else:
        empty.ask(
            "REVOKE ALL PRIVILEGES, GRANT OPTION FROM 'app'@'%'", "GRANT SELECT ON `load`.* TO 'app'@'%'"
        )

    reads.write_text("SELECT id FROM customers;\n")
    result = diskproof_here(tmp_path, "run", "study.toml")
    assert result.returncode in (0, 12), result.stderr
    (trial,) = the_run(tmp_path).trials()
    assert trial.finished, trial.findings
    said = " ".join(str(finding) for finding in trial.findings)
    assert "all sessions began read-only" in said and "the account has no right to write" in said
    assert "its sessions said that they were still read-only" in said
    counted = "by the server's own counters"
    assert any("no row" in str(one) and counted in str(one) for one in trial.findings), trial.findings

    reads.write_text("SELECT adds();\n")
    result = diskproof_here(tmp_path, "run", "study.toml")
    trials = the_run(tmp_path).trials()
    said = f"{result.stderr} {[finding for trial in trials for finding in trial.findings]}".lower()
    assert re.search("read.only transaction|denied", said), said
    assert empty.ask("SELECT id FROM customers", database="load") == [(7,)]
    assert empty.ask(
        "SELECT count(*) FROM information_schema.tables WHERE table_name = 'diskproof_mark'"
    ) == [(0,)]


def test_missing_rights_are_named(tmp_path: Path, theirs: Theirs, empty: Theirs) -> None:
    kind = next(name for name, one in KINDS.items() if one is type(theirs))
    for grant in GRANTS[kind]:
        words = grant.split()
        empty.ask(f"REVOKE {' '.join(words[1:-2])} FROM {words[-1]}", database="load")
    write_study(tmp_path, empty)
    result = diskproof_here(tmp_path, "plan", "study.toml")
    assert result.returncode == 2, result.stdout
    name, value = VARIABLE[empty.scheme]
    said = " ".join(result.stderr.split())
    assert f"tuning `relaxed` on server `production`: `{name}` = {value}" in said
    for grant in GRANTS[kind]:
        assert grant in said


@of_each_protocol
def test_a_variable_that_needs_a_restart_is_refused(tmp_path: Path, empty: Theirs) -> None:
    name, value = ("wal_level", "minimal") if empty.scheme == "postgresql" else ("innodb_page_size", "4096")
    tuning = f'[tunings.other]\nbase = "as-it-is"\nvariables = {{ {name} = "{value}" }}'
    write_study(tmp_path, empty, tunings=tuning)
    result = diskproof_here(tmp_path, "plan", "study.toml")
    assert result.returncode == 2, result.stdout
    assert f"`{name}` = {value}: it cannot be set while the server runs" in result.stderr


def begin_and_set(folder: Path, theirs: Theirs) -> Begun:
    """Begin a run; return when it has set the variable."""
    write_study(folder, theirs, measure_s=30)
    name, value = VARIABLE[theirs.scheme]
    run = begin(folder, "run", "study.toml", "--only", "relaxed")
    wait_for(lambda: theirs.value(name) == value or run.poll() is not None)
    assert run.poll() is None
    return run


@of_each_protocol
def test_after_a_kill_clean_puts_the_variables_back(tmp_path: Path, empty: Theirs) -> None:
    name, value = VARIABLE[empty.scheme]
    before = empty.value(name)
    run = begin_and_set(tmp_path, empty)
    run.send_signal(signal.SIGKILL)
    run.wait()
    assert empty.value(name) == value
    (tmp_path / "password").rename(tmp_path / "elsewhere")
    failed = diskproof_here(tmp_path, "clean")
    assert failed.returncode == 2
    assert f"still there: `{name}` = {value}" in failed.stdout
    (tmp_path / "elsewhere").rename(tmp_path / "password")
    cleaned = diskproof_here(tmp_path, "clean")
    assert cleaned.returncode == 0, cleaned.stdout
    assert f"`{name}` = {value} on app@127.0.0.1" in cleaned.stdout
    assert empty.value(name) == before
    assert diskproof_here(tmp_path, "clean").stdout == "nothing to clean\n"


@of_each_protocol
def test_clean_leaves_what_somebody_else_has_set(tmp_path: Path, empty: Theirs) -> None:
    name, _ = VARIABLE[empty.scheme]
    before = empty.value(name)
    theirs_now = "local" if empty.scheme == "postgresql" else "0"
    setting = "ALTER SYSTEM SET {} = {}" if empty.scheme == "postgresql" else "SET GLOBAL {} = {}"
    run = begin_and_set(tmp_path, empty)
    run.send_signal(signal.SIGKILL)
    run.wait()
    reload = ["SELECT pg_reload_conf()"] if empty.scheme == "postgresql" else []
    empty.ask(setting.format(name, theirs_now), *reload)
    wait_for(lambda: empty.value(name) == theirs_now)
    assert diskproof_here(tmp_path, "clean").returncode == 0
    assert empty.value(name) == theirs_now
    back = f"ALTER SYSTEM RESET {name}" if reload else setting.format(name, before)
    empty.ask(back, *reload)
    wait_for(lambda: empty.value(name) == before)


@of_each_protocol
def test_a_second_run_is_refused_and_ctrl_c_puts_the_variables_back(tmp_path: Path, empty: Theirs) -> None:
    name, _ = VARIABLE[empty.scheme]
    before = empty.value(name)
    run = begin_and_set(tmp_path, empty)
    other = tmp_path / "other machine"
    other.mkdir()
    write_study(other, empty, tunings="")
    refused = diskproof_here(other, "run", "study.toml")
    assert refused.returncode == 2, refused.stdout
    assert "another run of diskproof is using the database of app@127.0.0.1" in refused.stderr
    run.send_signal(signal.SIGINT)
    _, err = run.communicate(timeout=60)
    assert run.returncode == 130, err
    assert empty.value(name) == before


@of_each_protocol
def test_a_trial_that_lost_its_lock_does_not_count(tmp_path: Path, empty: Theirs) -> None:
    write_study(tmp_path, empty, tunings="", mix="read-only", blocks=1, measure_s=2)
    run = begin(tmp_path, "run", "study.toml")
    wait_for(
        lambda: [*(tmp_path / "runs").glob("study/*/servers/b01-t01/load.log")] or run.poll() is not None
    )
    if empty.scheme == "postgresql":
        empty.ask("SELECT pg_terminate_backend(pid) FROM pg_locks WHERE locktype = 'advisory'")
    else:
        name = f"diskproof {hashlib.sha256(b'load').hexdigest()[:16]}"
        ((session,),) = empty.ask(f"SELECT IS_USED_LOCK('{name}')")
        empty.ask(f"KILL {session}")
    run.communicate(timeout=60)
    folder = the_run(tmp_path)
    (trial,) = folder.trials()
    assert trial.finished
    assert "lock" in {finding.check for finding in invalidating(folder, trial)}


@of_each_protocol
def test_proofs_are_refused(tmp_path: Path, empty: Theirs) -> None:
    write_study(tmp_path, empty, tunings="")
    result = diskproof_here(tmp_path, "run", "study.toml", "--prove")
    assert result.returncode == 2
    assert "`production` is not ours to change" in result.stderr


@pytest.mark.parametrize("theirs", ["mariadb"], indirect=True, scope="module")
def test_a_reset_command_puts_the_data_back_or_is_found_out(tmp_path: Path, empty: Theirs) -> None:
    write_study(tmp_path, empty, tunings="", keys='reset = "sh reset.sh"')
    first = diskproof_here(tmp_path, "run", "study.toml")
    assert first.returncode == 2
    assert "make the snapshot that it restores, then run again" in " ".join(first.stderr.split())
    tables = ("sbtest1", "diskproof_mark")
    empty.ask(
        "DROP DATABASE IF EXISTS snapshot",
        "CREATE DATABASE snapshot",
        *(f"CREATE TABLE snapshot.{table} LIKE `load`.{table}" for table in tables),
        *(f"INSERT INTO snapshot.{table} SELECT * FROM `load`.{table}" for table in tables),
    )
    (tmp_path / "reset.sh").write_text("true\n")
    idle = diskproof_here(tmp_path, "run", "study.toml")
    assert "has not put the data back" in " ".join((idle.stdout + idle.stderr).split())
    sql = "".join(
        f"DELETE FROM {table}; INSERT INTO {table} SELECT * FROM snapshot.{table};" for table in tables
    )
    client = f"mysql --no-defaults --socket={empty.folder / 's'} --user=root load"
    (tmp_path / "reset.sh").write_text(f'{client} -e "{sql}"\n')
    result = diskproof_here(tmp_path, "run", "study.toml")
    assert result.returncode in (0, 12), result.stderr
    trials = the_run(tmp_path).trials()
    assert [trial.data.restored_by for trial in trials if trial.data] == ["command"] * 2


@pytest.mark.parametrize("theirs", ["postgresql"], indirect=True, scope="module")
def test_beside_a_server_that_the_lab_starts(tmp_path: Path, empty: Theirs) -> None:
    write_study(tmp_path, empty, tunings="", blocks=1)
    study = tmp_path / "study.toml"
    own = '[servers.ours]\nfamily = "sqlite"\n[storages.disk]\ndirectory = "place"\n'
    job = '[workloads.job]\nkind = "slap"\nqueries = 20\nclients = [2]\nservers = ["production"]\n'
    study.write_text(f"{study.read_text()}{own}{job}")
    planned = diskproof_here(tmp_path, "plan", "study.toml")
    assert planned.returncode == 0, planned.stderr
    assert "loading data into production takes" in " ".join(planned.stdout.split())
    result = diskproof_here(tmp_path, "run", "study.toml")
    assert result.returncode in (0, 12), result.stderr
    trials = the_run(tmp_path).trials()
    assert {trial.cell for trial in trials if trial.finished} == {
        "production/theirs/as-it-is/load/2c",
        "production/theirs/as-it-is/job/2c",
        "ours/disk/safest/load/256MiB/2c",
        "ours/disk/fast/load/256MiB/2c",
    }, [trial.findings for trial in trials if not trial.finished]
