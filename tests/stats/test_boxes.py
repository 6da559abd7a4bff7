"""The conditions that describe some combinations of levels, and no others."""

from itertools import product

import numpy as np
import pytest

from diskproof.stats.boxes import Box, boxes

LEVELS = {"storage": ("disk", "ssd", "dram"), "tuning": ("safest", "fast"), "clients": ("1", "8")}
EVERY = [dict(zip(LEVELS, one, strict=True)) for one in product(*LEVELS.values())]


def met(found: list[Box[str]], one: dict[str, str]) -> int:
    return sum(all(one[key] in levels for key, levels in box.items()) for box in found)


def chosen(**levels: str) -> list[dict[str, str]]:
    return [one for one in EVERY if all(one[key] in asked.split() for key, asked in levels.items())]


def test_what_levels_describe_is_one_box_with_no_more_of_them_than_are_needed() -> None:
    assert boxes(EVERY, EVERY) == [{}]
    assert boxes([], EVERY) == []
    assert boxes(chosen(storage="disk ssd", tuning="safest"), EVERY) == [
        {"storage": ("disk", "ssd"), "tuning": ("safest",)}
    ]


def test_a_condition_that_the_others_imply_is_left_out() -> None:
    every = [{"server": "mariadb", "load": "commits"}, {"server": "-", "load": "files"}]
    assert boxes(every[1:], every) == [{"load": ("files",)}]


def test_what_they_do_not_describe_is_split_into_few() -> None:
    some = [*chosen(storage="disk ssd", tuning="safest"), *chosen(storage="dram")]
    assert boxes(some, EVERY) == [{"storage": ("disk", "ssd"), "tuning": ("safest",)}, {"storage": ("dram",)}]


@pytest.mark.parametrize("seed", range(20))
def test_boxes_hold_exactly_what_they_describe(seed: int) -> None:
    random = np.random.default_rng(seed)
    some = [one for one in EVERY if random.random() < 0.5]
    assert [met(boxes(some, EVERY), one) for one in EVERY] == [int(one in some) for one in EVERY]
