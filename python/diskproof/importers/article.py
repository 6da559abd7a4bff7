"""A published experiment in its TOML form: read, checked, and made one record."""

import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails

from diskproof.importers import options
from diskproof.importers.article_form import (
    VALUED,
    AlikeForm,
    ArticleForm,
    Chosen,
    ClaimForm,
    ReportForm,
    SettingsForm,
)
from diskproof.importers.article_results import as_results
from diskproof.importers.base import Format, Found, ImportRefusedError, Text
from diskproof.refusal import RefusalError
from diskproof.results.article import About, Alike, Article, Claim, Counts, Parts, Stated
from diskproof.results.factor import FACTORS, Factor
from diskproof.results.imported import Settings
from diskproof.results.published import PublishedMeasure
from diskproof.study.lines import line_of
from diskproof.study.mistakes import (
    MOST_MISTAKES,
    in_words,
    one_a_place,
    part_at,
    similar,
    similar_key,
    toml,
    too_long,
)
from diskproof.study.published import PublishedChoice, PublishedTable
from diskproof.study.read import read_study

MOST_CLAIMS = 5_000
"""Pairs that the claims of one file may be about: more is a mistake of the file, or meant to do harm."""

MOST_CHARACTERS = 256 * 1024
"""The five that come with diskproof have some 10,000 at most; what is read of a file grows faster than it."""

MOST_FIGURES = 2_000
"""Printed figures of one article, its study's included: each claim looks at all of them."""

NAMED: tuple[Factor, ...] = ("workload", "server", "storage", "tuning", "memory", "clients")
"""The order in which a result's levels make its name."""

_HEAD = re.compile(r"^\s*\[\s*article\s*\]\s*(#.*)?$", re.MULTILINE)


class _Refusals:
    """Makes refusals that name the file, the line and the key."""

    def __init__(self, text: Text) -> None:
        self._text = text

    def at(self, keys: Sequence[str | int], message: str) -> str:
        """Return one mistake in words."""
        told = [str(key) for key in keys]
        shown = "".join(f" number {key + 1}" if isinstance(key, int) else f".{key}" for key in keys)
        line = line_of(told, self._text.content)
        return f"{self._text.file}:{line}: `{shown.lstrip('.') or 'the article'}`: {message}"

    def of(self, keys: Sequence[str | int], message: str) -> ImportRefusedError:
        """Return the refusal of one mistake."""
        return ImportRefusedError(self.at(keys, message))


def recognises(text: Text) -> bool:
    """Tell whether a text has a table ``[article]`` of its own."""
    return _HEAD.search(text.content) is not None


def read(text: Text) -> Iterator[Found]:
    """Yield the article; ImportRefusedError lists every mistake of its form."""
    refusals = _Refusals(text)
    form = _checked(text, refusals)
    study = _study_of(form, text, refusals)
    source = text.source(1, "article")
    stated = _stated(form, study, refusals)
    _refuse_unknown_loads(form, stated, refusals)
    title = form.article.title or (study.title if study else None)
    by = form.article.by or (study.by if study else None)
    for key, told in (("title", title), ("by", by)):
        if told is None:
            raise refusals.of(["article", key], "is missing, and no `study` has it")
    yield Article(
        source=source,
        title=title or "",
        by=by or "",
        **_same(About, form.article),
        **_same(Parts, form),
        settings=[_settings(one, number, text, refusals) for number, one in enumerate(form.settings)],
        stated=stated,
        results=as_results(stated, source),
        claims=_claims(form.claims, stated, refusals),
        alike=[_alike(one, number, stated, refusals) for number, one in enumerate(form.alike)],
    )


def _same(shared: type[BaseModel], form: BaseModel) -> dict[str, Any]:
    """Return what a form has in common with its record."""
    return {name: getattr(form, name) for name in shared.model_fields}


FORMAT = Format(name="an article (TOML)", recognises=recognises, read=read)

# ---------------------------------------------------------------- the form


def _checked(text: Text, refusals: _Refusals) -> ArticleForm:
    if len(text.content) > MOST_CHARACTERS:
        raise ImportRefusedError(
            f"{text.file} has more than {MOST_CHARACTERS:,} characters; split the article in several files"
        )
    try:
        content = toml(text.content)
    except ValueError as error:
        raise ImportRefusedError(f"{text.file} {error}") from None
    if (hidden := _control_character(content)) is not None:
        raise ImportRefusedError(f"{text.file} has a control character ({hidden!r}) in a value; take it out")
    if long := too_long(content):
        raise refusals.of(*long)
    try:
        return ArticleForm.model_validate(content)
    except ValidationError as error:
        mistakes = list(one_a_place(error.errors()))
        lines = dict.fromkeys(_explain(mistake, refusals) for mistake in mistakes[:MOST_MISTAKES])
        if len(mistakes) > MOST_MISTAKES:
            lines[f"and {len(mistakes) - MOST_MISTAKES} more"] = None
        raise ImportRefusedError("\n".join(lines)) from None


def _control_character(value: object) -> str | None:
    """Return a character that could move a terminal's cursor, wherever it hides."""
    waiting: list[object] = [value]
    while waiting:
        one = waiting.pop()
        if isinstance(one, str):
            if found := re.search(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]", one):
                return found[0]
        elif isinstance(one, dict):
            waiting += [*one.keys(), *one.values()]
        elif isinstance(one, list):
            waiting += one
    return None


def _explain(mistake: ErrorDetails, refusals: _Refusals) -> str:
    keys = [key for key in mistake["loc"] if key != "[key]"]
    # pydantic names the member of a union that it tried, which is not in the text
    keys = [key for at, key in enumerate(keys) if at == 0 or not _is_type(key)]
    told = [str(key) for key in keys]
    if mistake["type"] == "extra_forbidden":
        part = part_at(ArticleForm, told)
        return refusals.at(keys, f"unknown key{similar_key(part, told[-1]) if part else ''}")
    if mistake["type"] == "missing":
        return refusals.at(keys, "is missing")
    return refusals.at(keys, in_words(mistake))


def _is_type(key: str | int) -> bool:
    return isinstance(key, str) and (
        key in {"str", "int", "float", "constrained-int", "constrained-str", "bool"}
        or key.startswith(("list[", "constrained-"))
    )


# ---------------------------------------------------------------- figures


def _study_of(form: ArticleForm, text: Text, refusals: _Refusals) -> PublishedChoice | None:
    """Return what the named study has as published."""
    if form.article.study is None:
        return None
    path = Path(text.file).parent / form.article.study
    where = ["article", "study"]
    if path.suffix != ".toml" or not path.is_file():
        raise refusals.of(where, f"there is no study file {path}")
    try:
        published = read_study(path).study.published
    except RefusalError as error:
        raise refusals.of(where, f"cannot be read:\n{error}") from None
    if published is None:
        raise refusals.of(where, f"{path} has no `[published]`")
    return published


def _stated(form: ArticleForm, study: PublishedChoice | None, refusals: _Refusals) -> list[Stated]:
    tables = [(table, None) for table in (*_chosen_tables(form, study, refusals), *form.tables)]
    found: dict[tuple[object, ...], Stated] = {}
    for table, run in [*tables, *((one.table, one.run) for one in form.runs)]:
        for figure in table.figures():
            levels = {factor: form.article.names.get(level, level) for factor, level in figure.at.items()}
            key: tuple[object, ...] = (frozenset(levels.items()), figure.part, run)
            before = found.get(key)
            if before and before.figures.get(figure.measure, figure.value) != figure.value:
                key, before = (*key, table.title), found.get((*key, table.title))
            figures = {**(before.figures if before else {}), figure.measure: figure.value}
            found[key] = Stated(
                name="",
                levels=levels,
                part=figure.part,
                run=run,
                table=before.table if before else figure.table,
                place=before.place if before else figure.place,
                figures=figures,
            )
    if len(found) > MOST_FIGURES:
        raise refusals.of(["tables"], f"more than {MOST_FIGURES:,} results are printed")
    stated = _named(list(found.items()))
    for number, report in enumerate(form.reports):
        stated = _with_counts(stated, report, number, refusals)
    return stated


def _refuse_unknown_loads(form: ArticleForm, stated: Sequence[Stated], refusals: _Refusals) -> None:
    """Refuse a job, or a step of times, of a load that no table has: nothing would look at it."""
    known = sorted({one.levels.get("workload", one.table) for one in stated})
    named: list[tuple[list[str | int], str]] = [
        (["procedure", "steps_s"], load) for load in form.procedure.steps_s
    ]
    named += [(["jobs", number, "workload"], job.workload) for number, job in enumerate(form.jobs)]
    for keys, load in named:
        if load not in known:
            raise refusals.of(keys, f"no result has workload `{load}`{similar(load, known)}")


def _chosen_tables(
    form: ArticleForm, study: PublishedChoice | None, refusals: _Refusals
) -> list[PublishedTable]:
    there = {table.title: table for table in study.tables} if study else {}
    wanted = form.article.tables
    for title in wanted or []:
        if title not in there:
            raise refusals.of(
                ["article", "tables"], f"the study has no table “{title}”{similar(title, list(there))}"
            )
    return [table for title, table in there.items() if wanted is None or title in wanted]


def _with_counts(stated: list[Stated], report: ReportForm, number: int, refusals: _Refusals) -> list[Stated]:
    at = {factor: str(level) for factor, level in report.at.items()}
    meant = [one for one in stated if one.run is None and at.items() <= one.levels.items()]
    if len(meant) != 1:
        raise refusals.of(
            ["reports", number, "at"], f"{len(meant)} results have these levels: it must be one"
        )
    counts = Counts(**report.model_dump(exclude={"at", "place"}))
    return [one.model_copy(update={"counts": counts}) if one is meant[0] else one for one in stated]


def _named(found: Sequence[tuple[tuple[object, ...], Stated]]) -> list[Stated]:
    """Give each result a short, unique name, without the levels that its load always has."""
    levels_of: dict[tuple[str | None, Factor], set[str | None]] = {}
    for _, one in found:
        for factor in NAMED:
            levels_of.setdefault((one.levels.get("workload"), factor), set()).add(one.levels.get(factor))
    return [
        one.model_copy(
            update={
                "name": _name(
                    one,
                    {
                        factor: level
                        for factor, level in one.levels.items()
                        if factor in {"workload", "storage"}
                        or len(levels_of[one.levels.get("workload"), factor]) > 1
                    },
                    one.table if len(key) > 3 else "",
                )
            }
        )
        for key, one in found
    ]


def _name(one: Stated, levels: Mapping[Factor, str], table: str) -> str:
    words = [levels[factor] for factor in NAMED if factor in levels and factor != "clients"]
    if "clients" in levels:
        words.append(f"{levels['clients']} client{'' if levels['clients'] == '1' else 's'}")
    if one.part is not None:
        words.insert(1 if "workload" in levels else 0, one.part)
    if one.run is not None:
        words.append(f"run {one.run}")
    return ", ".join(words + ([table] if table else [])) or "the result"


# ---------------------------------------------------------------- what is said of them


def _claims(forms: Sequence[ClaimForm], stated: Sequence[Stated], refusals: _Refusals) -> list[Claim]:
    claims: list[Claim] = []
    for number, form in enumerate(forms):
        where: list[str | int] = ["claims", number]
        if (form.kind in VALUED) != (form.value is not None):
            needs = "needs its figure" if form.kind in VALUED else "states no figure"
            raise refusals.of([*where, "value"], f"a claim of the kind “{form.kind}” {needs}")
        if form.kind == "bound by" and not form.cause:
            raise refusals.of([*where, "cause"], "is missing: what the article says holds it back")
        if form.most and form.kind not in ("faster", "the same"):
            raise refusals.of([*where, "most"], f"a claim of the kind “{form.kind}” is of all that it names")
        if not form.than and form.kind != "bound by":
            raise refusals.of([*where, "than"], "is missing: the levels of the other result")
        common = form.model_dump(exclude={"at", "part", "of", "than"})
        pairs = (
            list(_pairs(form, stated)) if form.printed else [(_told(form.of, form), _told(form.than, form))]
        )
        if not pairs:
            raise refusals.of([*where, "of"], _no_pair(form, stated))
        claims += [Claim(**common, of=of, than=than or None) for of, than in pairs]
        if len(claims) > MOST_CLAIMS:
            raise refusals.of(where, f"the claims are about more than {MOST_CLAIMS:,} pairs of results")
    return claims


def _pairs(form: ClaimForm, stated: Sequence[Stated]) -> Iterator[tuple[str, str | None]]:
    """Yield the names of the results that a claim is about: pairs that differ in what it compares alone."""
    fitting = [
        one
        for one in stated
        if one.run is None and form.measure in one.figures and _meant(one, form.at, form.part)
    ]
    if not form.than:
        yield from ((one.name, None) for one in fitting if _has(one, form.of))
        return
    compared = {*form.of, *form.than}
    sides: dict[tuple[object, ...], list[Stated]] = {}
    for one in fitting:
        if _has(one, form.than):
            sides.setdefault(_apart_from(one, compared), []).append(one)
    for of in (one for one in fitting if _has(one, form.of)):
        yield from (
            (of.name, other.name) for other in sides.get(_apart_from(of, compared), []) if other is not of
        )


def _apart_from(one: Stated, compared: set[Factor]) -> tuple[object, ...]:
    return (one.part, *sorted(item for item in one.levels.items() if item[0] not in compared))


def _has(one: Stated, chosen: Chosen) -> bool:
    return all(
        one.levels.get(factor) in [str(each) for each in (level if isinstance(level, list) else [level])]
        for factor, level in chosen.items()
    )


def _meant(one: Stated, at: Chosen, part: str | list[str] | None) -> bool:
    parts = [part] if isinstance(part, str) else part
    return _has(one, at) and (parts is None or one.part in parts)


def _told(chosen: Chosen, form: ClaimForm) -> str:
    """Name a result without a printed figure."""
    levels = {**form.at, **chosen} if chosen else {}
    return ", ".join(
        " or ".join(map(str, level)) if isinstance(level, list) else str(level)
        for factor in FACTORS
        if (level := levels.get(factor)) is not None
    )


def _no_pair(form: ClaimForm, stated: Sequence[Stated]) -> str:
    if not any(form.measure in one.figures for one in stated):
        there: set[PublishedMeasure] = {measure for one in stated for measure in one.figures}
        return f"no table has {form.measure}; they have {', '.join(sorted(there)) or 'nothing'}"
    for factor, level in {**form.at, **form.of, **form.than}.items():
        known = sorted({one.levels[factor] for one in stated if factor in one.levels})
        for each in level if isinstance(level, list) else [level]:
            if str(each) not in known:
                return f"no result has {factor} `{each}`{similar(str(each), known)}"
    return "no two results differ in what it compares alone; give more levels in `at`, or `printed = false`"


def _alike(form: AlikeForm, number: int, stated: Sequence[Stated], refusals: _Refusals) -> Alike:
    groups: dict[tuple[object, ...], list[str]] = {}
    for one in stated:
        fits = one.run is None and _meant(one, form.at, form.part) and form.factor in one.levels
        if fits and (form.levels is None or one.levels[form.factor] in form.levels):
            groups.setdefault(_apart_from(one, {form.factor}), []).append(one.name)
    results = [names for names in groups.values() if len(names) > 1]
    if not results:
        known = sorted({one.levels[form.factor] for one in stated if form.factor in one.levels})
        stray = next((level for level in form.levels or [] if level not in known), None)
        why = f": no result has `{stray}`{similar(stray, known)}" if stray else ""
        raise refusals.of(["alike", number], f"no two results differ in {form.factor} alone{why}")
    return Alike(results=results, why=form.why, place=form.place)


def _settings(form: SettingsForm, number: int, text: Text, refusals: _Refusals) -> Settings:
    source = text.source(line_of(["settings", str(number)], text.content), form.level)
    values: dict[str, str | None] = {}
    repeated: list[str] = []
    if form.text is not None:
        found = _option_file(form.text, number, text, refusals)
        values, repeated = dict(found.values), found.repeated
    for name, value in form.options.items():
        values[name.lower().replace("-", "_")] = str(value).lower() if isinstance(value, bool) else str(value)
    return Settings(source=source, observed=False, values=values, repeated=repeated, version=form.server)


def _option_file(told: str, number: int, text: Text, refusals: _Refusals) -> Settings:
    """Return the options of an option file that stands in the article."""
    inner = Text(file=f"{text.file}, settings number {number + 1}", content=told, sha256="")
    for kind in (options.MY_CNF, options.POSTGRESQL_CONF):
        if kind.recognises(inner):
            return next(one for one in kind.read(inner) if isinstance(one, Settings))
    raise refusals.of(
        ["settings", number, "text"], "is no option file; name the group, as in [mysqld], or use `options`"
    )
