"""Revisions of a database schema change tables and no rows.

Rows are changed while the daemons run, by `nova-lite-manage db online_data_migrations`.
"""

import ast
from collections.abc import Iterator
from collections.abc import Sequence

from tools import checks

REVISIONS = 'nova_lite/db/schema/'
# Of the operations of alembic, those that change tables begin so.
OF_TABLES = ('add_', 'alter_', 'batch_', 'create_', 'drop_', 'rename_')


def check(source: checks.Source) -> Iterator[checks.Problem]:
    """Yield a problem for each other operation, and for a connection used otherwise."""
    if not source.is_python or not source.path.startswith(REVISIONS):
        return
    allowed = {id(argument) for node in source.statements for argument in _harmless(node)}
    for node in source.statements:
        name = _operation(node)
        if name and not name.startswith(OF_TABLES) and id(node) not in allowed:
            text = 'op.%s: a revision changes no rows; write an online data migration' % name
            yield checks.Problem(source.path, checks.line_of(node), text)


def _operation(node: ast.AST) -> str | None:
    """Return the name of the operation of alembic that a node calls, or None."""
    match node:
        case ast.Call(func=ast.Attribute(value=ast.Name(id='op'), attr=name)):
            return name
    return None


def _harmless(node: ast.AST) -> Sequence[ast.AST]:
    """Return the arguments of a call that creates all tables, or reads what a schema has."""
    match node:
        case ast.Call(func=ast.Attribute(attr='create_all' | 'inspect'), args=arguments):
            return arguments
    return ()
