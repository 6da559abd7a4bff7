"""The prose linter finds sentences where they are, and leaves code and names alone."""

import subprocess
import sys
from pathlib import Path

import pytest

import prose
from paths import ROOT

LONG = "The server writes each page again and " * 4 + "stops."


@pytest.mark.parametrize(
    ("sentence", "why"),
    [
        ("The disk answers a flush within one turn.", ""),
        (LONG, "words"),
        ("Of the disk nothing is known.", "begins with its object"),
        ("What was lost stays lost.", "begins with its object"),
        ("What is measured here?", ""),
        ("The change is foretold by the record.", "“foretold”: predicted"),
        ("The page is read, the log is written and the rest is left there.", "3 passives"),
    ],
)
def test_a_sentence_that_is_hard_to_read_is_listed_with_the_reason(sentence: str, why: str) -> None:
    found = list(prose.faults(sentence))
    assert any(why in one for one in found) if why else not found


@pytest.mark.parametrize(
    ("suffix", "source", "lines"),
    [
        (".md", "# A title\n\nThe first sentence is here. The second\nsentence is there.\n", [3, 3]),
        (".md", "| key | what it does for you |\n|---|---|\n| `a` | `b` |\n", [1]),
        (
            ".py",
            '"""A docstring of one line."""\n\n# A comment over\n# two whole lines.\nX = "a_name"\n',
            [1, 3],
        ),
        (".py", 'def f(n):\n    raise ValueError(f"there are {n} more than allowed")\n', [2]),
        (".rs", '/// A comment of the crate.\nfn main() { println!("no room on {disk} for it"); }\n', [1, 2]),
        (".toml", 'question = """\nIs one disk faster?\nBy how much then?"""\n', [2, 3]),
    ],
)
def test_sentences_are_found_on_their_lines(
    tmp_path: Path, suffix: str, source: str, lines: list[int]
) -> None:
    path = tmp_path / f"any{suffix}"
    path.write_text(source)
    assert sorted(line for text in prose.texts_of(path) for line, _ in prose.split(text)) == lines


def test_advice_changes_no_exit_code(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text(f"A short line of text.\n\n{LONG}\n")
    command = [sys.executable, str(ROOT / "tools" / "prose.py"), str(page)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert f"{page}:3: 29 words" in done.stdout
    assert done.stdout.endswith("     1 remarks on 2 sentences\n")
