"""docs/experiments.md: the five published experiments, run here, beside what was published.

Runs the studies, one after the other, and writes the page with its tables and pictures; `--again` makes the
page from the newest run of each. Measurements: nothing else should work on the machine meanwhile.
"""

import argparse
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path

import audits
import side_by_side
from diskproof.analysis.answers import Analysis
from diskproof.analysis.audited.shapes import SubjectAnswer
from diskproof.analysis.folder import analyse_folder, audit_folder
from diskproof.analysis.limits.words import sentence_case
from diskproof.analysis.published.shapes import BesideRatio
from diskproof.refusal import RefusalError
from diskproof.report import beside, charts, markdown, pipes, published_charts, tables, words
from diskproof.report.chart_parts import Figure
from diskproof.report.charts import png
from diskproof.report.limits import words as limit_words
from diskproof.report.limits.split_chart import time_split
from diskproof.report.price_chart import speed_against_price
from diskproof.report.tables import limits as limit_tables
from diskproof.results.folder import RunFolder
from diskproof.results.plan import Plan
from diskproof.server.choice import with_present_servers
from diskproof.study.plan import make_plan
from diskproof.study.read import read_study
from versions import changed_since

DOCS = Path(__file__).parent
PAGE = DOCS / "experiments.md"
PICTURES = DOCS / "experiments"
SHARPNESS = 1.25
"""Pixels of a picture for one of the page: sharp, and not too heavy for a repository."""

STUDIES = DOCS.parent / "studies"
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
"""What a published ratio must compare or have as a level to stand in the table at the top; all ratios of
other studies do.

The thesis has its answer in the SSD against the disk, test by test; of mysqlslap's two levels the one is as
it was run; EC2's question is what replaces EBS."""

NOTE = "<!-- made by `make experiments`; do not edit -->"

MOST_PANELS = 12
"""A picture of more than these is for the report's own page, where one can scroll."""

INTRODUCTION = """
Five published comparisons of disks under databases, each as one study file: its question, its load, its \
settings, its figures. What stands here was measured on virtual disks that behave like the published ones \
([devices.md](devices.md)) and that were fitted to file I/O alone, never to a database's figures. So a table \
that agrees is evidence, and one that does not has its reasons beside it, from what was recorded.

Put your own disks into one of these files, in the place of the virtual ones, and it is your experiment. \
`diskproof compare` holds two runs of one study against each other.
"""


@dataclass(frozen=True)
class Shown:
    """A run of one study, ready to be shown."""

    study: str
    analysis: Analysis
    audit: SubjectAnswer
    """What the checks say of the run."""
    began: datetime
    took_s: float
    """From the first trial's beginning to the last one's end; loading the data sets comes before."""

    @property
    def plan(self) -> Plan:
        """The run's plan."""
        return self.analysis.plan


def main() -> int:
    """Run what is to be run, and write the page."""
    arguments = parse()
    if not arguments.again:
        for study in arguments.studies:
            run(study, arguments.scale, arguments.out)
    shown = [found for study in EXPERIMENTS if (found := newest(study, arguments.scale, arguments.out))]
    if missing := [study for study in EXPERIMENTS if study not in {one.study for one in shown}]:
        print(f"the page is of all five, and left as it was: run {', '.join(missing)} first", file=sys.stderr)
        return 1
    PICTURES.mkdir(exist_ok=True)
    PAGE.write_text("\n\n".join(page(shown, arguments.scale)) + "\n")
    return 0


def parse() -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "studies", nargs="*", default=EXPERIMENTS, help="some of the studies; without any all five"
    )
    parser.add_argument("--scale", default="short", help="scale of the studies")
    parser.add_argument("--out", type=Path, default=Path("runs"), help="folder of the runs")
    parser.add_argument("--again", action="store_true", help="run nothing: the page from runs that are there")
    return parser.parse_args()


def run(study: str, scale: str, out: Path) -> None:
    """Run a study; trials that do not count are told on the page, and are no reason to stop."""
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
    trial_invalid = 12
    if (code := subprocess.run(argv, check=False).returncode) not in (0, trial_invalid):
        raise SystemExit(f"{study} ended with {code}")


def newest(study: str, scale: str, out: Path) -> Shown | None:
    """Return the newest whole run of a study at a scale; None, with a word, where there is none."""
    today = make_plan(with_present_servers(read_study(STUDIES / f"{study}.toml", scale)).file)
    for path in sorted((out / study).glob("*-*/plan.json"), reverse=True):
        folder = RunFolder.open(path.parent)
        of_run = folder.plan().scale
        if of_run is None or of_run.name != scale:
            continue
        if other := what_differs(folder, today):
            print(
                f"{path.parent} was made from another version of the study ({other}): passed over",
                file=sys.stderr,
            )
            continue
        analysis = analyse_folder(folder)
        trials = folder.trials()
        if analysis.complete:
            began, last = (datetime.fromisoformat(trials[at].started_at) for at in (0, -1))
            lasted = timedelta(seconds=trials[-1].timings.total_s if trials[-1].timings else 0.0)
            took_s = (last + lasted - began).total_seconds()
            return Shown(study, analysis, audit_folder(folder), began, took_s)
    print(f"{study} has no whole run at scale {scale}", file=sys.stderr)
    return None


def what_differs(folder: RunFolder, today: Plan) -> str:
    """Return in what a run differs from today's plan of its study; empty where it asks for the same trials.

    What a study says of its trials may have been reworded.
    """
    plan = folder.plan()
    planned = ("cells", "trials", "phases", "metrics", "scripts")
    try:
        defined = changed_since(folder, STUDIES / f"{today.study}.toml", plan.cells)
    except RefusalError as error:
        return f"which cannot be read any more: {error}"
    return ", ".join([*(key for key in planned if getattr(plan, key) != getattr(today, key)), *defined])


def page(shown: list[Shown], scale: str) -> Iterator[str]:
    """Yield the page, part by part."""
    yield "# The five experiments, again"
    yield NOTE
    yield INTRODUCTION.strip()
    command = "make experiments" + ("" if scale == "short" else f" SCALE={scale}")
    yield f"Made by `{command}`, whose trials take {words.duration(sum(one.took_s for one in shown))} here."
    yield pipes.table(overview(shown))
    yield "## The headlines"
    yield (
        f"{beside.note()} Of each comparison one measure stands here; the others, and the reasons for what "
        "does not agree, stand in the chapters."
    )
    yield pipes.table(headlines(shown))
    for one in shown:
        yield from chapter(one)


def overview(shown: Sequence[Shown]) -> tables.Table:
    """Return a row a study."""
    columns = ("Study", "Trials", "Took", "Beside the published figures", "Held back by")
    rows = tuple(
        (
            one.study,
            words.progress(one.analysis),
            words.duration(one.took_s),
            beside.summary(one.analysis),
            limit_words.summary(one.analysis.limits) if one.analysis.limits else words.NOT_OBSERVED,
        )
        for one in shown
    )
    return tables.Table(tuple(map(tables.Column, columns)), rows)


def headlines(shown: Sequence[Shown]) -> tables.Table:
    """Return a row a headline of any study: as published, as measured, whether they agree, and the limits."""
    columns = (
        tables.Column("Study"),
        tables.Column("Ratio of"),
        tables.Column("Published", figures=True),
        tables.Column("Measured", figures=True),
        tables.Column("Agrees?"),
        tables.Column("Held back here by"),
    )
    rows = tuple(
        (
            one.study,
            headline(group, row, several=row.published.part is None and len(groups) > 1),
            words.number(row.published.ratio),
            words.with_bounds(row.measured) + words.extrapolated(row.extrapolated),
            row.mark,
            group.held_back(row),
        )
        for one in shown
        for groups in [beside.groups(one.analysis)]
        for group in groups
        for row in group.in_short().ratios
        if is_headline(one.study, group, row)
    )
    return tables.Table(columns, rows)


def headline(group: beside.Group, row: BesideRatio, *, several: bool) -> str:
    """Return a ratio in words; its table tells apart what another table compares too."""
    name = group.name(row)
    return f"{name} ({group.title})" if several else name


def is_headline(study: str, group: beside.Group, row: BesideRatio) -> bool:
    """Tell whether a ratio stands in the table at the top."""
    published = row.published
    has = {published.factor, published.level, published.baseline, *group.held(row).values()}
    return set(HEADLINES.get(study, ())) <= has


def chapter(one: Shown) -> Iterator[str]:
    """Yield what is to be said of one study."""
    plan, analysis = one.plan, one.analysis
    yield f"## {one.study}"
    yield f"**{pipes.escape(plan.question)}**"
    scaled = f" --scale {plan.scale.name}" if plan.scale else ""
    yield f"```\ndiskproof run studies/{one.study}.toml{scaled}\n```"
    yield f"{words.design(plan)}; {words.progress(analysis)}. {pipes.escape(machine(one))}"
    yield pipes.escape(words.scale(plan))
    yield from pictures(one)
    yield from published(analysis)
    yield from held_back(analysis)
    yield from folded(
        "Efficiency and price", further(markdown.efficiency(analysis), markdown.prices(analysis))
    )
    yield from side_by_side.section(one.study, one.audit, analysis.limits)
    if failures := side_by_side.failures(one.audit):
        yield from folded("What failed in the run here", [failures])
    # `make docs` renews the prose and all that follows it.
    yield from further(markdown.prose(analysis))
    yield audits.section(one.study)


def machine(one: Shown) -> str:
    """Return on what and when it was measured: no name and no path of the machine."""
    facts = one.analysis.machine
    if facts is None:
        return ""
    servers = ", ".join(f"{server.flavour} {server.version}" for server in facts.servers)
    return (
        f"{one.began:%Y-%m-%d}, {servers}, {facts.cpu_model}, {words.count(facts.cpus, 'CPU')}"
        f"{f' of a virtual machine ({facts.virtualised})' if facts.virtualised else ''}."
    )


def published(analysis: Analysis) -> Iterator[str]:
    """Yield the published tables beside the measured ones; long tables of figures are folded away."""
    yield "### Beside the published figures"
    yield f"{pipes.escape(beside.source(analysis))}. {beside.summary(analysis)}."
    for group in beside.groups(analysis):
        yield from further(markdown.published_ratios(group))
        yield from folded("The figures, as published and as measured", markdown.published_figures(group))


def held_back(analysis: Analysis) -> Iterator[str]:
    """Yield what holds each cell back: how many have which limit, and a table of all."""
    limits = analysis.limits
    if limits is None:
        return
    yield f"### {limit_words.TITLE}"
    yield sentence_case(limit_words.summary(limits))
    yield from folded("Cell by cell", [pipes.table(limit_tables.in_short(analysis, limits))])


def further(*parts: Sequence[str]) -> list[str]:
    """Return parts of a report, their headings one level further down."""
    return [f"#{part}" if part.startswith("##") else part for about in parts for part in about]


def folded(title: str, parts: Sequence[str]) -> Iterator[str]:
    """Yield parts that only who asks for them sees; nothing of none."""
    if parts:
        yield f"<details><summary>{title}</summary>"
        yield from parts
        yield "</details>"


def pictures(one: Shown) -> Iterator[str]:
    """Write the study's pictures and yield a link to each."""
    for figure in figures(one.analysis):
        path = PICTURES / f"{one.study}-{figure.name}.png"
        path.write_bytes(png(figure, scale_factor=SHARPNESS))
        yield f"![{figure.title}]({PICTURES.name}/{path.name})"


def figures(analysis: Analysis) -> Iterator[Figure]:
    """Yield the figures that answer a study's question, with their legends."""
    yield from (drawing.figure for drawing in published_charts.drawings(analysis, legend=True))
    if split := time_split(analysis, legend=True):
        yield split.figure
    if "clients" in analysis.varying:
        for measure in (charts.THROUGHPUT, charts.REQUESTS, charts.SECONDS):
            figure = charts.throughput(analysis, measure, legend=True)
            if figure and len(figure.panels) <= MOST_PANELS:
                yield figure
    if figure := speed_against_price(analysis, legend=True):
        yield figure


if __name__ == "__main__":
    sys.exit(main())
