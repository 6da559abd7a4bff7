"""Which studies can alternate: their sides are up at the same time, and must not disturb each other."""

from collections.abc import Mapping, Sequence

from diskproof.results.factor import Factor
from diskproof.study.loads import Workload
from diskproof.study.loads.base import Steady
from diskproof.study.part import MAX_CLIENTS, mistake
from diskproof.study.places import PlaceKind
from diskproof.study.storages import StorageChoice

ALTERNATING: tuple[Factor, ...] = ("server", "storage", "tuning", "memory")
"""Factors whose levels can take turns. Workload and clients are the conditions of a comparison."""

APART: tuple[PlaceKind, ...] = ("ram", "virtual", "composed", "directory")
"""Kinds of places that show whether they share a disk."""


def alternating(levels: Mapping[Factor, Sequence[str]]) -> Factor:
    """Return the factor whose levels take turns: the only one that varies; Mistake if it is not one."""
    varied = [factor for factor in ALTERNATING if len(levels[factor]) > 1]
    if len(varied) == 1:
        return varied[0]
    if varied:
        raise mistake(
            f"the levels of one factor can take turns, and {' and '.join(varied)} vary: make a study of each",
            "design",
            "alternate",
        )
    raise mistake(
        f"nothing can take turns: give two levels of {', '.join(ALTERNATING[:-1])} or {ALTERNATING[-1]}",
        "design",
        "alternate",
    )


def check_alternate(
    levels: Mapping[Factor, Sequence[str]],
    storages: Mapping[str, StorageChoice],
    workloads: Mapping[str, Workload],
    clients: Sequence[int],
) -> None:
    """Refuse sides that cannot be up at once, or loads that have no windows, as far as the study tells.

    `clients` are those of workloads without their own.
    """
    factor = alternating(levels)
    for name, workload in workloads.items():
        if workload.is_job or not workload.needs_server:
            why = "it ends by itself" if workload.is_job else "it has no server"
            raise mistake(f"{why}, so it cannot alternate: leave `alternate` out", "workloads", name)
        if isinstance(workload, Steady) and workload.rate:
            raise mistake("a load at a set rate cannot alternate: leave one out", "workloads", name, "rate")
        if (together := max(workload.clients or clients) * len(levels[factor])) > MAX_CLIENTS:
            raise mistake(
                f"its sides have {together} clients together, and {MAX_CLIENTS} is the most",
                "workloads",
                name,
                "clients",
            )
    if factor == "storage":
        _check_apart(storages)
        return
    for name, storage in storages.items():
        for choice in storage.places().values():
            if choice.kind != "ram":
                raise mistake(
                    f"all sides lie on `{choice.kind}`, so what one writes back in its pauses slows the "
                    "others: use `ram`, or leave `alternate` out",
                    "storages",
                    name,
                )


def _check_apart(storages: Mapping[str, StorageChoice]) -> None:
    """Refuse storages that share a place, or may share one."""
    whose: dict[str, str] = {}
    for name, storage in storages.items():
        for choice in {place.key: place for place in storage.places().values()}.values():
            if choice.kind not in APART:
                raise mistake(
                    f"it cannot be told whether a place that is `{choice.kind}` shares a disk with another "
                    "storage: leave `alternate` out",
                    "storages",
                    name,
                )
            if (other := whose.setdefault(choice.key, name)) != name:
                raise mistake(
                    f"`{other}` has the same place, so what one writes back in its pauses slows the other: "
                    "give them two places, or leave `alternate` out",
                    "storages",
                    name,
                )
