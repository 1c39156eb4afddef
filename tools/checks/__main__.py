"""Run every check over every file that git knows or would add."""

import subprocess
import sys

from tools import checks
from tools.checks import annotations
from tools.checks import circles
from tools.checks import constructs
from tools.checks import docstrings
from tools.checks import file_names
from tools.checks import hacking_rules
from tools.checks import inherited
from tools.checks import newest
from tools.checks import places
from tools.checks import private
from tools.checks import revisions
from tools.checks import seam
from tools.checks import sizes

CHECKS = (
    annotations.check,
    sizes.check,
    circles.check,
    constructs.check,
    docstrings.check,
    file_names.check,
    hacking_rules.check,
    inherited.check,
    newest.check,
    places.check,
    private.check,
    revisions.check,
    seam.check,
)


def _paths() -> list[str]:
    listed = subprocess.run(
        ['git', 'ls-files', '-z', '--cached', '--others', '--exclude-standard', '--deduplicate'],
        check=True,
        capture_output=True,
        text=True,
    )
    return [path for path in listed.stdout.split('\0') if path]


def main() -> int:
    sources = [source for source in map(checks.read, _paths()) if source is not None]
    found = [problem for source in sources for check in CHECKS for problem in check(source)]
    found += circles.check_all(sources)
    for problem in found:
        print(problem)
    return 1 if found else 0


if __name__ == '__main__':
    sys.exit(main())
