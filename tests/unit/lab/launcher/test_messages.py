"""Errors of clouds say what to do next: commands print them as they are."""

import re

import testtools

from nova_lite import exception
from nova_lite.lab import control
from nova_lite.lab import launcher
from nova_lite.lab import testclock
from tests.fixtures import modules

NEXT = re.compile(
    r'`nova-lite |\b(use|choose|copy|correct|repeat|restore|try|omit|advance|delete|install|must)\b'
    r'|%\((known|up)\)s',
    re.IGNORECASE,
)
# Their text is the message of another error.
PASSED_ON = {'Refused', 'NotReady', 'Failed', 'Wrong'}
# The client that could read it is gone.
GONE = {'Closed'}
# Their reasons do, see tests/unit/cmd/test_wrong_usages.py.
REASONED = {'NoLogs', 'NotThere'}


def classes():
    """Yield the errors that the packages define."""
    for package in (control, launcher, testclock):
        for module in modules.of(package):
            kinds = [each for each in vars(module).values() if isinstance(each, type)]
            own = [each for each in kinds if each.__module__ == module.__name__]
            yield from (each for each in own if issubclass(each, exception.NovaLiteError))


class MessagesTest(testtools.TestCase):
    def test_what_to_do_next(self):
        found = {each.__name__: each.msg for each in classes()}
        lacking = {name for name, text in found.items() if not NEXT.search(text)}
        self.assertEqual(PASSED_ON | GONE | REASONED, lacking)
