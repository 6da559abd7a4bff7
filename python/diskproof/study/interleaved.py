"""Two versions of a study as one: what differs between them becomes levels, measured in the same blocks."""

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import tomlkit

from diskproof.families.facts import LEVELS
from diskproof.reading import read_bytes
from diskproof.refusal import RefusalError
from diskproof.study.mistakes import toml
from diskproof.study.read import MAX_STUDY_BYTES
from diskproof.wording.numbers import listed

FACTORS = {"servers": "server", "storages": "storage", "tunings": "tuning"}
"""Tables whose entries are levels of a factor."""

LEFT_OUT = (
    *("thresholds", "published", "prices", "scale", "scales", "crash", "faults"),
    *("expectation", "analysis"),
)
"""What speaks of the study's own levels, or measures no speed."""

BEFORE, AFTER = "before", "after"

Content = dict[str, Any]


Version = tuple[Path, str]
"""A run's folder and the text of its study."""


def changed_levels(before: Version, after: Version) -> set[tuple[str, str]]:
    """Return the levels that differ between two runs, each behind its factor."""
    one, other = (_located(toml(text), run, after[0]) for run, text in (before, after))
    return {
        (factor, level)
        for table, factor in FACTORS.items()
        for level in {**one.get(table, {}), **other.get(table, {})}
        if one.get(table, {}).get(level) != other.get(table, {}).get(level)
    }


def interleaved(runs: Mapping[str, Version], suspect: Mapping[str, str]) -> str:
    """Return one study of two runs, by `BEFORE` and `AFTER`.

    Of what differs, the levels of the `suspect` cell alone stay, by factor; both of its versions are levels.
    RefusalError if nothing differs, or something that is no level.
    """
    newest = runs[AFTER][0]
    before, after = (_located(toml(text), run, newest) for run, text in (runs[BEFORE], runs[AFTER]))
    others = [
        key
        for key in {**before, **after}
        if key not in (*FACTORS, *LEFT_OUT, "question") and before.get(key) != after.get(key)
    ]
    if others:
        raise RefusalError(
            f"the studies of the two runs differ in {listed(sorted(others))}, and only servers, storages and "
            "tunings can be run side by side: `diskproof compare` says what it can"
        )
    made = {key: value for key, value in after.items() if key not in LEFT_OUT}
    renamed: dict[str, list[str]] = {}
    for table, factor in FACTORS.items():
        old, new = before.get(table, {}), after.get(table, {})
        if old == new:
            continue
        level = suspect[factor]
        if level not in old or level not in new or old[level] == new[level]:
            raise RefusalError(
                f"{table} differ between the runs, but not `{level}`: the cause lies elsewhere"
            )
        renamed[level] = [f"{level}-{when}" for when in (BEFORE, AFTER)]
        made[table] = {
            name: _whole(table, level, version)
            for name, version in zip(renamed[level], (old[level], new[level]), strict=True)
        }
    if not renamed:
        raise RefusalError("the studies of the two runs are the same: there is nothing to run side by side")
    made["question"] = f"Is what changed in {listed([f'`{one}`' for one in renamed])} the cause?"
    for tuning in made.get("tunings", {}).values():
        for key in ("servers", "storages"):
            if key in tuning:
                tuning[key] = [new for name in tuning[key] for new in renamed.get(name, [name])]
    return tomlkit.dumps(made)


def _whole(table: str, level: str, version: Content) -> Content:
    """Return a level under another name: a tuning that was named like its base says it."""
    return {"base": level, **version} if table == "tunings" and level in LEVELS else version


def _located(content: Content, run: Path, newest: Path) -> Content:
    """Return a study whose files are the copies that its run keeps, or the newest one's if they are equal."""
    for table, prefix in (("tunings", "tuning-"), ("workloads", "")):
        for name, entry in content.get(table, {}).items():
            for key, value in entry.items():
                if isinstance(value, str) and re.search(r"\.\w+$", value):
                    own, other = (
                        folder / "scripts" / f"{prefix}{name}" / Path(value).name for folder in (run, newest)
                    )
                    if own.is_file():
                        equal = other.is_file() and _content(own) == _content(other)
                        entry[key] = str((other if equal else own).absolute())
    return content


def _content(path: Path) -> bytes:
    return read_bytes(path, MAX_STUDY_BYTES)
