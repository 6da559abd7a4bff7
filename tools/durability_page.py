"""The text of docs/durability.md, from the cuts of each server."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

import durability_table
from diskproof.analysis.safety.analyse import answer_safety
from diskproof.analysis.safety.shapes import Agreement, ControlAnswer, CutAnswer, DocumentedAnswer, Safety
from diskproof.report.compose import cut_words as said
from diskproof.report.document import Column, Table
from diskproof.report.write.markdown import escape
from diskproof.report.write.markdown import table as pipe_table
from diskproof.results.crash import Must, Way
from diskproof.results.cut import CutTrial
from diskproof.results.machine import ServerFacts
from diskproof.results.plan import Cuts, Plan
from diskproof.stats.proportions import share
from diskproof.wording.numbers import NOT_OBSERVED, count
from durability_made import Part, made_by

TRUTH, TORN = CAMPAIGNS = ("durability-truth", "torn-pages")
TODAY, TODAY_HEADING = "torn-pages-today", "## Servers of today"
NOTE = "<!-- made by tools/durability.py from runs; do not edit -->"

INTRODUCTION = """
After this page you know what each setting that trades durability for speed lost, on each server, and \
whether its documentation says so.

Clients commit. Then the server is killed, the operating system stops, or the power fails. The database \
recovers, and every acknowledged commit is looked for. [safety.md](safety.md) says how cuts are counted, \
and what they cannot show. The disks are one model of a hard disk with three promises:

| disk | does |
|---|---|
| `honest` | what a flush asks for |
| `protected` | keeps its cache when the power fails |
| `ignoring` | answers flushes and does nothing |
"""

MUST: dict[Must, str] = {
    "keep": "kept everything, as they must",
    "lose": "lost something, as they must",
    "break": "were damaged, as they must be",
}
"""What a control did if its outcome was the known one."""

BINARY_LOG = (
    "Ahead: in so many cuts the log had transactions that the tables had not, at most so many; a replica "
    "then has more than its source. Behind: the reverse. Settings that never differed are left out."
)

TORN_PAGES = (
    "This study asks what a half-written page does to a database. Pages are written all the time and lie in "
    "the disk's cache when the power fails, so some of their sectors are lost."
)

TOLD: dict[Agreement, str] = {
    "agrees": "as documented",
    "contradicts": "against its documentation",
    "not seen": "a documented possible loss that was not seen",
    "not tried": "without a cut that tells",
}

NOT_READ_BACK = "not read back"


@dataclass(frozen=True)
class Campaign:
    """The cuts of one server."""

    server: ServerFacts
    parts: tuple[Part, ...]
    """The runs that they come from."""
    plan: Plan
    """Of a run that they come from."""
    crash: Cuts
    """Of this server's cells alone."""
    cuts: list[CutTrial]

    @property
    def title(self) -> str:
        """The server as its own program names itself, and the study, if it is another."""
        server = f"{self.server.flavour} {self.server.version}"
        return server if self.plan.study == TRUTH else f"{server}, {self.plan.study}"

    @cached_property
    def safety(self) -> Safety:
        """What its cuts say."""
        safety = answer_safety(self.plan.model_copy(update={"crash": self.crash}), self.cuts, [])
        assert safety is not None
        return safety

    def answer(self, row: DocumentedAnswer) -> CutAnswer:
        """Return the cuts that a row of the documentation is held against."""
        answer = self.safety.answer(row.cell.id, row.way)
        assert answer is not None
        return answer


def page(found: Sequence[Campaign]) -> Iterator[str]:
    """Yield the page, part by part."""
    yield "# What each durability setting really loses"
    yield NOTE
    yield INTRODUCTION.strip()
    yield summary(found)
    yield pipe_table(overview(found))
    kept = [each.telling for one in found for each in one.safety.answers if not each.harmed]
    yield f"{durability_table.LEGEND} {durability_table.bounds(kept)}"
    yield from contradicting(found)
    told: dict[str, set[str]] = {}
    for one in found:
        yield from chapter(one, told)
    yield from binary_logs(found)
    yield "## Controls"
    yield "\n".join(controls(found))
    yield "## How it was made"
    yield from made_by([part for one in found for part in one.parts])


def today(found: Sequence[Campaign]) -> str:
    """Return what cuts that tear pages took from servers of today."""
    answers = [(one, each) for one in found for each in one.safety.answers]
    rows = [
        (
            f"{one.server.flavour} {one.server.version}",
            each.cell.tuning,
            *(f"{figure:,.0f}" for figure in (each.telling, each.torn_writes or 0, each.harmed)),
            said.interval(each.loss_share) if each.loss_share else NOT_OBSERVED,
        )
        for one, each in answers
    ]
    titles = ("Cuts", "Torn writes", "Lost or damaged", "Share, 95%")
    columns = (Column("Server"), Column("Setting"), *(Column(title, figures=True) for title in titles))
    command = f"diskproof crash studies/{TODAY}.toml"
    return f"Pages are torn as above (`{command}`).\n\n{pipe_table(Table(columns, tuple(rows)))}"


# ---------------------------------------------------------------- what was done


def summary(found: Sequence[Campaign]) -> str:
    """Return how many rows were as documented on all servers, and which settings were not."""
    documented = [row for one in found for row in one.safety.documented]
    counts = {outcome: sum(row.outcome == outcome for row in documented) for outcome in TOLD}
    fared = ", ".join(f"{counts[outcome]:,} {text}" for outcome, text in TOLD.items() if counts[outcome])
    against = [
        f"{escape(one.title)}: {', '.join(dict.fromkeys(settings))}"
        for one in found
        if (settings := [f"`{row.cell.tuning}`" for row in _against(one)])
    ]
    return (
        f"{said.cuts(sum(one.safety.made for one in found))} of {count(len(documented), 'row')}; a row "
        f"is one setting, one way to die and one disk: {fared}."
        + (f" These contradict their documentation: {'; '.join(against)}." if against else "")
    )


def _against(one: Campaign) -> list[DocumentedAnswer]:
    return [row for row in one.safety.documented if row.outcome == "contradicts"]


def controls(found: Sequence[Campaign]) -> Iterator[str]:
    """Yield the outcome of the controls, by study and by what they must do, and what they do not cover."""
    yield (
        "A control is a setting with a known outcome. It exposes a campaign that cannot see a loss, or sees "
        "one that is not there. It only covers the settings named here:"
    )
    yield ""
    for study in CAMPAIGNS:
        for must, what in MUST.items():
            asked = [
                (one.safety, control)
                for one in found
                if one.plan.study == study
                for control in one.safety.controls
                if control.must == must
            ]
            if asked:
                yield f"- {study}: {_came_out(asked, what)}"
    unasked = [f"{escape(one.title)}, {row}" for one in found for row in _unasked(one)]
    if unasked:
        yield f"- against their documentation, and covered by no control: {'; '.join(unasked)}"


def _came_out(asked: Sequence[tuple[Safety, ControlAnswer]], what: str) -> str:
    held = sum(control.outcome == "holds" for _, control in asked)
    levels, disks = (
        ", ".join(f"`{name}`" for name in dict.fromkeys(one.cell.split("/")[at] for _, one in asked))
        for at in (2, 1)
    )
    others = [
        f"{escape(said.control(safety, one))} ({one.outcome})"
        for safety, one in asked
        if one.outcome != "holds"
    ]
    return "; ".join([f"{held} of {len(asked)} {what}: {levels}; on {disks}", *others])


def _unasked(one: Campaign) -> Iterator[str]:
    """Yield the settings that are against their documentation and that no control covers."""
    rows = [
        row
        for row in _against(one)
        if not any(control.covers(row.cell, row.way) for control in one.crash.controls)
    ]
    yield from dict.fromkeys(f"`{row.cell.tuning}`" for row in rows)


def overview(found: Sequence[Campaign]) -> Table:
    """Return a row a server: its cuts, how many rows were as documented, and what was documented as kept."""
    figures = ("Cuts", "Telling", "As documented", "Not seen", "Against it")
    outcomes: tuple[Agreement, ...] = ("agrees", "not seen", "contradicts")
    return Table(
        (
            Column("Server"),
            *(Column(title, figures=True) for title in figures),
            Column("Documented as kept"),
        ),
        tuple(
            (
                one.title,
                f"{one.safety.made:,}",
                f"{one.safety.telling:,}",
                *(f"{sum(row.outcome == each for row in one.safety.documented):,}" for each in outcomes),
                promises(one),
            )
            for one in found
        ),
    )


def promises(one: Campaign) -> str:
    """Return what was lost of everything documented as kept, with the bound of all its cuts together.

    The cuts are of several rows; the bound is for a cut of a row drawn among them.
    """
    rows = [row for row in one.safety.documented if row.documented.says == "kept"]
    answers = [one.answer(row) for row in rows]
    telling, harmed = sum(answer.telling for answer in answers), sum(answer.harmed for answer in answers)
    if not telling:
        return NOT_OBSERVED
    counted = f"{harmed:,} of {said.cuts(telling)} of {count(len(rows), 'row')}"
    return f"{counted} lost or damaged something: {said.interval(share(harmed, telling))}"


# ---------------------------------------------------------------- a server


def chapter(one: Campaign, told: dict[str, set[str]]) -> Iterator[str]:
    """Yield one server's settings and what they lost; settings that were `told` are those of that server."""
    yield f"## {one.title}"
    if one.plan.study == TORN and one.plan.study not in told:
        yield TORN_PAGES
        told[one.plan.study] = set()
    yield pipe_table(durability_table.by_setting(one.safety, one.server.name))
    read = list(settings(one))
    if same := next((title for title, known in told.items() if known.issuperset(read)), None):
        yield f"The settings are those of {same}."
        return
    told[escape(one.title)] = set(read)
    yield "The settings as read back; after the first only the differences from it:"
    yield "\n".join(read)


def settings(one: Campaign) -> Iterator[str]:
    """Yield what each setting is, as the server said: the first one complete, then the differences."""
    first, *others = dict.fromkeys(cell.tuning for cell in one.crash.cells)
    deciding = {row.name for cut in one.cuts for row in cut.settings if row.level}
    all_of_it = _read_back(one, first, deciding)
    yield f"- `{first}`: {_listed(all_of_it) or NOT_READ_BACK}"
    for tuning in others:
        told = _read_back(one, tuning, deciding)
        differs = {name: told[name] for name in told if told[name] != all_of_it.get(name)}
        yield f"- `{tuning}`: " + (_listed(differs) or ("as the first" if told else NOT_READ_BACK))


def _read_back(one: Campaign, tuning: str, names: set[str]) -> dict[str, str]:
    """Return what the running server reported for some variables at a setting."""
    cells = {cell.id for cell in one.crash.cells if cell.tuning == tuning}
    told = next((cut.settings for cut in one.cuts if cut.cell in cells and cut.settings), [])
    return {
        row.name: str(row.observed) for row in sorted(told, key=lambda row: row.name) if row.name in names
    }


def _listed(read: dict[str, str]) -> str:
    return ", ".join(f"`{name} = {value}`" for name, value in read.items())


# ---------------------------------------------------------------- beside the documentation


def contradicting(found: Sequence[Campaign]) -> Iterator[str]:
    """Yield what is against its documentation, and below it the explanation that rows share."""
    by_reason: dict[str, list[str]] = {}
    for one in found:
        for row in _against(one):
            told = escape(f"documented as “{row.documented.says}”; it {said.outcome(one.answer(row))}")
            item = f"- **{escape(one.title)}, `{row.cell.tuning}`**, {_death(one.answer(row))}: {told}"
            by_reason.setdefault(_explained(row), []).append(item)
    lines = [line for reason, items in by_reason.items() for line in (*items, f"  - {escape(reason)}")]
    yield "## Against the documentation"
    yield "\n".join(lines) or "No row."


def _death(answer: CutAnswer) -> str:
    return f"{durability_table.DIES[answer.way].lower()}, `{answer.cell.storage}`"


def _explained(row: DocumentedAnswer) -> str:
    told = (row.documented.source, row.documented.note)
    return ". ".join(text.rstrip(".") for text in told if text)


# ---------------------------------------------------------------- what else was seen


def binary_logs(found: Sequence[Campaign]) -> Iterator[str]:
    """Yield in which cuts binary log and tables differ, a row a setting that has a binary log."""
    asked = [one for one in found if one.plan.study == TRUTH]
    answers = [(one, answer) for one in asked for answer in one.safety.answers if answer.binlog]
    if not answers:
        return
    deaths = durability_table.deaths([answer for _, answer in answers])
    by_setting: dict[tuple[str, str], dict[tuple[Way, str], CutAnswer]] = {}
    for one, answer in answers:
        of_setting = by_setting.setdefault((one.title, answer.cell.tuning), {})
        of_setting[answer.way, answer.cell.storage] = answer
    yield "## The binary log against the tables"
    yield BINARY_LOG
    yield pipe_table(
        Table(
            tuple(map(Column, ("Server", "Setting", *map(durability_table.title, deaths)))),
            tuple(
                (*setting, *(_parted(of_setting.get(death)) for death in deaths))
                for setting, of_setting in by_setting.items()
                if any(_differs(answer) for answer in of_setting.values())
            ),
        )
    )


def _differs(answer: CutAnswer) -> bool:
    log = answer.binlog
    return log is not None and bool(log.cuts_binlog_only or log.cuts_engine_only)


def _parted(answer: CutAnswer | None) -> str:
    """Return in how many cuts a binary log was ahead of the tables or behind, and by how much at most."""
    log = answer.binlog if answer else None
    if log is None:
        return NOT_OBSERVED
    ahead = f"ahead {log.cuts_binlog_only}/{log.asked}: {log.worst_binlog_only:,}"
    behind = f"behind {log.cuts_engine_only}/{log.asked}: {log.worst_engine_only:,}"
    shown = [ahead] * bool(log.cuts_binlog_only) + [behind] * bool(log.cuts_engine_only)
    return ", ".join(shown) or f"0/{log.asked}"
