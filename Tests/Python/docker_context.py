"""Copies a project as Docker gives it to a build: without what its .dockerignore leaves out.

Arguments: the project, the folder to make, and further patterns, as if they were the last lines of .dockerignore.
Programs that are built already are left out too, as they are large.
"""
import pathlib
import re
import shutil
import sys


def expression(pattern):
    """A pattern of .dockerignore (those of Go's filepath.Match, and `**`) for a path and what is below it."""
    parts = {"**/": "(?:.*/)?", "**": ".*", "*": "[^/]*", "?": "[^/]"}
    text = re.sub(r"\*\*/|\*\*|\*|\?|[^*?]+", lambda match: parts.get(match[0]) or re.escape(match[0]), pattern)
    return re.compile(f"{text}(?:/.*)?")


def rules(lines):
    """Pairs of a pattern, and whether it leaves out; the last one that matches decides."""
    for line in lines:
        line = line.strip()
        if line and not line.startswith("#"):
            yield line.lstrip("!").strip("/"), not line.startswith("!")


project, copy = (pathlib.Path(argument) for argument in sys.argv[1:3])
RULES = [*rules((project / ".dockerignore").read_text().splitlines() + sys.argv[3:])]
EXPRESSIONS = [(expression(pattern), leaves_out) for pattern, leaves_out in RULES]


def is_left_out(path):
    return next((leaves_out for regex, leaves_out in reversed(EXPRESSIONS) if regex.fullmatch(path)), False)


def may_have_files(folder):
    """A folder that is left out has some where a later pattern takes in what is below it."""
    return not is_left_out(folder) or any(
        not leaves_out and pattern.startswith(f"{folder}/") for pattern, leaves_out in RULES)


def copy_files(folder):
    for entry in sorted((project / folder).iterdir()):
        path = f"{folder}/{entry.name}".removeprefix("/")
        if entry.is_dir() and not entry.is_symlink():
            if may_have_files(path) and path != ".build":
                copy_files(path)
        elif not is_left_out(path):
            (copy / path).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(entry, copy / path, follow_symlinks=False)


copy_files("")
