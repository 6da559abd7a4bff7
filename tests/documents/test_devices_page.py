"""The page of device files is held to the program that reads them."""

import re
import tomllib
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest

import devices
from diskproof import disk

pytestmark = pytest.mark.skipif(not disk.is_installed(), reason="diskproof-disk is not installed")


page = cache(devices.page)


@cache
def kinds() -> dict[str, str]:
    """Return what the page says of each kind."""
    return {kind.name: kind.text for kind in devices.kinds()}


def keys(tree: Any) -> Iterator[str]:
    """Yield the keys of everything that is not a figure's own two."""
    if isinstance(tree, dict):
        if set(tree) == {"value", "source"}:
            return
        for key, value in tree.items():
            yield key
            yield from keys(value)
    elif isinstance(tree, list):
        for value in tree:
            yield from keys(value)


def test_every_kind_says_what_it_is() -> None:
    assert {"null", "spinning", "bridge"} <= kinds().keys()
    assert all(kinds().values()), kinds()


@pytest.mark.parametrize("name", [device["name"] for device in disk.devices()] if disk.is_installed() else [])
def test_every_key_of_a_shipped_device_is_on_the_page(name: str) -> None:
    shown = disk.show(name)
    named = set(re.findall(r"[\w-]+", " ".join(re.findall(r"`([^`\n]+)`", page())))) | kinds().keys()
    no_keys_of_a_file = {"probe", "measure", "source", "fitted", "path_us"}
    no_keys_of_a_file |= {"kind", "one_at_a_time", "rotational", "turns_us", "fua"}
    no_keys_of_a_file |= {"survives_without_power"}
    assert set(keys(shown)) - no_keys_of_a_file <= named


def test_the_example_is_a_device(tmp_path: Path) -> None:
    file = tmp_path / "mine.toml"
    file.write_text(devices.EXAMPLE)
    shown = disk.show(str(file))
    assert shown["title"] == tomllib.loads(devices.EXAMPLE)["title"]
    assert shown["device"]["bridge"]["disk"]["null"]["capacity_bytes"]["value"] == 240_057_409_536


def test_defaults_on_the_page_are_the_programs() -> None:
    flushes = disk.show("dial")["device"]["cloud"]["flush_ios"]
    assert f"| `flush_ios` | integer | `{flushes['value']}` |" in page()
    assert flushes["source"].startswith("assumed")


def test_every_required_key_is_required_by_the_program(tmp_path: Path) -> None:
    """A page that calls a key required, and a program that does without, would differ."""
    lines = devices.EXAMPLE.splitlines()
    for key in ("command_us", "bus_mb_per_s", "capacity_bytes", "title", "description"):
        assert re.search(rf"^\| `{key}` \|[^|]*\| required \|", page(), re.MULTILINE)
        file = tmp_path / "mine.toml"
        file.write_text("\n".join(line for line in lines if not line.startswith(f"{key} =")))
        with pytest.raises(disk.DiskError, match=key):
            disk.show(str(file))
