"""Payloads: what consumers parse does not change without a new version."""

import json
import os

from oslo_versionedobjects import fixture
import testtools

from nova_lite.notify import derive
from nova_lite.notify import from_records
from nova_lite.notify import payloads

GOLDEN = os.path.join(os.path.dirname(__file__), 'hashes.json')
TRACE = """Traceback (most recent call last):
  File "/usr/lib/python3/dist-packages/nova_lite/compute/power.py", line 12, in act
    job = yield from jobs.ended(job)
  File "/usr/lib/python3.11/concurrent/futures.py", line 5, in result
    raise self._exception
nova_lite.exception.DriverError: no: reason
"""


class HashTest(testtools.TestCase):
    def test_a_changed_payload_has_a_changed_version(self):
        """To renew after a version was raised: `python -m tests.unit.notify.hashes`."""
        with open(GOLDEN) as file:
            self.assertEqual(json.load(file), current())

    def test_every_payload_is_sent_or_part_of_another(self):
        sent = {kind.__name__ for kind, _publisher in derive.every_type().values()}
        parts = {
            'BlockDevicePayload',
            'IpPayload',
            'SharePayload',
            'AuditPeriodPayload',
            'MetricPayload',
            'InstanceStateUpdatePayload',
            'InstancePayload',
            'InstanceNUMACellPayload',
            'InstanceNUMATopologyPayload',
            'InstancePCIRequestPayload',
            'InstancePCIRequestsPayload',
        }
        self.assertEqual(set(payloads.ALL), sent | parts)


def current():
    """{payload: 'version-hash'} of all."""
    classes = {name: [kind] for name, kind in payloads.ALL.items()}
    return dict(fixture.ObjectVersionChecker(classes).get_hashes())


class WireTest(testtools.TestCase):
    def test_names_of_the_envelope(self):
        wire = payloads.BlockDevicePayload(
            device_name='/dev/vda',
            boot_index=0,
            delete_on_termination=False,
            volume_id=None,
            tag=None,
        ).as_wire()
        self.assertEqual(
            {
                'nova_object.name': 'BlockDevicePayload',
                'nova_object.namespace': 'nova',
                'nova_object.version': '1.0',
                'nova_object.data': {
                    'device_name': '/dev/vda',
                    'boot_index': 0,
                    'delete_on_termination': False,
                    'volume_id': None,
                    'tag': None,
                },
            },
            wire,
        )


class ErrorTest(testtools.TestCase):
    def test_of_a_traceback(self):
        made = from_records.of_error('no: reason', TRACE)
        self.assertEqual('DriverError', made.exception)
        self.assertEqual('nova_lite.compute.power', made.module_name)
        self.assertEqual('act', made.function_name)
        self.assertEqual('no: reason', made.exception_message)

    def test_without_one(self):
        made = from_records.of_error('no', None)
        self.assertEqual('NovaLiteError', made.exception)
        self.assertIsNone(made.traceback)
