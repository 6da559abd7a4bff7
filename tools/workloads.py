"""docs/workloads.md: options and statements from the programs; the rest of the page is written by hand."""

import re
from inspect import cleandoc
from typing import Any, get_args

from pydantic import ByteSize
from pydantic.fields import FieldInfo

from diskproof import load
from diskproof.study.loads import KINDS
from diskproof.study.loads.base import Load, Option
from diskproof.study.loads.described import options_of
from diskproof.wording import numbers
from paths import DOCS

PAGE = DOCS / "workloads.md"
OPERATIONS = "../crates/load/tests/facts/sql-bench-operations.csv"

BY_HAND = "<!-- from here on written by hand; every command of ours is run by a test -->"

INTRODUCTION = """After this page you can choose a workload, and repeat what another tool measured.

A workload runs in a study, as `[workloads.NAME]` with its `kind` and keys, or alone, as `diskproof-load \
run KIND`. The tables have the keys of a study. By hand they are options of the same names with hyphens \
(`range_size` is `--range-size`), unless the table says otherwise; `diskproof-load run KIND --help` has \
all of them.

| kind | asks | ends | compared by |
|---|---|---|---|
| `oltp`, `pgbench`, `tpcc`, `conditions`, `script`, `lua`, `ledger` | a database | after a time or a \
count | transactions a second |
| `replay` | a database | with its log, or after `measure_s` | mean latency; with `speed = "max"` statements \
a second |
| `slap`, `sqlbench` | a database | by itself: a job | seconds |
| `fileio` | the files of a storage, no database | after a time, or after one pass | requests a second |

Coming from another tool: [sysbench](#coming-from-sysbench), [mysqlslap](#coming-from-mysqlslap), \
[sql-bench](#coming-from-sql-bench), [pgbench](#coming-from-pgbench)."""


SHARED = (
    *("servers", "storages", "tunings", "clients", "warm_up_s", "measure_s"),
    *("rate", "arrivals", "preload"),
)
"""Keys that mean the same in every workload that has them: they stand once, above all."""


def page() -> str:
    """Return the generated part, then what the page holds by hand."""
    parts = ["# Workloads", "<!-- made by `make docs`; do not edit above the part written by hand -->"]
    parts += [
        INTRODUCTION,
        "Keys of all workloads; jobs have no phases and no rate, and only `oltp`, `pgbench` and `tpcc` have "
        "`preload`. (study): of studies alone.",
    ]
    parts.append(_shared())
    for kind, model in KINDS.items():
        parts += [
            f"## {kind}",
            cleandoc(model.__doc__ or "").partition("\n")[0],
            _options(model),
            *STATEMENTS[kind](),
        ]
    _, mark, by_hand = PAGE.read_text().partition(BY_HAND) if PAGE.is_file() else ("", "", "\n")
    return "\n\n".join([*parts, (mark or BY_HAND) + by_hand.rstrip()]) + "\n"


def _shared() -> str:
    """Return a row for each key that workloads share."""
    fields = {name: field for model in KINDS.values() for name, field in model.model_fields.items()}
    rows = ["| key | meaning |", "|---|---|"]
    rows += [f"| `{name}`{_by_hand(name, fields[name])} | {fields[name].description} |" for name in SHARED]
    return "\n".join(rows)


def _options(model: type[Load]) -> str:
    """Return a row a key of its own: its name, its default and its meaning."""
    kind = get_args(model.model_fields["kind"].annotation)[0]
    options = options_of(model.prepared_as or kind) | options_of(kind) if model.needs_server else {}
    rows = ["| key | default | meaning |", "|---|---|---|"]
    for name, field in model.model_fields.items():
        key = field.alias or name
        if key in SHARED or name == "kind":
            continue
        in_a_study = _default(field.get_default(call_default_factory=True), field.is_required())
        default, marks = in_a_study, _marks(field)
        if marks:
            by_hand = _default_by_hand(options[_called(key, marks[0])])
            by_hand = "" if by_hand == "required" else by_hand
            alike = not by_hand or by_hand in (
                in_a_study.strip("`"),
                in_a_study.strip("`").removesuffix(".0"),
            )
            default = in_a_study if alike else f"{in_a_study}; by hand {by_hand}" if in_a_study else by_hand
        by_hand_alone = _by_hand(key, field) if model.needs_server else ""
        rows.append(f"| `{key}`{by_hand_alone} | {default} | {_meaning(field)} |")
    return "\n".join(rows)


def _marks(field: FieldInfo) -> list[Option]:
    return [mark for mark in field.metadata if isinstance(mark, Option)]


def _called(key: str, mark: Option) -> str:
    return mark.name or key.replace("_", "-")


def _by_hand(key: str, field: FieldInfo) -> str:
    """Return the option of a key if it has another name, or none."""
    marks = _marks(field)
    if not marks:
        return " (study)"
    called = _called(key, marks[0])
    option = called if called.isupper() else f"--{called}"
    return "" if called == key.replace("_", "-") else f" (`{option}`)"


def _meaning(field: FieldInfo) -> str:
    """Return what a key means, without the default, which has a column of its own."""
    return re.sub(r" ?\[default: .+?\]", "", field.description or "").replace("|", "\\|")


def _default(value: object, required: bool) -> str:
    if required:
        return "required"
    if value is None or value is False or value in ([], {}):
        return ""
    return f"`{numbers.size(value) if isinstance(value, ByteSize) else value}`"


def _default_by_hand(option: dict[str, Any]) -> str:
    """Return an option's default in the program's own words."""
    said = re.search(r"\[default: (.+?)\]", option["help"])
    if said:
        return said[1].replace("|", "\\|")
    return str(option.get("default", "required" if option.get("required") else ""))


# ---------------------------------------------------------------- statements


def _choices(kind: str, option: str) -> list[str]:
    return [choice["name"] for choice in options_of(kind)[option]["choices"]]


def _oltp() -> list[str]:
    mixes = _choices("oltp", "mix")
    of_mix = {mix: _statements("oltp", ["--mix", mix]) for mix in mixes}
    rows = ["| mix | statements of a transaction, in their order |", "|---|---|"]
    rows += [f"| `{mix}` | {', '.join(one['name'] for one in found)} |" for mix, found in of_mix.items()]
    return ["\n".join(rows)]


def _sqlbench() -> list[str]:
    return [f"[The operations of each test]({OPERATIONS}), with their counts at scale 1."]


LEDGER = """\
The tables are `ledger_accounts` (`id`, `balance`, `transfers`, `filler`) and `ledger_entries` (`client`, \
`number`, `source`, `target`, `amount`, `filler`). Entries have no unique key, so that an entry that a \
recovery brings twice is seen, not refused. Each account begins with a balance of 1,000,000.

A transaction takes an amount of 1 to 1,000 from one account, adds it to another (the lower id first), \
and inserts the client's next entry. At any moment:

- the sum of all balances is what it was at the start;
- the balance and `transfers` of each account follow from the entries that name it;
- the entries of each client are numbered from 1, without a gap or a duplicate. A transaction that the \
server rolls back runs again under its number.

With `--acknowledgements FILE` each client writes each acknowledged commit into a new file before it does \
anything else ([protocol.md](protocol.md#acknowledgements))."""


def _ledger() -> list[str]:
    return [LEDGER]


def _script() -> list[str]:
    return ["The statements are those of your files. [scripts.md](scripts.md) has the language."]


def _lua() -> list[str]:
    return ["The statements are those of your script. [lua.md](lua.md) has the interface."]


FILEIO = """\
It runs in the same blocks and with the same checks as a server's trials. Its cells have no tuning and no \
`memory`: `ssd/rndrd/64c`.

| mode | what each client does, one request after the other |
|---|---|
| `rndrd` | reads blocks anywhere in the files |
| `rndwr` | writes blocks anywhere; after every 100 requests of all clients every file is synced |
| `rndrw` | reads while (reads + 1) / (writes + 1) < 1.5, else writes: three reads to two writes; syncs \
as `rndwr` |
| `seqrd` | reads the files from the first block to the last; several clients share one pass |
| `seqwr` | writes the files in the same way, over existing blocks: sysbench's `seqrewr` |

- Each client is a thread with one synchronous request at a time. The clients share the syncs of a round \
like any other requests.
- The verdict is about requests a second: reads and writes. Syncs take their time and are counted \
separately (a statement of kind `other`). Latencies are of reads and writes. MB are 10^6 bytes.
- The files are written completely before the first trial and are cold in every trial. They hold zeroes \
on virtual disks and in memory, and incompressible bytes elsewhere.
- `direct = false` uses the page cache. `seqrd` and `seqwr` are then one pass without warm-up, at most \
`measure_s` long. `seqwr` ends with a sync, which counts in its time. With one file and blocks of 1 MiB \
that is `dd bs=1M conv=fsync`."""


def _fileio() -> list[str]:
    return [FILEIO]


STATEMENTS = {
    "tpcc": list,
    "pgbench": list,
    "oltp": _oltp,
    "slap": list,
    "sqlbench": _sqlbench,
    "conditions": list,
    "replay": list,
    "script": _script,
    "lua": _lua,
    "ledger": _ledger,
    "fileio": _fileio,
}


def _statements(kind: str, arguments: list[str]) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = load.rehearse(kind, arguments)["statements"]
    return found
