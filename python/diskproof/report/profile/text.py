"""A profile for a terminal."""

from rich.console import Console
from rich.table import Table as RichTable
from rich.text import Text

from diskproof.report.profile import tables
from diskproof.report.profile.words import effort, lies_on, title
from diskproof.report.terminal import hanging, layout, print_parts, shown
from diskproof.results.profile import Profile


def render(profile: Profile, console: Console) -> None:
    """Print the tables of a profile and what must be known of it."""
    parts: list[list[Text | RichTable]] = [_heading(profile)]
    parts += [
        [Text(heading, style="bold"), layout(table, console)] for heading, table in tables.sections(profile)
    ]
    parts.append([hanging(Text("!", style="bold yellow"), shown(note), console) for note in profile.notes])
    print_parts(parts, console)


def _heading(profile: Profile) -> list[Text | RichTable]:
    return [
        shown(f"Profile of {title(profile)}", style="bold"),
        shown(f"{lies_on(profile.place)}; {effort(profile)}", style="dim"),
    ]
