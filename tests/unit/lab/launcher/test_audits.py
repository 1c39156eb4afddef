"""The last result of `nova-lite verify`."""

import os

import fixtures
import testtools

from nova_lite.lab.launcher import audits
from nova_lite.verify import findings
from nova_lite.verify import settling

FINDING = findings.Finding('I3', 'server x', 'runs twice')


class TestAudits(testtools.TestCase):
    def setUp(self):
        super().setUp()
        self.directory = self.useFixture(fixtures.TempDir()).path

    def test_of_a_cloud_that_has_never_run(self):
        audits.record(self.directory, settling.Verdict([], []))
        self.assertIsNone(audits.last(self.directory))

    def test_what_is_kept(self):
        os.mkdir(os.path.join(self.directory, 'run'))
        audits.record(self.directory, settling.Verdict([FINDING], []))
        found = audits.last(self.directory)
        self.assertEqual(('inconsistent', 1), (found['result'], found['violations']))
        self.assertEqual([FINDING._asdict()], found['findings'])
        names = [name for name, _title in found['invariants']]
        self.assertIn('I3', names)
        self.assertEqual(len(names), len(set(names)))
        audits.record(self.directory, settling.Verdict([], []))
        self.assertEqual('consistent', audits.last(self.directory)['result'])
        audits.forget(self.directory)
        audits.forget(self.directory)
        self.assertIsNone(audits.last(self.directory))

    def test_findings_are_bounded(self):
        os.mkdir(os.path.join(self.directory, 'run'))
        audits.record(self.directory, settling.Verdict([FINDING] * (audits.MOST + 1), []))
        found = audits.last(self.directory)
        self.assertEqual(
            (audits.MOST + 1, audits.MOST), (found['violations'], len(found['findings']))
        )

    def test_invariants_that_are_broken_or_uncertain(self):
        os.mkdir(os.path.join(self.directory, 'run'))
        last, doubtful = FINDING._replace(invariant='I4'), FINDING._replace(invariant='I5')
        audits.record(
            self.directory, settling.Verdict([*[FINDING] * audits.MOST, last], [doubtful])
        )
        found = audits.last(self.directory)
        self.assertEqual((['I3', 'I4'], ['I5']), (found['broken'], found['uncertain']))
