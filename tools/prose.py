"""Lists sentences that are hard to read, in pages and in the messages, comments and docstrings of the code.

It advises, and a reader decides: the exit code is always 0. Without arguments it reads all that git tracks,
but for tests and recorded samples.
"""

import argparse
import ast
import io
import re
import subprocess
import tokenize
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from markdown_it import MarkdownIt
from markdown_it.token import Token

from paths import ROOT

MOST_WORDS = 25
FEWEST_WORDS = 4
"""A text of fewer words is a name or a label, not a sentence."""

GAP = "X"
"""Stands for code and for values, which are no prose."""

PLAINER = {
    r"foretold|foretells?|foresee\w*|foreseen": "predicted",
    r"of which|of whom|whose|whereof|wherein|thereof": "which, that; or two sentences",
    r"(?:is|are|was|were|be) (?:not )?told|tells? of|tells? apart": "says, reports, distinguishes",
    r"(?:has|have|had) to be": "must be; or name who does it",
    r"is to be|are to be": "must be, will be",
    r"goes on|went on": "continues",
    r"(?<=, )where|(?<=only )where|(?<=except )where|(?<=but )where|(?<=and )where": "if, when",
    r"(?<=, )for (?:it|they|then|that|these|those) ": "because",
    r"nobody|whoever": "name who",
    r"lest|thereby|whither|hereby|all the same|save for|nought": "today's words",
    r"wants? to know|has a look|knows nothing": "programs read, measure and report",
}
"""Words of our own list, each with what to write instead."""

WORDS = [(re.compile(rf"\b(?:{pattern})", re.IGNORECASE), instead) for pattern, instead in PLAINER.items()]

INVERSION = re.compile(
    r"^(?:Of|What|That|Where|Whose|Whom) (?!is (?:why|what|how)|is [^,.]+[.]|means|said)[a-z]"
)

PASSIVE = re.compile(
    r"\b(?:is|are|was|were|be|been|being) (?:\w+ly |not |never |also )?"
    r"(?:\w+ed|made|taken|given|held|kept|known|seen|said|told|written|read|found|shown|meant|left|put|set|cut)\b"
)
MOST_PASSIVES = 2

SENTENCE_END = re.compile(r"(?<!\be\.g)(?<!\bi\.e)(?<!\bal)(?<!\bvs)(?<!\bNo)(?<!\.\.)[.!?][\")”]*\s+(?=\S)")

FORM_GAP = re.compile(r"\{[^}\n]*\}")
"""Where a value goes in a message."""

NO_PROSE = re.compile(r"(?:SELECT|INSERT|UPDATE|DELETE|CREATE|SHOW|SET|WITH|--|http|<)\b")

RUST_TEXT = re.compile(
    r"(?m)(?P<comment>(?:^[ \t]*//[/!]?[^\n]*\n)+)|\"(?P<text>(?:[^\"\\]|\\.)*)\"", re.DOTALL
)
TOML_TEXT = re.compile(
    r"(?m)(?P<comment>(?:^#[^\n]*\n)+)|\"{3}(?P<long>.*?)\"{3}|\"(?P<text>(?:[^\"\\\n]|\\.)*)\"", re.DOTALL
)


@dataclass(frozen=True)
class Text:
    """A passage of prose; a line of it is a line of the file."""

    line: int
    words: str


@dataclass(frozen=True)
class Advice:
    """A sentence and why it is hard to read."""

    line: int
    sentence: str
    why: str


def main() -> None:
    """Print the advice on each file, and how much there was."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("files", nargs="*", type=Path, help="pages and sources; without any all of them")
    parser.add_argument("--count", action="store_true", help="the summary alone")
    arguments = parser.parse_args()
    counted: Counter[Path] = Counter()
    sentences = 0
    for path in arguments.files or tracked():
        texts = list(texts_of(path))
        sentences += sum(len(list(split(text))) for text in texts)
        for advice in judge(texts):
            counted[path] += 1
            if not arguments.count:
                print(f"{path}:{advice.line}: {advice.why}\n    {shortened(advice.sentence)}")
    for path, count in counted.most_common():
        print(f"{count:6} {path}")
    print(f"{counted.total():6} remarks on {sentences} sentences")


def tracked() -> list[Path]:
    """Return the pages and sources of the project."""
    listed = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=True)
    names = (name for name in listed.stdout.splitlines() if "tests/" not in name)
    return [Path(name) for name in names if Path(name).suffix in READERS and Path(name).is_file()]


def texts_of(path: Path) -> Iterator[Text]:
    """Return the prose of a file, read by its suffix."""
    return READERS[path.suffix](path.read_text())


def of_markdown(source: str) -> Iterator[Text]:
    """Yield paragraphs, items and cells of tables."""
    for token in MarkdownIt("commonmark").enable("table").parse(source):
        if token.type == "inline" and token.map and token.children:
            yield Text(token.map[0] + 1, "".join(map(_spoken, token.children)))


def _spoken(token: Token) -> str:
    if token.type == "code_inline":
        return GAP
    return "\n" if token.type in ("softbreak", "hardbreak") else token.content


def of_python(source: str) -> Iterator[Text]:
    """Yield docstrings, messages and comments."""
    nodes = list(ast.walk(ast.parse(source)))
    joined = {id(part) for node in nodes for part in _parts(node)}
    for node in nodes:
        if isinstance(node, ast.JoinedStr):
            yield Text(node.lineno, "".join(_value(part) for part in node.values))
        elif isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in joined:
            yield Text(node.lineno, FORM_GAP.sub(GAP, node.value))
    comments = [
        one for one in tokenize.generate_tokens(io.StringIO(source).readline) if one.type == tokenize.COMMENT
    ]
    yield from _blocks((one.start[0], one.string.lstrip("#: ")) for one in comments)


def _parts(node: ast.AST) -> list[ast.expr]:
    return node.values if isinstance(node, ast.JoinedStr) else []


def _value(part: ast.expr) -> str:
    return str(part.value) if isinstance(part, ast.Constant) else GAP


def _blocks(lines: Iterable[tuple[int, str]]) -> Iterator[Text]:
    """Join lines that follow each other."""
    begin, block = 0, list[str]()
    for number, line in lines:
        if block and number != begin + len(block):
            yield Text(begin, "\n".join(block))
            block = []
        begin = number if not block else begin
        block.append(line)
    if block:
        yield Text(begin, "\n".join(block))


def of_rust(source: str) -> Iterator[Text]:
    """Yield comments and strings."""
    return _matched(RUST_TEXT, source)


def of_toml(source: str) -> Iterator[Text]:
    """Yield comments and strings: the prose of studies and of device files."""
    return _matched(TOML_TEXT, source)


def _matched(pattern: re.Pattern[str], source: str) -> Iterator[Text]:
    for found in pattern.finditer(source):
        kind = found.lastgroup or "text"
        words = found[kind]
        if kind == "comment":
            words = re.sub(r"(?m)^[ \t]*(?://[/!]?|#) ?", "", words)
        else:
            words = FORM_GAP.sub(GAP, words.replace("\\\n", " \n").replace("\\n", "\n"))
        yield Text(source.count("\n", 0, found.start(kind)) + 1, words)


READERS = {".md": of_markdown, ".py": of_python, ".rs": of_rust, ".toml": of_toml}


def judge(texts: Iterable[Text]) -> Iterator[Advice]:
    """Yield what is hard to read in some texts."""
    for text in texts:
        for line, sentence in split(text):
            for why in faults(sentence):
                yield Advice(line, sentence, why)


def split(text: Text) -> Iterator[tuple[int, str]]:
    """Yield a text's sentences, each with the line that it begins on; a blank line ends one too."""
    line = text.line
    for paragraph in re.split(r"(\n\s*\n)", text.words):
        at = 0
        for end in [*(one.end() for one in SENTENCE_END.finditer(paragraph)), len(paragraph)]:
            piece = paragraph[at:end]
            if len(piece.split()) >= FEWEST_WORDS and not NO_PROSE.match(piece):
                begin = at + len(piece) - len(piece.lstrip())
                yield line + paragraph.count("\n", 0, begin), " ".join(piece.replace("`", "").split())
            at = end
        line += paragraph.count("\n")


def faults(sentence: str) -> Iterator[str]:
    """Yield why a sentence is hard to read."""
    if (words := len(re.findall(r"[\w'%-]*\w", sentence))) > MOST_WORDS:
        yield f"{words} words"
    if len(passives := PASSIVE.findall(sentence)) > MOST_PASSIVES:
        yield f"{len(passives)} passives: say who does it"
    if sentence.endswith(".") and INVERSION.search(sentence):
        yield "begins with its object: subject, verb, object"
    for pattern, instead in WORDS:
        for found in pattern.finditer(sentence):
            yield f"“{found[0].strip()}”: {instead}"


def shortened(sentence: str, most: int = 300) -> str:
    """Return a sentence, cut if it is very long."""
    return sentence if len(sentence) <= most else f"{sentence[:most]}…"


if __name__ == "__main__":
    main()
