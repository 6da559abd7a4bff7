"""A published site: what it shows, what it leaves out, and what its check finds."""

import json
import re
import shutil
from collections.abc import Callable
from pathlib import Path

import jsonschema  # type: ignore[import-untyped]
import pytest
from playwright.sync_api import Browser, expect

from diskproof.refusal import RefusalError
from diskproof.results.folder import RunFolder
from diskproof.results.trial import Finding
from diskproof.site.publish import MADE, Made, write
from support.command import diskproof, diskproof_here
from support.machines import comparing, make_machines
from support.runs import quickstart_run, write_run
from support.shared import once
from support.trials import change, make_machine, make_plan, make_trials

HAMMERDB = """\
HammerDB CLI v4.7
Vuser 1:Beginning rampup time of 2 minutes
Vuser 2:New Order Procedure Error set RAISEERROR for Details
Vuser 1:Timing test period of 30 in minutes
Vuser 1:10 Active Virtual Users configured
Vuser 1:TEST RESULT : System achieved 2602 NOPM from 6190 PostgreSQL TPM
"""
HOSTILE = "<img src=x onerror=alert(1)></script><!--{{7*7}}\"'`<b>x</b>`"


@pytest.fixture(scope="module")
def made() -> Path:
    """Return a folder with a run, what HammerDB printed, and the site of both; tests do not change it."""
    return once("site", make)


def make(folder: Path) -> None:
    quickstart_run(folder / "run")
    (folder / "hammerdb.txt").write_text(HAMMERDB)
    result = diskproof_here(folder, "publish", "run", "hammerdb.txt", "--to", "site")
    assert result.returncode == 0, result.stderr


@pytest.fixture
def site(made: Path, tmp_path: Path) -> Path:
    """Return a copy of the site, to be changed."""
    shutil.copytree(made / "site", tmp_path / "site")
    return tmp_path / "site"


def runs_of(site: Path) -> dict[str, Path]:
    return {path.name.split("-")[0]: path for path in (site / "runs").iterdir()}


def entry_of(run: Path) -> dict[str, object]:
    entry: dict[str, object] = json.loads((run / "figures.json").read_text())
    return entry


def steps_of_the_workflow() -> list[str]:
    """Return the commands of the workflow for a repository of submissions, but for the installation."""
    text = (Path(__file__).parents[2] / "scripts/ci/submissions/check.yml").read_text()
    return re.findall(r"- run: diskproof (.*)", text)


def checked(site: Path) -> tuple[int, str]:
    result = diskproof_here(site.parent, "publish", "--check", str(site))
    return result.returncode, result.stderr


# ---------------------------------------------------------------- what it shows


def test_a_run_has_its_page_records_figures_and_badge(made: Path) -> None:
    run = runs_of(made / "site")["quickstart"]
    names = {str(path.relative_to(run)) for path in run.rglob("*") if path.is_file()}
    assert {"index.html", "report.html", "figures.json", "badge.svg", "plan.json", "trials.jsonl"} <= names
    assert sum(name.startswith("series/") for name in names) == 40
    entry = entry_of(run)
    assert run.name.endswith(str(entry["sha256"])[:8])
    assert len(entry["figures"]) == 8  # type: ignore[arg-type]
    page = (run / "index.html").read_text()
    assert "1 error" in page  # a trial of it is invalid
    assert str(entry["sha256"]) in page
    assert "audited" not in (run / "badge.svg").read_text()
    schema = json.loads((made / "site" / "figures.schema.json").read_text())
    jsonschema.validate(entry, schema)
    assert schema["properties"]["sha256"]["description"].startswith("Of the records")


def test_a_published_run_is_read_as_any_other(made: Path) -> None:
    run = runs_of(made / "site")["quickstart"]
    again = diskproof_here(made, "report", str(run), "--format", "json")
    first = diskproof_here(made, "report", "run", "--format", "json")
    assert again.returncode == 0
    cells = [json.loads(one.stdout)["cells"] for one in (first, again)]
    assert [one["figure"] for one in cells[0]] == [one["figure"] for one in cells[1]]


def test_another_tools_result_stands_beside_its_finding(made: Path) -> None:
    run = runs_of(made / "site")["hammerdb"]
    entry = entry_of(run)
    assert "HammerDB 4.7" in str(entry["measured_by"])
    assert (run / "raw" / "hammerdb.txt").read_text() == HAMMERDB
    page = (run / "index.html").read_text()
    assert page.index("New Order") < page.index("<main")
    assert "43.4 transactions/s" in page
    overview = (made / "site" / "by-audit.html").read_text()
    assert f"runs/{run.name}/index.html" in overview


def test_what_identifies_is_listed_and_taken_out(tmp_path: Path) -> None:
    plan = make_plan(blocks=2)
    machine = make_machine(plan, host="db7.example.org")
    servers = [change(one, binary="/home/anna/mariadb-11.4/bin/mariadbd") for one in machine.servers]
    places = [change(one, path=f"/mnt/customer-x/{one.role}") for one in machine.places]
    trials = [
        change(one, load_command="diskproof-load run --url mysql://anna@10.1.2.3/shop")
        for one in make_trials(plan)
    ]
    write_run(tmp_path / "run", plan, trials, change(machine, servers=servers, places=places))
    result = diskproof_here(tmp_path, "publish", "run", "--to", "site")
    assert result.returncode == 0
    for told in ("db7", "anna", "customer-x", "anna@10.1.2.3/shop"):
        assert told in result.stderr
    written = [path for path in (tmp_path / "site").rglob("*") if path.is_file()]
    for secret in (b"db7", b"anna", b"customer-x", b"10.1.2.3"):
        assert [path for path in written if secret in path.read_bytes()] == []
    assert any(b"mariadb-11.4" in path.read_bytes() for path in written)
    assert checked(tmp_path / "site")[0] == 0
    kept = diskproof_here(tmp_path, "publish", "run", "--to", "kept", "--keep")
    assert "kept: " in kept.stderr
    assert any(b"db7.example.org" in path.read_bytes() for path in (tmp_path / "kept").rglob("*.json"))


def test_hosts_that_are_compared_are_taken_out(tmp_path: Path) -> None:
    hosts = ("shop-db7", "anna-pc.example.org", "load")  # the last is also a word of our records
    plan = change(comparing(make_plan(blocks=2), hosts), load_hosts=["shop-load9"])
    machine = make_machines(plan)
    machine = change(machine, loads={"shop-load9": make_machine(plan, host="load9.example.org")})
    write_run(tmp_path / "run", plan, make_trials(plan), machine)
    result = diskproof_here(tmp_path, "publish", "run", "--to", "site")
    assert result.returncode == 0, result.stderr
    written = [path for path in (tmp_path / "site").rglob("*") if path.is_file()]
    for secret in (b"db7", b"anna-pc", b"load9"):
        assert [path for path in written if secret in path.read_bytes()] == []
    published = RunFolder.open(runs_of(tmp_path / "site")["quickstart"])
    assert len(set(published.plan().hosts)) == len(hosts)
    assert checked(tmp_path / "site")[0] == 0


@pytest.mark.parametrize("name", ["sysbench.html", "sysbench.svg", "sysbench", "sysbench.TXT"])
def test_what_another_tool_printed_is_no_page(tmp_path: Path, name: str) -> None:
    (tmp_path / name).write_text(HAMMERDB + HOSTILE)
    assert diskproof_here(tmp_path, "publish", name, "--to", "site").returncode == 0
    (run,) = (tmp_path / "site" / "runs").iterdir()
    kept = name if name.endswith(".TXT") else f"{name}.txt"
    assert [path.name for path in (run / "raw").iterdir()] == [kept]
    assert checked(tmp_path / "site") == (0, "")


def test_an_address_is_permanent(made: Path, tmp_path: Path) -> None:
    again = diskproof_here(tmp_path, "publish", str(made / "run"), "--to", "site")
    assert again.returncode == 0
    run = runs_of(tmp_path / "site")["quickstart"]
    assert run.name == runs_of(made / "site")["quickstart"].name
    before = (run / "trials.jsonl").read_bytes()
    quickstart_run(tmp_path / "other")
    (tmp_path / "other" / "plan.json").write_text(
        make_plan().model_copy(update={"study": "another"}).model_dump_json()
    )
    assert diskproof_here(tmp_path, "publish", "other", "--to", "site").returncode == 0
    assert (run / "trials.jsonl").read_bytes() == before
    assert len(list((tmp_path / "site" / "runs").iterdir())) == 2
    for page in ("index.html", "by-study.html", "by-figure.html", "by-system.html", "by-audit.html"):
        assert (tmp_path / "site" / page).read_text().count('/index.html">') == 2, page


def test_a_site_is_made_again_from_its_own_records(made: Path, tmp_path: Path) -> None:
    runs = [str(path) for path in sorted((made / "site" / "runs").iterdir())]
    assert diskproof_here(tmp_path, "publish", *runs, "--to", "site").returncode == 0
    for name, run in runs_of(tmp_path / "site").items():
        first = runs_of(made / "site")[name]
        assert run.name == first.name
        assert (run / "figures.json").read_text() == (first / "figures.json").read_text()


def test_a_site_is_made_in_the_fence(made: Path, tmp_path: Path) -> None:
    result = diskproof(tmp_path, "publish", str(made / "run"), str(made / "hammerdb.txt"), "--to=site")
    assert result.returncode == 0, result.stderr
    assert "site: site" in result.stderr
    names = [run.name for run in runs_of(tmp_path / "site").values()]
    assert sorted(names) == sorted(run.name for run in runs_of(made / "site").values())
    again = diskproof(tmp_path, "publish", str(made / "hammerdb.txt"), "--to=site")
    assert again.returncode == 0, again.stderr
    assert (tmp_path / "site" / "index.html").read_text().count('/index.html">') == 2
    assert checked(tmp_path / "site")[0] == 0


# ---------------------------------------------------------------- what its check finds


def test_a_sound_site_passes(site: Path) -> None:
    assert checked(site) == (0, "")


def forge(path: Path, change_it: Callable[[str], str]) -> None:
    text = path.read_text()
    forged = change_it(text)
    assert forged != text
    path.write_text(forged)


def replaced(old: str, new: str) -> Callable[[str], str]:
    return lambda text: text.replace(old, new)


def of_entry(**fields: object) -> Callable[[str], str]:
    return lambda text: json.dumps({**json.loads(text), **fields})


def faster(text: str) -> str:
    entry = json.loads(text)
    entry["figures"][0]["estimate"] *= 1.05
    return json.dumps(entry)


def trials_faster(text: str) -> str:
    trials = [json.loads(line) for line in text.splitlines()]
    for trial in trials:
        trial["load"]["transactions_per_s"] *= 1.5
    return "".join(f"{json.dumps(trial)}\n" for trial in trials)


@pytest.mark.parametrize(
    ("study", "name", "change_it", "said"),
    [
        ("quickstart", "figures.json", faster, "`figures[0].estimate` is"),
        ("quickstart", "figures.json", of_entry(answer="Buy ours."), "`answer` is 'Buy ours.'"),
        ("quickstart", "figures.json", of_entry(found=[]), "`found` is 0 entries"),
        ("quickstart", "figures.json", of_entry(system="A supercomputer"), "`system` is"),
        ("quickstart", "figures.json", of_entry(trials=4000), "`trials` is 4000"),
        ("quickstart", "machine.json", replaced("Xeon", "Epyc"), "`system` is"),
        ("quickstart", "trials.jsonl", trials_faster, "`figures[0].estimate` is"),
        ("quickstart", "trials.jsonl", lambda text: text[text.index("\n") + 1 :], "`trials` is 40"),
        ("hammerdb", "raw/hammerdb.txt", replaced("2602", "9602"), "`printed` is"),
        (
            "hammerdb",
            "raw/hammerdb.txt",
            replaced("Vuser 2:New Order Procedure Error", "Vuser 2:"),
            "`found`",
        ),
        ("hammerdb", "trials.jsonl", replaced('"clients":10', '"clients":99'), "trials.jsonl is not what"),
    ],
)
def test_a_forged_run_is_refused(
    site: Path, study: str, name: str, change_it: Callable[[str], str], said: str
) -> None:
    forge(runs_of(site)[study] / name, change_it)
    code, complaints = checked(site)
    assert code == 10
    assert said in complaints


def test_a_forged_series_is_refused(site: Path) -> None:
    run = RunFolder.open(runs_of(site)["quickstart"])
    table = run.series("b01-t01")
    assert table is not None
    rows = [(row["t_s"], row["source"], row["metric"], row["value"] * 1.01) for row in table.to_pylist()]
    run.write_series("b01-t01", rows)
    code, complaints = checked(site)
    assert code == 10
    assert "`sha256` is" in complaints


def test_figures_that_were_forged_before_they_were_published_contradict_each_other(tmp_path: Path) -> None:
    plan = make_plan(blocks=2)
    run = write_run(tmp_path / "run", plan, make_trials(plan), make_machine(plan))
    forge(run.path / "trials.jsonl", trials_faster)
    assert diskproof_here(tmp_path, "publish", "run", "--to", "site").returncode == 0
    entry = entry_of(runs_of(tmp_path / "site")["quickstart"])
    assert "rate-arithmetic" in {one["check"] for one in entry["found"]}  # type: ignore[attr-defined]
    code, complaints = checked(tmp_path / "site")
    assert code == 10
    assert "rate-arithmetic" in complaints


def test_a_run_under_another_address_is_refused(site: Path) -> None:
    run = runs_of(site)["quickstart"]
    run.rename(run.with_name("quickstart-1"))
    code, complaints = checked(site)
    assert code == 10
    assert "it lies in quickstart-1, but its id is" in complaints


@pytest.mark.parametrize("name", ["figures.json", "plan.json", "trials.jsonl"])
@pytest.mark.parametrize("content", [b"", b"{", b"\xff", b"[" * 100_000, b'{"a": 1}\n'])
def test_what_cannot_be_read_is_refused_and_the_others_are_checked(
    site: Path, name: str, content: bytes
) -> None:
    (runs_of(site)["quickstart"] / name).write_bytes(content)
    result = diskproof_here(site.parent, "publish", "--check", str(site))
    assert result.returncode in (2, 10)
    assert "quickstart-" in result.stderr
    assert "hammerdb-" in result.stdout


def test_a_run_without_what_the_tool_printed_is_refused(site: Path) -> None:
    (runs_of(site)["hammerdb"] / "raw" / "hammerdb.txt").unlink()
    code, complaints = checked(site)
    assert code == 2
    assert "raw is empty: put in it what the tool printed" in complaints


@pytest.mark.parametrize(
    ("study", "name"),
    [
        ("quickstart", "study.toml"),
        ("quickstart", "trials.jsonl"),
        ("quickstart", "figures.json"),
        ("hammerdb", "raw/hammerdb.txt"),
        ("hammerdb", "plan.json"),
    ],
)
def test_a_link_in_a_submission_is_not_followed(site: Path, study: str, name: str) -> None:
    file, secret = runs_of(site)[study] / name, site.parent / "secret"
    file.rename(secret)
    file.symlink_to(secret)
    code, complaints = checked(site)
    assert code == 2
    assert f"{name} is a link that leads out of" in complaints
    if name in ("study.toml", "trials.jsonl", "raw/hammerdb.txt"):  # the others are made anew
        result = diskproof_here(site.parent, "publish", str(runs_of(site)[study]), "--to", "new")
        assert result.returncode == 2
        assert f"{name} is a link that leads out of" in result.stderr
        assert not (site.parent / "new").exists()


def test_a_version_that_words_things_differently_forges_nothing(site: Path) -> None:
    path = runs_of(site)["quickstart"] / "figures.json"
    forge(path, of_entry(entered_by="diskproof 0.0.1", answer="In other words.", audit="So so."))
    assert checked(site)[0] == 0
    forge(path, faster)
    assert checked(site)[0] == 10


# ---------------------------------------------------------------- bad input


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ([], "name the folder of the site with --to"),
        (["--to", "site"], "nothing to publish"),
        (["run"], "name the folder of the site with --to"),
        (["nothing", "--to", "new"], "nothing"),
        (["--check", "nothing"], "nothing is no site of diskproof"),
        (["run", "--check", "site"], "leave runs and --to out"),
        (["run", "--to", "full"], "full is no site of diskproof and is not empty"),
        (["empty", "--to", "new"], "empty is not a run folder"),
    ],
)
def test_what_cannot_be_done_is_refused(made: Path, tmp_path: Path, words: list[str], said: str) -> None:
    for name in ("run", "site"):
        (tmp_path / name).symlink_to(made / name)
    (tmp_path / "empty").mkdir()
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "thesis.tex").touch()
    result = diskproof_here(tmp_path, "publish", *words)
    assert result.returncode == 2
    assert said in result.stderr
    assert not (tmp_path / "new").exists()


@pytest.mark.parametrize(
    "name", ["../x", "/etc/x", "runs/../../x", "a/../b", ".git/hooks/x", "runs/.x", "a\0b", "a b", "", "x/"]
)
def test_a_name_that_leads_elsewhere_is_not_written(tmp_path: Path, name: str) -> None:
    with pytest.raises(RefusalError, match="is no name of a file in a site"):
        write(tmp_path / "site", MADE.dump_json(Made(files={"index.html": "x", name: "x"})).decode())
    assert list(tmp_path.rglob("*")) == []


def test_a_link_in_a_site_leads_nobody_out(tmp_path: Path) -> None:
    (tmp_path / "outside").mkdir()
    (tmp_path / "site").mkdir()
    (tmp_path / "site" / "runs").symlink_to(tmp_path / "outside")
    with pytest.raises(RefusalError, match="leads out of"):
        write(tmp_path / "site", MADE.dump_json(Made(files={"runs/x/index.html": "x"})).decode())
    assert list((tmp_path / "outside").rglob("*")) == []


def test_words_from_outside_are_shown_and_not_obeyed(tmp_path: Path) -> None:
    plan = make_plan(blocks=2, storages=("disk",))
    cells = [cell.model_copy(update={"tuning": HOSTILE + cell.tuning}) for cell in plan.cells]
    plan = plan.model_copy(update={"study": HOSTILE, "question": HOSTILE, "cells": cells})
    trials = make_trials(make_plan(blocks=2, storages=("disk",)))
    hostile = Finding(check="settings", severity="invalid", message=HOSTILE, remedy=HOSTILE)
    trials[0] = change(trials[0], findings=[hostile])
    machine = make_machine(make_plan(storages=("disk",)), cpu_model=HOSTILE)
    write_run(tmp_path / "run", plan, trials, machine)
    assert diskproof_here(tmp_path, "publish", "run", "--to", "site").returncode == 0
    pages = [*(tmp_path / "site").rglob("*.html"), *(tmp_path / "site").rglob("*.svg")]
    assert len(pages) == 8
    for page in pages:
        assert "<img src=x" not in page.read_text(), page
        assert "<b>x</b>" not in page.read_text(), page
    assert checked(tmp_path / "site")[0] == 0


# ---------------------------------------------------------------- in a browser


@pytest.mark.parametrize("width", [400, 1600])
def test_the_list_is_sorted_without_a_script(made: Path, browser: Browser, width: int) -> None:
    context = browser.new_context(viewport={"width": width, "height": 900}, java_script_enabled=False)
    page = context.new_page()
    complaints: list[str] = []
    page.on("console", lambda message: complaints.append(message.text))
    page.goto((made / "site" / "index.html").as_uri())
    expect(page.locator("tbody th").first).to_have_text("quickstart")
    page.get_by_role("link", name="Study").click()
    expect(page.locator("tbody th").first).to_have_text("hammerdb")
    expect(page.locator("th[aria-sort=ascending]")).to_have_text("Study ↑")
    page.get_by_role("link", name="quickstart").click()
    expect(page.get_by_role("heading", level=1)).to_contain_text("How fast is a database")
    expect(page.get_by_role("img", name="transactions/s")).to_be_visible()
    page.get_by_role("link", name="The report").click()
    expect(page.locator("#verdicts")).to_be_attached()
    page.go_back()
    page.get_by_role("link", name="all runs").click()
    expect(page.locator("tbody tr")).to_have_count(2)
    assert complaints == []
    context.close()


def test_a_published_folder_is_a_run_folder(made: Path) -> None:
    folder = RunFolder.open(runs_of(made / "site")["quickstart"])
    assert len(folder.trials()) == 40
    assert folder.series(folder.trials()[0].id) is not None


# ---------------------------------------------------------------- a repository of submissions


def test_the_workflow_of_submissions_checks_and_then_makes_the_pages(site: Path) -> None:
    check, make = steps_of_the_workflow()
    runs = sorted(str(run.relative_to(site)) for run in site.glob("runs/*"))
    assert diskproof(site, *check.split()).returncode == 0
    assert diskproof(site, *make.replace("runs/*", " ".join(runs)).split()).returncode == 0
    assert {run.name for run in site.glob("public/runs/*")} == {Path(run).name for run in runs}
    figures = runs_of(site)["quickstart"] / "figures.json"
    forged = re.sub(r'"estimate": ([0-9.]+)', '"estimate": 9\\1', figures.read_text(), count=1)
    figures.write_text(forged)
    assert diskproof(site, *check.split()).returncode == 10
