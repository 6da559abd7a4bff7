"""docs/devices.md: what a device file may say, from the declarations that read it."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

CRATE = Path(__file__).parents[1] / "crates" / "disk" / "src"

BEFORE = r"(?P<doc>(?:^ *///[^\n]*\n)*)(?P<serde>(?:^ *#\[serde[^\n]*\n)*)^    "
FIELD = re.compile(BEFORE + r"pub (?P<name>\w+): (?P<type>[^\n]+),$", re.MULTILINE)
HOLDS = r"(?:\((?P<holds>[^)]*)\)| \{(?P<fields>[^}]*)\})?"
VARIANT = re.compile(BEFORE + r"(?P<name>[A-Z]\w*)" + HOLDS + ",$", re.MULTILINE)
DEFAULT = re.compile(
    r"^ *(?:pub\(super\) )?fn (\w+)\(\) -> Figure<[^{]*\{\n *Figure::assumed\((.*?)\)\n *\}",
    re.MULTILINE | re.DOTALL,
)

UNITS = {
    "bytes": "bytes",
    "us": "microseconds",
    "ms": "milliseconds",
    "mb_per_s": "10^6 bytes a second",
    "mib_per_s": "2^20 bytes a second",
    "share": "of 1",
    "rpm": "turns a minute",
    "usd": "US dollars",
}


@dataclass(frozen=True)
class Kind:
    """One kind of device: the table of a file that describes it."""

    name: str
    source: str
    struct: str
    text: str


KINDS = (
    Kind("null", "device/model.rs", "NullParameters", "Takes no time."),
    Kind("memory", "timing/memory.rs", "MemoryParameters", "Takes the same short time for everything."),
    Kind("spinning", "timing/spinning/parameters.rs", "SpinningParameters", "An arm over platters."),
    Kind("flash", "timing/flash/parameters.rs", "FlashParameters", "Channels and dies behind a page map."),
    Kind(
        "cloud", "timing/cloud/parameters.rs", "CloudParameters", "A volume over a network, with its budgets."
    ),
    Kind(
        "bridge",
        "timing/bridge/parameters.rs",
        "BridgeParameters",
        "A USB bridge and the disk behind it. *Bulk-only* has one command under way at a time; "
        "*UAS* has a queue.",
    ),
    Kind(
        "cache",
        "timing/cache/parameters.rs",
        "CacheParameters",
        "A fast device that caches a large one: the SSD in front of a disk, placement (b) of the thesis. "
        "A flush of a write-back cache flushes the front, whose journal says what is newer there.",
    ),
    Kind(
        "log",
        "timing/log/parameters.rs",
        "LogParameters",
        "A disk that takes the writes of an SSD one after the other and hands them on in batches: "
        "placement (d) of the thesis. A flush is the disk's.",
    ),
    Kind(
        "raid",
        "timing/raid/parameters.rs",
        "RaidParameters",
        "Disks that work as one. RAID 5 reads old data and parity, or the rest of a stripe, before it writes "
        "a part of one; whole stripes are written at once. Failed disks and the write hole are not modelled.",
    ),
)

EXAMPLE = """\
title = "My external SSD"
description = "Measured by me. Fitted to reads at depth 1; all else is held out."

[device.bridge]
protocol = { value = "bulk-only", source = "lsusb -t: usb-storage" }
command_us = { value = 120.0, source = "fitted: random reads at depth 1" }
bus_mb_per_s = { value = 400.0, source = "assumed: USB 3.0 after its encoding" }

[device.bridge.disk.null]
capacity_bytes = { value = 240_057_409_536, source = "label" }

[[published]]
probe = { pattern = "random-read", block_bytes = 4096, depth = 32 }
measure = { iops = 7800.0 }
source = "fio, 2024"
fitted = false
"""

INTRO = f"""\
A virtual disk is a TOML file: what the device is, and what others measured of it. Those that come with \
diskproof lie in `devices/`; `diskproof disk list` names them. A file of your own is named by its path, \
which ends in `.toml`, wherever a device is named.

Every parameter says where it comes from: `{{ value = 7200, source = "data sheet" }}`. A source that begins \
with `assumed` marks a guess, and one that begins with `fitted` says to which figure. A parameter that is \
left out has the default below, marked as assumed. An unknown key is refused, and so is what cannot be.

```toml
{EXAMPLE}```

`[device.KIND]` is one of the kinds below. A device may be built of devices: where a kind takes one, either \
describe it there (`[device.bridge.disk.spinning]`) or name it (`disk = {{ named = "laptop-ssd-2012" }}`): a \
device that comes with diskproof, or the path of a file, from where the naming file lies. A device built of \
itself is refused. Every volatile cache is a part's own, and the counters of parts stand under their places: \
`front.seeks`, `member0.busy_us`."""

PUBLISHED = """\
`[[published]]` holds what somebody measured: a `probe`, a `measure`, a `source`, and `fitted`, whether a \
parameter was fitted to it. Only figures that were not are evidence, and `diskproof disk verify` shows the \
two apart. To fit a device of your own: take from data sheets what they say; measure the disk with \
`diskproof disk profile`; fit the times of single requests to the figures at depth 1 and the rates to the \
sequential ones, and nothing else; then compare depths, mixes and flushes with `diskproof-disk simulate`. \
Where they miss by more than 10 % in throughput, the model lacks something: say so in `description` \
rather than bend a parameter to the cell.

A probe has a `pattern` (below), `block_bytes`, `depth` (1), and `span_bytes`, the bytes from the start of \
the disk that it touches (all). A measure is one of those below."""


def page() -> str:
    """Return the reference of device files."""
    parts = ["# Device files", "<!-- made by `make docs`; do not edit -->", INTRO]
    parts += ["## The file", _table(_fields("device/mod.rs", "Device"), "device/mod.rs")]
    parts += ["## Published figures", PUBLISHED]
    parts += ["\n".join(_choices("device/published.rs", name)) for name in ("Pattern", "Measure")]
    for kind in KINDS:
        parts += [f"## [device.{kind.name}]", kind.text]
        parts.append(_table(_fields(kind.source, kind.struct), kind.source))
    return "\n\n".join(parts) + "\n"


def kinds_in_the_model() -> list[str]:
    """Return the kinds that the program knows, names of other devices not among them."""
    variants = VARIANT.finditer(_body("device/model.rs", "enum", "Model"))
    return [_kebab(variant["name"]) for variant in variants if variant["name"] != "Named"]


def _fields(source: str, struct: str) -> list[re.Match[str]]:
    return list(FIELD.finditer(_body(source, "struct", struct)))


def _body(source: str, what: str, name: str) -> str:
    """Return what stands between the braces of a declaration, as rustfmt lays it out."""
    text = (CRATE / source).read_text()
    found = re.search(rf"^pub (?:\(\w+\) )?{what} {name} \{{\n(.*?)^\}}", text, re.MULTILINE | re.DOTALL)
    if found is None:
        raise LookupError(f"{source} declares no {what} {name}")
    return found[1]


def _table(fields: list[re.Match[str]], source: str) -> str:
    defaults = dict(DEFAULT.findall((CRATE / source).read_text()))
    rows = ["| key | value | default | meaning |", "|---|---|---|---|"]
    notes = []
    for field in fields:
        named = re.search(r'default = "(?:\w+::)*(\w+)"', field["serde"])
        default = "required"
        if named:
            default = f"`{_literal(defaults[named[1]])}`"
        elif "default" in field["serde"]:
            default = ""
        value, inner = _type(field["type"], source)
        notes += inner
        rows.append(
            f"| `{field['name']}` | {value}{_unit(field['name'])} | {default} | {_doc(field['doc'])} |"
        )
    return "\n".join(rows) + ("\n\n" + "\n\n".join(notes) if notes else "")


def _type(rust: str, source: str) -> tuple[str, list[str]]:
    """Return a type in words, and what is to be said of it below the table."""
    inner = re.fullmatch(r"(?:Option<)?(?:Figure<)?(?:Box<|Vec<)?(\w+)>*", rust)
    name = inner[1] if inner else rust
    if name in ("u32", "u64", "usize", "u8"):
        return "integer", []
    simple = {"f64": "number", "bool": "`true` or `false`", "String": "text", "Model": "a device"}
    if name in simple:
        return ("list of devices" if rust.startswith("Vec") else simple[name]), []
    if name == "Published":
        return "see below", []
    if name == "RaidLevel":
        return "0, 1, 5 or 10", []
    try:
        choices = list(VARIANT.finditer(_body(source, "enum", name)))
    except LookupError:
        return "table", [f"{name}:", _table(_fields(source, name), source)]
    if any(choice["holds"] or choice["fields"] for choice in choices):
        return "table of one", _choices(source, name)
    return " or ".join(f'`"{_kebab(choice["name"])}"`' for choice in choices), []


def _choices(source: str, name: str) -> list[str]:
    snake = (
        "snake_case" in re.split(rf"enum {name} ", (CRATE / source).read_text())[0].rpartition("#[serde")[2]
    )
    lines = []
    for choice in VARIANT.finditer(_body(source, "enum", name)):
        word = _kebab(choice["name"])
        word = word.replace("-", "_") if snake else word
        fields = re.findall(r"(\w+):", choice["fields"] or "")
        with_fields = f" = {{ {', '.join(fields)} }}" if fields else ""
        lines.append(f"- `{word}{with_fields}`{': ' if choice['doc'] else ''}{_doc(choice['doc'])}")
    return lines


def _kebab(name: str) -> str:
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "-", name).lower()


def _unit(name: str) -> str:
    return next((f", {words}" for end, words in UNITS.items() if re.search(rf"(^|_){end}$", name)), "")


def _doc(lines: str) -> str:
    return " ".join(line.strip().removeprefix("///").strip() for line in lines.splitlines())


def _literal(rust: str) -> str:
    """Return a default as TOML would have it."""
    rust = rust.strip()
    if shifted := re.fullmatch(r"(\d+) << (\d+)", rust):
        return f"{int(shifted[1]) << int(shifted[2]):_}"
    if re.fullmatch(r"[\d_]+( \* [\d_]+)+", rust):
        product = 1
        for factor in _factors(rust):
            product *= factor
        return f"{product:_}"
    return f'"{_kebab(rust.rpartition("::")[2])}"' if "::" in rust else rust


def _factors(rust: str) -> Iterator[int]:
    return (int(factor) for factor in rust.split(" * "))
