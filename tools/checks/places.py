"""Paths that exist on one machine only."""

from collections.abc import Iterator
import pathlib
import re
import tempfile

from tools import checks

# Top directories that every Linux machine has.
STANDARD = {
    'bin', 'boot', 'dev', 'etc', 'lib', 'media', 'mnt', 'opt', 'proc', 'run', 'sbin', 'srv',
    'sys', 'usr', 'var',
}  # fmt: skip
PERSONAL = {'home', 'root', 'Users'}


def _pattern() -> re.Pattern[str]:
    found = PERSONAL | {tempfile.gettempdir().split('/')[1]}
    found |= {place.parts[1] for place in (pathlib.Path.home(), pathlib.Path.cwd())}
    names = '|'.join(re.escape(name) for name in sorted(found - STANDARD))
    return re.compile(r'(?<![\w.$}*~-])/(%s)/[\w.-]' % names)


PATTERN = _pattern()


def check(source: checks.Source) -> Iterator[checks.Problem]:
    """Yield a problem for each line that names such a path."""
    for number, line in enumerate(source.lines, 1):
        found = PATTERN.search(line)
        if found:
            yield checks.Problem(source.path, number, 'a path of one machine: %s…' % found.group())
