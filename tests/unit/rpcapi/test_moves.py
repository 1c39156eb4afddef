"""The table of what sagas ask of computes says what their code does."""

import inspect
import re
import sys

import testtools

from nova_lite.moves import kinds
from nova_lite.rpcapi import compute
from nova_lite.rpcapi import moves

CALL = re.compile(r'\bcompute\.(\w+)')
# Casts that are as old as the interface; deletes and builds begin elsewhere.
ELSEWHERE = {'delete_instance'}


def called(saga):
    """The methods of computes that the modules of a saga's classes name."""
    modules = {each.__module__ for each in saga.__mro__} & {
        name for name in sys.modules if name.startswith('nova_lite.moves.')
    }
    found = {
        name for each in modules for name in CALL.findall(inspect.getsource(sys.modules[each]))
    }
    return found & set(compute.ComputeAPI.methods) - ELSEWHERE


class MovesTest(testtools.TestCase):
    def test_each_kind_is_there(self):
        self.assertEqual(set(kinds.KINDS), set(moves.METHODS))

    def test_the_methods_are_those_that_sagas_call(self):
        for kind, saga in kinds.KINDS.items():
            self.assertLessEqual(set(moves.METHODS[kind]), called(saga), kind)
        self.assertEqual(
            {name for saga in kinds.SAGAS for name in called(saga)},
            {name for names in moves.METHODS.values() for name in names},
        )
