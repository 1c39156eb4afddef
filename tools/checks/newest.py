"""The newest microversion is written in one place, so that a new one needs no other edit.

Others read `microversion.MAXIMUM`, or ask for `latest`. What a microversion has added may name it.
"""

from collections.abc import Iterator
import re

from nova_lite.api import microversion
from tools import checks

ALLOWED = ('nova_lite/api/microversion.py', 'nova_lite/versions.py')
_NUMBER = rf'(2\.)?\b{microversion.MAXIMUM.minor}\b'
# A constant, or the default of a parameter.
WRITTEN = re.compile(
    rf"^\s*([A-Z_, ]*(NEWEST|LATEST|LAST|MAXIMUM)\b.*=.*{_NUMBER}|def .*version='{_NUMBER})"
)


def check(source: checks.Source) -> Iterator[checks.Problem]:
    """Yield a problem for each other constant of the newest microversion."""
    if not source.is_python or source.path in ALLOWED:
        return
    for number, line in enumerate(source.lines, 1):
        if WRITTEN.match(line):
            yield checks.Problem(source.path, number, 'read microversion.MAXIMUM')
