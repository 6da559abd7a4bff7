"""The workloads of a study: each file of this folder but `base.py` declares kinds of `[workloads.NAME]`."""

import pkgutil
from collections.abc import Iterator
from importlib import import_module
from typing import TYPE_CHECKING, Annotated, Union, get_args

from pydantic import BeforeValidator, Field

from diskproof.study.loads.base import Load

DEFAULT_KIND = "oltp"


def _kinds(load: type[Load]) -> Iterator[tuple[str, type[Load]]]:
    """Yield the workloads that name their kind, each as it is with its described keys."""
    for declared in load.__subclasses__():
        if not declared.__subclasses__():
            yield from ((kind, declared) for kind in get_args(declared.model_fields["kind"].annotation))
        yield from _kinds(declared)


for _file in pkgutil.iter_modules(__path__):
    import_module(f"{__name__}.{_file.name}")

KINDS: dict[str, type[Load]] = dict(sorted(_kinds(Load)))


def _with_kind(value: object) -> object:
    """Add the kind if a study leaves it out."""
    return {"kind": DEFAULT_KIND} | value if isinstance(value, dict) else value


if TYPE_CHECKING:
    Workload = Load
else:
    Workload = Annotated[
        Union[tuple(KINDS.values())],  # noqa: UP007 - of as many as there are
        Field(discriminator="kind"),
        BeforeValidator(_with_kind),
    ]
