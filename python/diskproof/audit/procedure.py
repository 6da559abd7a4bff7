"""Checks of how an article's figures came about: repeats, choice, order, warm-up, what was left out."""

from collections.abc import Iterator

from diskproof.audit.check import Apart, Problem, Said, Untold, check
from diskproof.audit.wording import at
from diskproof.results.article import Article, Procedure
from diskproof.results.record import format_bytes

METHOD = "Kalibera and Jones, Rigorous Benchmarking in Reasonable Time, ISMM 2013"

FARTHEST = 2.0
"""How many times as many clients as were measured a conclusion may be about."""


def _asked(made: Procedure, told: object, untold: str, wrong: str | None) -> Iterator[Said]:
    """Say that something is not told, or what is wrong with it; nothing where it is right."""
    if told is None:
        yield Untold(untold)
    elif wrong:
        yield Problem("warning", f"{at(made.place)}{wrong}")


@check(
    "best-of",
    reason="The best of several runs is too high by an unknown amount, more so where runs scatter more: it "
    "favours the cell that scatters.",
    remedy="tell the mean with its interval, or all runs",
    source=METHOD,
)
def best_of(article: Article) -> Iterator[Said]:
    """Find figures that are the best of several runs."""
    made = article.procedure
    if made.chosen is None and made.repeats != 1:
        yield Untold("which of its runs an article prints")
    elif made.chosen == "best":
        n = f"{made.repeats} runs" if made.repeats else "several runs"
        hidden = (
            f", and the other {made.repeats - 1} are not told" if made.repeats and made.repeats > 1 else ""
        )
        yield Problem("warning", f"{at(made.place)}each figure is the best of {n}{hidden}")


@check(
    "article-repeats",
    reason="With one run of a cell, a difference between two cells may be one between two runs.",
    remedy="repeat each cell, after a restart and with its data put back",
    source=METHOD,
)
def repeats(article: Article) -> Iterator[Said]:
    """Find cells that were measured once; note those whose runs are of one start of the server."""
    made = article.procedure
    once = "each cell was measured once" if made.repeats == 1 else None
    yield from _asked(made, made.repeats, "how often each cell of an article was measured", once)
    if made.one_start and made.repeats and made.repeats > 1:
        yield Problem(
            "note",
            f"{at(made.place)}the {made.repeats} runs of a cell are of one start of the server: what "
            "differs "
            f"from one start to the next is not in them",
        )


@check(
    "spread",
    reason="Without a spread, no reader can tell a difference from chance.",
    remedy="tell an interval, or each run",
    source=METHOD,
)
def spread(article: Article) -> Iterator[Said]:
    """Find means and bests whose scatter is not told."""
    made = article.procedure
    if made.spread_told:
        return
    if made.repeats == 1:
        yield Apart("an article of single runs")
    elif made.repeats is None:
        yield Untold("the spread of an article's figures")
    else:
        word = {"best": "bests", "median": "medians", "mean": "means"}.get(made.chosen or "", "figures")
        yield Problem(
            "warning", f"{at(made.place)}the {word} of {made.repeats} runs stand without their spread"
        )


@check(
    "article-warm-up",
    reason="A cold server reads what a warm one has in memory: what is measured then is partly the warming.",
    remedy="warm up until reads and dirty pages are level, and tell for how long",
    source="Barrett et al., Virtual Machine Warmup Blows Hot and Cold, OOPSLA 2017",
)
def warm_up(article: Article) -> Iterator[Said]:
    """Find measurements that began at once."""
    made = article.procedure
    before = f" before {made.measured_s:,.10g} s of measurement" if made.measured_s else ""
    none = f"no warm-up is asked for{before}" if made.warm_up_s == 0 else None
    yield from _asked(made, made.warm_up_s, "how long an article's server was warmed up", none)


@check(
    "put-back",
    reason="A run leaves another database behind than it found: later cells work on what earlier ones wrote.",
    remedy="restart the server and put the data back before each run",
    source="Percona, Mystery variance: restarts differ more than seconds within a run do",
)
def put_back(article: Article) -> Iterator[Said]:
    """Find runs that went on with the data of the run before."""
    made = article.procedure
    went_on = "the data were not put back between runs: the later ones work on what the earlier left"
    yield from _asked(
        made,
        made.restart_between,
        "whether server and data were put back between an article's runs",
        None if made.restart_between else went_on,
    )


@check(
    "random-order",
    reason="Where one cell is measured after the other, what changed with time looks like a difference "
    "between them.",
    remedy="measure the cells in random order, block by block",
    source="Duplyakin et al., OrderSage: Avoiding the Ordering Trap in Systems Performance Measurement, "
    "USENIX ATC 2023",
)
def random_order(article: Article) -> Iterator[Said]:
    """Find cells that were measured one after the other."""
    made = article.procedure
    fixed = "all runs of one cell came before the first of the next, in a fixed order"
    yield from _asked(
        made,
        made.randomised,
        "the order in which an article's cells were measured",
        None if made.randomised else fixed,
    )


@check(
    "tools",
    reason="Versions of a tool measure differently; figures of two of them are not to be laid side by side.",
    remedy="name each tool with its version",
    source="sysbench 0.4's sequential file tests stop after one pass, 1.0's loop and sync: sb_fileio.c of "
    "each",
)
def tools(article: Article) -> Iterator[Said]:
    """Note reports whose form is of another version than the article names."""
    told = article.procedure.tools
    shown = {one.counts.tool: one.place for one in article.stated if one.counts and one.counts.tool}
    if not shown:
        yield Untold("a report of the tool itself, whose form shows its version")
    for tool, place in shown.items():
        if not told:
            yield Untold("the versions of the load tools")
            return
        if not any(one.startswith(tool) for one in told):
            yield Problem(
                "note",
                f"{at(place)}the report has the form of {tool}; the article names {', '.join(told)} alone",
            )


@check(
    "concurrency",
    reason="What holds with few clients need not hold with many: group commit, locks and processors come in.",
    remedy="measure at the number of clients that the question is about",
    source="Gunther, Guerrilla Capacity Planning, 2007, chapter 4 (scalability is a curve)",
)
def concurrency(article: Article) -> Iterator[Said]:
    """Find conclusions about more clients than were measured."""
    asked = article.procedure.asked_clients
    measured = sorted({clients for one in article.stated if (clients := one.clients) is not None})
    if not asked:
        yield Apart("an article that does not tell how many clients its question is about")
    elif not measured:
        yield Untold("with how many clients an article measured")
    else:
        for clients in asked:
            if clients > FARTHEST * measured[-1]:
                yield Problem(
                    "warning",
                    f"the question is about {clients:,} clients, and the largest printed figure is with "
                    f"{measured[-1]:,}: {clients:,} / {measured[-1]:,} = {clients / measured[-1]:.3g} "
                    f"times as "
                    f"many",
                )


@check(
    "skipped-tests",
    reason="A test that was skipped has told nothing; one that was cut short and extrapolated has told "
    "little.",
    remedy="name it beside the results, and choose an engine or a size with which it runs",
    source="sql-bench 2.15, run-all-tests: a skipped test counts among those “executed successfully”, a loop "
    "past its limit is extrapolated",
)
def skipped(article: Article) -> Iterator[Said]:
    """Find tests that were skipped or extrapolated, and successes that count them."""
    if not article.gaps and not any(one.part for one in article.stated):
        yield Apart("an article without jobs of several tests")
    elif not article.gaps and not article.procedure.all_ran:
        yield Untold("whether all tests of an article's jobs ran, and to their end")
    for gap in article.gaps:
        counted = ""
        if gap.reported_run and gap.really_run is not None and gap.reported_run > gap.really_run:
            counted = f"; the tool reports {gap.reported_run} tests as executed, {gap.really_run} were"
        matters = f"; it would have told {gap.matters}" if gap.matters else ""
        word = "was skipped" if gap.kind == "skipped" else "was extrapolated"
        yield Problem("warning", f"{at(gap.place)}`{gap.part}` {word} ({gap.why}){counted}{matters}")


@check(
    "article-data-size",
    reason="Data that fit in memory are read from memory: such a test says little about reading from "
    "storage.",
    remedy="more data than memory, or a pool that is smaller than the data",
    source="METHODOLOGY.md: data against buffer pool and page cache",
)
def data_size(article: Article) -> Iterator[Said]:
    """Find loads whose data fit in memory."""
    if not article.data:
        yield Untold("how large an article's data are, against its memory")
    for one in article.data:
        if one.data_bytes <= one.memory_bytes:
            yield Problem(
                "warning",
                f"{at(one.place)}the data of `{one.workload}` ({one.derived}: "
                f"{format_bytes(one.data_bytes)}) "
                f"fit in {one.of} ({format_bytes(one.memory_bytes)})",
            )


@check(
    "unreported",
    reason="What is not told cannot be judged, nor be measured again.",
    remedy="publish it with the figures",
    source="Vitek and Kalibera, R3: Repeatability, Reproducibility and Rigor, SIGPLAN Notices 47(4a), 2012",
)
def unreported(article: Article) -> Iterator[Said]:
    """Name what a reader would need and does not find."""
    if not article.unreported:
        yield Apart("an article of which nobody wrote down what it leaves out")
    for one in article.unreported:
        yield Untold(f"{one.what} ({one.why})")
