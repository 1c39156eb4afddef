"""The depth of inheritance: two bases of ours at most.

What needs more is a part that a class has, not a base of it.
"""

import inspect

import testtools

import nova_lite
from tests.fixtures import modules

MOST = 2
# Payloads derive from each other as nova's do.
AS_NOVA = 'nova_lite.notify.payloads'


def classes():
    """Every class of the product that is no exception."""
    found = set()
    for module in modules.of(nova_lite):
        found.update(each for _name, each in inspect.getmembers(module, inspect.isclass))
    return {
        each
        for each in found
        if each.__module__.startswith('nova_lite.')
        and each.__module__ != AS_NOVA
        and not issubclass(each, Exception)
    }


def bases(each):
    """Return how many classes of ours stand above this one, in the longest line."""
    above = [base for base in each.__bases__ if base.__module__.startswith('nova_lite.')]
    return 1 + max(map(bases, above)) if above else 0


class InheritanceTest(testtools.TestCase):
    def test_depth(self):
        found = {f'{each.__module__}.{each.__name__}' for each in classes() if bases(each) > MOST}
        self.assertEqual(set(), found)
