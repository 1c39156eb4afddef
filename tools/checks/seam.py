"""Modules that block, schedule, know the time or make chance: one module imports them.

So the whole of nova_lite runs on a virtual clock, one thread at a time, from a seed.
Single functions of other modules, such as datetime.now, are refused by ruff. Names that a
program computes or changes (import signal as s) are not seen here.
"""

import ast
from collections.abc import Iterator
import typing

from tools import checks

MODULES = frozenset(
    (
        '_thread',
        'asyncio',
        'concurrent',
        'eventlet',
        'fasteners',
        'futurist',
        'gevent',
        'multiprocessing',
        'oslo_concurrency.lockutils',
        'oslo_service.loopingcall',
        'oslo_service.periodic_task',
        'oslo_service.threadgroup',
        'oslo_utils.eventletutils',
        'queue',
        'random',
        'sched',
        'secrets',
        'select',
        'selectors',
        'socketserver',
        'tenacity',
        'threading',
        'time',
        'uuid',
    )
)
# Attributes by which nova_lite.runtime would hand its modules on; `random` is its function.
HANDED_ON = (MODULES - {'random'}) | {'_random'}
FUNCTIONS = {
    # They wait, or interrupt after a time.
    'signal': frozenset(
        ('alarm', 'pause', 'setitimer', 'siginterrupt', 'sigtimedwait', 'sigwait', 'sigwaitinfo')
    ),
    # They ask for the time; others parse and convert.
    'timeutils': frozenset(
        (
            'StopWatch',
            'is_newer_than',
            'is_older_than',
            'is_soon',
            'now',
            'set_time_override',
            'time_it',
            'utcnow',
            'utcnow_ts',
        )
    ),
}
# The kernel of the simulation stands in for them; programs of its tests run on it.
SEAM = (
    'nova_lite/runtime/__init__.py',
    'tests/sim/kernel/',
    'tests/unit/sim/programs.py',
    'tests/unit/sim/starts.py',
)
# {path: {module: reason}}: what is outside of every simulation.
ALLOWED = {
    'tests/crash/points.py': {'socketserver': 'serves daemons that are processes'},
    'tests/fixtures/systemd.py': {'socketserver': 'stands in for systemd, for processes'},
    'tests/fixtures/warm_programs.py': {'socketserver': 'starts processes on request'},
    'tests/software/inside/cloud.py': {'time': 'waits in the interpreters of other programs'},
    'tests/software/inside/masakari_cases.py': {'uuid': "is run by Masakari's interpreter"},
    'tools/run_tests.py': {'signal.alarm': 'ends test runs, which are processes'},
}


def check(source: checks.Source) -> Iterator[checks.Problem]:
    """Yield a problem for each use of these modules, in functions and by name too."""
    if not source.is_python or source.path.startswith(SEAM):
        return
    allowed = ALLOWED.get(source.path, ())
    for node in source.statements:
        for name in sorted({*_refused(node)}.difference(allowed)):
            yield checks.Problem(
                source.path, checks.line_of(node), 'ask nova_lite.runtime, not %s' % name
            )


def _refused(node: ast.AST) -> Iterator[str]:
    """Yield the refused modules and functions that a statement or expression names."""
    for name in _named(node):
        parts = name.split('.')
        for end in range(1, len(parts) + 1):
            if (prefix := '.'.join(parts[:end])) in MODULES:
                yield prefix
    match node:
        case ast.ImportFrom(module=str(path), level=0):
            module = path.rpartition('.')[2]
            names = {each.name for each in node.names} & FUNCTIONS.get(module, frozenset())
            yield from (f'{module}.{name}' for name in names)
        case ast.Attribute(value=ast.Name(id=module) | ast.Attribute(attr=module), attr=name) if (
            name in FUNCTIONS.get(module, ())
        ):
            yield f'{module}.{name}'
        case (
            ast.Attribute(value=ast.Name(id='runtime'), attr=name)
            | ast.Call(
                func=ast.Name(id='getattr'),
                args=[ast.Name(id='runtime'), ast.Constant(value=str(name)), *_],
            )
        ) if name in HANDED_ON:
            yield 'runtime.' + name


def _named(node: ast.AST) -> list[str]:
    """Return the dotted names of the modules that a node imports, or finds imported."""
    match node:
        case ast.Import():
            return [alias.name for alias in node.names]
        case ast.ImportFrom(module=str(module), level=0):
            return [f'{module}.{alias.name}' for alias in node.names]
        case ast.Attribute(value=ast.Name(id=package), attr=name):
            return [f'{package}.{name}'] if package.startswith('oslo_') else []
        case ast.Subscript(value=value, slice=ast.Constant(value=str(module))):
            return [module] if _is_sys_modules(value) else []
        case ast.Call():
            return _loaded(node)
    return []


def _loaded(call: ast.Call) -> list[str]:
    """Return the module that a call imports or looks up by a constant name."""
    match call.func:
        case ast.Attribute(value=value, attr='get' | 'pop' | '__getitem__'):
            loads = _is_sys_modules(value)
        case ast.Name(id=name) | ast.Attribute(attr=name):
            loads = name in ('__import__', 'import_module')
        case _:
            loads = False
    given = [*call.args[:1], *(each.value for each in call.keywords if each.arg == 'name')]
    return [str(each.value) for each in given if loads and _is_text(each)]


def _is_sys_modules(node: ast.AST) -> bool:
    match node:
        case ast.Attribute(value=ast.Name(id='sys'), attr='modules'):
            return True
    return False


def _is_text(node: ast.AST) -> typing.TypeGuard[ast.Constant]:
    return isinstance(node, ast.Constant) and isinstance(node.value, str)
