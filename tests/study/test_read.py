"""Every mistake in a study file is named with its line, its key, and what would be right."""

from pathlib import Path

import pytest

from diskproof.study.part import FOLDER
from diskproof.study.places import PlaceChoice
from diskproof.study.read import StudyError, parse_study, read_study
from support.studies import plan_of

QUICKSTART = Path(__file__).parents[1] / "support" / "eight_cells.toml"


def complaint(text: str) -> str:
    with pytest.raises(StudyError) as refused:
        parse_study(text, "study.toml")
    return str(refused.value)


def changed(old: str, new: str) -> str:
    text = QUICKSTART.read_text()
    assert old in text
    return text.replace(old, new)


def test_only_some_families_have_a_redo_log_of_a_set_size() -> None:
    text = changed("blocks = 5", 'redo_log = "10 MiB"').replace('family = "mysql"', 'family = "postgresql"')
    said = complaint(text)
    assert "`design.redo_log`: the redo log of server `mariadb` has no set size: leave it out" in said


@pytest.mark.parametrize("path", sorted(QUICKSTART.parent.glob("*.toml")), ids=lambda path: path.stem)
def test_every_shipped_study_is_read(path: Path) -> None:
    assert read_study(path).study.question


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("blocks = 5", "bloks = 5", "study.toml:{line}: unknown key `design.bloks`; did you mean `blocks`?"),
        ("mix = ", "mixture = ", "unknown key `workloads.complex.mixture`"),
        ("[design]", "[desing]", "unknown key `desing`; did you mean `design`?"),
        ('"mysql"', '"msql"', "give 'mysql', 'postgresql' or 'sqlite', not 'msql'"),
        ("blocks = 5", 'blocks = "five"', "`design.blocks`: give a whole number"),
        (
            "rows = 10_000",
            "rows = 0",
            "`workloads.complex.rows`: give 1 or more, not 0",
        ),
        ("rows = 10_000", "rows = 99_000_000_000", "give 2,147,483,647 or less"),
        ('ram = "1 GiB"', 'ram = "1 GB iB"', "a size is a number and a unit, such as `256 MiB`"),
        ('ram = "1 GiB"', 'ram = "1 PeB"', "`storages.dram.ram`: give a size such as `256 MiB`"),
        ('ram = "1 GiB"', 'ram = "1 KiB"', "give 16 MiB or more"),
        ('ram = "1 GiB"', 'ram = "1 GiB"\ndirectory = "x"', "a storage needs exactly one place for its data"),
        ('ram = "1 GiB"', 'virtual = ""', "`storages.dram.virtual`: it is empty: give some text"),
        (
            'ram = "1 GiB"',
            'ram = "1 GiB"\nlabel = "a"',
            "`label` does not belong to a place that is `ram`",
        ),
        (
            'ram = "1 GiB"',
            'virtual = "a"\nlabl = "a"',
            "unknown key `storages.dram.labl`; did you mean `label`?",
        ),
        ('ram = "1 GiB"', 'virtual = "a"\nfilesystem = "ntfs"', "'ext4', 'xfs' or 'btrfs', not 'ntfs'"),
        ('ram = "1 GiB"', 'virtual = "a"\nsize = "1 MiB"', "give 32 MiB or more"),
        ('ram = "1 GiB"', 'data = { virtual = "a" }\nsize = "1 GiB"', "belongs to a place: write it within"),
        ('ram = "1 GiB"', 'data = { virtual = "a", ram = "1 GiB" }', "a place has exactly one kind"),
        (
            "blocks = 5",
            'redo_log = "1 MiB"',
            "`design.redo_log`: give 8 MiB or more",
        ),
        ("clients = [1, 8]", "clients = [8, 8]", "`design.clients`: a level is here twice"),
        ("clients = [1, 8]", "clients = []", "`design.clients`: it is empty: give at least 1"),
        ("clients = [1, 8]", "clients = [1, 0]", "`design.clients number 2`"),
        (
            "measure_s = 1.5",
            "measure_s = -1",
            "`design.measure_s`: give 0.5 or more",
        ),
        ("measure_s = 1.5", "measure_s = nan", "`design.measure_s`"),
        ("[tunings.fast]", "[tunings.mine]", "`mine` is not one of safest, fast, unsafe, so it needs `base`"),
        ("[servers.mariadb]", '[servers."../x"]', "a name has at most 40 letters, digits"),
    ],
)
def test_a_wrong_value_is_named(old: str, new: str, said: str) -> None:
    text = changed(old, new)
    line = 1 + next((n for n, content in enumerate(text.splitlines()) if content == new), 0)
    assert said.format(line=line) in complaint(text)


def test_a_name_with_a_dot_has_its_line() -> None:
    text = changed("[servers.mariadb]", '[servers."mariadb-10.6"]\nfamly = "mysql"')
    line = 1 + text.splitlines().index('famly = "mysql"')
    assert f"study.toml:{line}: unknown key `servers.mariadb-10.6.famly`" in complaint(text)


def test_a_missing_part_is_named() -> None:
    assert "`question` is missing" in complaint("[design]\nblocks = 5\n")


def test_all_mistakes_are_named_at_once() -> None:
    text = changed("blocks = 5", "bloks = 5").replace("rows = 10_000", "rows = 0")
    assert len(complaint(text).splitlines()) == 2


def test_broken_toml_is_named_with_its_place() -> None:
    assert "study.toml is not valid TOML" in complaint("[design\n")
    assert "line 1" in complaint("[design\n")


def test_a_missing_file_suggests_a_near_one(tmp_path: Path) -> None:
    (tmp_path / "disk.toml").write_text("")
    with pytest.raises(StudyError, match=r"there is no file .*dsik.toml; did you mean .*disk.toml\?"):
        read_study(tmp_path / "dsik.toml")


@pytest.mark.parametrize("content", [b"\xff\xfe\x00", b"x" * 2_000_000])
def test_what_is_no_study_file_is_refused(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "study.toml").write_bytes(content)
    with pytest.raises(StudyError, match=r"study\.toml"):
        read_study(tmp_path / "study.toml")


@pytest.mark.parametrize("name", ["...toml", "..toml", ".golden.toml"])
def test_a_study_whose_runs_would_lie_elsewhere_is_refused(tmp_path: Path, name: str) -> None:
    (tmp_path / name).write_text("")
    with pytest.raises(StudyError, match="name must not begin with a dot; rename the file"):
        read_study(tmp_path / name)


def test_a_directory_is_refused(tmp_path: Path) -> None:
    with pytest.raises(StudyError, match="cannot be read"):
        read_study(tmp_path)


def test_roles_that_are_not_named_lie_with_the_data() -> None:
    study = parse_study(
        changed('directory = ".diskproof/disk"', 'data = { directory = "d" }\nredo = { ram = "64 MiB" }'), "x"
    )
    places = study.storages["disk"].places()
    assert places["redo"].ram == 64 * 2**20
    assert places["binlog"] == places["tmp"] == places["data"]


HOSTS = '\n[hosts]\nhow = "spread"\nnames = ["disk", "dram"]\n'


@pytest.mark.parametrize(
    ("claim", "said"),
    [
        ("ratio of storage disk to dram >= -1", "write a condition such as `p99 <= 20 ms`, not"),
        ("ratio of storage dsik to dram >= 1", "storage compares disk with `dram`, not `dsik`"),
        ("ratio of storage disk to disk >= 1", "not `disk` with `disk`"),
        ("ratio of storage disk to dram >= inf", "write a condition such as"),
        ("ratio of server disk to dram >= 1", "server compares nothing"),
        ("ratio of host disk to dram >= 1", "no machines are compared"),
        ("p99 of storage tape < 1 s", "storage has dram, disk, not `tape`"),
        ("lost <= 0", "nothing is cut"),
    ],
)
def test_a_threshold_that_claims_nothing_is_refused_before_the_run(claim: str, said: str) -> None:
    assert said in complaint(f"thresholds = ['{claim}']\n{QUICKSTART.read_text()}{HOSTS}")


def test_memory_levels_must_be_told_apart() -> None:
    assert "a level is here twice" in complaint(changed('["128 MiB"]', '["100 MiB", "100.01 MiB"]'))


WORKLOAD = '[workloads.complex]\nkind = "oltp"\nmix = "complex"\ntables = 4\nrows = 10_000\n'


@pytest.mark.parametrize(
    ("keys", "said"),
    [
        (
            'kind = "slpa"',
            "`workloads.w.kind`: give 'conditions', 'fileio', 'ledger', 'lua', 'oltp', 'pgbench', 'replay', "
            "'script', 'slap', 'sqlbench' or 'tpcc'",
        ),
        ('kind = "slap"', "give either `queries` or `queries_per_client`"),
        (
            'kind = "slap"\nqueries = 1\nquerys = 1',
            "unknown key `workloads.w.querys`; did you mean `queries`?",
        ),
        ('kind = "sqlbench"\ntests = ["inserts"]', "`workloads.w.tests number 1`: give 'alter-table'"),
        ('kind = "sqlbench"\ntests = ["insert", "insert"]', "`insert` is here twice"),
        ('kind = "sqlbench"\nscale = 2', "`workloads.w.scale`"),
        ('kind = "conditions"\nhot_percent = 101', "`workloads.w.hot_percent`"),
        ('kind = "script"\nfiles = []', "`workloads.w.files`: it is empty: give at least 1"),
        ('kind = "script"\nfiles = ["none.sql"]', "`workloads.w.files number 1`: there is no file"),
        ('kind = "lua"\nscript = "none.lua"', "(a relative path starts at the study file's folder)\n"),
        ('kind = "script"\nfiles = ["."]', "cannot be read: it is a folder: name a file"),
        ('kind = "slap"\nqueries = 1\nrate = 5', "unknown key `workloads.w.rate`"),
        ('arrivals = "even"', "`arrivals` needs `rate`"),
        ('schem = "sbtest"', "unknown key `workloads.w.schem`; did you mean `schema`?"),
    ],
)
def test_a_wrong_workload_is_named(keys: str, said: str) -> None:
    assert said in complaint(changed(WORKLOAD, f"[workloads.w]\n{keys}\n")) + "\n"


def test_a_workload_that_a_server_cannot_run_is_refused() -> None:
    text = changed('family = "mysql"', 'family = "postgresql"').replace("mix = ", 'engine = "MyISAM"\nmix = ')
    said = "`workloads.complex`: it cannot run on server `mariadb`: tables of PostgreSQL have no `engine`"
    assert said in complaint(text)


def test_a_job_with_a_measured_phase_is_refused() -> None:
    text = changed(WORKLOAD, '[workloads.w]\nkind = "sqlbench"\n')
    assert "leave `warm_up_s` and `measure_s` out" in complaint(text)


def test_a_device_file_is_looked_for_beside_the_study() -> None:

    def found(device: str) -> str | None:
        return PlaceChoice.model_validate({"virtual": device}, context={FOLDER: Path("/studies")}).virtual

    assert found("slow.toml") == "/studies/slow.toml"
    assert found("/elsewhere/slow.toml") == "/elsewhere/slow.toml"
    assert found("fujitsu-mbc2073rc") == "fujitsu-mbc2073rc"


def test_a_bound_of_a_size_is_said_as_a_size() -> None:
    with pytest.raises(StudyError, match=r"give 32 MiB or more, not '1 MiB'"):
        parse_study('[storages.a]\nvirtual = "null"\nsize = "1 MiB"\n', "s.toml")


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ('"mysql"', '"MariaDB"', "not 'MariaDB'; did you mean 'mysql'?"),
        ("clients = [1, 8]", "clients = 8", "`design.clients`: give a list, in brackets: [8]"),
        ("clients = [1, 8]", 'clients = "8"', "`design.clients`: give a list, in brackets: [8]"),
        (
            "[tunings.fast]",
            "[tunings.fast]\nvariables = { a = [1] }",
            "give text in quotes, a number or true",
        ),
        ('ram = "1 GiB"', 'data = "/mnt"', "a place is a table with its kind: { directory = "),
        ('ram = "1 GiB"', 'ram = "1 GiB"\nblok = "a"', "did you mean `block`?"),
        ('mix = "complex"', 'mix = "read_only"', "did you mean 'read-only'?"),
        ("rows = 10_000", "rate = inf", "give 10,000,000 or less, not inf"),
        ("rows = 10_000", f"rows = {'9' * 5000}", "a number here does not have thousands of digits"),
        ("rows = 10_000", f"rows = 0x{'f' * 5000}", "at most 64 bits, not one of 20,001"),
        ("clients = [1, 8]", f"clients = 0x{'f' * 5000}", "`design.clients`: give a number of at most"),
        ("clients = [1, 8]", f"clients = [1, 0x{'f' * 5000}]", "`design.clients number 2`: give a number of"),
        ('ram = "1 GiB"', f"ram = 0x{'f' * 5000}", "`storages.dram.ram`: give a number of at most 64 bits"),
        ("[tunings.fast]", f"[tunings.fast]\nvariables = {{ a = 0x{'f' * 5000} }}", "of at most 64 bits"),
        ("rows = 10_000", f"rows = {-(2**63) - 1}", "at most 64 bits, not one of 65"),
        ("blocks = 5", "blocks = true", "`design.blocks`: give a whole number, not true"),
        ("blocks = 5", 'dilation = "8"', "32, 64 or 'auto', not '8'"),
        ("blocks = 5", 'blocks = "5"', "`design.blocks`: give a whole number, not '5'"),
        (
            "clients = [1, 8]",
            "clients = [true, 8]",
            "`design.clients number 1`: give a whole number, not true",
        ),
        ("measure_s = 1.5", 'measure_s = "2"', "`design.measure_s`: give a number, not '2'"),
        ("rows = 10_000", "preload = 1", "`workloads.complex.preload`: give true or false, not 1"),
        ('ram = "1 GiB"', "ram = true", "`storages.dram.ram`: give a size such as `256 MiB`"),
        ('ram = "1 GiB"', "directory = 3", "`storages.dram.directory`: give a path in quotes, not 3"),
        ("rows = 10_000", "rows = many", "`rows = many`: text needs quotes"),
        ("rows = 10_000", "rows = 1\nrows = 2", "`rows = 2`: the key is there twice"),
        ("[tunings.fast]", "[tunings.safest]", "Cannot declare [tunings.safest] twice"),
        (
            "[tunings.fast]",
            "[tunings.fast.variables]\nsync_binlog = nan",
            "give a number that is finite, not nan",
        ),
        ("rows = 10_000", f"rows = {'[' * 2000}", "is nested too deeply: no key"),
    ],
)
def test_a_mistake_is_told_in_a_users_words(old: str, new: str, said: str) -> None:
    told = complaint(changed(old, new))
    assert said in told
    assert "nput should" not in told
    assert len(told.splitlines()) == 1, "one mistake is told once"


def test_a_name_that_is_called_like_a_key_is_a_name() -> None:
    said = complaint(changed("[storages.dram]", "[storages.disk2]\nram = '1 GiB'\n[storages.data]\nrdo = 1"))
    assert "unknown key `storages.data.rdo`; did you mean `redo`?" in said


def test_a_size_in_thousands_is_said_once(tmp_path: Path) -> None:
    study = tmp_path / "study.toml"
    text = 'question = "x"\n[design]\nmemory = ["{}", "512m"]\n[servers.db]\nfamily = "mysql"\n'
    text += '[storages.dram]\nram = "1 GB"\n[workloads.load]\nkind = "oltp"\n'
    study.write_text(text.format("128M"))
    assert read_study(study).notes == (
        "a unit without `i` counts in thousands: `128M` is 122.1 MiB; write `128 MiB` if that is meant",
    )
    study.write_text(text.format("128 MiB").replace("512m", "512mib").replace("1 GB", "1GiB"))
    assert read_study(study).notes == ()


def test_a_study_that_is_to_be_cut_needs_no_load(tmp_path: Path) -> None:
    study = tmp_path / "cut.toml"
    text = "question = 'x'\n[servers.lite]\nfamily = 'sqlite'\n[storages.disk]\ndirectory = 'place'\n"
    study.write_text(text)
    with pytest.raises(StudyError, match="at least one load"):
        read_study(study)
    file = read_study(study, to_cut=True)
    assert file.study.crash is not None and file.text.endswith("[crash]\n")


def test_half_a_layout_is_noticed(tmp_path: Path) -> None:
    study = tmp_path / "half.toml"
    places = "data = { directory = 'slow' }\nredo = { directory = 'quick' }\n"
    rest = "[workloads.w]\nkind = 'oltp'\n[servers.db]\nfamily = '{}'\n[storages.split]\n" + places
    for family, more, noticed in (
        ("mysql", "", True),
        ("mysql", "binlog = { directory = 'quick' }\n", False),
        ("postgresql", "", False),
    ):
        text = rest.replace("{}", family)
        study.write_text(f"question = 'x'\n{text}{more}")
        notes = read_study(study).notes
        assert any("the binary log stays with the data" in note for note in notes) is noticed


def test_a_log_of_a_server_is_no_script(tmp_path: Path) -> None:
    study, log = tmp_path / "own.toml", tmp_path / "slow.log"
    study.write_text(
        "question = 'x'\n[servers.lite]\nfamily = 'sqlite'\n[storages.d]\ndirectory = 'place'\n"
        "[workloads.w]\nkind = 'script'\nfiles = ['slow.log']\n"
    )
    log.write_text("SELECT 1;\n# a comment\n")
    read_study(study)
    log.write_text("# Time: 230101 10:00:00\n# User@Host: a[a] @ localhost []\nSELECT 1;\n")
    with pytest.raises(StudyError, match="is a log of a server, not a script"):
        read_study(study)


def test_a_plan_says_what_a_tuning_of_its_own_is(tmp_path: Path) -> None:
    (tmp_path / "my.cnf").write_text("[mysqld]\nmax_connections = 9\n")
    own = f'[tunings.mine]\nbase = "safest"\nmy_cnf = "{tmp_path}/my.cnf"\n[tunings.own]\nbase = "fast"\n'
    text = f"{QUICKSTART.read_text()}\n{own}"
    tunings = plan_of(text, at_most_s=3600).tunings
    assert {name: said.text for name, said in tunings.items()} == {
        "mine": "safest with my.cnf",
        "own": "fast",
    }
    with pytest.raises(StudyError, match=r"needs `base`, one of them, for all that my\.cnf does not set"):
        parse_study(text.replace('base = "safest"\n', ""), "study.toml")
