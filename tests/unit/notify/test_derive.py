"""The table of notifications has a row for each event that is recorded, and no other row."""

import pathlib
import re

import testtools

import nova_lite
from nova_lite.notify import derive

TOP = pathlib.Path(nova_lite.__file__).parent
EVENT = re.compile(r"'((?:compute|api|conductor)_[a-z_]+|rebuild_server)'")
# Events of sagas that nova has, too, and of which it does not notify.
SILENT = {
    'compute_check_can_live_migrate_destination',
    'compute_check_can_live_migrate_source',
    'compute_reserve_block_device_name',
    'conductor_unshelve_instance',
}


def named(*packages):
    """Return the events that modules of packages name."""
    paths = [path for package in packages for path in (TOP / package).rglob('*.py')]
    return {event for path in paths for event in EVENT.findall(path.read_text())}


class EventsTest(testtools.TestCase):
    def test_of_sagas_have_a_row_or_are_silent(self):
        rows = {*derive.EVENTS, *derive.TASKS}
        self.assertEqual(SILENT, named('moves') - rows)

    def test_of_rows_are_recorded(self):
        recorded = named(
            'moves', 'api', 'conductor', 'compute', 'lifecycle', 'superconductor', 'db'
        )
        self.assertEqual(set(), {*derive.EVENTS, *derive.TASKS} - recorded)
