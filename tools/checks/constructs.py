"""Forms the house style refuses: names imported, errors caught whole, vague names."""

import ast
from collections.abc import Iterator
import pathlib

from tools import checks

OURS = ('nova_lite', 'tests', 'tools')
# Where whatever went wrong must be caught: a saga's step, an RPC method, a
# periodic task, a request, a job of a compute, a notification, a thread, a verb whose exit
# codes mean something else.
CATCH_ALL = (
    'nova_lite/saga/',
    'nova_lite/rpc/',
    'nova_lite/daemons/lifetime',
    'nova_lite/db/joined.py',
    'nova_lite/api/app.py',
    'nova_lite/compute/guest_work.py',
    'nova_lite/scheduler/manager.py',
    'nova_lite/lab/control/endpoint.py',
    'nova_lite/lab/page/feed.py',
    'nova_lite/superconductor/build_sweep.py',
    'nova_lite/lifecycle/searches.py',
    'nova_lite/notify/',
    'nova_lite/cmd/manage.py',
    'nova_lite/runtime/workers.py',
    'tests/sim/kernel/',
)
# A package's front re-exports; tables read better with bare column types.
NAMES_WELCOME = ('/__init__.py', '/tables.py')
# Statements that lock rows are known by it.
PRODUCT, LOCKING = 'nova_lite/', 'nova_lite/dialects/writing.py'
VAGUE_FILES = ('utils.py', 'helpers.py', 'common.py', 'misc.py')


def check(source: checks.Source) -> Iterator[checks.Problem]:
    """Yield a problem for each refused form."""
    if not source.is_python:
        return
    if source.path.rpartition('/')[2] in VAGUE_FILES:
        yield checks.Problem(source.path, 1, 'a file is named after what it owns')
    for node in source.statements:
        text = _judge(source.path, node)
        if text:
            yield checks.Problem(source.path, checks.line_of(node), text)


def _judge(path: str, node: ast.AST) -> str | None:
    match node:
        case ast.ImportFrom() if not path.endswith(NAMES_WELCOME):
            return _imported_names(node)
        case ast.ExceptHandler():
            return _caught(path, node)
        case ast.FunctionDef() | ast.AsyncFunctionDef():
            return _named(node)
        case ast.Attribute(attr='with_for_update') if path.startswith(PRODUCT) and path != LOCKING:
            return 'lock rows by nova_lite.dialects.writing.locking'
        case ast.Raise(exc=ast.Name(id='NotImplementedError')):
            return 'use abc.abstractmethod, or write the method'
    return None


def _imported_names(node: ast.ImportFrom) -> str | None:
    package = (node.module or '').split('.')
    if package[0] not in OURS:
        return None
    directory = pathlib.Path(*package)
    for alias in node.names:
        path = directory / alias.name
        is_module = path.with_suffix('.py').exists() or path.is_dir()
        if not is_module:
            return 'import the module, not %s from %s' % (alias.name, node.module)
    return None


def _caught(path: str, handler: ast.ExceptHandler) -> str | None:
    names = [
        node.id
        for node in ast.walk(handler.type or ast.Name('Exception'))
        if isinstance(node, ast.Name)
    ]
    if not {'Exception', 'BaseException'}.intersection(names):
        return None
    last = handler.body[-1]
    if isinstance(last, ast.Raise) and last.exc is None:
        return None
    if path.startswith(CATCH_ALL):
        return None
    return 'catch what can be handled, not every error'


def _named(node: ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef) -> str | None:
    if node.name.startswith('do_') or node.name.endswith('_helper'):
        return 'say what %s does' % node.name
    return None
