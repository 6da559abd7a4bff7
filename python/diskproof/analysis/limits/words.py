"""How limits and their figures are said."""

from diskproof.analysis.words import digits, percent
from diskproof.results.limit import Limit


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


def cpus_busy(cpus: int | None, busy: float) -> str:
    """Say how busy CPUs are: ``the 2 CPUs are 96% busy``, ``the only CPU is 96% busy``."""
    if cpus == 1:
        return f"the only CPU is {share(busy)} busy"
    return f"the {f'{cpus} ' if cpus else ''}CPUs are {share(busy)} busy"


def plain(limit: Limit) -> str:
    """Return a limit as it stands in a sentence."""
    return {
        "log flush": "the log's flush",
        "page writes": "the writing of pages",
        "CPU": "the CPUs",
        "load generator": "the load generator",
        "arrivals": "the rate of arrivals",
        "disk": "the disk",
    }.get(limit, limit)


def times_as_much(ratio: float) -> str:
    """Say a ratio of throughputs: ``6.1 times as much``, ``23% more``, ``18% less``."""
    if ratio >= 2:
        return f"{digits(ratio, 2)} times as much"
    if ratio >= 1:
        return f"{share(ratio - 1)} more"
    return f"{share(1 - ratio)} less"


def sentence_case(words: str) -> str:
    """Return words as the beginning of a sentence, with its full stop."""
    return f"{words[:1].upper()}{words[1:]}."
