"""Tries of private APIs with the lowest versions of libraries: python -m tools.lowest

Installs these libraries, without what they require, into a directory that comes before the
environment's own packages. Then it imports every module of nova_lite and runs the tests of
private_apis. The whole unit tests run with all lowest versions in `tox -e lowest`.
"""

import importlib
import os
import pathlib
import pkgutil
import subprocess
import sys
import tempfile

from packaging import requirements
from packaging import utils

from nova_lite import private_apis

TOP = pathlib.Path(__file__).parents[1]
PIP = (sys.executable, '-m', 'pip', 'install', '--quiet', '--disable-pip-version-check')
# The second imports all modules.
TESTS = ('tests.unit.private_apis.test_private_apis', 'tests.unit.test_inheritance')


def names():
    """Return the packages of which private_apis uses undocumented names."""
    modules = (
        importlib.import_module(f'{private_apis.__name__}.{each.name}')
        for each in pkgutil.iter_modules(private_apis.__path__)
    )
    return {
        utils.canonicalize_name(module.LIBRARY.name)
        for module in modules
        if hasattr(module, 'LIBRARY')
    }


def pins(text):
    """Return the pins of these packages in a file of constraints."""
    lines = (line.partition('#')[0].strip() for line in text.splitlines())
    wanted = names()
    return [
        line
        for line in filter(None, lines)
        if utils.canonicalize_name(requirements.Requirement(line).name) in wanted
    ]


def main():
    chosen = pins((TOP / 'lowest-constraints.txt').read_text())
    print('\n'.join(chosen), flush=True)
    with tempfile.TemporaryDirectory() as directory:
        target = ('--no-deps', '--no-compile', '--target', directory)
        subprocess.run([*PIP, *target, *chosen], check=True)
        environ = {**os.environ, 'PYTHONPATH': directory}
        run = (sys.executable, '-m', 'testtools.run', *TESTS)
        return subprocess.run(run, check=False, cwd=TOP, env=environ).returncode


if __name__ == '__main__':
    sys.exit(main())
