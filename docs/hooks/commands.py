"""Write the reference of the command line from the commands themselves, so that no copy can grow stale."""

from __future__ import annotations

import re
from typing import Any

import typer.main
from typer.cli import get_docs_for_click

from graphsr.cli import app

_MARKER = "<!-- commands -->"
# Click keeps the line breaks of a paragraph that begins with a backspace: examples and lists.
_VERBATIM = re.compile(r"\x08\n(.+?)(?=\n\n|\Z)", re.DOTALL)


def on_page_markdown(markdown: str, **_: Any) -> str:
    """Put the help of every command in place of the marker."""
    return markdown.replace(_MARKER, _all_commands()) if _MARKER in markdown else markdown


def _all_commands() -> str:
    root = typer.main.get_command(app)
    _keep_lines(root)
    with root.make_context("graphsr", [], resilient_parsing=True) as context:
        text = get_docs_for_click(obj=root, ctx=context, name="graphsr", indent=1)
    # The page has a title, and a list of its own; completion is typer's.
    text = re.sub(r"^\* `--(install|show)-completion`.*\n", "", text, flags=re.MULTILINE)
    return text.replace("\\[", "[")


def _keep_lines(command: Any) -> None:
    command.help = _VERBATIM.sub(_fenced, command.help or "")
    for child in getattr(command, "commands", {}).values():
        child.short_help = (child.help or "").strip().splitlines()[0]  # whole, where click would cut it
        _keep_lines(child)


def _fenced(paragraph: re.Match[str]) -> str:
    lines = paragraph[1].splitlines()
    title = ""
    if re.fullmatch(r"Examples?:", lines[0]):
        title, lines = f"**{lines[0][:-1]}**:\n\n", lines[1:]
    body = "\n".join(line.removeprefix("  ") for line in lines)
    return f"{title}```console\n{body}\n```"
