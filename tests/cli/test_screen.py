"""All that the lab writes to a terminal goes through one place, and nothing in it is obeyed there."""

import io
import json
from contextlib import redirect_stderr, redirect_stdout

from rich.table import Table
from rich.text import Text

from diskproof.cli import screen
from diskproof.cli.bar import progress_bar

HOSTILE = "a\x1b[2J\x1b]0;owned\x07b\u202ec\x9bd\u2066[red]:smile:"
SHOWN = "a\ufffd[2J\ufffd]0;owned"
STEERING = set("\x1b\x07\x9b\u202e\u2066\r")


def test_nothing_that_is_printed_can_steer_the_terminal() -> None:
    table = Table(title=HOSTILE)
    table.add_column(HOSTILE)
    table.add_row(HOSTILE)
    printed = screen.Screen(file=io.StringIO(), width=200)
    for one in (HOSTILE, Text(HOSTILE), Text(HOSTILE, style="bold"), table):
        printed.print(one)
    assert isinstance(printed.file, io.StringIO)
    said = printed.file.getvalue()
    assert said.count(SHOWN) == 6
    assert said.count("[red]") == 6
    assert not STEERING & set(said)


def test_a_bar_shows_names_as_they_are_and_still_moves() -> None:
    on_a_terminal = screen.Screen(file=io.StringIO(), force_terminal=True, width=120)
    bar = progress_bar()
    bar.live.console = on_a_terminal
    with bar:
        bar.add_task(HOSTILE, total=2, left=HOSTILE)
        bar.refresh()
    assert isinstance(on_a_terminal.file, io.StringIO)
    said = on_a_terminal.file.getvalue()
    assert SHOWN in said
    assert "\x1b[2J" not in said
    assert "\x1b]0" not in said
    assert "\x1b[?25l" in said, "the bar's own sequences are left to it"


def test_messages_markdown_and_json_are_shown_too() -> None:
    out, err = io.StringIO(), io.StringIO()
    with redirect_stdout(out), redirect_stderr(err):
        screen.complain(HOSTILE)
        screen.say(HOSTILE)
        screen.put(HOSTILE)
    assert err.getvalue().count(SHOWN) == 2
    assert not STEERING & set(err.getvalue() + out.getvalue())
    with redirect_stdout(exact := io.StringIO()):
        screen.put_json(json.dumps(HOSTILE, ensure_ascii=False))
    assert json.loads(exact.getvalue()) == HOSTILE
    assert not STEERING & set(exact.getvalue())
