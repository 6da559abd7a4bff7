"""Checks of what an article compares: all must be equal but what is under test, and controls agree."""

from collections.abc import Iterator
from dataclasses import replace

from diskproof.audit.check import Apart, Configuration, Problem, Said, Untold, check
from diskproof.audit.claims import TIE
from diskproof.audit.wording import at
from diskproof.results.article import Article, Conditions, Stated
from diskproof.results.factor import Factor
from diskproof.results.published import RATES, PublishedMeasure

LIMITS = ("memory", "memory limit", "cpu", "cpus", "server version", "server", "engine", "operating system")
"""Facts that must be equal where storages are compared, whatever else differs."""

DIRECTORY, MOUNTED = "data directory", "mounted at"
"""The facts that tell where the data was asked for, and where the storage is."""

MOST_SHOWN = 8


def configurations(article: Article) -> list[Configuration]:
    """Return an article's settings as they are to be checked: each level beside the others."""
    alone = [Configuration(one, level=one.source.format, server=one.version) for one in article.settings]
    return [replace(one, beside=tuple(other for other in alone if other is not one)) for one in alone]


def _by_factor(article: Article) -> dict[Factor, list[Conditions]]:
    found: dict[Factor, list[Conditions]] = {}
    for one in article.conditions:
        found.setdefault(one.factor, []).append(one)
    return found


def _different(levels: list[Conditions], *, limits: bool) -> Iterator[tuple[str, list[tuple[str, str]]]]:
    """Yield each fact that differs between levels though it is not under test, with what each level has."""
    names = dict.fromkeys(name for one in levels for name in one.facts)
    tested = {name for one in levels for name in one.under_test} | {DIRECTORY, MOUNTED}
    for name in names:
        told = [(one.level, one.facts[name]) for one in levels if name in one.facts]
        if (name in LIMITS) == limits and name not in tested and len({fact for _, fact in told}) > 1:
            yield name, told


def _shown(told: list[tuple[str, str]]) -> str:
    return "; ".join(f"{level}: {fact}" for level, fact in told)


@check(
    "confounded",
    reason="Where two things differ at once, no difference is one's alone.",
    remedy="the same machine for all, with the storage alone exchanged",
    source="Montgomery, Design and Analysis of Experiments, chapter 1 (confounding)",
)
def confounded(article: Article) -> Iterator[Said]:
    """Find facts that differ between levels besides the one that is compared."""
    if not article.conditions:
        yield Untold("what an article's levels were measured with")
    for factor, levels in _by_factor(article).items():
        for name, told in _different(levels, limits=False):
            places = ", ".join(dict.fromkeys(one.place for one in levels if one.place))
            yield Problem(
                "warning", f"{at(places)}the levels of {factor} differ in {name} too ({_shown(told)})"
            )
        opened = {(name, *choices): one for one in levels for name, choices in one.open_facts.items()}
        for (name, *choices), one in opened.items():
            yield Problem(
                "warning",
                f"{at(one.place)}{name} may be any of {', '.join(choices)}: which of them each level of "
                f"{factor} had is not told",
            )


@check(
    "unequal-limits",
    reason="A storage that is compared with less memory or other processors is not what differs.",
    remedy="the same limits for all levels",
    source="METHODOLOGY.md, Gates: confounding",
)
def limits(article: Article) -> Iterator[Said]:
    """Find unequal memory, processors or versions between levels that are compared."""
    if not article.conditions:
        yield Untold("the memory and processors of an article's levels")
    for factor, levels in _by_factor(article).items():
        for name, told in _different(levels, limits=True):
            places = ", ".join(dict.fromkeys(one.place for one in levels if one.place))
            yield Problem(
                "warning", f"{at(places)}the levels of {factor} had unequal {name} ({_shown(told)})"
            )
        for name in LIMITS:
            having = [one.level for one in levels if name in one.facts]
            lacking = [one.level for one in levels if name not in one.facts and name not in one.open_facts]
            if having and lacking:
                yield Untold(f"the {name} of {', '.join(lacking)} ({', '.join(having)}: told)")


@check(
    "told-placement",
    reason="A server works where its data directory says, whatever was mounted beside it.",
    remedy="read back the open files of the server, and the bytes that each device wrote",
    source="METHODOLOGY.md: the proof of placement",
)
def placement(article: Article) -> Iterator[Said]:
    """Find a data directory that does not lie on the storage that is under test."""
    told = [one for one in article.conditions if DIRECTORY in one.facts and MOUNTED in one.facts]
    if not told:
        yield Untold("where an article's data lay")
    for one in told:
        asked, mounted = one.facts[DIRECTORY], one.facts[MOUNTED].rstrip("/")
        if asked != mounted and not asked.startswith(f"{mounted}/"):
            yield Problem(
                "warning",
                f"{at(one.place)}the data directory of {one.factor} `{one.level}` is {asked} as printed, "
                f"which does not lie on {mounted}; either that is a misprint, or this level was not measured "
                "on its storage",
            )


@check(
    "alike",
    reason="Results that should be equal and are not show how far the experiment can be believed: what moved "
    "them may have moved the others too.",
    remedy="repeat the control until it agrees, or tell its difference as the experiment's own error",
    source="METHODOLOGY.md, Verdicts: a control; an A/A pair measures the false alarms",
)
def alike(article: Article) -> Iterator[Said]:
    """Find controls, and equals by their making, that differ."""
    if not article.alike:
        yield Apart("an article without controls")
    for one in article.alike:
        groups = [group for names in one.results if (group := _spread(article, names))]
        differing = sorted((group for group in groups if group[0] > TIE), reverse=True)
        if not groups:
            yield Untold("the figures of controls")
        elif differing:
            shown = "; ".join(text for _, text in differing[:MOST_SHOWN])
            yield Problem(
                "warning",
                f"{at(one.place)}{one.why}; they differ in {len(differing)} of {len(groups)} tests by more "
                f"than "
                f"{TIE}: {shown}",
            )


def _spread(article: Article, names: list[str]) -> tuple[float, str] | None:
    """Return the largest ratio within a group, with its arithmetic."""
    told = [one for name in names if (one := article.find(name))]
    if not told:
        return None
    measure = _measure(told[0])
    figures = {one.name: one.figures[measure] for one in told if measure and measure in one.figures}
    if len(figures) < 2:
        return None
    high, low = max(figures, key=lambda at: figures[at]), min(figures, key=lambda at: figures[at])
    ratio = figures[high] / figures[low]
    return ratio, f"{high} / {low}: {figures[high]:,.10g} / {figures[low]:,.10g} = {ratio:.3g}"


def _measure(one: Stated) -> PublishedMeasure | None:
    of_speed: tuple[PublishedMeasure, ...] = (*RATES, "seconds", "latency_mean_ms")
    return next((measure for measure in of_speed if measure in one.figures), None)
