"""`diskproof advise` as a user has it: targets, price cards, refusals."""

import json
from pathlib import Path

import pytest

from diskproof import disk
from diskproof.cli.advise import parse_target
from diskproof.cli.sold import sold
from diskproof.refusal import RefusalError
from diskproof.study.price_cards import parse_card, shipped_cards
from support.command import diskproof_here
from support.recorded import write_recorded
from support.slow_disk import write_slow_disk

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
        ("throughput >= 2,000/s, p95 <= 20 ms", 2000.0, None, 20_000.0),
        ("mean<500us", None, 500.0, None),
        ("p95 < 1 s,mean <= 2.5 ms", None, 2500.0, 1e6),
    ],
)
def test_targets(text: str, per_s: float | None, mean_us: float | None, p95_us: float | None) -> None:
    found = parse_target(text)
    assert (found.per_s, found.mean_us, found.p95_us) == (per_s, mean_us, p95_us)


@pytest.mark.parametrize(
    "text",
    ["", "2000 tps", "p99 < 20 ms", "p95 > 9 ms", "mean < 5 ms, mean < 6 ms", "p95 of storage a < 9 ms"],
)
def test_no_targets(text: str) -> None:
    with pytest.raises(RefusalError, match="--target"):
        parse_target(text)


def test_a_card_is_a_function_of_what_is_bought() -> None:
    (card,) = [one for one in shipped_cards() if one.device == "ebs-gp3"]
    assert card.a_month(100, 3000, 125) == pytest.approx(8.0)
    assert card.a_month(100, 4000, 200) == pytest.approx(8.0 + 5.0 + 3.0)
    assert card.iops is not None
    levels = list(card.iops.levels(100))
    assert levels == [3000, 4500, 6750, 10_125, 15_188, 16_000]


@pytest.mark.parametrize(("gib", "most"), [(100, 16_000), (10, 5000), (1, 3000)])
def test_a_small_volume_has_fewer_requests_a_second(gib: float, most: int) -> None:
    (card,) = [one for one in shipped_cards() if one.device == "ebs-gp3"]
    assert card.iops is not None
    assert list(card.iops.levels(gib))[-1] == most


def test_a_bought_disk_is_spread_over_its_years() -> None:
    assert parse_card(CARD, Path("card")).a_month(0, None, None) == pytest.approx(1.0)


@pytest.mark.parametrize(
    ("card", "said"),
    [
        ("title = ", "card: "),
        (CARD.replace('currency = "USD"', ""), "currency: Field required"),
        (CARD + "colour = 1", "colour"),
        (CARD.replace("date = 2026-01-01", ""), "date: Field required"),
        (CARD.replace("amount = 36", ""), "it has no price"),
        (CARD + "iops = { each = 1 }", "iops.most: Field required"),
    ],
)
def test_damaged_cards_are_refused(card: str, said: str) -> None:
    with pytest.raises(RefusalError, match=said):
        parse_card(card, Path("card"))


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("runs")
    write_recorded(folder / "run")
    write_slow_disk(folder)
    (folder / "card.toml").write_text(CARD)
    return folder


needs_program = pytest.mark.skipif(not disk.is_installed(), reason="diskproof-disk is not installed")


@needs_program
def test_a_modest_target_has_a_cheapest_disk(folder: Path) -> None:
    result = diskproof_here(
        folder, "advise", "run", "--target", "throughput >= 5/s", "--card", "card.toml", "--format", "json"
    )
    assert result.returncode == 0, result.stderr
    made = json.loads(result.stdout)
    assert made["chosen"]["configuration"]["name"] == "Slow disk"
    prices = [one["configuration"]["a_month"] for one in made["candidates"]]
    assert prices == sorted(prices)
    assert len(prices) > 5, "gp3 is tried at several IOPS"


@needs_program
def test_cards_of_another_currency_stand_alone(folder: Path) -> None:
    (folder / "euro.toml").write_text(CARD.replace("USD", "EUR"))
    result = diskproof_here(
        folder, "advise", "run", "--target", "throughput >= 5/s", "--card", "euro.toml", "--format", "json"
    )
    assert result.returncode == 0, result.stderr
    assert [one["configuration"]["currency"] for one in json.loads(result.stdout)["candidates"]] == ["EUR"]
    both = diskproof_here(
        folder, "advise", "run", "--target", "throughput >= 5/s", "--card", "euro.toml", "--card", "card.toml"
    )
    assert both.returncode == 2


@needs_program
def test_a_card_may_change_what_its_device_file_says() -> None:
    text = CARD.replace("slow.toml", "ebs-gp3?flush_us=3") + "per_gib = 1\n"
    (card,) = sold([parse_card(text, Path("card"))], 100)
    assert card.device.startswith("ebs-gp3?flush_us=3&capacity_bytes=")
    assert disk.show(card.device)["device"]["cloud"]["flush_us"]["value"] == 3


@needs_program
@pytest.mark.parametrize(
    ("more", "arguments", "said"),
    [
        ('size = "60 GiB"', [], "no price card here sells a disk of 100 GiB"),
        ("outlives_machine = false", ["--durable"], "no disk here keeps its data"),
    ],
)
def test_a_card_that_does_not_do_is_left_out(
    folder: Path, more: str, arguments: list[str], said: str
) -> None:
    (folder / "small.toml").write_text(f"{CARD.replace('USD', 'EUR')}{more}\n")
    result = diskproof_here(
        folder, "advise", "run", "--target", "throughput >= 5/s", "--card", "small.toml", *arguments
    )
    assert result.returncode == 2
    assert said in " ".join(result.stderr.split())


@needs_program
def test_an_impossible_target_says_what_memory_does(folder: Path) -> None:
    result = diskproof_here(folder, "advise", "run", "--target", "throughput >= 1000000/s")
    assert result.returncode == 10, result.stderr
    assert "Even main memory would do only" in " ".join(result.stdout.split())


@needs_program
@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--target", "throughput >= 5/s", "--load", "nothing"], "no cell has `nothing` in its id"),
        (["--target", "throughput >= 5/s", "--size", "1 MiB"], "--size takes 1 GiB to 64 TiB"),
        (["--target", "throughput >= 5/s", "--card", "absent.toml"], "absent.toml"),
        (
            ["--target", "throughput >= 5/s", "--card", "card.toml", "--card", "card.toml"],
            "have the title `Slow disk`",
        ),
    ],
)
def test_what_cannot_be_is_refused(folder: Path, arguments: list[str], said: str) -> None:
    result = diskproof_here(folder, "advise", "run", *arguments)
    assert result.returncode == 2
    assert said in " ".join(result.stderr.split())
