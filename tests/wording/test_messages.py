"""Messages carry values; words are made of them, and messages that differ in one figure are told as one."""

import pytest
from pydantic import ValidationError

from diskproof.wording import (
    NOTHING,
    Message,
    Range,
    bytes_,
    counted,
    ms,
    per_s,
    printed,
    ranged,
    say,
    seconds,
    share,
    together,
    us,
)
from diskproof.wording import without_figures as shape


def waits(time_us: float, of_us: float = 8700, cell: str = "disk") -> Message:
    return say("on {cell} {time} of {whole} is the log flush", cell=cell, time=us(time_us), whole=us(of_us))


@pytest.mark.parametrize(
    ("message", "text"),
    [
        (waits(8100), "on disk 8.1 ms of 8.7 ms is the log flush"),
        (say("{n} {n:is|are} invalid", n=counted(1, "trial")), "1 trial is invalid"),
        (say("{n} {n:is|are} invalid", n=counted(1200, "query")), "1,200 queries are invalid"),
        (
            say("{a}, {b}, {c}", a=share(0.934), b=per_s(1182.4, "requests"), c=bytes_(2**28)),
            "93%, 1,182 requests/s, 256 MiB",
        ),
        (
            say("{late:.0f} late, {part:.1f} of it", late=us(340.4), part=share(0.0125)),
            "340 µs late, 1.2% of it",
        ),
        (
            say(
                "{n:2} of {all:2}, {time:3}, {same:2}",
                n=7.683,
                all=128,
                time=us(8333.3),
                same=Range(low=1, high=1),
            ),
            "7.7 of 128, 8,333 µs, 1",
        ),
        (say("{names}; {names:/ or }", names=["a", "b", "c"]), "a, b and c; a or b or c"),
        (
            say(
                "{what:cap}: {figure} in {time}",
                what=say("no {x}", x="log"),
                figure=printed(0.057),
                time=seconds(372),
            ),
            "No log: 0.057 in 6 min 12 s",
        ),
        (say("{p95} of {max}", p95=ms(12.5), max=ms(1_234_567)), "0.0125 ms of 1,235 ms"),
        (say("nothing {{in}} braces"), "nothing {in} braces"),
    ],
)
def test_words_are_made_of_values(message: Message, text: str) -> None:
    assert message.text == text


def test_a_gap_without_a_value_and_a_value_without_a_gap_are_refused() -> None:
    with pytest.raises(ValueError, match="gaps"):
        say("{a} of {b}", a=1)
    with pytest.raises(ValueError, match="gaps"):
        say("{a}", a=1, b=2)


@pytest.mark.parametrize("form", ["{a}", "{b.value}", "{}", "{"])
def test_a_message_of_a_run_folder_whose_gaps_are_not_filled_is_refused(form: str) -> None:
    with pytest.raises(ValidationError):
        Message.model_validate({"form": form, "values": {"b": {"value": 1.0}}})


@pytest.mark.parametrize("message", [waits(8100), say("{all}", all=[waits(1), "x {y}", 3]), say("")])
def test_a_message_is_read_again_as_it_was_written(message: Message) -> None:
    assert Message.model_validate_json(message.model_dump_json()) == message


def test_words_of_an_older_run_folder_are_a_message_without_values() -> None:
    old = Message.model_validate("the log has {0} bytes")
    assert old.text == "the log has {0} bytes"
    assert old.values == {}


def test_one_figure_that_differs_becomes_its_range() -> None:
    whole = together([waits(8100), waits(340), waits(8100)])
    assert whole.text == "on disk 340 µs to 8.1 ms of 8.7 ms is the log flush"
    assert together([waits(8100), waits(8100)]) == waits(8100)


def test_several_times_nothing_is_nothing() -> None:
    assert together([NOTHING, NOTHING]) == NOTHING


def test_a_figure_that_differs_inside_a_message_becomes_its_range() -> None:
    whole = together([say("{what}, too long", what=waits(time)) for time in (8100, 340)])
    assert whole.text == "on disk 340 µs to 8.1 ms of 8.7 ms is the log flush, too long"


def test_ranges_that_differ_become_one() -> None:
    several = [together([waits(one), waits(other)]) for one, other in ((8100, 340), (90, 500))]
    assert together([*several, waits(700)]).text == "on disk 90 µs to 8.1 ms of 8.7 ms is the log flush"


def test_a_remedy_for_several_takes_the_value_that_suits_all() -> None:
    whole = together([say("`measure_s = {least:most}` or more", least=least) for least in (33, 39)])
    assert whole.text == "`measure_s = 39` or more"


def test_of_several_figures_that_differ_the_first_message_speaks() -> None:
    several = [waits(8100), waits(340, of_us=400)]
    assert ranged(several) is None
    assert together(several).text.endswith("is the log flush (the first of 2 that differ in their figures)")


def test_names_are_no_figures() -> None:
    assert shape(waits(8100)) == shape(waits(2))
    assert shape(waits(8100)) != shape(waits(8100, cell="ssd"))
    assert shape(say("{m}", m=waits(1))) == shape(say("{m}", m=waits(2)))
    assert ranged([waits(1), waits(1, cell="ssd")]) is None


@pytest.mark.parametrize(
    ("form", "values"),
    [
        ("{x:.999999999f}", {"x": {"value": 1}}),
        ("{x:999999999}", {"x": "a"}),
        ("{x:zz}", {"x": {"value": 1}}),
        ("{}", {"": "x"}),
        ("{0}", {"0": "x"}),
        ("{x.a}", {"x.a": "1"}),
        ("{x!r}", {"x": "1"}),
    ],
)
def test_a_gap_that_no_message_has_is_refused(form: str, values: dict[str, object]) -> None:
    with pytest.raises(ValueError, match="has a gap"):
        Message.model_validate({"form": form, "values": values})
