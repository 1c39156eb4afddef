"""Private names of libraries: only the packages `private_apis` use them.

Names of our own classes and modules are not distinguished, so an attribute with an underscore
is refused wherever it is asked of anything but `self`, `cls` or `super()`, or of the class
that the statement stands in. Of those, `inherited` judges what a library's class has made.
"""

import ast
from collections.abc import Collection
from collections.abc import Iterator

from tools import checks

PRODUCT = 'nova_lite/'
# The second one has what only the lab uses.
HOMES = ('nova_lite/private_apis/', 'nova_lite/lab/private_apis/')
# Documented in spite of their names.
DOCUMENTED = frozenset(('_asdict', '_exit', '_mapping'))


def check(source: checks.Source) -> Iterator[checks.Problem]:
    """Yield a problem for each private module that is imported and attribute that is used."""
    if not source.is_python or not source.path.startswith(PRODUCT):
        return
    if source.path.startswith(HOMES):
        return
    classes = {node.name for node in source.statements if isinstance(node, ast.ClassDef)}
    for node in source.statements:
        name = _private(node, classes)
        if name:
            yield checks.Problem(
                source.path, checks.line_of(node), 'use nova_lite.private_apis: %s' % name
            )


def _private(node: ast.AST, classes: Collection[str]) -> str | None:
    """The private name that a statement or expression uses of something else, or None."""
    match node:
        case ast.ImportFrom(module=str(module)) if hidden(module):
            return module
        case ast.Import(names=names) | ast.ImportFrom(names=names):
            return next((each.name for each in names if hidden(each.name)), None)
        case (
            ast.Attribute(value=owner, attr=name)
            | ast.Call(func=ast.Name(id='getattr'), args=[owner, ast.Constant(value=str(name)), *_])
        ) if hidden(name) and name not in DOCUMENTED:
            return None if _own(owner, classes) else name
        case _:
            return None


def hidden(path: str) -> bool:
    """Return whether a part of a dotted name is private."""
    return any(part.startswith('_') and not part.startswith('__') for part in path.split('.'))


def _own(owner: ast.expr, classes: Collection[str]) -> bool:
    match owner:
        case ast.Call(func=ast.Name(id='super')):
            return True
        case ast.Name(id=name):
            return name in {'self', 'cls', *classes}
        case _:
            return False
