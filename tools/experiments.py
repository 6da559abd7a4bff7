"""docs/experiments.md and docs/experiments/: the five published experiments, run here.

Runs the studies one after the other, then writes an overview, and for each study a page with a picture.
`--again` makes the pages from the newest run of each study; one without a run keeps its page. `--of-its-time
DIR` runs the studies with an old server as well, and the pages show both. These are measurements: leave the
machine alone meanwhile.
"""

import argparse
import subprocess
import sys
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from itertools import islice
from pathlib import Path

import study_prose
from diskproof.analysis.answers import Analysis
from diskproof.analysis.folder import analyse_folder
from diskproof.analysis.published.shapes import BesideRatio
from diskproof.refusal import RefusalError
from diskproof.report.charts import cells
from diskproof.report.charts import published as pictures
from diskproof.report.charts.split import time_split
from diskproof.report.charts.still import png
from diskproof.report.compose import head, limits_words, names, published_groups
from diskproof.report.document import Column, Figure, Table
from diskproof.report.intervals import extrapolated, with_bounds
from diskproof.report.write import markdown
from diskproof.results.folder import RunFolder
from diskproof.results.plan import Plan
from diskproof.server.choice import with_present_servers
from diskproof.study.plan import make_plan
from diskproof.study.read import read_study
from diskproof.wording.numbers import NOT_OBSERVED, count, duration, listed, number
from paths import DOCS, STUDIES
from versions import changed_since

PAGE = DOCS / "experiments.md"
SHARPNESS = 1.25
"""Pixels of a picture for one of the page: sharp, and not too heavy for a repository."""

EXPERIMENTS = (
    "percona-raspberry-pi",
    "lnu-thesis",
    "mysqlslap-office",
    "juju-ec2",
    "star-ssd-sas-dram",
)
HEADLINES: Mapping[str, Sequence[str]] = {
    "lnu-thesis": ("ssd", "disk"),
    "mysqlslap-office": ("laptop", "as-run"),
    "juju-ec2": ("storage", "ebs"),
}
"""The levels that a published ratio must compare or have to stand on the short page. Other studies show all.

The thesis has its answer in the SSD against the disk, test by test. Of mysqlslap's two levels one is as the
author ran it. The question of EC2 is what replaces EBS."""

MYSQL = "mysql"
"""What each study calls the server that an old one may stand in for."""

OF_ITS_TIME = "of-its-time"
"""Folder of the runs with such a server."""

NOTE = "<!-- made by `make experiments`; do not edit -->"

MARKS = "Ratios are of speeds; [METHODOLOGY.md](../../METHODOLOGY.md#published-figures) defines the marks."

MOST_PANELS = 12
"""Pictures with more panels are left to the report's own page, which scrolls."""

ELSEWHERE = """\
The page of the run (`report.html` in its folder) has all figures and pictures, the limit of each cell, and \
prices. `diskproof audit` with the folder checks it."""

INTRODUCTION = """
Five published comparisons of disks under databases, run again. Each is one study file that holds the \
question, the load, the settings and the published figures.

The runs use virtual disks that behave like the published ones ([devices.md](devices.md)). Their models \
were fitted to file I/O alone, never to a database's figures. So agreement is evidence. If a figure does \
not agree, the run's own page shows what held both sides back. \
[METHODOLOGY.md](../METHODOLOGY.md#published-figures) defines the marks.

To ask the same question of your own disks, put them into the study file in place of the virtual ones.
"""


@dataclass(frozen=True)
class Shown:
    """A run of one study."""

    study: str
    analysis: Analysis
    began: datetime
    took_s: float
    """All trials together; loading the data sets comes before."""
    then: Analysis | None = None
    """The newest run of the same cells with a server of the study's time; None if there is none."""

    @property
    def plan(self) -> Plan:
        """The run's plan."""
        return self.analysis.plan


def main() -> int:
    """Run the studies, and write the pages."""
    arguments = parse()
    before = PAGE.read_text() if PAGE.exists() else ""
    if not arguments.again:
        for study in arguments.studies:
            run(study, arguments.scale, arguments.out)
            if arguments.of_its_time:
                run(study, arguments.scale, arguments.out / OF_ITS_TIME, arguments.of_its_time)
    found = {study: beside_then(study, arguments.scale, arguments.out) for study in EXPERIMENTS}
    for study, shown in found.items():
        if shown:
            pictures = draw(study, islice(figures(shown.analysis), 1))
            write(study_prose.summary_of(study), summary(shown, pictures))
        else:
            print(f"{study} has no complete run at scale {arguments.scale}: its page stays", file=sys.stderr)
    write(PAGE, overview(found, before))
    return 0 if any(found.values()) else 1


def write(path: Path, parts: Iterable[str]) -> None:
    """Write a page from its parts."""
    path.write_text("\n\n".join(part for part in parts if part) + "\n")


def parse() -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "studies", nargs="*", default=EXPERIMENTS, help="some of the studies; without any all five"
    )
    parser.add_argument("--scale", default="short", help="scale of the studies")
    parser.add_argument("--out", type=Path, default=Path("runs"), help="folder of the runs")
    parser.add_argument(
        "--again", action="store_true", help="run nothing: make the pages from the newest runs"
    )
    parser.add_argument(
        "--of-its-time",
        type=Path,
        metavar="DIR",
        help="folder of an old MySQL or Percona Server to run the studies with too",
    )
    return parser.parse_args()


def run(study: str, scale: str, out: Path, basedir: Path | None = None) -> None:
    """Run a study, or its MySQL in a folder alone. Invalid trials do not stop it: the pages report them."""
    argv = [
        sys.executable,
        "-m",
        "diskproof",
        "run",
        str(STUDIES / f"{study}.toml"),
        "--scale",
        scale,
        "--out",
        str(out),
    ]
    if basedir is not None:
        argv += ["--basedir", f"{MYSQL}={basedir}", "--only", f"{MYSQL}/"]
    trial_invalid = 12
    if (code := subprocess.run(argv, check=False).returncode) not in (0, trial_invalid):
        raise SystemExit(f"{study} ended with {code}")


def beside_then(study: str, scale: str, out: Path) -> Shown | None:
    """Return the newest run of a study, with the newest of a server of its time; None if there is none."""
    file = read_study(STUDIES / f"{study}.toml", scale)
    now = newest(study, make_plan(with_present_servers(file)), out)
    if now is None:
        return None
    old = with_present_servers(file, [f"{MYSQL}={out}"])  # a plan does not depend on the folder
    then = newest(study, make_plan(old, [f"{MYSQL}/"]), out / OF_ITS_TIME)
    return replace(now, then=then.analysis if then else None)


def newest(study: str, today: Plan, out: Path) -> Shown | None:
    """Return the newest complete run of today's plan of a study; None if there is none."""
    for path in sorted((out / study).glob("*-*/plan.json"), reverse=True):
        folder = RunFolder.open(path.parent)
        of_run = folder.plan().scale
        if of_run is None or today.scale is None or of_run.name != today.scale.name:
            continue
        if other := what_differs(folder, today):
            print(
                f"{path.parent} was made from another version of the study ({other}): skipped",
                file=sys.stderr,
            )
            continue
        analysis = analyse_folder(folder)
        trials = folder.trials()
        if analysis.complete:
            took_s = sum(one.timings.total_s for one in trials if one.timings)
            return Shown(study, analysis, datetime.fromisoformat(trials[0].started_at), took_s)
    return None


def what_differs(folder: RunFolder, today: Plan) -> str:
    """Return how a run differs from today's plan of its study; empty if it asks for the same trials.

    The study's prose may have changed since.
    """
    plan = folder.plan()
    planned = ("cells", "trials", "phases", "metrics", "scripts")
    try:
        defined = changed_since(folder, STUDIES / f"{today.study}.toml", plan.cells)
    except RefusalError as error:
        return f"its study can no longer be read: {error}"
    return ", ".join([*(key for key in planned if getattr(plan, key) != getattr(today, key)), *defined])


def overview(found: Mapping[str, Shown | None], before: str) -> Iterator[str]:
    """Yield the page that lists the studies with their answers; one without a run as it was `before`."""
    yield "# The five published experiments, run again"
    yield NOTE
    yield INTRODUCTION.strip()
    for study, shown in found.items():
        kept = (one for one in before.split("\n\n") if one.startswith(link(study)))
        yield from [item(shown)] if shown else kept
    yield "`make experiments` makes these pages."


def link(study: str) -> str:
    """Return how a study's item of the overview begins."""
    return f"- [{study}]({study_prose.PAGES.name}/{study}.md): "


def item(one: Shown) -> str:
    """Return what the overview says of a study."""
    then = [f"With {servers(one.then)}: {published_groups.summary(one.then)}"] if one.then else []
    scaled = f", scale `{one.plan.scale.name}`" if one.plan.scale else ""
    return "\n  - ".join(
        (
            f"{link(one.study)}**{markdown.escape(one.plan.question)}**",
            published_groups.summary(one.analysis),
            *then,
            f"Held back by: {held_back(one.analysis)}",
            f"{head.speed_progress(one.analysis)}, {duration(one.took_s)}{scaled}",
        )
    )


def summary(one: Shown, pictures: Sequence[str]) -> Iterator[str]:
    """Yield a study's short page: the answer, how to read it, how it was measured."""
    analysis = one.analysis
    yield f"# {one.study}"
    yield NOTE
    yield f"**{markdown.escape(one.plan.question)}**"
    yield study_prose.section(one.study, study_prose.ANSWER)
    found = published_groups.summary(analysis)
    yield f"Against the publication: {found}. Held back by: {held_back(analysis)}."
    if one.then:
        yield f"With {servers(one.then)}, a server of the time: {published_groups.summary(one.then)}."
    yield markdown.table(headlines(one))
    yield MARKS
    yield from pictures
    yield study_prose.section(one.study, study_prose.PROSE)
    yield "## How it was measured"
    scaled = f" --scale {one.plan.scale.name}" if one.plan.scale else ""
    yield f"```\ndiskproof run studies/{one.study}.toml{scaled}\n```"
    shape = f"{head.speed_design(one.plan)}; {head.speed_progress(analysis)}"
    yield ". ".join(filter(None, (shape, names.slow_time(analysis), markdown.escape(machine(one)))))
    yield markdown.escape(" ".join([head.scale(one.plan), head.left_out(one.plan)]).strip())
    yield ELSEWHERE


def held_back(analysis: Analysis) -> str:
    """Return how many cells have which limit: ``log flush in 4 cells; not established in 1 cell``."""
    if analysis.limits is None:
        return NOT_OBSERVED
    counted = Counter(one.limit for one in analysis.limits.cells if one.limit)
    named = [f"{limit} in {count(number, 'cell')}" for limit, number in counted.items()]
    without = sum(one.limit is None for one in analysis.limits.cells)
    rest = [f"{limits_words.NOT_ESTABLISHED} in {count(without, 'cell')}"] if without else []
    return "; ".join([*([listed(named, len(named))] if named else []), *rest])


def headlines(one: Shown) -> Table:
    """Return a row a headline: as published, as measured, whether they agree, and both limits.

    With a server of the study's time, what was measured with it stands in further columns.
    """
    columns = (
        Column("Ratio of"),
        Column("Published", figures=True),
        Column("Measured", figures=True),
        Column("Agrees?"),
        Column("Held back here by"),
        *((Column(f"With {servers(one.then)}", figures=True), Column("Agrees?")) if one.then else ()),
    )
    groups = published_groups.groups(one.analysis)
    old = {
        _question(row): (with_bounds(row.measured) + extrapolated(row.extrapolated), row.mark)
        for group in (published_groups.groups(one.then) if one.then else ())
        for row in group.ratios
    }
    rows = tuple(
        (
            headline(group, row, several=row.published.part is None and len(groups) > 1),
            number(row.published.ratio),
            with_bounds(row.measured) + extrapolated(row.extrapolated),
            row.mark,
            group.held_back(row),
            *(old.get(_question(row), (NOT_OBSERVED, NOT_OBSERVED)) if one.then else ()),
        )
        for group in groups
        for row in group.in_short().ratios
        if is_headline(one.study, group, row)
    )
    return Table(columns, rows)


def _question(row: BesideRatio) -> str:
    """Return what a published ratio compares, whichever server answers it."""
    return row.published.model_dump_json()


def headline(group: published_groups.Group, row: BesideRatio, *, several: bool) -> str:
    """Return a ratio in words, with its table if another table compares the same."""
    name = group.name(row)
    return f"{name} ({group.title})" if several else name


def is_headline(study: str, group: published_groups.Group, row: BesideRatio) -> bool:
    """Report whether a ratio stands on the short page."""
    published = row.published
    has = {published.factor, published.level, published.baseline, *group.held(row).values()}
    return set(HEADLINES.get(study, ())) <= has


def servers(analysis: Analysis) -> str:
    """Return the servers of a run with their versions."""
    found = analysis.machine.servers if analysis.machine else []
    return ", ".join(f"{server.flavour} {server.version}" for server in found)


def machine(one: Shown) -> str:
    """Return when and on what it was measured, without names or paths of the machine."""
    facts = one.analysis.machine
    if facts is None:
        return ""
    return (
        f"{one.began:%Y-%m-%d}, {servers(one.analysis)}, {facts.cpu_model}, {count(facts.cpus, 'CPU')}"
        f"{f' of a virtual machine ({facts.virtualised})' if facts.virtualised else ''}."
    )


def draw(study: str, found: Iterable[Figure]) -> list[str]:
    """Write a study's pictures, and return a link to each."""
    links = []
    for figure in found:
        path = study_prose.PAGES / f"{study}-{figure.name}.png"
        path.write_bytes(png(figure, scale_factor=SHARPNESS))
        links.append(f"![{figure.title}]({path.name})")
    return links


def figures(analysis: Analysis) -> Iterator[Figure]:
    """Yield the figures that answer a study's question, with their legends."""
    if ratios := pictures.ratios(analysis):
        yield ratios
    if split := time_split(analysis):
        yield split
    if "clients" in analysis.varying:
        yield from (one for one in cells.throughput(analysis) if len(one.panels) <= MOST_PANELS)


if __name__ == "__main__":
    sys.exit(main())
