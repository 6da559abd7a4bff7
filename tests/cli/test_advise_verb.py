"""`diskproof advise` as a user has it: targets, price cards, refusals."""

import json
from pathlib import Path

import pytest

from diskproof import disk
from diskproof.cli.advise import parse_target
from diskproof.refusal import RefusalError
from diskproof.study.price_cards import parse_card, shipped_cards
from support.command import diskproof_here
from support.limited import MAKERS, one_cell, virtual_machine
from support.runs import write_run
from support.slow_disk import write_slow_disk
from support.trials import change
from support.virtual import make_facts

CARD = """
title = "Slow disk"
device = "slow.toml"
currency = "USD"
amount = 36
date = 2026-01-01
source = "chosen"
"""


@pytest.mark.parametrize(
    ("text", "per_s", "mean_us", "p95_us"),
    [
        ("2000 transactions/s, p95 20 ms", 2000.0, None, 20_000.0),
        ("2000/s", 2000.0, None, None),
        ("mean 500 us", None, 500.0, None),
        ("p95 1 s,mean 2.5 ms", None, 2500.0, 1e6),
    ],
)
def test_targets(text: str, per_s: float | None, mean_us: float | None, p95_us: float | None) -> None:
    found = parse_target(text)
    assert (found.per_s, found.mean_us, found.p95_us) == (per_s, mean_us, p95_us)


@pytest.mark.parametrize("text", ["", "fast", "0/s", "p95 20", "p99 20 ms", "5/s, 6/s", "-3/s"])
def test_no_targets(text: str) -> None:
    with pytest.raises(RefusalError, match="--target"):
        parse_target(text)


def test_a_card_is_a_function_of_what_is_bought() -> None:
    (card,) = [one for one in shipped_cards() if one.device == "ebs-gp3"]
    assert card.a_month(100, 3000, 125) == pytest.approx(8.0)
    assert card.a_month(100, 4000, 200) == pytest.approx(8.0 + 5.0 + 3.0)
    assert card.iops is not None
    levels = list(card.iops.levels())
    assert (levels[0], levels[-1]) == (3000, 16_000)


def test_a_bought_disk_is_spread_over_its_years() -> None:
    assert parse_card(CARD, "card").a_month(0, None, None) == pytest.approx(1.0)


@pytest.mark.parametrize(
    ("card", "said"),
    [
        ("title = ", "card: "),
        (CARD.replace('currency = "USD"', ""), "currency: Field required"),
        (CARD + "colour = 1", "colour"),
        (CARD + "iops = { each = 1 }", "iops.most: Field required"),
    ],
)
def test_damaged_cards_are_refused(card: str, said: str) -> None:
    with pytest.raises(RefusalError, match=said):
        parse_card(card, "card")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder, plan = tmp_path_factory.mktemp("runs"), one_cell(8)
    trials = [MAKERS["log flush"](plan, number) for number in range(len(plan.trials))]
    machine = virtual_machine(plan)
    facts = make_facts(name="disk", device="desktop-7200")
    places = [change(place, virtual=facts) for place in machine.places]
    write_run(folder / "run", plan, trials, change(machine, places=places))
    write_slow_disk(folder)
    (folder / "card.toml").write_text(CARD)
    return folder


needs_program = pytest.mark.skipif(not disk.is_installed(), reason="diskproof-disk is not installed")


@needs_program
def test_a_modest_target_has_a_cheapest_disk(folder: Path) -> None:
    result = diskproof_here(
        folder, "advise", "run", "--target", "5/s", "--card", "card.toml", "--format", "json"
    )
    assert result.returncode == 0, result.stderr
    made = json.loads(result.stdout)
    assert made["chosen"]["configuration"]["name"] == "Slow disk"
    prices = [one["configuration"]["a_month"] for one in made["candidates"]]
    assert prices == sorted(prices)
    assert len(prices) > 5, "gp3 is tried at several IOPS"


@needs_program
def test_an_impossible_target_says_what_memory_does(folder: Path) -> None:
    result = diskproof_here(folder, "advise", "run", "--target", "1000000/s")
    assert result.returncode == 10, result.stderr
    assert "Main memory is predicted to do" in " ".join(result.stdout.split())


@needs_program
@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--target", "5/s", "--load", "nothing"], "name one load of the run with --load: complex"),
        (["--target", "5/s", "--size", "1 MiB"], "--size takes 1 GiB to 64 TiB"),
        (["--target", "5/s", "--card", "absent.toml"], "absent.toml"),
    ],
)
def test_what_cannot_be_is_refused(folder: Path, arguments: list[str], said: str) -> None:
    result = diskproof_here(folder, "advise", "run", *arguments)
    assert result.returncode == 2
    assert said in " ".join(result.stderr.split())
