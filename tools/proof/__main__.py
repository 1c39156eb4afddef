"""Write doc/source/reference/proven.yaml from the request logs of tests.

The logs are written into the directory that NOVA_LITE_TEST_REQUESTS names, and by tests.tempest and
tests.clients. Operations that are in no log are removed from the file, unless --add is given.
"""

import argparse
from collections.abc import Sequence
import pathlib
import sys

from nova_lite.api import operation
from tools.proof import page
from tools.proof import proven


def parser() -> argparse.ArgumentParser:
    """Return the parser of the command line."""
    made = argparse.ArgumentParser(prog='python -m tools.proof', description=__doc__)
    made.add_argument(
        'logs',
        nargs='*',
        type=pathlib.Path,
        help=f'request logs (default: all logs in {proven.LOGS})',
    )
    made.add_argument('--add', action='store_true', help='keep the operations that are in the file')
    return made


def main(argv: Sequence[str] | None = None) -> int:
    """Write the file. Return the exit code."""
    args = parser().parse_args(argv)
    logs = args.logs or sorted(proven.LOGS.glob(f'*{proven.SUFFIX}'))
    if not logs:
        print(f'There are no request logs in {proven.LOGS}', file=sys.stderr)
        return 1
    registry = operation.load_all()
    found = proven.read(logs, registry)
    if args.add:
        for name, clients in proven.load().items():
            for client, versions in clients.items():
                found[name][client].update(versions)
    proven.PATH.write_text(proven.dump(found))
    print(f'{len(found)} operations were used with success, by {len(logs)} logs. README.rst:')
    rows = page.rows()
    print(page.offer(rows), page.limits(rows), sep='\n')
    return 0


if __name__ == '__main__':
    sys.exit(main())
