"""OpenStack's own rules, which ruff does not know: those of the package hacking.

hacking offers them to flake8, which runs pyflakes and all of pycodestyle first and drops what
they find, since ruff does their work. pycodestyle can run them alone, but it splits every file
into tokens in Python. Here it does so for files in which the syntax tree, which the other
checks need as well, or a word shows that a rule may be broken; the rules judge whether it is.
"""

import ast
from collections.abc import Callable
from collections.abc import Iterator
from collections.abc import Sequence
import functools
from importlib import metadata
import inspect
import re
import typing

import pycodestyle

from tools import checks

# Off by default in hacking, or against our style: ruff sorts imports and reads docstrings.
LEFT_OUT = ('H101', 'H102', 'H205', 'H210', 'H301', 'H306', 'H404', 'H405', 'H904', 'H905')
# Of lines and comments, which a syntax tree does not have, and of `self.__dict__`.
WORDS = re.compile(
    r'\r|Licensed under the Apache\b|#\s*vim?:|#\s*@?[aA]uthors?:|moduleauthor::'
    r'|self\.__dict__'
)
TRANSLATIONS = ('_', '_LI', '_LW', '_LE', '_LC')
COMPARISONS = ('assertEqual', 'assertIs', 'assertIsNot', 'assertNotEqual')


def check(source: checks.Source) -> Iterator[checks.Problem]:
    """Yield a problem for each breach of one of these rules."""
    if source.is_python and may_break(source):
        for number, text in judge(source):
            yield checks.Problem(source.path, number, text)


def judge(source: checks.Source) -> list[tuple[int, str]]:
    """Return [(line, text), ...]: what the rules find in a file."""
    return sorted(_style().input_file(source.path, lines=source.text.splitlines(keepends=True)))


def may_break(source: checks.Source) -> bool:
    """Return whether a rule may be broken: true for every file that breaks one."""
    if WORDS.search(source.text) or all(map(_is_comment, source.lines)):
        return True
    return any(_is_suspect(node, source.lines) for node in source.statements)


def _is_comment(line: str) -> bool:
    return not line.strip() or line.lstrip().startswith('#')


def _is_suspect(node: ast.AST, lines: Sequence[str]) -> bool:
    match node:
        case ast.Call():
            return _is_suspect_call(node)
        case ast.ExceptHandler():
            return node.type is None
        case ast.Import():
            return any(alias.name.startswith('mock') for alias in node.names)
        case ast.ImportFrom(module=str(module)):
            return module.startswith('mock')
        case ast.ClassDef() | ast.FunctionDef() | ast.AsyncFunctionDef():
            return _has_suspect_docstring(node.body[0], lines)
    return False


def _is_suspect_call(call: ast.Call) -> bool:
    name = getattr(call.func, 'attr', None) or getattr(call.func, 'id', None)
    if name in COMPARISONS:
        return any(
            isinstance(each, ast.Compare) or _is_none(each) or _calls(each, 'type')
            for each in call.args
        )
    if name in ('assertTrue', 'assertFalse'):
        return any(
            isinstance(each, ast.Compare) or _calls(each, 'isinstance') for each in call.args
        )
    if name == 'assertRaises':
        return any(isinstance(each, ast.Name) and each.id == 'Exception' for each in call.args)
    return name in ('assertRaisesRegexp', 'locals', 'warn', *TRANSLATIONS)


def _is_none(node: ast.AST) -> bool:
    return isinstance(node, ast.Constant) and node.value is None


def _calls(node: ast.AST, name: str) -> bool:
    return isinstance(node, ast.Call) and getattr(node.func, 'id', None) == name


def _has_suspect_docstring(first: ast.stmt, lines: Sequence[str]) -> bool:
    match first:
        case ast.Expr(value=ast.Constant(value=str(text))):
            ends_alone = (
                lines[(first.end_lineno or first.lineno) - 1].lstrip().startswith(('"""', "'''"))
            )
            return text.startswith(' ') or not (ends_alone or first.lineno == first.end_lineno)
    return False


class _Report(pycodestyle.BaseReport):  # type: ignore[misc]  # pycodestyle has no types
    """Keep what the rules find in a file: (line, text) each."""

    def init_file(self, *args: typing.Any) -> None:
        super().init_file(*args)
        self._found: list[tuple[int, str]] = []

    def error(self, line_number: int, offset: object, text: str, check: object) -> str:
        code: str = super().error(line_number, offset, text, check)
        if code:
            self._found.append((line_number, text))
        return code

    def get_file_results(self) -> list[tuple[int, str]]:
        return self._found


@functools.cache
def _style() -> pycodestyle.StyleGuide:
    """Return a pycodestyle.StyleGuide that knows these rules and no other."""
    for found in metadata.entry_points(group='flake8.extension'):
        if found.value.startswith('hacking.') and found.name not in LEFT_OUT:
            pycodestyle.register_check(_for_pycodestyle(found.load()), [found.name])
    return pycodestyle.StyleGuide(select=['H'], ignore=['E', 'W'], reporter=_Report)


def _for_pycodestyle(check: Callable[..., typing.Any]) -> Callable[..., typing.Any]:
    """Wrap a rule that finds one thing in a line of text, for which flake8 takes a list."""
    if not inspect.isgeneratorfunction(check) or 'physical_line' not in _parameters(check):
        return check

    @functools.wraps(check)
    def first(*args: typing.Any) -> typing.Any:
        return next(check(*args), None)

    return first


def _parameters(check: Callable[..., typing.Any]) -> list[str]:
    return list(inspect.signature(check).parameters)[:1]
