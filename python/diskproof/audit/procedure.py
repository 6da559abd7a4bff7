"""Checks of how an article's figures were made: repeats, choice, order, warm-up, what was left out."""

from collections.abc import Iterator

from diskproof.audit.check import NothingToCheckError, Said, Untold, check, note, warning
from diskproof.audit.claims import at
from diskproof.results.article import Article, Procedure
from diskproof.results.record import NotRecordedError, recorded
from diskproof.wording import NOTHING, Message, bytes_, counted, say, seconds

METHOD = "Kalibera and Jones, Rigorous Benchmarking in Reasonable Time, ISMM 2013"

FARTHEST = 2.0
"""A conclusion may be about this many times as many clients as were measured."""


def _asked(made: Procedure, told: object, untold: str, wrong: Message | str | None) -> Iterator[Said]:
    """Say that something is not reported, or what is wrong with it."""
    if told is None:
        yield Untold(untold)
    elif wrong:
        yield warning("{at}{wrong}", at=at(made.place), wrong=wrong)


@check(
    "best-of",
    reason="The best of several runs is too high by an unknown amount, and more so the more runs scatter.",
    remedy="give the mean with its interval, or all runs",
    source=METHOD,
)
def best_of(article: Article) -> Iterator[Said]:
    """Find figures that are the best of several runs."""
    made = article.procedure
    if made.chosen is None and made.repeats != 1:
        yield Untold("which of its runs an article prints")
    elif made.chosen == "best":
        several = made.repeats is not None and made.repeats > 1
        yield warning(
            "{at}each figure is the best of {runs}{hidden}",
            at=at(made.place),
            runs=counted(made.repeats, "run") if made.repeats else "several runs",
            hidden=say("; the other {n} are not given", n=(made.repeats or 0) - 1) if several else NOTHING,
        )


@check(
    "article-repeats",
    reason="With one run of each cell, a difference between two cells may be one between two runs.",
    remedy="repeat each cell, after a restart and with its data put back",
    source=METHOD,
)
def repeats(article: Article) -> Iterator[Said]:
    """Find cells that were measured once; note runs of one start of the server."""
    made = article.procedure
    once = "each cell was measured once" if made.repeats == 1 else None
    yield from _asked(made, made.repeats, "how often each cell of an article was measured", once)
    if made.one_start and made.repeats and made.repeats > 1:
        yield note(
            "{at}the {n} runs of a cell are of one start of the server: differences between starts are not "
            "in them",
            at=at(made.place),
            n=made.repeats,
        )


@check(
    "spread",
    reason="Without a spread, no reader can tell a difference from chance.",
    remedy="give an interval, or each run",
    source=METHOD,
)
def spread(article: Article) -> Iterator[Said]:
    """Find means and bests without their spread."""
    made = article.procedure
    if made.spread_told:
        return
    if made.repeats == 1:
        raise NothingToCheckError("an article of single runs")
    yield warning(
        "{at}the {figures} of {n} runs are given without their spread",
        at=at(made.place),
        figures={"best": "bests", "median": "medians", "mean": "means"}.get(made.chosen or "", "figures"),
        n=recorded(made.repeats, "the spread of an article's figures"),
    )


@check(
    "article-warm-up",
    reason="A cold server reads what a warm one has in memory, so part of the measurement is the warming.",
    remedy="warm up until reads and dirty pages are level, and say for how long",
    source="Barrett et al., Virtual Machine Warmup Blows Hot and Cold, OOPSLA 2017",
)
def warm_up(article: Article) -> Iterator[Said]:
    """Find measurements that began at once."""
    made = article.procedure
    before = (
        say(" before {time} of measurement", time=seconds(made.measured_s)) if made.measured_s else NOTHING
    )
    none = say("no warm-up was asked for{before}", before=before) if made.warm_up_s == 0 else None
    yield from _asked(made, made.warm_up_s, "how long an article's server was warmed up", none)


@check(
    "put-back",
    reason="A run changes the database: later cells work on what earlier ones wrote.",
    remedy="restart the server and restore the data before each run",
    source="Percona, Mystery variance: restarts differ more than seconds within a run do",
)
def put_back(article: Article) -> Iterator[Said]:
    """Find runs that used the data of the run before."""
    made = article.procedure
    went_on = "the data were not restored between runs: later runs work on what earlier ones left"
    yield from _asked(
        made,
        made.restart_between,
        "whether an article's runs began with a restart and restored data",
        None if made.restart_between else went_on,
    )


@check(
    "random-order",
    reason="If cells are measured one after the other, a change over time looks like a difference between "
    "them.",
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
    reason="Versions of a tool measure differently: do not compare figures of two of them.",
    remedy="name each tool with its version",
    source="sysbench 0.4's sequential file tests stop after one pass, 1.0's loop and sync: sb_fileio.c of "
    "each",
)
def tools(article: Article) -> Iterator[Said]:
    """Note reports in the form of another version than the article names."""
    told = article.tools
    shown = {one.counts.tool: one.place for one in article.stated if one.counts and one.counts.tool}
    shown |= {one.form: one.place for one in article.commands if one.form}
    if not shown:
        yield Untold("a report of the tool itself, which shows its version")
    for tool, place in shown.items():
        if not told:
            yield Untold("the versions of the load tools")
            return
        if not any(one.startswith(tool) for one in told):
            yield note(
                "{at}the report has the form of {tool}; the article only names {named:/, }",
                at=at(place),
                tool=tool,
                named=told,
            )


@check(
    "concurrency",
    reason="A result with few clients may not hold with many: group commit, locks and CPUs change it.",
    remedy="measure with the number of clients that the question is about",
    source="Gunther, Guerrilla Capacity Planning, 2007, chapter 4 (scalability is a curve)",
)
def concurrency(article: Article) -> Iterator[Said]:
    """Find conclusions about more clients than were measured."""
    asked = article.asked_clients
    measured = sorted({clients for one in article.stated if (clients := one.clients) is not None})
    if not asked:
        raise NothingToCheckError("an article that does not say how many clients its question is about")
    if not measured:
        raise NotRecordedError("with how many clients an article measured")
    pictured = (article.pictured_clients or 0) > measured[-1]
    most = max(measured[-1], article.pictured_clients or 0)
    for clients in asked:
        if clients > FARTHEST * most:
            yield warning(
                "the question is about {asked} clients, but the most that {what} is {most}: {asked} / "
                "{most} = {times:.3g} times as many",
                asked=clients,
                what="its pictures are known to show" if pictured else "its tables have",
                most=most,
                times=clients / most,
            )


@check(
    "article-client-levels",
    reason="A disk is fastest with as many requests as it serves at once. One level of clients does not show "
    "whether that was the peak.",
    remedy="a sweep from 1 client to more than the peak needs: 1, 2, 4, 8, 16, 32, 64",
    source="Little 1961; Gunther, Guerrilla Capacity Planning, 2007 (throughput against load)",
)
def client_levels(article: Article) -> Iterator[Said]:
    """Find rates of storages that are compared at one number of clients, if nothing asks for that number."""
    rates: dict[str, dict[int, set[str]]] = {}
    for one in article.cells:
        if one.clients and "storage" in one.levels and "transactions_per_s" in one.figures:
            by_clients = rates.setdefault(one.levels.get("workload", one.table), {})
            by_clients.setdefault(one.clients, set()).add(one.levels["storage"])
    if not rates:
        raise NothingToCheckError("an article without transactions a second of a known number of clients")
    if article.pictured_clients:
        raise NothingToCheckError("an article with pictures of more clients")
    for workload, by_clients in rates.items():
        clients, storages = next(iter(by_clients.items()))
        if len(by_clients) == 1 and len(storages) > 1 and clients not in (article.asked_clients or ()):
            yield warning(
                "`{workload}` is compared with one level of clients ({clients}): the peak is not known",
                workload=workload,
                clients=clients,
            )


@check(
    "command-output",
    reason="If a command asks for what its output does not show, one of them is of another run, or the "
    "output was cut.",
    remedy="copy the command and its whole output from one terminal",
    source="the tool's own manual: the option and the lines that it prints",
)
def command_output(article: Article) -> Iterator[Said]:
    """Find options of a command that its output contradicts."""
    if not article.commands:
        yield Untold("a tool's command beside its output")
    for one in article.commands:
        for option, asked in one.asked.items():
            shown = one.shown.get(option)
            if shown is None:
                yield Untold("what the output of {tool} shows of `{option}`", tool=one.tool, option=option)
            elif shown != asked:
                yield warning(
                    "{at}the command of {tool} asks for {asked} (`{option}`), but the output shows {shown}",
                    at=at(one.place),
                    tool=one.tool,
                    asked=asked,
                    option=option,
                    shown=shown,
                )


@check(
    "promised",
    reason="If an article asks a question and gives no figure of it, its conclusions do not answer that "
    "question.",
    remedy="give the figure, or take the question out",
    source="the article's own plan",
)
def promised(article: Article) -> Iterator[Said]:
    """Find what an article says it will measure or compute, and does not give."""
    if not article.promised:
        raise NothingToCheckError("an article without a known promise that it does not keep")
    for one in article.promised:
        yield warning(
            "{at}{what} was promised, but {given} given",
            at=at(one.place),
            what=one.what,
            given=f"only {one.given} is" if one.given else "nothing of it is",
        )


@check(
    "skipped-tests",
    reason="A skipped test shows nothing, and an extrapolated one shows little.",
    remedy="name it beside the results, and choose an engine or a size with which it runs",
    source="sql-bench 2.15, run-all-tests: a skipped test counts among those “executed successfully”, and a "
    "loop past its limit is extrapolated",
)
def skipped(article: Article) -> Iterator[Said]:
    """Find tests that were skipped or extrapolated, and counts of successes that include them."""
    if not article.gaps and not any(one.part for one in article.stated):
        raise NothingToCheckError("an article without jobs of several tests")
    if not article.gaps and not article.procedure.all_ran:
        raise NotRecordedError("whether all tests of an article's jobs ran, and to their end")
    for gap in article.gaps:
        reported, really = gap.reported_run, gap.really_run
        miscounted = NOTHING
        if reported and really is not None and reported > really:
            miscounted = say(
                "; the tool reports {reported} tests as executed, but {really} ran",
                reported=reported,
                really=really,
            )
        yield warning(
            "{at}`{part}` was {what} ({why}){miscounted}{matters}",
            at=at(gap.place),
            part=gap.part,
            what="skipped" if gap.kind == "skipped" else "extrapolated",
            why=gap.why,
            miscounted=miscounted,
            matters=say("; it would have shown {what}", what=gap.matters) if gap.matters else NOTHING,
        )


@check(
    "article-data-size",
    reason="Data that fit in memory are read from memory: the test says little about reading from storage.",
    remedy="more data than memory, or a buffer pool that is smaller than the data",
    source="METHODOLOGY.md: data against buffer pool and page cache",
)
def data_size(article: Article) -> Iterator[Said]:
    """Find loads whose data fit in memory."""
    if not article.data:
        yield Untold("how large an article's data are, against its memory")
    for one in article.data:
        if one.data <= one.memory:
            yield warning(
                "{at}the data of `{workload}` ({derived}: {size}) fit in {memory} ({memory_size})",
                at=at(one.place),
                workload=one.workload,
                derived=one.derived,
                size=bytes_(one.data),
                memory=one.of,
                memory_size=bytes_(one.memory),
            )


@check(
    "unreported",
    reason="Nobody can judge or repeat what an article does not report.",
    remedy="publish it with the figures",
    source="Vitek and Kalibera, R3: Repeatability, Reproducibility and Rigor, SIGPLAN Notices 47(4a), 2012",
)
def unreported(article: Article) -> Iterator[Said]:
    """Name what a reader needs but does not find."""
    if not article.unreported:
        raise NothingToCheckError("an article without a list of what it leaves out")
    for one in article.unreported:
        yield Untold("{what} ({why})", what=one.what, why=one.why)
