"""A static site of runs: each with its figures, records, report and audit, and the list of all."""

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from markupsafe import Markup
from pydantic import Field, TypeAdapter, ValidationError

from diskproof.audit.registry import RESULT_CHECKS
from diskproof.reading import MIB, read_bytes
from diskproof.refusal import RefusalError
from diskproof.report.document import Bar, Column, Table
from diskproof.report.intervals import bounds
from diskproof.report.one_screen import absolute_scale
from diskproof.report.write.html import asset
from diskproof.results.durable import write_whole, writing
from diskproof.results.folder import RunFolder
from diskproof.results.record import Record
from diskproof.results.series import Row
from diskproof.results.trial import Severity
from diskproof.site.entry import Entry, Figure, cell_words, differences
from diskproof.site.pages import templates
from diskproof.site.submission import RAW, Submission, submitted
from diskproof.wording import numbers

ENTRY, SCHEMA, RUNS = "figures.json", "figures.schema.json", "runs"

MOST_ENTRY_BYTES = 16 * MIB

MOST_RUNS = 10_000

FILE = re.compile(r"(?!\.)[A-Za-z0-9._-]{1,120}(?:/(?!\.)[A-Za-z0-9._-]{1,120}){0,6}")
"""The name of a file of a site: plain, below it."""

BADGES: dict[Severity | None, tuple[str, str]] = {
    "invalid": ("#a34300", "errors"),
    "warning": ("#6b4fa8", "doubts"),
    "note": ("#00694a", "audited"),
    None: ("#00694a", "audited"),
}
"""Colour and word of a badge, by the gravest finding."""


class Made(Record):
    """What is to be written below a site."""

    files: dict[str, str]
    series: dict[str, dict[str, list[Row]]] = Field(default_factory=dict)
    """By run, then by trial."""


MADE: TypeAdapter[Made] = TypeAdapter(Made)


@dataclass
class Publication:
    """What becomes of submissions."""

    made: Made
    entries: list[Entry]
    """The new ones."""
    taken_out: dict[str, dict[str, str]] = field(default_factory=dict)
    """What identifies, by kind: what stands in its place."""


def publish(paths: Sequence[Path], to: Path, *, keep: bool = False) -> Publication:
    """Return the site of some runs together with those that are in it already; nothing is written yet."""
    from diskproof.report import html  # noqa: PLC0415 - drawing takes long to load; a check needs none of it

    known = {one.id: one for one in entries(to)}
    files: dict[str, str] = {}
    series: dict[str, dict[str, list[Row]]] = {}
    new: list[Entry] = []
    taken_out: dict[str, dict[str, str]] = {}
    for one in submitted(paths, keep=keep):
        analysis = one.analysis
        entry = one.entry(analysis)
        at = f"{RUNS}/{entry.id}"
        files |= {f"{at}/{name}": text for name, text in one.files.items()}
        series[entry.id] = {trial: list(rows) for trial, rows in one.folder.rows.items()}
        files |= {
            f"{at}/{ENTRY}": entry.model_dump_json(indent=1) + "\n",
            f"{at}/report.html": html.render(analysis),
            f"{at}/index.html": run_page(entry, one),
            f"{at}/badge.svg": badge(entry),
        }
        for kind, found in one.identity.found.items():
            taken_out.setdefault(kind, {}).update(found)
        known[entry.id] = entry
        new.append(entry)
    files[SCHEMA] = json.dumps(Entry.model_json_schema(), indent=1) + "\n"
    files |= dict(overviews([*known.values()]))
    return Publication(Made(files=files, series=series), new, taken_out)


def entries(site: Path) -> Iterator[Entry]:
    """Yield the entries of a site; RefusalError if the folder holds something else."""
    if not site.exists():
        return
    if not site.is_dir() or (any(site.iterdir()) and not (site / SCHEMA).is_file()):
        raise RefusalError(f"{site} is no site of diskproof and is not empty: name a folder that is")
    for path in sorted((site / RUNS).glob("*"))[:MOST_RUNS]:
        yield read_entry(path)


def read_entry(run: Path) -> Entry:
    """Read the entry of a published run."""
    try:
        return Entry.model_validate_json(read_bytes(run / ENTRY, MOST_ENTRY_BYTES, run.resolve()))
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        where = ".".join(map(str, first["loc"]))
        raise RefusalError(f"{run / ENTRY} cannot be read: `{where}`: {first['msg']}") from None


def write(to: Path, made: str) -> None:
    """Write a site. Its parts come from a reader of foreign files, so their names are looked at."""
    content = MADE.validate_json(made)
    files = {_place(to, name): text for name, text in content.files.items()}
    series = {
        _place(to, f"{RUNS}/{run}/series/{trial}.parquet"): (run, trial, rows)
        for run, trials in content.series.items()
        for trial, rows in trials.items()
    }
    for path in (*files, *series):
        _check_inside(to, path)
    for path, text in files.items():
        with writing(path):
            path.parent.mkdir(parents=True, exist_ok=True)
            write_whole(path, text)
    for path, (run, trial, rows) in series.items():
        with writing(path):
            path.parent.mkdir(parents=True, exist_ok=True)
            RunFolder(to / RUNS / run).write_series(trial, rows)


def _place(to: Path, name: str) -> Path:
    if not FILE.fullmatch(name) or ".." in name:
        raise RefusalError(f"{name!r:.200} is no name of a file in a site: nothing of it was written")
    return to / name


def _check_inside(to: Path, path: Path) -> None:
    """Refuse a path that a link leads out of a site, also if its folder is not there yet."""
    if not path.parent.resolve().is_relative_to(to.resolve()):
        raise RefusalError(f"{path.parent} is a link that leads out of {to}: remove it")


# ---------------------------------------------------------------- checks


def contradictions(run: Path) -> tuple[Entry, list[str]]:
    """Return the entry of a published run, and where it contradicts its own records."""
    told = read_entry(run)
    (one,) = submitted([run], keep=True)
    again = one.entry(one.analysis)
    found = [f"it lies in {run.name}, but its id is {told.id}"] if told.id != run.name else []
    found += differences(told, again)
    if one.raw:  # its records as a run are made of what the tool printed
        for name, text in one.folder.texts.items():
            kept = read_bytes(run / name, MOST_ENTRY_BYTES, run.resolve()).decode(errors="replace")
            if json_of(kept) != json_of(text):
                found.append(f"{name} is not what its files in {RAW}/ give")
    else:
        found += _impossible(one)
    return told, found


def json_of(text: str) -> list[object]:
    """Return the values of JSON lines; what is none stays a text."""
    found: list[object] = []
    for line in text.splitlines():
        try:
            found.append(json.loads(line))
        except (ValueError, RecursionError):
            found.append(line)
    return found


def _impossible(one: Submission) -> Iterator[str]:
    """Yield what no run of ours can record: figures that cannot be true at once."""
    arithmetic = {check.name for check in RESULT_CHECKS}
    for subject in one.subjects:
        for check in subject.checks:
            for raised in check.raised:
                if check.check in arithmetic and raised.severity == "invalid":
                    yield f"{check.check}: {raised.message.text}"


# ---------------------------------------------------------------- pages


@dataclass(frozen=True)
class Order:
    """An order of the list of runs, which has a page of its own: no script sorts it."""

    page: str
    title: str
    key: Callable[[Entry], object]
    reverse: bool = False


GRAVITY: dict[Severity | None, int] = {None: 0, "note": 0, "warning": 1, "invalid": 2}

ORDERS = (
    Order("index.html", "Measured", lambda one: (one.measured, one.id), reverse=True),
    Order("by-study.html", "Study", lambda one: (one.study.casefold(), one.id)),
    Order("by-figure.html", "Figure", lambda one: (one.speed, one.id), reverse=True),
    Order("by-system.html", "System", lambda one: (one.system.casefold(), one.id)),
    Order("by-audit.html", "Audit", lambda one: (GRAVITY[one.gravest], one.id)),
)


def overviews(every: Sequence[Entry]) -> Iterator[tuple[str, str]]:
    """Yield the pages of the list of runs, one for each order."""
    for order in ORDERS:
        ordered = sorted(every, key=order.key, reverse=order.reverse)  # type: ignore[arg-type]
        said = {"entries": ordered, "orders": ORDERS, "order": order, "style": _style(), "judged": judged}
        yield order.page, templates().get_template("site.html.j2").render(said)


def judged(entry: Entry) -> str:
    """Return what an audit found, in a few words."""
    errors, doubts = (sum(one.severity == kind for one in entry.found) for kind in ("invalid", "warning"))
    said = [numbers.count(errors, "error")] if errors else []
    said += [numbers.count(doubts, "doubt")] if doubts else []
    return " and ".join(said) or "no finding"


def run_page(entry: Entry, one: Submission) -> str:
    """Return the page that a published run's address shows first."""
    files = [*sorted(one.files), ENTRY]
    said = {
        "entry": entry,
        "style": _style(),
        "tables": [table for table in (*_figures(entry.figures), _losses(entry)) if table.rows],
        "files": files,
        "citation": citation(entry),
        "judged": judged(entry),
    }
    return templates().get_template("entry.html.j2").render(said)


def citation(entry: Entry) -> str:
    """Return how a run is cited."""
    measured = f" on {entry.measured[:10]}" if entry.measured else ""
    return (
        f"{entry.study}: {entry.question} Measured by {entry.measured_by}{measured}, "
        f"{numbers.count(entry.trials, 'trial')}. runs/{entry.id}/, SHA-256 {entry.sha256}."
    )


def _figures(figures: Sequence[Figure]) -> Iterator[Table]:
    """Yield a table for each unit: a row a cell."""
    for unit in dict.fromkeys(one.unit for one in figures):
        some = [one for one in figures if one.unit == unit]
        yield Table(
            tuple(map(Column, ("Cell", unit, "95% interval", "Blocks"))),
            tuple(
                (cell_words(one), numbers.number(one.estimate), bounds(one.interval), str(one.blocks))
                for one in some
            ),
            f"Figures, {unit}",
            scale=absolute_scale([one.interval for one in some]),
            bars=tuple(Bar(one.estimate, one.low, one.high, "same") for one in some),
        )


def _losses(entry: Entry) -> Table:
    return Table(
        tuple(map(Column, ("Cuts", "Way", "Lost or damaged something"))),
        tuple((one.cell, one.way, f"{one.harmed} of {one.cuts}") for one in entry.losses),
        "Cuts",
    )


CHARACTER_PX = 6.6
"""Mean width of a character of a badge."""


def badge(entry: Entry) -> str:
    """Return a picture of the run's figure, for pages elsewhere."""
    colour, word = BADGES[entry.gravest]
    said = f"{entry.headline.partition(' (')[0]}, {word}"[:60]
    left, right = (round(len(text) * CHARACTER_PX) + 12 for text in ("diskproof", said))
    return templates().get_template("badge.svg.j2").render(left=left, right=right, colour=colour, said=said)


def _style() -> Markup:
    return Markup(asset("page.css") + asset("site.css", "diskproof.site"))  # noqa: S704 - ours


def listing(taken_out: Mapping[str, Mapping[str, str]]) -> Iterable[str]:
    """Yield what is taken out, a line a kind."""
    for kind, found in sorted(taken_out.items()):
        count = numbers.count(len(found), kind, PLURALS.get(kind))
        yield f"{count}: {numbers.listed(list(found), MOST_SHOWN)}"


PLURALS = {"folder": "names of folders", "host": "names of hosts", "user": "names of users"}

MOST_SHOWN = 12
