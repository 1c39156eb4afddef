"""Versioned objects: what travels does not change without a new version."""

import json
import os

from oslo_versionedobjects import fixture
import testtools

from nova_lite import objects
from nova_lite import runtime
from nova_lite.objects import base
from nova_lite.objects import flavor
from nova_lite.objects import request_spec

GOLDEN = os.path.join(os.path.dirname(__file__), 'hashes.json')
UUID = '3d0b8a4e-6a4c-4f0e-9f5e-0c6a3f8f2b11'
FLAVOR = {
    'id': 1,
    'flavorid': '1',
    'name': 'm1.tiny',
    'vcpus': 1,
    'memory_mb': 512,
    'root_gb': 1,
    'ephemeral_gb': 0,
    'swap': 0,
    'rxtx_factor': 1.0,
    'disabled': False,
    'is_public': True,
    'description': None,
    'extra_specs': {'trait:X': 'required'},
}


class HashTest(testtools.TestCase):
    def test_a_changed_object_has_a_changed_version(self):
        """To renew after a version was raised: `python -m tests.unit.objects.hashes`."""
        with open(GOLDEN) as file:
            self.assertEqual(json.load(file), current())


def current():
    """{object: 'version-hash'} of all objects of ours."""
    objects.register_all()
    ours = {
        name: classes
        for name, classes in base.Registry.obj_classes().items()
        if classes[0].OBJ_SERIAL_NAMESPACE == base.NAMESPACE
        and classes[0].__module__.startswith('nova_lite.')
    }
    return dict(fixture.ObjectVersionChecker(ours).get_hashes())


class RequestSpecTest(testtools.TestCase):
    def spec(self, **more):
        return request_spec.RequestSpec(
            instance_uuid=runtime.new_uuid(),
            project_id='p',
            user_id='u',
            flavor=flavor.Flavor(**FLAVOR),
            **more,
        )

    def test_what_is_stored_comes_back(self):
        spec = self.spec(
            scheduler_hints={'group': ['g']}, force_hosts=['h'], availability_zone='az'
        )
        again = request_spec.RequestSpec.restore(json.loads(json.dumps(spec.stored())))
        self.assertEqual(spec.as_dict(), again.as_dict())

    def test_where_to_go_is_never_stored(self):
        spec = self.spec(ignore_hosts=['a'])
        spec.destination().host = 'somewhere'
        spec.destination().require_aggregates(['one', 'two'])
        again = request_spec.RequestSpec.restore(spec.stored())
        self.assertIsNone(again.requested_destination)
        self.assertEqual([], again.ignore_hosts)

    def test_forbidden_aggregates_accumulate(self):
        destination = self.spec().destination()
        destination.forbid_aggregates(['b', 'a'])
        destination.forbid_aggregates(['c', 'a'])
        self.assertEqual(['a', 'b', 'c'], destination.forbidden_aggregates)

    def test_an_unset_field_raises(self):
        self.assertRaises(NotImplementedError, getattr, flavor.Flavor(), 'vcpus')
