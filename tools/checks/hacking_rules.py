"""OpenStack's own rules, which ruff does not know: `python -m tools.checks.hacking_rules`.

The package hacking offers them to flake8. That runs pyflakes and all of pycodestyle first, for
a minute of CPU, and drops what they find, since ruff does their work. pycodestyle runs the
rules of hacking alone in a third of that.
"""

import functools
from importlib import metadata
import inspect
import sys

import pycodestyle

# Off by default in hacking, or against our style: ruff sorts imports and reads docstrings.
LEFT_OUT = ('H101', 'H102', 'H205', 'H210', 'H301', 'H306', 'H404', 'H405', 'H904', 'H905')
PATHS = ('nova_lite', 'tests', 'tools', 'devstack', 'doc/source', 'setup.py')


def style():
    """Return a pycodestyle.StyleGuide that knows these rules and no other."""
    _register()
    return pycodestyle.StyleGuide(select=['H'], ignore=['E', 'W'])


@functools.cache
def _register():
    for found in metadata.entry_points(group='flake8.extension'):
        if found.value.startswith('hacking.') and found.name not in LEFT_OUT:
            pycodestyle.register_check(_for_pycodestyle(found.load()), [found.name])


def _for_pycodestyle(check):
    """Let a rule find one thing in a line of text, for which flake8 takes a list."""
    if not inspect.isgeneratorfunction(check) or 'physical_line' not in _parameters(check):
        return check

    @functools.wraps(check)
    def first(*args):
        return next(check(*args), None)

    return first


def _parameters(check):
    return list(inspect.signature(check).parameters)[:1]


def main():
    """Check the files named, or all; return the exit status."""
    return 1 if style().check_files(sys.argv[1:] or PATHS).total_errors else 0


if __name__ == '__main__':
    sys.exit(main())
