"""What differs in figures alone is told together, and no figure is told of another's place."""

from diskproof.analysis import alike


def test_one_figure_that_differs_is_told_as_its_range() -> None:
    said = ["the job took 0.68 s: chance", "the job took 0.037 s: chance", "the job took 0.5 s: chance"]
    assert alike.told(said) == "the job took 0.037 to 0.68 s: chance"
    assert alike.told(["only 61 were", "only 1,057 were"]) == "only 61 to 1,057 were"
    assert alike.told(["used 12% of it", "used 9% of it"]) == "used 9% to 12% of it"
    assert alike.told(["change of -3%", "change of +4%"]) == "change of -3% to +4%"


def test_of_equal_messages_one_is_told() -> None:
    assert alike.told(["2 of 3 failed", "2 of 3 failed"]) == "2 of 3 failed"


def test_figures_that_belong_together_are_never_mixed() -> None:
    said = ["10 in 2 s are 5/s", "12 in 3 s are 4/s", "12 in 3 s are 4/s"]
    assert alike.together(said) is None
    assert alike.told(said) == "10 in 2 s are 5/s (the first of them; 1 more with other figures)"


def test_a_number_in_a_name_is_no_figure() -> None:
    assert alike.together(["p95 is 3 ms", "p99 is 3 ms"]) is None
    assert alike.together(["b01-t02 broke", "b01-t03 broke"]) is None


def test_findings_with_another_remedy_are_another_kind() -> None:
    longer = [alike.kind("only 60 were", f"`measure_s = {seconds}` or more") for seconds in (20, 45)]
    assert longer[0] == longer[1] != alike.kind("only 60 were", "see the server's log")
