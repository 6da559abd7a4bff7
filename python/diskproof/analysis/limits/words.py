"""How figures are said in the sentences about limits."""

from diskproof.analysis.words import digits, percent


def milliseconds(microseconds: float) -> str:
    """Return a time with two significant digits in the unit that suits it: ``8.1 ms``, ``340 us``."""
    if microseconds <= 0:
        return "0 ms"
    if microseconds < 995:
        return f"{digits(microseconds, 2)} us"
    return f"{digits(microseconds / 1000, 2)} ms" if microseconds < 995_000 else f"{microseconds / 1e6:.2g} s"


def share(of_one: float) -> str:
    """Return a share in whole percent: ``93%``; one below a half percent as ``under 1%``."""
    return percent(round(of_one, 2)) if of_one >= 0.005 or of_one <= 0 else "under 1%"
