"""Modules that block, schedule, know the time or make chance: one module imports them.

So the whole of nova_lite runs on a virtual clock, one thread at a time, from a seed.
Single functions of other modules, such as datetime.now, are refused by ruff.
"""

import ast

from tools import checks

MODULES = frozenset(
    (
        '_thread',
        'asyncio',
        'concurrent',
        'futurist',
        'multiprocessing',
        'queue',
        'random',
        'sched',
        'secrets',
        'select',
        'selectors',
        'threading',
        'time',
        'uuid',
    )
)
# The kernel of the simulation stands in for them; programs of its tests run on it.
SEAM = (
    'nova_lite/runtime.py',
    'tests/sim/kernel/',
    'tests/unit/sim/programs.py',
    'tests/unit/sim/starts.py',
)


def check(source):
    """Yield a problem for each import of these modules, in functions and by name too."""
    if not source.is_python or source.path.startswith(SEAM):
        return
    for node in source.statements:
        for name in sorted(_imported(node) & MODULES):
            yield checks.Problem(source.path, node.lineno, 'ask nova_lite.runtime, not %s' % name)


def _imported(node):
    """The packages that a statement or call imports."""
    match node:
        case ast.Import():
            names = [alias.name for alias in node.names]
        case ast.ImportFrom(module=str(module), level=0):
            names = [module]
        case ast.Call(
            func=ast.Name(id='__import__' | 'import_module') | ast.Attribute(attr='import_module'),
            args=[ast.Constant(value=str(module)), *_],
        ):
            names = [module]
        case _:
            names = []
    return {name.partition('.')[0] for name in names}
