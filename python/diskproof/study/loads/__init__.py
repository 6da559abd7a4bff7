"""The workloads of a study: one file a kind, and the union that `[workloads.NAME]` is read as."""

from typing import Annotated

from pydantic import BeforeValidator, Field

from diskproof.study.loads.base import Load
from diskproof.study.loads.conditions import Conditions
from diskproof.study.loads.fileio import Fileio
from diskproof.study.loads.ledger import Ledger
from diskproof.study.loads.oltp import Oltp
from diskproof.study.loads.script import Script
from diskproof.study.loads.slap import Slap
from diskproof.study.loads.sqlbench import SqlBench

KINDS: dict[str, type[Load]] = {
    "oltp": Oltp,
    "slap": Slap,
    "sqlbench": SqlBench,
    "conditions": Conditions,
    "script": Script,
    "ledger": Ledger,
    "fileio": Fileio,
}
DEFAULT_KIND = "oltp"


def _with_kind(value: object) -> object:
    """Say the kind where a study leaves it out."""
    return {"kind": DEFAULT_KIND} | value if isinstance(value, dict) else value


Workload = Annotated[
    Oltp | Slap | SqlBench | Conditions | Script | Ledger | Fileio,
    Field(discriminator="kind"),
    BeforeValidator(_with_kind),
]
