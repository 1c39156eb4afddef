"""Circles of imports in the product, also of imports for types alone.

A module that is imported back is typed by its users: neither can be understood or tested alone.
"""

import ast
from collections.abc import Iterable
from collections.abc import Iterator
from collections.abc import Mapping
import pathlib

from tools import checks

TOP = 'nova_lite/'
# Where no import is only for types: parts get what they use, not what uses them.
WITHOUT_TYPING = ('nova_lite/moves/',)


def check(source: checks.Source) -> Iterator[checks.Problem]:
    """Yield a problem for each mention of TYPE_CHECKING where no import is only for types."""
    if not (source.is_python and source.path.startswith(WITHOUT_TYPING)):
        return
    for node in source.statements:
        if _names_type_checking(node):
            yield checks.Problem(
                source.path, checks.line_of(node), 'import no module only for types'
            )


def _names_type_checking(node: ast.AST) -> bool:
    match node:
        case ast.Attribute(attr=name):
            return name == 'TYPE_CHECKING'
        case ast.ImportFrom(names=names):
            return any(each.name == 'TYPE_CHECKING' for each in names)
    return False


def check_all(sources: Iterable[checks.Source]) -> Iterator[checks.Problem]:
    """Yield a problem for each module in a circle of imports."""
    modules = {_name(source.path): source for source in sources if _is_module(source)}
    imports = {name: _imports(source) & modules.keys() for name, source in modules.items()}
    for name in sorted(imports):
        imports[name].discard(name)
    for name, others in sorted(_in_circles(imports).items()):
        text = f'a circle of imports: {", ".join(sorted(others))}'
        yield checks.Problem(modules[name].path, 1, text)


def _is_module(source: checks.Source) -> bool:
    return source.is_python and source.path.startswith(TOP)


def _name(path: str) -> str:
    parts = pathlib.PurePosixPath(path).with_suffix('').parts
    return '.'.join(parts[:-1] if parts[-1] == '__init__' else parts)


def _imports(source: checks.Source) -> set[str]:
    """Return the names of modules that a file imports, anywhere in it, and other names."""
    found = set()
    for node in source.statements:
        match node:
            case ast.Import(names=names):
                found |= {each.name for each in names}
            case ast.ImportFrom(module=str(module), names=names):
                found |= {f'{module}.{each.name}' for each in names}
    return found


def _in_circles(imports: Mapping[str, set[str]]) -> dict[str, set[str]]:
    """Return {module: modules that it imports}, of those in circles and between circles."""
    left = dict(imports)
    while True:
        named = {other for others in left.values() for other in others}
        kept = {
            name: others & left.keys()
            for name, others in left.items()
            if others & left.keys() and name in named
        }
        if kept == left:
            return kept
        left = kept
