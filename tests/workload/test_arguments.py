"""A workload's keys and diskproof-load's options are the same, and what the lab types is understood."""

import re
import subprocess
from pathlib import Path

import pytest

from diskproof import load
from diskproof.results.plan import Phases
from diskproof.study.loads import KINDS
from diskproof.study.loads.base import Load, Option, Verb
from diskproof.study.loads.own_data import SqlFile
from diskproof.study.read import parse_study
from diskproof.workload.arguments import interval_s, prepare_arguments, run_arguments

OF_THE_LAB = {
    "url", "password-file", "clients", "workers", "seconds", "transactions", "warm-up", "report-interval",
    "percentiles", "json", "lockstep", "seed", "threads", "help", "histogram", "retry",
    "acknowledgements", "statement-limit", "turn", "window", "window-gap",
    "any-database", "dilation", "command", "trust-script", "script-memory", "script-limit",
}  # fmt: skip
"""Options that no workload has for itself: the lab gives them, or no study needs them."""

PHASES = Phases(warm_up_s=10, measure_s=60)

HEAD = 'question = "x"\n[servers.db]\nfamily = "mysql"\n[storages.d]\nram = "1 GiB"\n[workloads.w]\n'

SMALLEST = {
    "oltp": "",
    "slap": "queries = 100\n",
    "sqlbench": "",
    "conditions": "",
    "ledger": "",
    "pgbench": 'scale = 2\nbuiltin = ["tpcb-like@1", "select-only@9"]\n',
    "script": (
        'files = ["hot.sql@9", "cold.sql"]\nprepare = "tables.sql"\nvariables = { rows = 10, share = 0.5 }\n'
    ),
    "tpcc": "",
    "lua": 'script = "own.lua"\noptions = { tables = 2, hot = true }\n',
}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for name in ("hot.sql", "cold.sql", "tables.sql"):
        (tmp_path / name).write_text("\\set id random(1, :rows)\nSELECT :id;\n")
    (tmp_path / "own.lua").write_text('require("common")\n-- require("gone")\nfunction event() end\n')
    (tmp_path / "common.lua").write_text("require 'ffi'\n")
    return tmp_path


def workload(folder: Path, kind: str, keys: str = "") -> Load:
    text = f'{HEAD}kind = "{kind}"\n{SMALLEST[kind]}{keys}'
    return parse_study(text, str(folder / "study.toml")).workloads["w"]


def program_options(verb: Verb, kind: str) -> set[str]:
    argv = [str(load.program()), verb, kind, "--help"]
    said = subprocess.run(argv, capture_output=True, text=True, check=True).stdout
    return set(re.findall(r"^ {2,6}(?:-\w, )?--([a-z][a-z-]*)", said, re.MULTILINE)) - OF_THE_LAB


KEPT = {"replay": {"variable"}}
"""A dump has no variables; tests of runs have a load."""


def keys(verb: Verb, kind: str) -> set[str]:
    return {
        mark.name or name.replace("_", "-")
        for name, field in KINDS[kind].model_fields.items()
        for mark in field.metadata
        if isinstance(mark, Option) and verb in mark.verbs and not (mark.name or "").isupper()
    }


@pytest.mark.parametrize("kind", [kind for kind in KINDS if KINDS[kind].needs_server])
def test_every_option_is_a_key_and_every_key_an_option(kind: str) -> None:
    assert keys("run", kind) == program_options("run", kind)
    if keys("prepare", kind):
        made_by = KINDS[kind].prepared_as or kind
        assert keys("prepare", kind) | KEPT.get(kind, set()) == program_options("prepare", made_by)


@pytest.mark.parametrize("kind", [kind for kind in KINDS if KINDS[kind].rehearses and kind not in KEPT])
def test_the_load_generator_understands_what_the_lab_types(folder: Path, kind: str) -> None:
    chosen = workload(folder, kind)
    ready = load.rehearse(chosen.kind, run_arguments(chosen, PHASES, 3, 1))
    assert (ready["workload"], ready["clients"]) == (kind, 3)
    assert ready["statements"]


def test_refusals_of_the_load_generator_are_passed_on(folder: Path) -> None:
    (folder / "hot.sql").write_text("SELECT :nobody_set_this;\n")
    with pytest.raises(load.LoadFailedError, match=r"hot\.sql:1: nothing has set nobody_set_this"):
        load.rehearse("script", run_arguments(workload(folder, "script"), PHASES, 1, 1))


def test_a_script_is_run_from_the_copy(folder: Path) -> None:
    chosen = workload(folder, "script")
    arguments = run_arguments(chosen, PHASES, 1, 1, Path("/run/scripts/w"))
    files = [arguments[at + 1] for at, word in enumerate(arguments) if word == "--file"]
    assert files == ["/run/scripts/w/hot.sql@9", "/run/scripts/w/cold.sql"]
    variables = [arguments[at + 1] for at, word in enumerate(arguments) if word == "--variable"]
    assert variables == ["rows=10", "share=0.5"]
    assert chosen.files_to_keep["tables.sql"] == (folder / "tables.sql").read_bytes()


def test_a_lua_script_is_kept_with_its_modules(folder: Path) -> None:
    chosen = workload(folder, "lua")
    assert set(chosen.files_to_keep) == {"own.lua", "common.lua"}
    arguments = run_arguments(chosen, PHASES, 1, 1, Path("/run/scripts/w"))
    assert arguments[:5] == ["/run/scripts/w/own.lua", "--option", "tables=2", "--option", "hot=on"]
    before = chosen.data_identity
    (folder / "common.lua").write_text("x = 1\n")
    assert chosen.data_identity == before != workload(folder, "lua").data_identity


def test_a_file_is_what_it_was_when_the_study_was_read(folder: Path) -> None:
    chosen = workload(folder, "script")
    before = chosen.data_identity
    (folder / "tables.sql").write_text("SELECT 2;\n")
    assert chosen.data_identity == before != workload(folder, "script").data_identity


def test_a_weight_differs_from_a_name_with_an_at_sign(folder: Path) -> None:
    (folder / "a@b.sql").write_text("SELECT 1;\n")
    text = f'{HEAD}kind = "script"\nfiles = ["a@b.sql", "hot.sql@9"]\n'
    files = parse_study(text, str(folder / "study.toml")).workloads["w"].options("run")["file"]
    assert isinstance(files, list)
    assert [(file.path.name, file.weight) for file in files if isinstance(file, SqlFile)] == [
        ("a@b.sql", ""),
        ("hot.sql", "9"),
    ]


def test_a_job_has_no_clock_and_makes_its_own_tables(folder: Path) -> None:
    for kind in ("slap", "sqlbench"):
        chosen = workload(folder, kind)
        arguments = run_arguments(chosen, PHASES, 1, 1)
        assert "--seconds" not in arguments
        assert "--warm-up" not in arguments
        assert prepare_arguments(chosen, 1) == []
        assert chosen.metric == "seconds"


def test_a_rate_makes_latency_what_the_verdict_is_about(folder: Path) -> None:
    chosen = workload(folder, "oltp", 'rate = 500\narrivals = "even"\n')
    assert chosen.metric == "latency_mean_us"
    arguments = run_arguments(chosen, PHASES, 1, 1)
    assert arguments[arguments.index("--rate") + 1] == "500"


def test_a_short_measurement_has_intervals_enough_for_the_tests_of_steadiness() -> None:
    assert interval_s(60) == 1
    assert interval_s(2) == pytest.approx(0.1)
