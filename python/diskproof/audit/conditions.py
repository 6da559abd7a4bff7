"""Checks of an article's conditions: everything but the factor under test is equal, and controls agree."""

from collections.abc import Iterator
from dataclasses import replace

from diskproof.audit.check import Configuration, NothingToCheckError, Said, Untold, check, warning
from diskproof.audit.claims import TIE, at, examples, measure_of_speed
from diskproof.families.values import as_bytes
from diskproof.results.article import Article, Conditions
from diskproof.results.factor import Factor
from diskproof.wording import Message, printed, say

LIMITS = ("memory", "memory limit", "cpu", "cpus", "server version", "server", "engine", "operating system")
"""Facts that must be equal when storages are compared, whatever else differs."""

DIRECTORY, MOUNTED = "data directory", "mounted at"
"""The facts that say where the data should lie, and where the storage is."""


def configurations(article: Article) -> list[Configuration]:
    """Return an article's settings for the checks: each level beside the others."""
    memory = {as_bytes(one.told.get("memory")) for one in article.conditions}
    memory_bytes = memory.pop() if len(memory) == 1 else None
    levels = {one.source.format for one in article.settings}
    differs_in = [name for one in article.conditions if one.level in levels for name in one.under_test]
    alone = [
        Configuration(
            one,
            level=one.source.format,
            server=one.version,
            memory_bytes=None if memory_bytes is None else int(memory_bytes),
            differs_in=tuple(differs_in) or None,
        )
        for one in article.settings
    ]
    return [replace(one, beside=tuple(other for other in alone if other is not one)) for one in alone]


def _by_factor(article: Article) -> dict[Factor, list[Conditions]]:
    found: dict[Factor, list[Conditions]] = {}
    for one in article.conditions:
        found.setdefault(one.factor, []).append(one)
    return found


def _different(levels: list[Conditions], *, limits: bool) -> Iterator[tuple[str, list[tuple[str, str]]]]:
    """Yield each fact that differs between levels but is not under test, with each level's value."""
    names = dict.fromkeys(name for one in levels for name in one.told)
    tested = {name for one in levels for name in one.under_test} | {DIRECTORY, MOUNTED}
    for name in names:
        told = [(one.level, one.told[name]) for one in levels if name in one.told]
        if (name in LIMITS) == limits and name not in tested and len({fact for _, fact in told}) > 1:
            yield name, told


def _places(levels: list[Conditions]) -> str:
    return at(", ".join(dict.fromkeys(one.place for one in levels if one.place)))


def _shown(told: list[tuple[str, str]]) -> list[str]:
    return [f"{level}: {fact}" for level, fact in told]


@check(
    "confounded",
    reason="If two things differ at once, neither explains a difference alone.",
    remedy="the same machine for all, with only the storage exchanged",
    source="Montgomery, Design and Analysis of Experiments, chapter 1 (confounding)",
)
def confounded(article: Article) -> Iterator[Said]:
    """Find facts that differ between levels besides the compared one."""
    if not article.conditions:
        yield Untold("the machine and server of an article's levels")
    for factor, levels in _by_factor(article).items():
        for name, told in _different(levels, limits=False):
            yield warning(
                "{at}the levels of {factor} differ in {fact} too ({shown:/; })",
                at=_places(levels),
                factor=factor,
                fact=name,
                shown=_shown(told),
            )
        opened = {
            (name, *choices): one
            for one in levels
            for name, choices in one.facts.items()
            if isinstance(choices, list)
        }
        for (name, *choices), one in opened.items():
            yield warning(
                "{at}{fact} may be any of {choices:/, }; the article does not say which each level of "
                "{factor} had",
                at=at(one.place),
                fact=name,
                choices=choices,
                factor=factor,
            )


@check(
    "unequal-limits",
    reason="If memory or CPUs differ too, the storage does not explain a difference.",
    remedy="the same limits for all levels",
    source="METHODOLOGY.md, Which trials count: confounding",
)
def limits(article: Article) -> Iterator[Said]:
    """Find unequal memory, CPUs or versions between compared levels."""
    if not article.conditions:
        yield Untold("the memory and CPUs of an article's levels")
    for factor, levels in _by_factor(article).items():
        for name, told in _different(levels, limits=True):
            yield warning(
                "{at}the levels of {factor} had unequal {fact} ({shown:/; })",
                at=_places(levels),
                factor=factor,
                fact=name,
                shown=_shown(told),
            )
        for name in LIMITS:
            having = [one.level for one in levels if name in one.told]
            lacking = [one.level for one in levels if name not in one.facts]
            if having and lacking:
                yield Untold(
                    "the {fact} of {lacking:/, } (known of {having:/, })",
                    fact=name,
                    lacking=lacking,
                    having=having,
                )


@check(
    "told-placement",
    reason="A server works in its data directory, whatever was mounted elsewhere.",
    remedy="read back the open files of the server, and the bytes that each device wrote",
    source="METHODOLOGY.md: the proof of placement",
)
def placement(article: Article) -> Iterator[Said]:
    """Find a data directory that does not lie on the storage under test."""
    told = [one for one in article.conditions if DIRECTORY in one.told and MOUNTED in one.told]
    storages = [one for one in article.conditions if one.factor == "storage"]
    if not storages:
        yield Untold("where an article's data lay")
    if lacking := [one.level for one in storages if DIRECTORY not in one.told]:
        yield Untold("where the data of {lacking:/, } lay", lacking=lacking)
    if lacking := [one.level for one in storages if DIRECTORY in one.told and one not in told]:
        yield Untold("what was mounted at the data directory of {lacking:/, }", lacking=lacking)
    for one in told:
        asked, mounted = one.told[DIRECTORY], one.told[MOUNTED].rstrip("/")
        if asked != mounted and not asked.startswith(f"{mounted}/"):
            yield warning(
                "{at}the printed data directory of {factor} `{level}` is {asked}, which does not lie on "
                "{mounted}: either that is a misprint, or this level was not measured on its storage",
                at=at(one.place),
                factor=one.factor,
                level=one.level,
                asked=asked,
                mounted=mounted,
            )


@check(
    "alike",
    reason="Results that should be equal but are not show the experiment's own error. Its cause may have "
    "changed the other results too.",
    remedy="repeat the control until it agrees, or report its difference as the experiment's own error",
    source="METHODOLOGY.md, Verdicts: a control; an A/A pair measures the false alarms",
)
def alike(article: Article) -> Iterator[Said]:
    """Find controls, and results that should be equal, that differ."""
    if not article.alike:
        raise NothingToCheckError("an article without controls")
    for one in article.alike:
        groups = [group for names in one.results if (group := _spread(article, names))]
        differing = sorted((group for group in groups if group[0] > TIE), key=lambda one: -one[0])
        if not groups:
            yield Untold("the figures of controls")
        elif differing:
            yield warning(
                "{at}{why}; they differ in {differing} of {all} tests by more than {tie}: {shown}",
                at=at(one.place),
                why=one.why,
                differing=len(differing),
                all=len(groups),
                tie=TIE,
                shown=examples([shown for _, shown in differing]),
            )


def _spread(article: Article, names: list[str]) -> tuple[float, Message] | None:
    """Return the largest ratio within a group, with its arithmetic."""
    told = [one for name in names if (one := article.find(name))]
    if not told:
        return None
    measure = measure_of_speed(told[0])
    figures = {one.name: one.figures[measure] for one in told if measure and measure in one.figures}
    if len(figures) < 2:
        return None
    high, low = max(figures, key=lambda at: figures[at]), min(figures, key=lambda at: figures[at])
    ratio = figures[high] / figures[low]
    return ratio, say(
        "{high} / {low}: {a} / {b} = {ratio:.3g}",
        high=high,
        low=low,
        a=printed(figures[high]),
        b=printed(figures[low]),
        ratio=ratio,
    )
