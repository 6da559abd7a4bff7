"""Loads on bare files in a study: their defaults, their cells, and what is refused in words."""

from pathlib import Path

import pytest

from diskproof.study.loads.fileio import Fileio
from diskproof.study.plan import make_plan
from diskproof.study.read import StudyError, StudyFile, parse_study

STUDY = """
question = "How fast are the files?"
[design]
clients = [1, 64]
warm_up_s = 7
[storages.ssd]
directory = "here"
[workloads.files]
kind = "fileio"
"""


def fileio(keys: str) -> Fileio:
    load = parse_study(STUDY + keys, "study.toml").workloads["files"]
    assert isinstance(load, Fileio)
    return load


def test_what_is_left_out_is_as_sysbench_has_it() -> None:
    load = fileio('mode = "rndrw"')
    assert (load.files, load.total_size, load.block_size) == (128, 2 * 2**30, 16384)
    assert load.syncs_every == 100
    assert load.blocks_per_file == 1024
    assert load.direct
    assert [fileio(f'mode = "{mode}"').syncs_every for mode in ("rndrd", "rndwr", "seqrd", "seqwr")] == [
        *(0, 100, 0, 0)
    ]


def test_a_study_of_bare_files_has_no_server_and_short_names() -> None:
    study = parse_study(STUDY + 'mode = "rndrd"', "study.toml")
    plan = make_plan(StudyFile("study", STUDY, study))
    assert [cell.id for cell in plan.cells] == ["ssd/files/1c", "ssd/files/64c"]
    assert not any(cell.has_server for cell in plan.cells)
    assert plan.metrics == {"files": "requests_per_s"}


@pytest.mark.parametrize(
    ("more", "said"),
    [
        ("[tunings.safest]\n", "`tunings`: every workload here is a load on bare files: leave it out"),
        ('[design]\nmemory = ["1 GiB"]\n', "`design.memory`: every workload here is a load on bare files"),
        ('[design]\nredo_log = "10 MiB"\n', "`design.redo_log`: every workload here is a load on bare files"),
    ],
)
def test_what_only_a_server_would_heed_is_refused(more: str, said: str) -> None:
    text = STUDY.replace("[design]\n", more if "[design]" in more else f"{more}[design]\n")
    with pytest.raises(StudyError) as refused:
        parse_study(text + 'mode = "rndrd"', "study.toml")
    assert said in str(refused.value)


@pytest.mark.parametrize("factor", ["server", "tuning", "memory"])
def test_a_threshold_on_what_bare_files_do_not_have_is_refused_at_its_line(factor: str) -> None:
    text = f'thresholds = ["ratio of {factor} fast to safest >= 1"]\n{STUDY}mode = "rndrd"'
    with pytest.raises(StudyError) as refused:
        parse_study(text, "study.toml")
    said = f"a load on bare files has no {factor} to compare"
    assert str(refused.value) == f"study.toml:1: `thresholds number 1`: {said}"


def test_files_are_whole_blocks_of_one_size() -> None:
    load = fileio('mode = "seqrd"\ntotal_size = "10 MiB"\nfiles = 3\nblock_size = "1 MiB"')
    assert load.file_bytes == 3 * 2**20


def test_a_pass_through_the_page_cache_has_no_warm_up() -> None:
    keys = 'mode = "seqwr"\nfiles = 1\nblock_size = "1 MiB"\n'
    study = parse_study(f"{STUDY}{keys}direct = false", "study.toml")
    assert study.phases("files").warm_up_s == 0
    assert parse_study(f"{STUDY}{keys}", "study.toml").phases("files").warm_up_s == 7


@pytest.mark.parametrize(
    ("keys", "said"),
    [
        ("", "`workloads.files.mode` is missing"),
        ('mode = "seqrewr"', "give 'rndrd', 'rndwr', 'rndrw', 'seqrd' or 'seqwr'"),
        ('mode = "rndrd"\nsync_every = 5', "`rndrd` writes nothing that could be synced"),
        ('mode = "rndrd"\ntotal_size = "1 MiB"', "less than one block of 16 KiB for each of 128 files"),
        ('mode = "rndrd"\nfiles = 1001', "give 1,000 or less"),
        ('mode = "rndrd"\nblock_size = 1001', "whole sectors of 512 bytes; another size"),
        ('mode = "rndrd"\nblock_size = "4k"', "whole sectors of 512 bytes; did you mean `4 KiB`?"),
        ('mode = "rndrd"\nblock_size = 100', "give 512 or more"),
        ('mode = "rndrd"\nrate = 5', "unknown key `workloads.files.rate`"),
        ('mode = "rndrd"\ntunings = ["safest"]', "`tunings`: a load on bare files has no server"),
        ('mode = "rndrd"\nservers = ["db"]', "`servers`: a load on bare files has no server"),
        ('mode = "seqrd"\ndirect = false\nwarm_up_s = 3', "`warm_up_s`: one pass through the page cache"),
        ('mode = "rndrd"\n[servers.db]\nfamily = "sqlite"', "leave the servers out"),
        (
            'mode = "rndrd"\n[workloads.other]\nrows = 5',
            "`workloads.other`: this load needs a server, and `servers` is missing",
        ),
    ],
)
def test_what_cannot_be_is_refused_in_words(keys: str, said: str) -> None:
    with pytest.raises(StudyError) as refused:
        parse_study(STUDY + keys, str(Path("study.toml")))
    assert said in str(refused.value)


def test_a_pass_may_be_in_blocks_of_any_size() -> None:
    assert fileio('mode = "seqrd"\ndirect = false\nblock_size = 1000').block_size == 1000
