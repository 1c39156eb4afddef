"""House rules that no linter knows: `python -m tools.checks` reports each breach.

A check is a function that takes a Source and yields Problems.
"""

import ast
import dataclasses
import functools
import pathlib

LOOKED_AT = frozenset(
    (
        ast.AsyncFunctionDef,
        ast.Attribute,
        ast.Call,
        ast.ClassDef,
        ast.ExceptHandler,
        ast.FunctionDef,
        ast.Import,
        ast.ImportFrom,
        ast.Module,
        ast.Raise,
        ast.Subscript,
    )
)


@dataclasses.dataclass(frozen=True)
class Problem:
    """One breach of a rule."""

    path: str
    line: int
    text: str

    def __str__(self) -> str:
        return '%s:%d: %s' % (self.path, self.line, self.text)


class Source:
    """One file of the repository, its path relative to the top."""

    def __init__(self, path: str, text: str) -> None:
        self.path = path
        self.text = text
        self.lines = text.splitlines()

    @property
    def is_python(self) -> bool:
        return self.path.endswith('.py')

    @functools.cached_property
    def statements(self) -> list[ast.AST]:
        """The nodes of the syntax tree that a check looks at; only for Python files."""
        return [
            node for node in ast.walk(ast.parse(self.text, self.path)) if type(node) in LOOKED_AT
        ]


def line_of(node: ast.AST) -> int:
    """Return the line of a node; 1 for a module, which has none."""
    return getattr(node, 'lineno', 1)


def read(path: str) -> Source | None:
    """The Source at `path`, or None if it is not text."""
    try:
        # Line ends as they are: one rule is about them.
        return Source(path, pathlib.Path(path).read_bytes().decode('utf-8'))
    except UnicodeDecodeError:
        return None
