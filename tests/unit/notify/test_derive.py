"""The table of notifications has a row for each event that is recorded, and no other row."""

import pathlib
import re

import testtools

import nova_lite
from nova_lite.db import notes
from nova_lite.notify import derive

TOP = pathlib.Path(nova_lite.__file__).parent
EVENT = re.compile(
    r"'((?:compute|api|conductor)_[a-z_]+|rebuild_server|get_image_info|schedule_instances)'"
)
# Packages that record events, and whose other names do not look like one.
RECORDING = ('api', 'compute', 'conductor', 'lifecycle', 'moves', 'superconductor')
# Events that nova has, too, and of which it does not notify.
SILENT = {
    'api_snapshot_instance',
    'compute_check_can_live_migrate_destination',
    'compute_check_can_live_migrate_source',
    'compute_extend_volume',
    'compute_reserve_block_device_name',
    'compute_set_admin_password',
    'get_image_info',
    'schedule_instances',
}


def named(*packages):
    """Return the events that modules of packages name."""
    paths = [path for package in packages for path in (TOP / package).rglob('*.py')]
    return {event for path in paths for event in EVENT.findall(path.read_text())}


class EventsTest(testtools.TestCase):
    def test_have_a_row_or_are_silent(self):
        rows = {*derive.EVENTS, *derive.TASKS}
        self.assertEqual(SILENT, named(*RECORDING) - rows)

    def test_of_rows_are_recorded(self):
        recorded = named(*RECORDING, 'db', 'states')
        self.assertEqual(set(), {*derive.EVENTS, *derive.TASKS} - recorded)


class ConcernsTest(testtools.TestCase):
    """The records of which nothing is notified are not read for a notification."""

    def told(self, event):
        phases = (derive.START, derive.END, derive.ERROR)
        return [
            phase
            for phase in phases
            if derive.concerns(notes.Note('event', {'event': event, 'phase': phase}))
        ]

    def test_phases_of_events(self):
        for event, phases in {
            'compute_pre_live_migration': ['start', 'end', 'error'],
            # Their failures are notified as compute.exception.
            'compute_check_can_live_migrate_source': ['error'],
            'compute_finish_revert_resize': ['end', 'error'],
            'conductor_live_migrate_instance': ['error'],
            'rebuild_server': ['end', 'error'],
            'cold_migrate': [],
        }.items():
            with self.subTest(event):
                self.assertEqual(phases, self.told(event))

    def test_other_records(self):
        for what, facts, told in (
            ('action', {'action': 'lock'}, True),
            ('action', {'action': 'reboot'}, False),
            ('change', {}, True),
            ('flavor.create', {}, True),
            ('subject', {}, False),
        ):
            with self.subTest(what):
                self.assertEqual(told, derive.concerns(notes.Note(what, facts)))

    def test_tags(self):
        for what, facts, told in (
            ('event', {'event': 'compute__do_build_and_run_instance'}, True),
            ('event', {'event': 'compute_pre_live_migration'}, False),
            ('change', {}, True),
            ('action', {'action': 'lock'}, False),
        ):
            with self.subTest(what, **facts):
                self.assertEqual(told, derive.needs_tags(notes.Note(what, facts)))
