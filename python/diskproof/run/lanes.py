"""Benches for cuts that are made at once: each has disks and a folder of sockets of its own."""

from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager
from dataclasses import replace

from diskproof.results.plan import Cuts
from diskproof.run.bench import Bench


@contextmanager
def lanes(bench: Bench, plan: Cuts, count: int) -> Iterator[list[Bench]]:
    """Yield the bench, and as many beside it as make up `count`; these are given back at the end."""
    with ExitStack() as stack:
        yield [bench, *(_beside(bench, plan, number, stack) for number in range(2, count + 1))]


def _beside(bench: Bench, plan: Cuts, number: int, stack: ExitStack) -> Bench:
    places = stack.enter_context(closing(bench.storages.beside()))
    sockets = bench.sockets.with_name(f"{bench.sockets.name}-{number}")
    sockets.mkdir(mode=0o700)
    layouts = {
        name: bench.layouts[name].beside(bench.study.storages[name], places)
        for name in dict.fromkeys(cell.storage for cell in plan.cells)
    }
    return replace(bench, lane=number, sockets=sockets, layouts=layouts, storages=places)
