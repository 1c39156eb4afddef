"""Functions without types, and types that are ignored without a reason.

mypy, which `tox -e pep8` runs too, is strict for these packages. This check takes no time, and the
list of modules in pyproject.toml that are not strict cannot exempt a function from it.
"""

import ast
from collections.abc import Iterator
import re

from tools import checks

TYPED = ('nova_lite/', 'tools/')
IGNORED = re.compile(r'#\s*type:\s*ignore(\[[a-z, -]*\])?\s*$')


def check(source: checks.Source) -> Iterator[checks.Problem]:
    """Yield a problem for each function without types and each ignored type without a reason."""
    if not source.is_python or not source.path.startswith(TYPED):
        return
    for number, line in enumerate(source.lines, start=1):
        if IGNORED.search(line):
            yield checks.Problem(source.path, number, 'say why the type is ignored')
    for node in source.statements:
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and not _is_typed(node):
            yield checks.Problem(source.path, node.lineno, '%s: write its types' % node.name)


def _is_typed(function: ast.FunctionDef | ast.AsyncFunctionDef) -> bool:
    taken = function.args
    named = [*taken.posonlyargs, *taken.args, *taken.kwonlyargs]
    named += [each for each in (taken.vararg, taken.kwarg) if each is not None]
    annotated = [each for each in named if each.annotation is not None]
    untyped = [each for each in named if each.annotation is None]
    if any(each.arg not in ('self', 'cls', 'mcs') for each in untyped):
        return False
    return function.returns is not None or (function.name == '__init__' and bool(annotated))
