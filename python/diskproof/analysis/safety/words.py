"""What cuts showed, as a person would say it."""

from diskproof.analysis.safety.shapes import CutAnswer, Damage, Moments
from diskproof.analysis.words import digits, listed, percent
from diskproof.results.crash_plan import Way
from diskproof.stats.proportions import Share

CAUSES: dict[Way, str] = {
    "power": "the power cut",
    "stop": "a stop of the operating system",
    "kill": "a kill of the server",
}
"""What a loss is put down to. The three are never each other's evidence."""

UNVERIFIED: dict[Way, str] = {
    "stop": "power-cut safety is unverified: only the operating system was stopped, and the disks kept all",
    "kill": "power-cut safety is unverified: only the server was killed",
}

KINDS: dict[str, str] = {
    "refused": "no database came back",
    "complaints": "the server's log told of damage",
    "damaged_tables": "its own checks found damage",
    "half_applied": "transactions were half there",
    "duplicated": "transactions were there twice",
    "never_sent": "transactions were there that nobody had sent",
}
"""Of ``Damage``, by field."""


def outcome(answer: CutAnswer) -> str:
    """Say what the cuts of a cell showed, to follow its name: ``lost none in 50 cuts (at most …)``."""
    if not answer.telling or answer.loss_share is None:
        return f"has no telling cut among {answer.made}" if answer.made else "was not cut yet"
    said = loss(answer) if answer.with_loss else none_lost(answer.loss_share, answer.at_risk)
    # A lost database has been told of as that.
    return f"{said} and was damaged in {damage(answer)}" if answer.damaged > answer.gone else said


def none_lost(share: Share, at_risk: int | None) -> str:
    """Say that nothing was lost, what that bounds, and in how many cuts there was something to lose."""
    return f"lost none in {cuts(share.n)} ({at_most(share)}{_risk(share.n, at_risk)})"


def at_most(share: Share) -> str:
    """Return the bound of what was never seen: ``at most 5.8% of cuts, one-sided 95% bound``."""
    return f"at most {points(share.high)} of cuts, one-sided {percent(share.confidence)} bound"


def _risk(n: int, at_risk: int | None) -> str:
    if at_risk is None:
        return ""
    if at_risk == 0:
        return "; nothing was at risk in any"
    return f"; something was at risk in {'each' if at_risk == n else f'{at_risk:,}'}"


def loss(answer: CutAnswer) -> str:
    """Say in how many cuts all was lost, and how much in the worst of the others.

    An amount and a window that stand together are of the same cut.
    """
    gone = f"lost the whole database in {answer.gone} of {cuts(answer.telling)}" if answer.gone else ""
    if answer.worst is None:
        return gone
    if gone:
        return f"{gone}, and in others {_worst(answer, answer.worst, 'the worst')}"
    return f"lost {_worst(answer, answer.worst, f'the worst of {cuts(answer.telling)}')}"


def _worst(answer: CutAnswer, worst: Moments, of: str) -> str:
    amount, window = transactions(worst.lost), seconds(worst.first_lost_before_s or 0.0)
    longest = seconds(answer.window_s.worst) if answer.window_s else window
    another = f"; {longest} in another" if window != longest else ""
    if worst.is_all:
        # Its window is as long as the load was: no property of the setting.
        return f"up to all that was acknowledged, {window} of load ({amount} in {of}{another})"
    if answer.open_windows:
        another += f"; all that was acknowledged in {cuts(answer.open_windows)}"
    if window != longest:
        return f"up to {amount} ({window} of commits, in {of}{another})"
    up_to = "" if window.startswith("less") else "up to "
    return f"{up_to}{window} of commits ({amount} in {of}{another})"


def damage(answer: CutAnswer) -> str:
    """Return how many cuts left a damaged database, and how: ``3 of 50 cuts (…: 2, …: 1)``."""
    return f"{answer.damaged} of {cuts(answer.telling)} ({kinds(answer.damage)})"


def kinds(damage: Damage) -> str:
    """Return the kinds of damage that were seen, the most frequent first."""
    seen = sorted(((getattr(damage, field), said) for field, said in KINDS.items()), key=lambda one: -one[0])
    return "; ".join(f"{said}: {count}" for count, said in seen if count)


def interval(share: Share) -> str:
    """Return a share's interval, or its one-sided bound: ``73 to 94%``, ``at most 5.8%``."""
    if share.kind == "at most":
        return f"at most {points(share.high)}"
    if share.kind == "at least":
        return f"at least {points(share.low)}"
    return f"{points(share.low).removesuffix('%')} to {points(share.high)}"


def points(value: float) -> str:
    """Return a share as a percentage, never rounded to none or all of it: ``5.8%``, ``78%``, ``99.7%``."""
    if value in (0.0, 1.0):
        return f"{value:.0%}"
    if not 0.0001 <= value <= 0.9999:
        return "less than 0.01%" if value < 0.5 else "more than 99.99%"
    small, percents = min(value, 1 - value) * 100, value * 100
    if value < 0.5:
        return f"{percents:.{0 if small >= 9.95 else 1 if small >= 0.95 else 2}f}%"
    return f"{percents:.{0 if small >= 0.95 else 1 if small >= 0.095 else 2}f}%"


def seconds(value: float) -> str:
    """Return a time before a cut with two digits: ``0.94 s``; what is below a millisecond as that."""
    if value == 0:
        return "0 s"
    return f"{digits(value, 2)} s" if value >= 0.001 else "less than 1 ms"


def cuts(count: int) -> str:
    """Return a number of cuts with its noun."""
    return f"{count:,} {'cut' if count == 1 else 'cuts'}"


def transactions(count: int) -> str:
    """Return a number of transactions with its noun."""
    return f"{count:,} {'transaction' if count == 1 else 'transactions'}"


def reasons(by_reason: dict[str, int], most: int = 3) -> str:
    """Return reasons with how often each came: ``nobody was being acknowledged (3)``."""
    return listed([f"{reason} ({count})" for reason, count in by_reason.items()], most)
