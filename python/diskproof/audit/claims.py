"""Checks of what an article says of its figures: percentages, ratios, orders and causes."""

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from diskproof.audit.check import NothingToCheckError, Problem, Said, Untold, check, warning
from diskproof.results.article import Article, Claim, Stated
from diskproof.results.published import RATES, PublishedMeasure
from diskproof.results.trial import Severity
from diskproof.wording import NOTHING, Message, printed, say

EXACT = 0.02
"""Share by which a stated figure may miss the printed ones: both are rounded."""

ROUGH = 0.15
"""Share by which a figure with "about" or "almost" may miss them."""

TIE = 1.21
"""Up to this ratio, two figures without a spread show no order: each may be off by a tenth.

Another start of the same server moved one by a tenth (332.4 and 302.7 transactions per second: Percona,
"Mystery variance"); two such figures make a ratio that is off by 1.1 x 1.1.
"""

MOST_SHOWN = 8
"""Pairs that a finding names one by one."""

PERCENT = ("percent slower", "percent faster", "percent more", "percent of")
AMOUNTS = ("times as fast", "difference")

UNITS: dict[PublishedMeasure, str] = {
    "transactions_per_s": "transactions a second",
    "statements_per_s": "statements a second",
    "requests_per_s": "requests a second",
    "megabytes_per_s": "MB/s",
    "seconds": "s",
    "latency_mean_ms": "ms on average",
    "latency_min_ms": "ms at least",
    "latency_max_ms": "ms at most",
    "latency_p95_ms": "ms at the 95th percentile",
}


def at(place: str) -> str:
    """Return the place in an article as the beginning of a message; nothing if the article names none."""
    return f"{place}: " if place else ""


def half_a_digit(figure: float) -> float:
    """Return half a unit in the last digit of a printed figure; zeros at its end are not counted."""
    _, _, decimals = f"{figure:.12f}".rstrip("0").partition(".")
    return float(0.5 * 10.0 ** -len(decimals))


def examples(found: Sequence[Message]) -> Message:
    """Return messages one after the other, those beyond the first eight counted."""
    more = [say("and {number} more", number=len(found) - MOST_SHOWN)] if len(found) > MOST_SHOWN else []
    return say("{found:/; }", found=[*found[:MOST_SHOWN], *more])


def measure_of_speed(one: Stated) -> PublishedMeasure | None:
    """Return the measure that tells a result's speed best; None if it has none."""
    of_speed: tuple[PublishedMeasure, ...] = (*RATES, "seconds", "latency_mean_ms")
    return next((measure for measure in of_speed if measure in one.figures), None)


@dataclass(frozen=True)
class Pair:
    """A claim with the two printed figures that it is about."""

    claim: Claim
    a: float
    """The figure of the result that it is about."""
    b: float
    """The figure of the one that it is compared with."""

    @property
    def rate(self) -> bool:
        """Whether more is faster."""
        return self.claim.measure in RATES

    @property
    def speed(self) -> float:
        """How many times as fast a is as b."""
        return self.a / self.b if self.rate else self.b / self.a

    @property
    def figures(self) -> Message:
        """Both figures, with their names."""
        return say(
            "{of}: {a}; {than}: {b} {unit}",
            of=self.claim.of,
            a=printed(self.a),
            than=self.claim.than or "",
            b=printed(self.b),
            unit=UNITS[self.claim.measure],
        )

    @property
    def ratio(self) -> Message:
        """The arithmetic of how many times as fast a is as b."""
        over, under = (self.a, self.b) if self.rate else (self.b, self.a)
        digits = "{ratio:.4g}" if 0.9 < over / under < 1.1 else "{ratio:.3g}"
        return say(
            f"{{over}} / {{under}} = {digits}", over=printed(over), under=printed(under), ratio=over / under
        )


@dataclass(frozen=True)
class Statement:
    """What an article says in one place, of one pair of results or of several."""

    claim: Claim
    """The first of its claims: all have the same words."""
    pairs: tuple[Pair, ...]
    """Those whose figures were printed."""

    @property
    def says(self) -> str:
        """Its place and its words."""
        return f"{at(self.claim.place)}“{self.claim.says}”"

    def holds_for_most(self, against: int) -> bool:
        """Tell whether it is about most of its pairs, and only so many contradict it."""
        return self.claim.most and against * 2 < len(self.pairs)

    def gravity(self, against: int) -> Severity:
        """Return how grave it is that so many pairs contradict it: an error from half of them on."""
        softened = self.claim.about or self.claim.implied
        return "invalid" if against * 2 >= len(self.pairs) and not softened else "warning"

    def of_all(self, against: int, single: str = "") -> Message:
        """Return how many of the pairs that is, if there are several."""
        if len(self.pairs) == 1:
            return say(single)
        return say(" in {n} of {all} pairs", n=against, all=len(self.pairs))


def statements(article: Article, kinds: Sequence[str]) -> list[Statement]:
    """Return the article's statements of some kinds, in their order."""
    said: dict[tuple[str, str, str, str], list[Claim]] = {}
    for claim in article.claims:
        if claim.kind in kinds:
            said.setdefault((claim.kind, claim.says, claim.place, claim.measure), []).append(claim)
    return [
        Statement(claims[0], tuple(pair for claim in claims if (pair := _pair(article, claim))))
        for claims in said.values()
    ]


def _pair(article: Article, claim: Claim) -> Pair | None:
    of, than = article.find(claim.of), article.find(claim.than or "")
    if of is None or than is None:
        return None
    a, b = of.figures.get(claim.measure), than.figures.get(claim.measure)
    return Pair(claim, a, b) if a and b else None


def _judged(
    article: Article, kinds: Sequence[str], why_none: str, judge: Callable[[Statement], Iterator[Said]]
) -> Iterator[Said]:
    """Judge the statements that have figures, and say of the others why they cannot be judged."""
    found = statements(article, kinds)
    if not found:
        raise NothingToCheckError(why_none)
    for one in found:
        if one.pairs:
            yield from judge(one)
        else:
            yield Untold("the figures behind {claim}", claim=one.says)


# ---------------------------------------------------------------- percent against ratio


@dataclass(frozen=True)
class _Reading:
    """One thing that a stated percentage may mean, of one pair."""

    value: float
    formula: str
    meaning: str

    def shown(self, pair: Pair) -> Message:
        """Return its arithmetic and its meaning."""
        form = f"{self.formula} = {{value:,.1f}}% {{meaning}}"
        return say(form, a=printed(pair.a), b=printed(pair.b), value=self.value, meaning=self.meaning)


def _readings(pair: Pair) -> tuple[list[_Reading], list[_Reading]]:
    """Return what a percentage may rightly mean, and what it is often mistaken for.

    Of times, "slower" and "faster" are read both ways: as more or less time, and as more or less speed.
    """
    a, b, kind = pair.a, pair.b, pair.claim.kind
    share = _Reading(a / b * 100, "{a} / {b}", "of the other")
    turned = _Reading(b / a * 100, "{b} / {a}", "(the other as a share of it)")
    more = _Reading((a / b - 1) * 100, "{a} / {b} - 1", "more" if pair.rate else "longer")
    less = _Reading((1 - a / b) * 100, "1 - {a} / {b}", "less" if pair.rate else "less time")
    speed_less = _Reading((1 - b / a) * 100, "1 - {b} / {a}", "less speed")
    speed_more = _Reading((b / a - 1) * 100, "{b} / {a} - 1", "more speed")
    match kind:
        case "percent of":
            return [share], [less, more]
        case "percent more":
            return [more], [share]
        case "percent slower":
            return ([less], [share, turned]) if pair.rate else ([more, speed_less], [turned, share])
        case _:
            return ([more], [share, turned]) if pair.rate else ([less, speed_more], [share, turned])


def _near(value: float, stated: float, within: float) -> bool:
    return abs(value - stated) <= within * stated


@check(
    "percent-or-ratio",
    reason="A ratio is no difference: 29 is 12.5% of 232, and 87.5% less. A reader who takes one for the "
    "other is wrong by a large factor.",
    remedy="give 1 - a/b for a difference, or call the ratio “times as fast”",
    source="METHODOLOGY.md, Speed: “x % slower” means 1 - a/b; a/b itself is a ratio",
)
def percent(article: Article) -> Iterator[Said]:
    """Find percentages that the printed figures do not give."""
    yield from _judged(article, PERCENT, "an article that states no percentages", _percent)


def _percent(statement: Statement) -> Iterator[Said]:
    claim, pairs = statement.claim, statement.pairs
    stated = claim.value or 0.0
    slips = _slips(statement, stated)
    missed = [pair for pair in pairs if pair not in slips and not _holds(pair, stated)]
    if slips:
        pair, slip = next((pair, slip) for pair in slips if (slip := _slip(pair, stated, EXACT)))
        others = say("; the same in {n} of {all} pairs", n=len(slips), all=len(pairs))
        true = say(". “More than” is literally true, but far less than the figures show")
        yield Problem(
            "invalid",
            say(
                "{says}: that is {slip}; right is {right} ({figures}){others}{true}",
                says=statement.says,
                slip=slip.shown(pair),
                right=_right(pair),
                figures=pair.figures,
                others=others if len(slips) > 1 else NOTHING,
                true=true if _enough(pair, stated) else NOTHING,
            ),
        )
    if missed:
        right = [say("{right} ({figures})", right=_right(pair), figures=pair.figures) for pair in missed]
        yield Problem(
            statement.gravity(len(slips) + len(missed)),
            say(
                "{says}: the figures do not give {stated}%{pairs}: {right}",
                says=statement.says,
                stated=printed(stated),
                pairs=statement.of_all(len(missed)),
                right=examples(right),
            ),
        )


def _slips(statement: Statement, stated: float) -> list[Pair]:
    """Return the pairs whose figure is what a percentage is mistaken for.

    One exact slip shows how a rough figure was computed, and one exact pair that it was computed rightly:
    that 20 s are 49% of 41 s is chance if 21 s are 49% less.
    """
    pairs, about = statement.pairs, statement.claim.about
    if about and any(_fits(pair, stated, EXACT) for pair in pairs):
        return []
    exact = [pair for pair in pairs if not _fits(pair, stated, EXACT) and _slip(pair, stated, EXACT)]
    if not about or not exact:
        return exact
    return [
        pair for pair in pairs if pair in exact or (not _holds(pair, stated) and _slip(pair, stated, ROUGH))
    ]


def _holds(pair: Pair, stated: float) -> bool:
    return _fits(pair, stated, ROUGH if pair.claim.about else EXACT) or _enough(pair, stated)


def _fits(pair: Pair, stated: float, within: float) -> bool:
    """Tell whether a percentage is right, as it was rounded."""
    right, _ = _readings(pair)
    rounded = half_a_digit(stated) / stated
    return any(_near(one.value, stated, max(within, rounded)) for one in right)


def _enough(pair: Pair, stated: float) -> bool:
    right, _ = _readings(pair)
    return pair.claim.at_least and any(one.value >= stated for one in right)


def _slip(pair: Pair, stated: float, within: float) -> _Reading | None:
    _, wrong = _readings(pair)
    return next((one for one in wrong if _near(one.value, stated, within)), None)


def _right(pair: Pair) -> Message:
    right, _ = _readings(pair)
    return say("{right:/ or }", right=[one.shown(pair) for one in right])


# ---------------------------------------------------------------- amounts


@check(
    "stated-amount",
    reason="A reader remembers the one figure of the summary. The tables must give it, for all of them or "
    "for those that it names.",
    remedy="give the range of the ratios, or their geometric mean, and each in its table",
    source="Fleming and Wallace, How Not to Lie with Statistics, CACM 29(3), 1986: ratios are averaged "
    "geometrically",
)
def amount(article: Article) -> Iterator[Said]:
    """Find “times as fast” and differences that the printed figures do not give, or only some of them."""
    yield from _judged(article, AMOUNTS, "an article that states no ratios and differences", _amount)


def _amount(statement: Statement) -> Iterator[Said]:
    claim, pairs = statement.claim, statement.pairs
    stated = claim.value or 0.0
    ratios = claim.kind == "times as fast"
    got = [pair.speed if ratios else pair.a - pair.b for pair in pairs]
    within = ROUGH if claim.about else EXACT
    # "about 4 s" may be anything from 3 to 5: a rough difference is as exact as its last digit
    unit = 2 * half_a_digit(stated) if claim.about and not ratios else 0.0
    met = [
        _near(value, stated, within) or abs(value - stated) <= unit or (claim.at_least and value >= stated)
        for value in got
    ]
    if all(met):
        return
    shown = [
        say("{sum} ({figures})", sum=pair.ratio if ratios else _difference(pair), figures=pair.figures)
        for pair in pairs
    ]
    missed = [one for one, fits in zip(shown, met, strict=True) if not fits]
    fitting = [one for one, fits in zip(shown, met, strict=True) if fits]
    if len(pairs) == 1:
        found = say("the article says {stated}, the figures {shown}", stated=printed(stated), shown=shown[0])
    else:
        mean = NOTHING
        if ratios:
            mean = say(", geometric mean {mean:.3g}", mean=math.exp(math.fsum(map(math.log, got)) / len(got)))
        few = 0 < len(fitting) < len(missed)
        found = say(
            "the article says {stated} of {pairs} pairs; their figures run from {low:.3g} to "
            "{high:.3g}{mean}{fits}; "
            "{others} {others:is|are} not that: {missed}",
            stated=printed(stated),
            pairs=len(got),
            low=min(got),
            high=max(got),
            mean=mean,
            fits=say("; it fits {pairs}", pairs=examples(fitting)) if few else NOTHING,
            others=len(missed),
            missed=examples(missed),
        )
    yield Problem(
        statement.gravity(len(missed)),
        say("{says}: {found}", says=statement.says, found=found),
        remedy=None if ratios else "subtract the figures as printed, and say for which pairs it holds",
    )


def _difference(pair: Pair) -> Message:
    return say(
        "{a} - {b} = {difference:.4g}", a=printed(pair.a), b=printed(pair.b), difference=pair.a - pair.b
    )


@check(
    "quoted-figure",
    reason="A figure stands for the load that the text speaks of. If it is another load's, a reader takes a "
    "test of files for one of the database.",
    remedy="name the load of each figure, and give the figure of the load that the text speaks of",
    source="the article's own tables",
)
def quoted(article: Article) -> Iterator[Said]:
    """Find figures of one load in a text about another."""
    spoken = [claim for claim in article.claims if claim.beside and claim.than]
    if not spoken:
        raise NothingToCheckError("an article whose figures all stand beside their loads")
    for claim in spoken:
        of, than = article.find(claim.of), article.find(claim.than or "")
        if of is None or than is None or of.levels.get("workload") == claim.beside:
            continue
        own = [
            figure
            for side in (of, than)
            for one in article.cells
            if (one.levels.get("workload"), one.levels.get("storage"))
            == (claim.beside, side.levels.get("storage"))
            and (figure := one.figures.get(claim.measure))
        ]
        yield warning(
            "{at}“{says}”: this stands in a text about `{beside}`, but the figure is of `{load}`{own}",
            at=at(claim.place),
            says=claim.says,
            beside=claim.beside or "",
            load=of.levels.get("workload", ""),
            own=say(
                "; those of `{beside}` are {own:/ and } {unit}",
                beside=claim.beside or "",
                own=[printed(one) for one in own],
                unit=UNITS[claim.measure],
            )
            if len(own) == 2
            else NOTHING,
        )


# ---------------------------------------------------------------- order


@check(
    "stated-order",
    reason="If an article says “faster” or “the same”, the figures beside it must show that.",
    remedy="name the cells for which it holds; read back whether the settings of the others took effect",
    source="the article's own figures; “the same” up to 1.21, since single figures may be off by a tenth "
    "(Percona, Mystery variance)",
)
def order(article: Article) -> Iterator[Said]:
    """Find “faster” and “the same” that the printed figures contradict."""
    yield from _judged(article, ("faster", "the same"), "an article that states no order", _order)


def _order(one: Statement) -> Iterator[Said]:
    same = one.claim.kind == "the same"
    against = [pair for pair in one.pairs if (not 1 / TIE <= pair.speed <= TIE if same else pair.speed <= 1)]
    if not against:
        return
    shown = [
        say("{figures}, {ratio} times as fast", figures=pair.figures, ratio=pair.ratio) for pair in against
    ]
    most = one.holds_for_most(len(against))
    yield Problem(
        "note" if most else one.gravity(len(against)),
        say(
            "{says}: {fault}{pairs} ({shown:/; })",
            says=one.says,
            fault="as “most” allows, it does not hold" if most else "the figures contradict it",
            pairs=one.of_all(len(against)),
            shown=shown,
        ),
    )


@check(
    "order-without-spread",
    reason="If two figures are close and no spread is given, their order may be chance.",
    remedy="repeat each cell, give an interval of the ratio, and call what includes 1 inconclusive",
    source="Kalibera and Jones, Rigorous Benchmarking in Reasonable Time, ISMM 2013; Percona, Mystery "
    "variance: 332.4 and 302.7 a second after another start of the same server",
)
def close_order(article: Article) -> Iterator[Said]:
    """Find orders that rest on small differences without a spread."""
    if not article.procedure.spread_told:
        yield from _judged(article, ("faster",), "an article that states no order", _close)


def _close(one: Statement) -> Iterator[Said]:
    close = [pair for pair in one.pairs if 1 < pair.speed <= TIE]
    unshown = sum(pair.speed <= TIE for pair in one.pairs)
    if not close or one.claim.implied or one.holds_for_most(unshown):
        return
    pair = min(close, key=lambda each: each.speed)
    most = say(
        "; “most” is not shown: that is so in {n} of {all} pairs, or they contradict it",
        n=unshown,
        all=len(one.pairs),
    )
    yield warning(
        "{says}: {ratio} ({figures}){more}; no spread is given, and up to {tie} two single figures show no "
        "order{most}",
        says=one.says,
        ratio=pair.ratio,
        figures=pair.figures,
        more=say(", the closest of {n} such pairs", n=len(close)) if len(close) > 1 else NOTHING,
        tie=TIE,
        most=most if one.claim.most else NOTHING,
    )


# ---------------------------------------------------------------- causes


@check(
    "named-limit",
    reason="A slow cell does not show what it waits for: CPU, flushes, locks and clients all look the same.",
    remedy="record CPU time, device utilisation and the server's own waits while it runs",
    source="Gregg, Systems Performance, 2020, chapter 2 (active benchmarking: find the limit while it runs)",
)
def cause(article: Article) -> Iterator[Said]:
    """Find limits that are named without any record that shows them."""
    said: dict[tuple[str, str], list[Claim]] = {}
    for claim in article.claims:
        if claim.kind == "bound by":
            said.setdefault((claim.says, claim.place), []).append(claim)
    if not said:
        raise NothingToCheckError("an article that names no limit")
    for (says, place), claims in said.items():
        first = claims[0]
        if first.evidence:
            continue
        shown = [
            say("{of}: {figure}", of=claim.of, figure=printed(figure))
            for claim in claims
            if (one := article.find(claim.of)) and (figure := one.figures.get(first.measure))
        ]
        figures = say(" ({shown:/; } {unit})", shown=shown, unit=UNITS[first.measure]) if shown else NOTHING
        yield warning(
            "{at}“{says}”: only the figures{figures} were recorded; nothing shows that it is {cause}",
            at=at(place),
            says=says,
            figures=figures,
            cause=first.cause or "",
        )
