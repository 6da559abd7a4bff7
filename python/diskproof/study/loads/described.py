"""Keys of a study that are options of diskproof-load: from a copy of its own description of them."""

import json
from collections.abc import Callable, Collection, Mapping
from pathlib import Path
from typing import Annotated, Any, Literal, TypeVar

from pydantic import BaseModel, Field, create_model
from pydantic.fields import FieldInfo

from diskproof.reading import read_bytes
from diskproof.study.loads.base import Load, Option
from diskproof.study.part import Distinct

DESCRIPTION = Path(__file__).with_name("options.json")
"""What `diskproof-load describe` prints; `make docs` renews it."""

MAX_BYTES = 2**20

WORKLOADS: dict[str, dict[str, Any]] = json.loads(read_bytes(DESCRIPTION, MAX_BYTES))["workloads"]

NOT_OF_A_STUDY = frozenset({"seed", "threads", "acknowledgements", "bear_errors"})
"""The lab chooses their values itself."""

Model = TypeVar("Model", bound=Load)


def options_of(kind: str) -> dict[str, dict[str, Any]]:
    """Return a workload's own options as the program describes them, by their names."""
    return {option["name"]: option for option in WORKLOADS[kind]["options"]}


OF_PROGRAM: Any = None
"""The default of a key that the lab reads, and whose value the program chooses if a study has none."""


def described(
    kind: str, *, only: Collection[str] | None = None, called: Mapping[str, str] | None = None
) -> Callable[[type[Model]], type[Model]]:
    """Return what gives a model a key for each of its workload's options, or for `only` some of them.

    A key that the model itself declares has its default, which may be `OF_PROGRAM`, and is always passed on;
    the others are left to the program. `called`: keys that are not called as their option is.
    """

    def complete(model: type[Model]) -> type[Model]:
        fields: dict[str, Any] = {}
        for name, option in options_of(kind).items():
            key = (called or {}).get(name, name.replace("-", "_"))
            if name not in NOT_OF_A_STUDY and (only is None or name in only):
                # A model has attributes of its own, such as `schema`.
                attribute = f"{key}_" if hasattr(BaseModel, key) else key
                fields[attribute] = _field(key, option, model.model_fields.get(key))
        full: type[Model] = create_model(
            model.__name__, __base__=model, __module__=model.__module__, **fields
        )
        full.__doc__ = model.__doc__
        return full

    return complete


def _field(key: str, option: Mapping[str, Any], own: FieldInfo | None) -> tuple[Any, Any]:
    """Return a key's type, and what else is known of it; `own`: as the model declares it."""
    kind, annotated, said = option["type"], ANNOTATED, option["help"]
    value: Any = {"flag": bool, "whole": int, "number": float, "seconds": float}.get(kind, str)
    if kind == "choice":
        value = LITERAL[tuple(choice["name"] for choice in option["choices"])]
    above = 0 if kind == "seconds" else None
    value = annotated[value, Field(ge=option.get("least"), le=option.get("most"), gt=above)]
    if option.get("many"):
        value = annotated[LIST[value], Distinct, Field(min_length=1)]
    default: Any = False if kind == "flag" else None
    if own is not None:
        default = own.default or option["default"]
    elif "default" in option:
        said = f"{said} [default: {option['default']}]"
    if default is None:
        value = value | None
    elif kind in ("number", "seconds"):
        default = float(default)
    marked = annotated[value, Option(tuple(option["verbs"]), option["name"])]
    return marked, Field(default, description=said, alias=key if hasattr(BaseModel, key) else None)


ANNOTATED: Any = Annotated
LITERAL: Any = Literal
LIST: Any = list
"""For types that are only known when the description is read."""
