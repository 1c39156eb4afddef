"""Private names that a class of ours has from a class of a library.

Those too may change without notice, so a module of a package `private_apis` must declare them.
"""

import ast
from collections.abc import Iterator
from collections.abc import Mapping
import functools
import pathlib
import typing

from tools import checks
from tools.checks import private


def check(source: checks.Source) -> Iterator[checks.Problem]:
    """Yield a problem for each such name that no module declares."""
    if not source.is_python or not source.path.startswith(private.PRODUCT):
        return
    modules = {
        alias.asname or alias.name.split('.')[0]: getattr(node, 'module', None) or alias.name
        for node in source.statements
        if isinstance(node, ast.Import | ast.ImportFrom)
        for alias in node.names
    }
    for node in source.statements:
        if isinstance(node, ast.ClassDef) and any(_is_of_library(b, modules) for b in node.bases):
            yield from _undeclared(source.path, node)


def _is_of_library(base: ast.expr, modules: Mapping[str, str]) -> bool:
    while isinstance(base, ast.Attribute | ast.Subscript):
        base = base.value
    module = modules.get(getattr(base, 'id', ''), private.PRODUCT)
    homes = tuple(map(_module, private.HOMES))
    return module.startswith(homes) or not module.startswith(_module(private.PRODUCT))


def _module(directory: str) -> str:
    return directory.rstrip('/').replace('/', '.')


def _undeclared(path: str, of: ast.ClassDef) -> Iterator[checks.Problem]:
    known = {*_made(of), *declared()}
    for node in ast.walk(of):
        if _is_own(node) and private.hidden(node.attr) and node.attr not in known:
            yield checks.Problem(
                path, node.lineno, 'declare in nova_lite.private_apis: %s' % node.attr
            )


def _made(of: ast.ClassDef) -> Iterator[str]:
    """Yield the names that a class makes: its functions, its attributes, those of `__init__`."""
    for node in of.body:
        match node:
            case ast.FunctionDef(name=name):
                yield name
            case ast.Assign(targets=targets):
                yield from (each.id for each in targets if isinstance(each, ast.Name))
            case ast.AnnAssign(target=ast.Name(id=name)):
                yield name
        if isinstance(node, ast.FunctionDef) and node.name == '__init__':
            for each in ast.walk(node):
                if _is_own(each) and isinstance(each.ctx, ast.Store):
                    yield each.attr


def _is_own(node: ast.AST) -> typing.TypeGuard[ast.Attribute]:
    match node:
        case ast.Attribute(value=ast.Name(id='self' | 'cls')):
            return True
    return False


@functools.cache
def declared() -> set[str]:
    """Return the names that the calls of the modules' `LIBRARY` contain."""
    found: set[typing.Any] = set()
    for path in (each for home in private.HOMES for each in pathlib.Path(home).glob('*.py')):
        for node in ast.walk(ast.parse(path.read_text(encoding='utf-8'))):
            match node:
                case ast.Call(func=ast.Attribute(value=ast.Name(id='LIBRARY'))):
                    found.update(
                        each.value for each in ast.walk(node) if isinstance(each, ast.Constant)
                    )
    return found
