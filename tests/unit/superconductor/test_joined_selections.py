"""Builds that wait for the scheduler together."""

import functools

from nova_lite import context
from nova_lite import exception
from nova_lite import runtime
from nova_lite.superconductor import joined_selections
from tests.fixtures import combining
from tests.unit.scheduler import base
from tests.unit.scheduler import cloud


class JoinedSelectionsTest(cloud.ManagerTestCase):
    """Requests to a real scheduler, each with its own context."""

    def setUp(self):
        super().setUp()
        for name in 'abc':
            self.add_host(name)
        self.selections = joined_selections.JoinedSelections(self.scheduler)

    def together(self, *specs):
        calls = [
            functools.partial(
                self.selections.select,
                context.RequestContext(user_id='alice', request_id=f'req-{number}'),
                spec=spec,
                instance_uuids=[spec.instance_uuid],
                alternates=False,
            )
            for number, spec in enumerate(specs)
        ]
        return combining.together(self.selections._combiner, calls)

    def test_each_gets_its_own_host(self):
        specs = [base.make_spec() for _ in range(3)]
        found = self.together(*specs)
        self.assertEqual(set('abc'), {choice.service_host for ((choice,),) in found})
        for number, spec in enumerate(specs):
            record = self.scheduler.decisions.get(spec.instance_uuid)
            self.assertEqual(f'req-{number}', record.request_id)

    def test_one_finds_no_host(self):
        specs = [base.make_spec(), base.make_spec(sizes={'vcpus': 99}), base.make_spec()]
        first, second, third = self.together(*specs)
        self.assertIsInstance(second, exception.NoValidHost)
        self.assertIn('No valid host was found.', second.message)
        self.assertIsNone(second.kwargs['silent'])
        self.assertEqual([1, 1], [len(first), len(third)])

    def test_one_meets_a_defect(self):
        """The servers of other requests have claims by then."""
        specs = [base.make_spec(), base.make_spec(sizes={'vcpus': 3}), base.make_spec()]
        select = self.scheduler.select_destinations

        def fail(ctxt, spec, *args, **options):
            if spec.flavor.vcpus == 3:
                raise KeyError('of a plugin')
            return select(ctxt, spec, *args, **options)

        self.scheduler.select_destinations = fail
        first, second, third = self.together(*specs)
        self.assertIsInstance(second, exception.RemoteError)
        self.assertIn('KeyError', second.message)
        self.assertEqual([1, 1], [len(first), len(third)])

    def test_one_meets_an_error_of_a_plugin(self):
        class Strange(exception.NovaLiteError):
            msg = 'Strange: %(reason)s'

        def fail(_ctxt, spec, *_args, **_options):
            raise Strange(reason=spec.instance_uuid)

        self.scheduler.select_destinations = fail
        for found in self.together(base.make_spec(), base.make_spec()):
            self.assertIsInstance(found, exception.RemoteError)
            self.assertIn('Strange', found.message)

    def test_members_of_a_group_wait_for_nobody_else(self):
        """Only one decision about a group is made at a time, which may take long."""
        spec = base.make_spec(group_uuid=runtime.new_uuid())
        called = []
        self.selections._combiner = None
        self.scheduler.select_destinations = lambda ctxt, **options: called.append(options) or []
        found = self.selections.select(self.ctxt, spec=spec, instance_uuids=['a'], alternates=True)
        self.assertEqual(([], 1), (found, len(called)))

    def test_alone(self):
        spec = base.make_spec(instance_uuid=runtime.new_uuid())
        ((choice,),) = self.selections.select(
            self.ctxt, spec=spec, instance_uuids=[spec.instance_uuid], alternates=False
        )
        self.assertIn(choice.service_host, 'abc')
