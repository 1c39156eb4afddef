"""Calls to computes that steps declare equal those in the code of their sagas."""

import inspect
import re
import sys

import testtools

from nova_lite.moves import kinds
from nova_lite.moves import places
from nova_lite.rpc.methods import compute

CALL = re.compile(r'\bcompute\.(\w+)')
# Steps that ask a host besides what they do elsewhere.
BESIDE = {
    'record-request',  # its undo clears the source of a server that is deleted
    'delete-if-deleted',
    'end-attachment',
    'reserve-volumes-for-destination',  # asks the host how the volumes reach it
    'complete-volume-migration',
    'record-kept-volume-id',
}
# Casts that are as old as the interface; deletes and builds begin elsewhere.
ELSEWHERE = {'delete_instance'}
# What modules that several kinds share ask for on behalf of others.
INTERFACES = {'attach_interface', 'detach_interface'}
VOLUMES = {'attach_volume', 'detach_volume'}
SHELVING = {'finish_revert_resize', 'prep_snapshot_based_resize_at_source'}
ACROSS = {'finish_snapshot_based_resize_at_dest', 'prep_snapshot_based_resize_at_source'}
# What parts of their parts ask for.
OF_PARTS = dict.fromkeys(('live-migration', 'evacuation'), {'get_volume_connector'})
OF_OTHERS = {
    **dict.fromkeys(('revert-resize', 'cross-cell-revert'), {'get_volume_connector'}),
    **dict.fromkeys(('resize', 'migrate'), ACROSS),
    **dict.fromkeys(('shelve-offload', 'rebuild'), SHELVING),
    **dict.fromkeys(('attach-volume', 'detach-volume', 'swap-volume'), INTERFACES),
    **dict.fromkeys(('attach-interface', 'detach-interface'), VOLUMES),
}


def called(saga):
    """The methods of computes that the modules of a saga's classes, and its parts, name."""
    modules = [sys.modules[each.__module__] for each in saga.__mro__]
    parts = [
        each
        for module in modules
        for each in vars(module).values()
        if inspect.ismodule(each) and each.__name__.startswith('nova_lite.moves.parts.')
    ]
    ours = {each for each in (*modules, *parts) if each.__name__.startswith('nova_lite.moves.')}
    found = {name for each in ours for name in CALL.findall(inspect.getsource(each))}
    return found & set(compute.ComputeAPI.methods) - ELSEWHERE


class CallsTest(testtools.TestCase):
    def test_steps_declare_what_their_saga_asks_for(self):
        for kind, saga in kinds.KINDS.items():
            found = called(saga) - OF_OTHERS.get(kind, set()) | OF_PARTS.get(kind, set())
            self.assertEqual(found, kinds.calls(kind), kind)

    def test_what_sagas_ask_for_is_fenced(self):
        asked = {name for kind in kinds.KINDS for name in kinds.calls(kind)}
        fenced = {name for name, each in compute.ComputeAPI.methods.items() if each.rpc_fenced}
        self.assertEqual(asked, fenced)

    def test_each_step_takes_effect_somewhere(self):
        for kind in kinds.KINDS:
            for step in kinds.steps(kind).values():
                self.assertIsInstance(step.at, places.Place, step.id)
                at_host = step.at in (places.SOURCE_HOST, places.DEST_HOST)
                self.assertTrue(at_host or not step.calls or step.id in BESIDE, step.id)
