"""Checks of what an article says of its figures: whether the arithmetic holds, and the order."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from diskproof.audit.check import Apart, Problem, Said, Untold, check
from diskproof.audit.rounding import half_a_digit
from diskproof.audit.wording import at
from diskproof.results.article import Article, Claim
from diskproof.results.published import RATES, PublishedMeasure
from diskproof.results.trial import Severity

EXACT = 0.02
"""Share by which a stated figure may miss the printed ones: both are rounded."""

ROUGH = 0.15
"""Share by which a figure that was said to be rough ("about", "almost") may miss them."""

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


@dataclass(frozen=True)
class Pair:
    """A claim with the two printed figures that it is about."""

    claim: Claim
    a: float
    """Of the result that it is about."""
    b: float
    """Of the one that it is compared with."""

    @property
    def rate(self) -> bool:
        """Whether more is faster."""
        return self.claim.measure in RATES

    @property
    def speed(self) -> float:
        """How many times as fast a is as b."""
        return self.a / self.b if self.rate else self.b / self.a

    @property
    def figures(self) -> str:
        """Both figures, with their names."""
        return (
            f"{self.claim.of}: {self.a:,.10g}; {self.claim.than}: {self.b:,.10g} {UNITS[self.claim.measure]}"
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
        """Tell whether it was said of most of its pairs, and only so many of them speak against it."""
        return self.claim.most and against * 2 < len(self.pairs)


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


def _to_judge(article: Article, kinds: Sequence[str], what: str) -> Iterator[Statement | Said]:
    """Yield the statements that have figures, and say of the others why they cannot be judged."""
    found = statements(article, kinds)
    if not found:
        yield Apart(f"an article that {what}")
    for one in found:
        yield one if one.pairs else Untold(f"the figures behind {one.says}")


# ---------------------------------------------------------------- percent against ratio


@dataclass(frozen=True)
class _Reading:
    """One thing that a stated figure may mean, of one pair."""

    value: float
    formula: str
    meaning: str


def _readings(pair: Pair) -> tuple[list[_Reading], list[_Reading]]:
    """Return what a percentage may rightly mean, and what it is often mistaken for.

    Of times, "slower" and "faster" are read both ways: as more or less time, and as more or less speed.
    """
    a, b, kind = pair.a, pair.b, pair.claim.kind
    share = _Reading(a / b * 100, f"{a:,.10g} / {b:,.10g}", "the one as a share of the other")
    turned = _Reading(b / a * 100, f"{b:,.10g} / {a:,.10g}", "the other as a share of the one")
    more = _Reading((a / b - 1) * 100, f"{a:,.10g} / {b:,.10g} - 1", "longer" if not pair.rate else "more")
    less = _Reading((1 - a / b) * 100, f"1 - {a:,.10g} / {b:,.10g}", "less time" if not pair.rate else "less")
    speed_less = _Reading((1 - b / a) * 100, f"1 - {b:,.10g} / {a:,.10g}", "less speed")
    speed_more = _Reading((b / a - 1) * 100, f"{b:,.10g} / {a:,.10g} - 1", "more speed")
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
    reason="A ratio is no difference: 29 of 232 is 12.5 %, and 87.5 % slower. A reader who is told the one "
    "as the other takes a factor of eight for an eighth.",
    remedy="say 1 - a/b where a difference is meant, or the ratio as “times as fast”",
    source="METHODOLOGY.md, Speed: “x % slower” means 1 - a/b; a/b itself is a ratio",
)
def percent(article: Article) -> Iterator[Said]:
    """Find percentages that the printed figures do not give."""
    for one in _to_judge(article, PERCENT, "states no percentages"):
        if isinstance(one, Statement):
            yield from _percent(one)
        else:
            yield one


def _percent(statement: Statement) -> Iterator[Said]:
    claim, pairs = statement.claim, statement.pairs
    stated = claim.value or 0.0
    slips = _slips(statement, stated)
    missed = [pair for pair in pairs if pair not in slips and not _holds(pair, stated)]
    if slips:
        pair, slip = next((pair, slip) for pair in slips if (slip := _slip(pair, stated, EXACT)))
        others = f"; the same in {len(slips)} of {len(pairs)} pairs" if len(slips) > 1 else ""
        letter = _true_to_the_letter(pair, stated)
        yield Problem(
            "invalid",
            f"{statement.says}: {slip.formula} = {slip.value:,.1f} %, which is {slip.meaning}; "
            f"{_right(pair)} "
            f"({pair.figures}){others}{letter}",
        )
    if missed:
        of_all = f" in {len(missed)} of {len(pairs)} pairs" if len(pairs) > 1 else ""
        shown = _listed([f"{_right(pair)} ({pair.figures})" for pair in missed])
        yield Problem(
            _gravity(len(slips) + len(missed), statement),
            f"{statement.says}: {stated:,.10g} % is told, but{of_all} {shown}",
        )


def _slips(statement: Statement, stated: float) -> list[Pair]:
    """Return the pairs whose figure is what a percentage is mistaken for.

    One exact slip shows how a rough figure was worked out, and one exact pair that it was worked out rightly:
    that 20 s are 49 % of 41 is chance where 21 s are 49 % less.
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


def _gravity(against: int, statement: Statement) -> Severity:
    """Return how grave it is that a statement fails for some of its pairs: an error from half of them on."""
    softened = statement.claim.about or statement.claim.implied
    return "invalid" if against * 2 >= len(statement.pairs) and not softened else "warning"


def _listed(pairs: Sequence[str]) -> str:
    """Name pairs for which a statement does not hold."""
    more = [f"and {len(pairs) - MOST_SHOWN} more"] if len(pairs) > MOST_SHOWN else []
    return "; ".join([*pairs[:MOST_SHOWN], *more])


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


def _right(pair: Pair) -> str:
    right, _ = _readings(pair)
    return " or ".join(f"{one.formula} = {one.value:,.1f} % {one.meaning}" for one in right)


def _true_to_the_letter(pair: Pair, stated: float) -> str:
    if not _enough(pair, stated):
        return ""
    return ". “More than” makes it true to the letter, and tells a reader far less than was found"


# ---------------------------------------------------------------- amounts


@check(
    "stated-amount",
    reason="A reader remembers the one figure of the summary: it must be what the tables give, and hold for "
    "all of them or say for which.",
    remedy="tell the range of the ratios, or their geometric mean, and each in its table",
    source="Fleming and Wallace, How Not to Lie with Statistics, CACM 29(3), 1986: ratios are averaged "
    "geometrically",
)
def amount(article: Article) -> Iterator[Said]:
    """Find “times as fast” and differences that the printed figures do not give, or only some of them."""
    for one in _to_judge(article, AMOUNTS, "states no ratios and differences"):
        if isinstance(one, Statement):
            yield from _amount(one)
        else:
            yield one


def _amount(statement: Statement) -> Iterator[Said]:
    claim, pairs = statement.claim, statement.pairs
    stated = claim.value or 0.0
    ratios = claim.kind == "times as fast"
    got = [pair.speed if ratios else pair.a - pair.b for pair in pairs]
    within = ROUGH if claim.about else EXACT
    met = [_near(value, stated, within) or (claim.at_least and value >= stated) for value in got]
    if all(met):
        return
    formulas = [_ratio(pair) if ratios else _difference(pair) for pair in pairs]
    told = [f"{formula} ({pair.figures})" for formula, pair in zip(formulas, pairs, strict=True)]
    missed = [text for text, fits in zip(told, met, strict=True) if not fits]
    fitting = [text for text, fits in zip(told, met, strict=True) if fits]
    if len(pairs) == 1:
        said = f"{stated:,.10g} is told, {told[0]}"
    else:
        mean = f", geometric mean {math.exp(math.fsum(map(math.log, got)) / len(got)):.3g}" if ratios else ""
        fits = f"; it fits {_listed(fitting)}" if 0 < len(fitting) < len(missed) else ""
        said = (
            f"{stated:,.10g} is told of {len(got)} pairs, whose figures run from {min(got):.3g} to "
            f"{max(got):.3g}{mean}{fits}; {len(missed)} {'is' if len(missed) == 1 else 'are'} not that: "
            f"{_listed(missed)}"
        )
    yield Problem(
        _gravity(len(missed), statement),
        f"{statement.says}: {said}",
        remedy=None if ratios else "subtract the figures as they are printed, and tell for which it holds",
    )


def _difference(pair: Pair) -> str:
    return f"{pair.a:,.10g} - {pair.b:,.10g} = {pair.a - pair.b:.4g}"


def _ratio(pair: Pair) -> str:
    over, under = (pair.a, pair.b) if pair.rate else (pair.b, pair.a)
    ratio = over / under
    near_one = 0.9 < ratio < 1.1
    return f"{over:,.10g} / {under:,.10g} = {ratio:{'.4g' if near_one else '.3g'}}"


# ---------------------------------------------------------------- order


@check(
    "stated-order",
    reason="What is said to be faster, or the same, must be so in the figures beside it.",
    remedy="name the cells for which it holds; read back whether the settings of the others took effect",
    source="the article's own figures; “the same” up to 1.21, since single figures may be off by a tenth "
    "(Percona, Mystery variance)",
)
def order(article: Article) -> Iterator[Said]:
    """Find “faster” and “the same” where the printed figures say otherwise."""
    for one in _to_judge(article, ("faster", "the same"), "states no order"):
        if not isinstance(one, Statement):
            yield one
            continue
        same = one.claim.kind == "the same"
        against = [pair for pair in one.pairs if (_apart(pair) if same else pair.speed <= 1)]
        if not against:
            continue
        shown = "; ".join(f"{pair.figures}, {_ratio(pair)} times as fast" for pair in against)
        of_all = f"in {len(against)} of {len(one.pairs)} pairs" if len(one.pairs) > 1 else "here"
        said = f"{one.says}: the figures say otherwise {of_all} ({shown})"
        yield Problem("note" if one.holds_for_most(len(against)) else _gravity(len(against), one), said)


def _apart(pair: Pair) -> bool:
    return not 1 / TIE <= pair.speed <= TIE


@check(
    "order-without-spread",
    reason="Where two figures are close and no spread is told, their order may be chance.",
    remedy="repeat each cell, tell an interval of the ratio, and call what includes 1 inconclusive",
    source="Kalibera and Jones, Rigorous Benchmarking in Reasonable Time, ISMM 2013; Percona, Mystery "
    "variance: 332.4 and 302.7 a second after another start of the same server",
)
def close_order(article: Article) -> Iterator[Said]:
    """Find orders that rest on small differences without any measure of chance."""
    if article.procedure.spread_told:
        return
    for one in _to_judge(article, ("faster",), "states no order"):
        if not isinstance(one, Statement):
            yield one
            continue
        close = [pair for pair in one.pairs if 1 < pair.speed <= TIE]
        unshown = sum(pair.speed <= TIE for pair in one.pairs)
        if close and not one.claim.implied and not one.holds_for_most(unshown):
            pair = min(close, key=lambda each: each.speed)
            more = f", the closest of {len(close)} such pairs" if len(close) > 1 else ""
            most = f"; so most is not shown: {unshown} of {len(one.pairs)} pairs are such or say otherwise"
            yield Problem(
                "warning",
                f"{one.says}: {_ratio(pair)} ({pair.figures}){more}; no spread is told, and up to {TIE} two "
                f"single figures show no order{most if one.claim.most else ''}",
            )


# ---------------------------------------------------------------- causes


@check(
    "named-limit",
    reason="A slow cell does not tell what it waits for: processor, flushes, locks and clients all look like "
    "it.",
    remedy="record CPU time, device utilisation and the server's own waits while it runs",
    source="Gregg, Systems Performance, 2020, chapter 2 (active benchmarking: find the limit while it runs)",
)
def cause(article: Article) -> Iterator[Said]:
    """Find limits that are named without anything recorded that would show them."""
    said: dict[tuple[str, str], list[Claim]] = {}
    for claim in article.claims:
        if claim.kind == "bound by":
            said.setdefault((claim.says, claim.place), []).append(claim)
    if not said:
        yield Apart("an article that names no limit")
    for (says, place), claims in said.items():
        first = claims[0]
        if first.evidence:
            continue
        shown = [
            f"{claim.of}: {figure:,.10g}"
            for claim in claims
            if (one := article.find(claim.of)) and (figure := one.figures.get(first.measure))
        ]
        figures = f" ({'; '.join(shown)} {UNITS[first.measure]})" if shown else ""
        yield Problem(
            "warning",
            f"{at(place)}“{says}”: nothing beside the figures{figures} was recorded that would show "
            f"{first.cause} as the limit",
        )
