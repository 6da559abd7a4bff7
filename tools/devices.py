"""docs/devices.md: the keys of a device file, from the declarations that read it."""

import re
from dataclasses import dataclass

from paths import ROOT

CRATE = ROOT / "crates" / "disk" / "src"

BEFORE = r"(?P<doc>(?:^ *///[^\n]*\n)*)(?P<serde>(?:^ *#\[serde[^\n]*\n)*)^    "
FIELD = re.compile(BEFORE + r"pub (?P<name>\w+): (?P<type>[^\n]+),$", re.MULTILINE)
HOLDS = r"(?:\((?P<holds>[^)]*)\)| \{(?P<fields>[^}]*)\})?"
VARIANT = re.compile(BEFORE + r"(?P<name>[A-Z]\w*)" + HOLDS + ",$", re.MULTILINE)
DEFAULT = re.compile(
    r"^ *(?:pub\(super\) )?fn (\w+)\(\) -> Figure<[^{]*\{\n *Figure::assumed\((.*?)\)\n *\}",
    re.MULTILINE | re.DOTALL,
)


@dataclass(frozen=True)
class Kind:
    """One kind of device: the table of a file that describes it."""

    name: str
    source: str
    struct: str
    text: str


EXAMPLE = """\
title = "My external SSD"
description = "Measured by me. Fitted to reads at depth 1; all else is held out."

[device.bridge]
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
A virtual disk is a TOML file. It describes the device, and lists what others measured of it. After this \
page you can write one for a disk of your own.

The files that come with diskproof lie in `devices/`; `diskproof disk list` names them. Name your own \
file by its path, which ends in `.toml`, wherever a study or a command takes a device.

```toml
{EXAMPLE}```

Each parameter names its source: `{{ value = 7200, source = "data sheet" }}`. A source that begins with \
`assumed` marks a guess. One that begins with `fitted` names the figure it was fitted to. A parameter \
that the file leaves out has the default below, marked as assumed. A key ends in its unit: `_us`, `_ms`, \
`_bytes`, `_mb_per_s` (10^6 bytes a second), `_mib_per_s` (2^20), `_share` (of 1). Unknown keys and \
impossible values are refused.

`[device.KIND]` is one of the kinds below. Some kinds are built of other devices. Describe such a part in \
place (`[device.bridge.disk.spinning]`) or name it: `disk = {{ named = "laptop-ssd-2012" }}`, a device of \
diskproof or the path of a file, relative to the naming file. A device cannot contain itself. Each \
volatile cache belongs to the part that has it. The counters of parts have their place in the name: \
`front.seeks`, `back.busy_us`."""

PUBLISHED = """\
`[[published]]` holds one measurement of somebody else: a `probe`, a `measure`, a `source`, and `fitted`, \
which is true if a parameter was fitted to it. Only the other figures are evidence; `diskproof disk \
show` shows both groups separately.

`diskproof disk clone` makes a device file of a disk that you can measure ([clone.md](clone.md)). To fit one \
by hand:

1. Take what its data sheet says.
2. Measure the disk with `diskproof disk profile`.
3. Fit the times of single requests to the figures at depth 1, and the rates to the sequential figures. \
Fit nothing else.
4. Compare depths, mixes and flushes with `diskproof-disk simulate`. If the throughput differs by more \
than 10%, the model lacks something. Say so in `description`; do not bend a parameter.

A probe has a `pattern` (below), `block_bytes`, `depth` (1), and `span_bytes`: the bytes from the start \
of the disk that it touches (all). A measure is one of those below."""


def page() -> str:
    """Return the reference of device files."""
    parts = ["# Device files", "<!-- made by `make docs`; do not edit -->", INTRO]
    parts += ["## The file", _table(_fields("device/mod.rs", "Device"), "device/mod.rs")]
    parts += ["## Published figures", PUBLISHED]
    parts += ["\n".join(_choices("device/published.rs", name)) for name in ("Pattern", "Measure")]
    for kind in kinds():
        parts += [f"## [device.{kind.name}]", kind.text]
        parts.append(_table(_fields(kind.source, kind.struct), kind.source))
    return "\n\n".join(parts) + "\n"


def kinds() -> list[Kind]:
    """Return the kinds that the program knows, in its order; names of other devices are not among them."""
    variants = VARIANT.finditer(_body("device/model.rs", "enum", "Model"))
    found = []
    for variant in variants:
        if variant["name"] != "Named":
            struct = f"{variant['name']}Parameters"
            source, text = _declared(struct)
            found.append(Kind(_kebab(variant["name"]), source, struct, text))
    return found


def _declared(struct: str) -> tuple[str, str]:
    """Return the file that declares a structure, and its comment."""
    for path in sorted((CRATE / "timing").rglob("*.rs")):
        declaration = rf"(?P<doc>(?:^///[^\n]*\n)*)(?:^#\[[^\n]*\n)*^pub struct {struct} \{{"
        if found := re.search(declaration, path.read_text(), re.MULTILINE):
            return str(path.relative_to(CRATE)), _doc(found["doc"])
    raise LookupError(f"no file declares {struct}")


def _fields(source: str, struct: str) -> list[re.Match[str]]:
    return list(FIELD.finditer(_body(source, "struct", struct)))


def _body(source: str, what: str, name: str) -> str:
    """Return the text between the braces of a declaration, in rustfmt's layout."""
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
        named = re.search(r'default = "(\w+)(?:::<(?:_, )?(\w+)>)?"', field["serde"])
        default = "required"
        if named:
            default = f"`{_default(named, field['type'], defaults)}`"
        elif "default" in field["serde"]:
            default = ""
        value, inner = _type(field["type"], source)
        notes += inner
        rows.append(f"| `{field['name']}` | {value} | {default} | {_doc(field['doc'])} |")
    return "\n".join(rows) + ("\n\n" + "\n\n".join(notes) if notes else "")


def _type(rust: str, source: str) -> tuple[str, list[str]]:
    """Return a type in words, and what the page says about it below the table."""
    inner = re.fullmatch(r"(?:Option<)?(?:Figure<)?(?:Box<|Vec<)?(\w+)>*", rust)
    name = inner[1] if inner else rust
    if name in ("u32", "u64", "usize", "u8"):
        return "integer", []
    simple = {"f64": "number", "bool": "`true` or `false`", "String": "text", "Model": "a device"}
    if name in simple:
        return simple[name], []
    if name == "Published":
        return "see below", []
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


def _doc(lines: str) -> str:
    return " ".join(line.strip().removeprefix("///").strip() for line in lines.splitlines())


def _default(named: re.Match[str], rust: str, functions: dict[str, str]) -> str:
    """Return a default in the notation of TOML."""
    function, value = named.groups()
    if value is None:
        return f'"{_kebab(functions[function].rpartition("::")[2])}"'
    if function == "thousandths":
        return str(int(value) / 1000)
    return f"{value}.0" if "f64" in rust else str(value)
