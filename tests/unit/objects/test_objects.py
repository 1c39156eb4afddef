"""Versioned objects: what travels does not change without a new version."""

import json
import os

from oslo_versionedobjects import base as ovo
from oslo_versionedobjects import fields
from oslo_versionedobjects import fixture
import testtools

from nova_lite import exception
from nova_lite import objects
from nova_lite import runtime
from nova_lite.objects import base
from nova_lite.objects import flavor
from nova_lite.objects import image
from nova_lite.objects import instance_group
from nova_lite.objects import request_spec
from nova_lite.rpc import serializer
from tests.fixtures import flavor_records

GOLDEN = os.path.join(os.path.dirname(__file__), 'hashes.json')
UUID = '3d0b8a4e-6a4c-4f0e-9f5e-0c6a3f8f2b11'
FLAVOR = flavor_records.of(extra_specs={'trait:X': 'required'})


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


def full_group():
    """A group with every field set."""
    return instance_group.InstanceGroup(
        uuid=UUID,
        project_id='p',
        user_id='u',
        name='g',
        policy='affinity',
        rules={'max_server_per_host': 2},
        members=[UUID],
        hosts={'h': 1},
    )


def full_image():
    """An image with every field set."""
    return image.ImageMeta(
        id=UUID,
        name='i',
        status='active',
        owner='o',
        disk_format='raw',
        container_format='bare',
        min_disk=1,
        min_ram=2,
        size=3,
        properties={'hw_a': 'b', 'hw_c': None},
    )


def full_parts():
    """Return what a spec has for one request only, with every field set."""
    return {
        'requested_destination': request_spec.Destination(
            host='h',
            node='n',
            cell=UUID,
            aggregates=['a,b', 'c'],
            forbidden_aggregates=['d'],
            allow_cross_cell_move=True,
        ),
        'requested_resources': [
            request_spec.RequestGroup(
                suffix='_1',
                resources={'VCPU': 1},
                required_traits=['A'],
                forbidden_traits=['B'],
                member_of=['a,b'],
                forbidden_aggregates=['c'],
                in_tree=UUID,
            )
        ],
        'same_subtree': ['_1,_2'],
        'requested_networks': [{'network_id': 'n', 'port_id': None, 'vnic_type': 'direct'}],
        'instance_group': full_group(),
        'ignore_hosts': ['i'],
        'root_required': ['C'],
        'root_forbidden': ['D'],
        'current_host': 'h',
        'current_cell': UUID,
        'check_type': 'rebuild',
    }


class FlavorTest(testtools.TestCase):
    def test_devices_are_not_lost_on_the_way_to_an_older_service(self):
        plain = flavor.Flavor(**FLAVOR)
        sent = plain.obj_to_primitive('1.0')
        self.assertEqual('1.0', sent['nova_lite.version'])
        self.assertEqual(FLAVOR, sent['nova_lite.data'])
        devices = [{'count': 1, 'alias': 'nic', 'specs': [], 'policy': None}]
        asking = flavor.Flavor(**FLAVOR, devices=devices)
        error = self.assertRaises(exception.TooOld, asking.obj_to_primitive, '1.0')
        self.assertIn('Finish the upgrade first', str(error))


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

    def test_every_field_travels(self):
        """Each one set, to something that is not its default."""
        spec = self.spec(
            num_instances=2,
            image=full_image(),
            availability_zone='az',
            scheduler_hints={'group': ['g']},
            force_hosts=['h'],
            force_nodes=['n'],
            group_uuid=UUID,
            is_bfv=True,
            security_groups=['s'],
            **full_parts(),
        )
        objects.register_all()
        sent = json.loads(json.dumps(serializer.ObjectSerializer().serialize_entity(None, spec)))
        again = serializer.ObjectSerializer().deserialize_entity(None, sent)
        self.assertEqual(spec.as_dict(), again.as_dict())
        for one, kept in (
            (again, spec),
            (again.requested_destination, spec.requested_destination),
            (again.requested_resources[0], spec.requested_resources[0]),
            (again.instance_group, spec.instance_group),
            (again.image, spec.image),
        ):
            self.assertIs(type(kept), type(one))
            for name, field in kept.fields.items():
                self.assertTrue(kept.obj_attr_is_set(name), name)
                if field.default is not fields.UnspecifiedDefault:
                    self.assertNotEqual(field.default, getattr(kept, name), name)

    def test_an_object_travels_as_the_library_sends_it(self):
        spec = self.spec(image=full_image(), **full_parts())
        sent = spec.obj_to_primitive()
        self.assertEqual(ovo.VersionedObject.obj_to_primitive(spec), sent)
        got = base.Object.obj_from_primitive(sent)
        self.assertEqual(spec.as_dict(), got.as_dict())
        self.assertEqual(sent, got.obj_to_primitive())

    def test_an_older_object_keeps_its_version(self):
        sent = self.spec().obj_to_primitive()
        sent['nova_lite.version'] = '1.0'
        self.assertEqual('1.0', base.Object.obj_from_primitive(sent).VERSION)

    def test_a_field_that_does_not_exist_is_not_asked_for(self):
        self.assertRaises(AttributeError, self.spec().obj_attr_is_set, 'other')

    def test_forbidden_aggregates_accumulate(self):
        destination = self.spec().destination()
        destination.forbid_aggregates(['b', 'a'])
        destination.forbid_aggregates(['c', 'a'])
        self.assertEqual(['a', 'b', 'c'], destination.forbidden_aggregates)

    def test_an_unset_field_raises(self):
        self.assertRaises(NotImplementedError, getattr, flavor.Flavor(), 'vcpus')
