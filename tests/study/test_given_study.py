"""Studies of servers that are there already: what they need, and what they may not have."""

from pathlib import Path

import pytest

from diskproof.study.model import Study
from diskproof.study.plan import loading_seconds
from diskproof.study.read import StudyError, parse_study
from support.studies import plan_of

GIVEN = """
question = "?"
[servers.theirs-db]
url = "mysql://app@db.example/x"
[workloads.load]
rows = 1_000_000
"""

BOTH = f"""{GIVEN}
[servers.ours]
family = "postgresql"
[storages.disk]
directory = "/tmp/nowhere"
"""


def read(text: str) -> Study:
    return parse_study(text, "study.toml")


def cells(text: str) -> list[str]:
    return [cell.id for cell in plan_of(text).cells]


def test_a_given_server_stays_as_it_is_on_a_storage_of_its_own() -> None:
    assert cells(GIVEN) == ["theirs-db/theirs/as-it-is/load/8c"]
    assert read(GIVEN).servers["theirs-db"].family == "mysql"


def test_a_given_server_beside_one_that_is_started() -> None:
    assert cells(BOTH) == [
        "theirs-db/theirs/as-it-is/load/8c",
        "ours/disk/safest/load/256MiB/8c",
        "ours/disk/fast/load/256MiB/8c",
    ]
    made = plan_of(BOTH)
    assert made.estimated_bytes > 0
    assert read(BOTH).levels("storage") == ["disk", "theirs"]


def test_variables_come_from_the_level_unless_the_server_stays_as_it_is() -> None:
    study = read(
        GIVEN + '[tunings.fast]\n[tunings.mine]\nbase = "as-it-is"\nvariables = { sync_binlog = 0 }\n'
    )
    assert study.variables("mine", "mysql") == {"sync_binlog": "0"}
    assert study.variables("fast", "mysql")["innodb_flush_log_at_trx_commit"] == "2"


def test_loading_takes_time_whenever_a_load_has_written() -> None:
    def seconds(extra: str = "", keys: str = "") -> float:
        text = GIVEN.replace("[workloads.load]", f"{keys}\n[workloads.load]") + extra
        plan = plan_of(text)
        return loading_seconds(read(text), [plan.cell(trial.cell) for trial in plan.trials])

    once = seconds('mix = "read-only"\n')
    assert 20 < once < 40  # 1,000,000 rows of 230 bytes at 10 MB a second
    assert seconds() == pytest.approx(5 * once)
    assert seconds(keys="reload = false") == pytest.approx(once)


def test_a_dump_is_loaded_as_fast_as_it_is_small(tmp_path: Path) -> None:
    (tmp_path / "dump.sql").write_text("CREATE TABLE t (a INT);\n" * 1000)
    file = tmp_path / "dump.sql"
    text = GIVEN.replace("rows = 1_000_000", f'kind = "script"\nfiles = ["{file}"]\nprepare = "{file}"\n')

    def seconds(text: str) -> float:
        plan = plan_of(text)
        return loading_seconds(read(text), [plan.cell(trial.cell) for trial in plan.trials[:1]])

    assert seconds(text) == pytest.approx(2, abs=0.1)
    assert seconds(f'{text}size = "100 MiB"\n') == pytest.approx(12, abs=1)
    only_read = text.replace(f'prepare = "{file}"', "").replace("[workloads", "read_only = true\n[workloads")
    assert seconds(only_read) == 0


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (GIVEN.replace("app@", "app:geheim@"), "leave the password out of the URL"),
        (GIVEN.replace("mysql://", "oracle://"), "no known scheme"),
        (GIVEN + '[storages.disk]\ndirectory = "/x"\n', "storage of its own"),
        (GIVEN + '[design]\nmemory = ["1 GiB"]\n', "leave it out"),
        (BOTH.replace("storages.disk", "storages.theirs"), "rename it"),
        (BOTH + "[crash]\ncuts = 3\n", "`theirs-db` is not ours"),
        (BOTH + '[tunings.mine]\nbase = "as-it-is"\n', "needs a level"),
        (GIVEN.replace("[workloads", 'basedir = "/opt"\n[workloads'), "leave it out beside `url`"),
        (GIVEN.replace("[workloads", 'family = "postgresql"\n[workloads'), "leave `family` out"),
        (GIVEN.replace("[workloads", 'reset = "x"\nreload = false\n[workloads'), "nothing is put back"),
        (
            GIVEN.replace("[workloads", 'password_file = "/p"\npassword_env = "P"\n[workloads'),
            "one place of the password",
        ),
        (BOTH.replace("[storages", 'reset = "x"\n[storages'), "belongs to a server with a `url`"),
        (BOTH.replace('[storages.disk]\ndirectory = "/tmp/nowhere"\n', ""), "server `ours` needs one"),
        ('question = "?"\n[servers.a]\nfamily = "mysql"\n[workloads.b]\n', "server `a` needs one"),
    ],
)
def test_mistakes_are_refused(text: str, said: str) -> None:
    with pytest.raises(StudyError) as refused:
        read(text)
    assert said in str(refused.value)
    assert "geheim" not in str(refused.value)
