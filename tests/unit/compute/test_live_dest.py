"""The destination of a live migration, as the super-conductor calls it."""

import dataclasses
import os

import testtools

from nova_lite import context
from nova_lite import exception
from nova_lite import runtime
from nova_lite.compute import replies
from tests.fixtures import cell as cell_fixture

SOURCE, DEST = 'host-1', 'host-2'
GPUS = """
extends: instant
hosts:
  - pci:
      - vendor_id: '10de'
        product_id: '25b6'
        mdev_types: [{name: small, count: 2}, {name: big, count: 1}]
"""


class DestinationTest(testtools.TestCase):
    def setUp(self):
        super().setUp()
        self.cell = self.useFixture(cell_fixture.Cell())
        self.ctxt = context.admin().for_saga(runtime.new_uuid(), 1)
        self.uuid = self.cell.boot()
        # An end that is near is always waited for.
        self.patch(replies, 'SHORT_S', 5)

    def check(self, **more):
        """Ask the destination whether it can have the guest. more: facts of the source"""
        facts = dataclasses.asdict(self.cell.driver.get_facts(SOURCE))
        return self.cell.answers.check_can_live_migrate_destination(
            self.ctxt,
            DEST,
            self.cell.instance(self.uuid),
            node=DEST,
            source={**facts, **more},
            key=runtime.new_uuid(),
        )

    def test_types_of_virtual_gpus(self):
        """A guest must get virtual GPUs of the types that it has."""
        self.assertTrue(self.check()['done'])
        refused = self.assertRaises(
            exception.MigrationPreCheckError, self.check, mdev_types=['small']
        )
        self.assertIn('host-2 offers none for it', str(refused))
        profile = os.path.join(self.cell.directory, 'behaviour.yaml')
        with open(profile, 'w') as text:
            text.write(GPUS)
        self.cell.driver.use_profile(profile)
        self.assertTrue(self.check(mdev_types=['small'])['done'])
        refused = self.assertRaises(
            exception.MigrationPreCheckError, self.check, mdev_types=['big', 'small']
        )
        self.assertIn('has mdev types big, small, and host host-2 offers small', str(refused))
