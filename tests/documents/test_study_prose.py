"""The pages of the experiments hold what each study says today, and need no run for that."""

import pytest

import marks
import study_prose
from experiments import EXPERIMENTS


@pytest.mark.parametrize("study", EXPERIMENTS)
def test_each_experiment_has_its_prose_and_it_is_current(study: str) -> None:
    for path, name in (
        (study_prose.summary_of(study), study_prose.ANSWER),
        (study_prose.summary_of(study), study_prose.PROSE),
    ):
        assert path.read_text().count(study_prose.section(study, name)) == 1, "run `make docs`"


def test_renewing_replaces_what_stands_between_the_marks_and_leaves_the_rest() -> None:
    page = f"# Page\n\n{marks.section('one', 'old')}\n\nkept\n\n{marks.section('two', 'old')}\n"
    new = marks.renewed(page, str.upper)
    assert new == page.replace("-->\n\nold", "-->\n\nONE", 1).replace("-->\n\nold", "-->\n\nTWO")
    assert marks.renewed(new, str.upper) == new
