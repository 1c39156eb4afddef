"""Private names of libraries: only nova_lite.private_apis uses them.

Names of our own classes and modules are not told apart, so an attribute with an underscore
is refused wherever it is asked of anything but `self`, `cls` or `super()`, or of the class
that the statement stands in.
"""

import ast

from tools import checks

PRODUCT = 'nova_lite/'
HOME = 'nova_lite/private_apis/'
# Documented in spite of their names.
DOCUMENTED = frozenset(('_asdict', '_exit', '_mapping'))


def check(source):
    """Yield a problem for each private module that is imported and attribute that is used."""
    if not source.is_python or not source.path.startswith(PRODUCT) or source.path.startswith(HOME):
        return
    classes = {node.name for node in source.statements if isinstance(node, ast.ClassDef)}
    for node in source.statements:
        name = _private(node, classes)
        if name:
            yield checks.Problem(source.path, node.lineno, 'use nova_lite.private_apis: %s' % name)


def _private(node, classes):
    """The private name that a statement or expression uses of something else, or None."""
    match node:
        case ast.ImportFrom(module=str(module)) if '._' in module:
            return module
        case ast.Import() if any('._' in alias.name for alias in node.names):
            return node.names[0].name
        case ast.Attribute(value=ast.Call(func=ast.Name(id='super'))):
            return None
        case ast.Attribute(value=ast.Name(id=owner)) if owner in {'self', 'cls', *classes}:
            return None
        case ast.Attribute(attr=name) if name.startswith('_') and not name.startswith('__'):
            return None if name in DOCUMENTED else name
        case _:
            return None
