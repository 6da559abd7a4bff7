"""docs/durability.md is made from runs alone: its tables, what it groups, and what it refuses."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest

import durability
import durability_page
from diskproof.refusal import RefusalError
from diskproof.results.crash import Way
from diskproof.results.cut import CutTrial
from diskproof.results.folder import RunFolder
from diskproof.results.plan import Cuts
from diskproof.results.trial import Setting
from diskproof.study.plan import make_plan as study_plan
from diskproof.study.read import read_study
from durability_made import Part, narrowed
from durability_page import Campaign, promises
from durability_table import by_setting
from support.cuts import (
    A_SECOND,
    CONTROLS,
    CORRUPT,
    KEPT,
    changed,
    make_crash_plan,
    make_cuts,
    refused,
    with_cuts,
)
from support.safety import safety_of
from support.trials import change, make_machine, make_plan, make_server

WAYS: tuple[Way, ...] = ("kill", "stop", "power")
CRASH = make_crash_plan(
    storages=("ssd", "liar"),
    ways=WAYS,
    cuts=4,
    documented=[KEPT, A_SECOND, CORRUPT],
    controls=CONTROLS,
)


PART = Part(
    study="durability-truth",
    scale="short",
    server="mariadb",
    needs_folder=False,
    cells=tuple(cell.id for cell in CRASH.cells),
    known=(*(cell.id for cell in CRASH.cells), "mysql/ssd/safest"),
    cuts=4,
    planned=40,
    made=40,
    machine=make_machine(),
    days=("2026-03-14",),
)


def campaign(
    crash: Cuts = CRASH, cuts: Sequence[CutTrial] | None = None, study: str = "durability-truth"
) -> Campaign:
    plan = change(with_cuts(make_plan(), crash, speed=False), study=study)
    made = make_cuts(crash) if cuts is None else list(cuts)
    return Campaign(make_server("mariadb"), (replace(PART, study=study),), plan, crash, made)


def page(one: Campaign) -> str:
    return "\n\n".join(durability_page.page([one]))


def test_a_row_is_a_setting_and_a_column_a_way_to_die_on_a_disk() -> None:
    table = by_setting(safety_of(CRASH), "mariadb")
    assert [column.title for column in table.columns] == [
        "Setting",
        *(f"{way}, {disk}" for way in ("Killed", "System stopped", "Power cut") for disk in ("ssd", "liar")),
    ]
    rows = {
        row[0]: dict(zip([column.title for column in table.columns], row, strict=True)) for row in table.rows
    }
    assert rows["safest"]["Power cut, ssd"] == "0/4"
    assert rows["fast"]["System stopped, ssd"] == "4/4 0.66 s"
    assert rows["safest"]["Power cut, liar"] == "3/4 1.7 s"


def test_what_was_not_tried_is_not_called_kept_and_a_database_that_is_gone_is_counted_as_that() -> None:
    crash = make_crash_plan(tunings=("safest", "fast"), cuts=2, documented=[KEPT])
    safest = [number for number, planned in enumerate(crash.trials) if planned.cell.endswith("safest")]
    cuts = changed(make_cuts(crash), {safest[0]: refused})
    kept = [cut for cut in cuts if cut.cell.endswith("safest")]
    [first, second] = by_setting(safety_of(crash, kept), "mariadb").rows
    assert first == ("safest", "≠ 1/2, 1 gone")
    assert second == ("fast", "n/a")


def test_the_page_has_a_chapter_a_server() -> None:
    one = campaign(cuts=make_cuts(CRASH))
    text = page(one)
    assert f"\n## {one.title}\n" in text
    assert "No row." in text[text.index("## Against the documentation") : text.index(f"## {one.title}")]


def test_what_is_against_its_documentation_is_said_in_full() -> None:
    crash = make_crash_plan(tunings=("safest",), cuts=2, documented=[KEPT])
    text = page(campaign(crash, changed(make_cuts(crash), {0: refused})))
    [item] = [line for line in text.splitlines() if "`safest`**, power cut, `ssd`: " in line]
    assert "documented as “kept”; it lost the whole database in 1 of 2 cuts" in item


def test_settings_are_shown_as_read_back_and_where_they_differ() -> None:
    def read(cut: CutTrial) -> CutTrial:
        value = "1" if cut.cell.endswith("safest") else "2"
        rows = [
            ("innodb_flush_log_at_trx_commit", value, True),
            ("log_bin", "ON", True),
            ("port", "0", False),
        ]
        return change(
            cut,
            settings=[
                Setting(name=name, requested=told, observed=told, holds=True, level=level)
                for name, told, level in rows
            ],
        )

    text = page(campaign(cuts=[read(cut) for cut in make_cuts(CRASH)]))
    assert "- `safest`: `innodb_flush_log_at_trx_commit = 1`, `log_bin = ON`\n" in text
    assert "- `fast`: `innodb_flush_log_at_trx_commit = 2`\n" in text


def test_settings_that_another_server_has_too_are_listed_once() -> None:
    def read(cut: CutTrial) -> CutTrial:
        value = "1" if cut.cell.endswith("safest") else "2"
        name = "innodb_flush_log_at_trx_commit"
        told = Setting(name=name, requested=value, observed=value, holds=True, level=True)
        return change(cut, settings=[told])

    first = campaign(cuts=[read(cut) for cut in make_cuts(CRASH)])
    fewer = make_crash_plan(tunings=("safest",), cuts=2)
    second = campaign(fewer, [read(cut) for cut in make_cuts(fewer)])
    second = replace(second, server=change(second.server, version="11.8"))
    text = "\n\n".join(durability_page.page([first, second]))
    assert f"The settings are those of {first.title}." in text[text.index(f"## {second.title}") :]


def test_a_setting_like_the_first_is_told_from_one_that_was_not_read_back() -> None:
    """Each setting of these cuts is the same, and of the unsafe one nothing was told."""
    crash = make_crash_plan(tunings=("safest", "fast", "unsafe"), cuts=1)
    cuts = [change(cut, settings=[]) if cut.cell.endswith("/unsafe") else cut for cut in make_cuts(crash)]
    assert list(durability_page.settings(campaign(crash, cuts))) == [
        "- `safest`: `innodb_flush_log_at_trx_commit = 2`",
        "- `fast`: as the first",
        "- `unsafe`: not read back",
    ]


def test_controls_are_told_by_study_with_the_settings_that_were_asked_and_what_none_asks_is_named() -> None:
    """A control speaks of its own settings: others that broke their word are named beside it."""
    relaxed = make_crash_plan(
        storages=("ssd", "liar"), ways=WAYS, cuts=4, documented=[KEPT], controls=CONTROLS
    )
    torn = make_crash_plan(tunings=("safest", "fast"), cuts=2, documented=[KEPT], controls=[CONTROLS[1]])
    safest = [number for number, planned in enumerate(torn.trials) if planned.cell.endswith("safest")]
    broken = changed(make_cuts(torn), {safest[0]: refused})
    text = "\n\n".join(durability_page.page([campaign(relaxed), campaign(torn, broken, study="torn-pages")]))
    title = campaign(torn, study="torn-pages").title
    assert "\n- durability-truth: 1 of 1 kept everything, as they must: `safest`; on `ssd`\n" in text
    assert (
        "\n- durability-truth: 3 of 3 lost something, as they must: `fast`, `safest`; on `ssd`, `liar`\n"
        in text
    )
    assert "\n- torn-pages: 1 of 1 lost something, as they must: `fast`; on `ssd`\n" in text
    assert f"\n- against their documentation, and covered by no control: {title}, `safest`\n" in text
    assert f" These contradict their documentation: {title}: `safest`." in text


def test_a_control_that_did_not_come_out_is_told_with_its_reason() -> None:
    crash = make_crash_plan(tunings=("safest",), cuts=2, documented=[KEPT], controls=CONTROLS)
    text = page(campaign(crash, changed(make_cuts(crash), {0: refused})))
    assert "\n- durability-truth: 0 of 1 kept everything, as they must: `safest`; on `ssd`; " in text
    assert (
        "mariadb/ssd/safest must keep everything at the power cut: it lost the whole database in 1 of 2 cuts"
        in text
    )
    assert "covered by no control" not in text


def test_each_campaign_has_a_command_of_its_own_which_says_what_is_not_whole() -> None:
    assert PART.command == (
        "diskproof crash studies/durability-truth.toml --scale short --only mariadb/ --cuts 4"
    )
    broken_off = replace(PART, server="mysql", needs_folder=True, scale=None, cuts=6, made=31)
    assert broken_off.command == (
        "diskproof crash studies/durability-truth.toml --only mariadb/ --cuts 6 --basedir mysql=DIR "
        "# 31 of 40 planned"
    )
    lines = durability_page.page([replace(campaign(), parts=(PART, broken_off))])
    assert any(f"{PART.command}\n{broken_off.command}\n" in line for line in lines)


def test_a_command_asks_for_a_whole_server_or_storage_and_names_what_it_takes_besides() -> None:
    known = ["a/x/one", "a/x/one-more", "a/y/one", "a/y/two", "b/x/one"]
    assert narrowed(known[:4], known) == (["a/"], [])
    assert narrowed(["a/y/one", "a/y/two", "b/x/one"], known) == (["a/y/", "b/"], [])
    assert narrowed(["a/x/one"], known) == (["a/x/one"], ["a/x/one-more"])
    assert narrowed(["a/x/one-more"], known) == (["a/x/one-more"], [])
    assert narrowed(["a/x/one", "a/x/one-more"], [*known, "a/x/one-less"]) == (["a/x/one"], ["a/x/one-less"])


def test_runs_at_different_scales_or_on_different_machines_are_no_one_page() -> None:
    other = campaign(study="torn-pages")
    assert len(durability.joined([campaign(), other])) == 2
    elsewhere = replace(PART, study="torn-pages", machine=change(make_machine(), cpus=64))
    with pytest.raises(RefusalError, match=r"the runs were made on different machines: .*64 CPUs"):
        durability.joined([campaign(), replace(other, parts=(elsewhere,))])
    larger = replace(campaign(), parts=(PART, replace(PART, scale=None)))
    with pytest.raises(RefusalError, match="durability-truth are at different scales: its own, short"):
        durability.joined([larger])


def test_promises_of_all_rows_have_one_bound_and_a_broken_one_is_counted() -> None:
    kept = campaign(make_crash_plan(tunings=("safest",), cuts=60, documented=[KEPT]))
    assert promises(kept) == "0 of 60 cuts of 1 row lost or damaged something: at most 4.9%"
    crash = make_crash_plan(tunings=("safest",), cuts=2, documented=[KEPT])
    broken = campaign(crash, changed(make_cuts(crash), {0: refused}))
    assert promises(broken).startswith("1 of 2 cuts of 1 row lost or damaged something: ")


def test_where_the_binary_log_and_the_tables_part_is_told_by_setting_and_death() -> None:
    behind = [
        change(cut, recovery__engine_only=7) if (cut.cell, cut.way) == ("mariadb/ssd/fast", "stop") else cut
        for cut in make_cuts(CRASH)
    ]
    text = page(campaign(cuts=behind))
    said = text[text.index("## The binary log against the tables") : text.index("## Controls")]
    [fast] = [line.split(" | ")[1:] for line in said.splitlines() if line.startswith("| MariaDB")]
    assert fast == [
        "fast",
        "0/4",
        "0/4",
        "behind 4/4: 7",
        "0/4",
        "0/4",
        "0/4 |",
    ]  # the other setting is left out


def test_runs_of_different_cells_are_joined_and_a_cell_that_two_have_is_refused() -> None:
    parts = [
        campaign(part, [cut for cut in make_cuts(CRASH) if cut.cell in ids])
        for storage in ("ssd", "liar")
        for ids in [{cell.id for cell in CRASH.cells if cell.storage == storage}]
        for part in [durability.only(CRASH, ids)]
    ]
    [one] = durability.joined(parts)
    assert one.safety.answers and {*map(repr, one.safety.answers)} == {*map(repr, campaign().safety.answers)}
    with pytest.raises(RefusalError, match=r"mariadb/ssd/fast of MariaDB .* is in two of the runs"):
        durability.joined([campaign(), parts[0]])


def test_a_campaign_of_another_study_or_of_other_cells_is_refused(tmp_path: Path) -> None:
    with pytest.raises(RefusalError, match="`accounts` was 1000, and is 20000"):
        durability.as_of(CRASH, change(CRASH, accounts=20_000))
    with pytest.raises(RefusalError, match="no longer has these cells"):
        durability.as_of(CRASH, change(CRASH, cells=CRASH.cells[:2]))
    other = RunFolder.create(tmp_path / "run", "", with_cuts(make_plan(), CRASH))
    with pytest.raises(RefusalError, match="is not a run with cuts of durability-truth or torn-pages"):
        list(durability.read(other))


def test_a_campaign_whose_disk_was_another_is_refused_and_one_reworded_is_not(tmp_path: Path) -> None:
    """A plan names its disks, and does not say what they are."""
    file = read_study(durability.SOURCES["torn-pages"], "short")
    cells = [cell.id for cell in (study_plan(file).crash or CRASH).cells if cell.server == "postgresql"]
    plan = study_plan(file, only=cells)
    server = change(make_server("postgresql"), name="postgresql")
    for name, old, new in (
        ("same", 'question = "', 'question = "Once more: '),
        ("other", 'virtual = "', 'virtual = "null" # '),
        ("level", "full_page_writes = false", "full_page_writes = true"),
        ("unused", "innodb_doublewrite = false", "innodb_doublewrite = true"),
    ):
        assert old in file.text
        folder = RunFolder.create(tmp_path / name, file.text.replace(old, new), plan)
        folder.write(change(make_machine(), servers=[server]))
    for name in ("same", "unused"):
        assert [one.plan.study for one in durability.read(RunFolder(tmp_path / name))] == ["torn-pages"]
    with pytest.raises(RefusalError, match=r"the study has changed since: storages\.disk"):
        list(durability.read(RunFolder(tmp_path / "other")))
    with pytest.raises(RefusalError, match=r"the study has changed since: tunings\.no-full-pages"):
        list(durability.read(RunFolder(tmp_path / "level")))
