"""Try the lowest versions of the requirements: python -m tools.lowest

Installs these versions, without their own requirements, into a directory that comes before the
packages of the environment. Then imports every module of nova_lite, runs the unit tests of the code
that depends most on libraries (private APIs, RPC, sagas and databases), and resizes and live
migrates a server in a whole cloud. All unit tests run with all lowest versions in `tox -e lowest`.
"""

import os
import pathlib
import subprocess
import sys
import tempfile

from packaging import requirements
from packaging import utils

TOP = pathlib.Path(__file__).parents[1]
PIP = (sys.executable, '-m', 'pip', 'install', '--quiet', '--disable-pip-version-check')
# Packages that lowest versions require, and that newer versions require in another version or not.
REQUIRED = frozenset(('psycopg-binary', 'requestsexceptions'))
# The second imports all modules.
TESTS = ('tests.unit.private_apis.test_private_apis', 'tests.unit.test_inheritance')
DIRECTORIES = ('tests/unit/rpc', 'tests/unit/saga', 'tests/unit/db')
CLOUD_TESTS = (
    'tests.functional.test_resize.ResizeTest.test_confirm',
    'tests.functional.test_live_migration.LiveMigrationTest.test_ports_and_volumes_come_along',
)


def names() -> frozenset[str]:
    """Return the names of the packages that are tried."""
    lines = _lines((TOP / 'requirements.txt').read_text())
    return REQUIRED.union(map(_name, lines))


def pins(text: str) -> list[str]:
    """Return the pins of these packages in a file of constraints."""
    wanted = names()
    return [line for line in _lines(text) if _name(line) in wanted]


def modules() -> list[str]:
    """Return the names of the modules of tests in DIRECTORIES."""
    files = (path for each in DIRECTORIES for path in sorted((TOP / each).rglob('test_*.py')))
    return ['.'.join(path.relative_to(TOP).with_suffix('').parts) for path in files]


def _lines(text: str) -> list[str]:
    lines = (line.partition('#')[0].strip() for line in text.splitlines())
    return list(filter(None, lines))


def _name(line: str) -> str:
    return utils.canonicalize_name(requirements.Requirement(line).name)


def main() -> int:
    chosen = pins((TOP / 'lowest-constraints.txt').read_text())
    print('\n'.join(chosen), flush=True)
    with tempfile.TemporaryDirectory() as directory:
        target = ('--no-deps', '--no-compile', '--target', directory)
        subprocess.run([*PIP, *target, *chosen], check=True)
        environ = {**os.environ, 'PYTHONPATH': directory}
        run = (sys.executable, '-m', 'testtools.run', *TESTS, *modules(), *CLOUD_TESTS)
        return subprocess.run(run, check=False, cwd=TOP, env=environ).returncode


if __name__ == '__main__':
    sys.exit(main())
