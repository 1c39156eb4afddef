"""Filters and weighers of other packages."""

from nova_lite.scheduler import filters
from nova_lite.scheduler import weighers
from tests.fixtures import packages
from tests.unit.scheduler import base

MODULE = """
from nova_lite.scheduler.filters import base
from nova_lite.scheduler.weighers import base as weighing


class QuietHoursFilter(base.Filter):
    def rule(self, request):
        return lambda host: 'it is asleep' if host.disabled else None


class EmptyWeigher(weighing.Weigher):
    option = 'ram_weight_multiplier'

    def measure(self, request):
        return lambda host: -host.num_instances


class ComputeFilter(QuietHoursFilter):
    pass


class NotDerived:
    pass
"""
ENTRY_POINTS = """
[nova_lite.scheduler.filters]
QuietHoursFilter = other_package:QuietHoursFilter
ComputeFilter = other_package:ComputeFilter
NotDerived = other_package:NotDerived
Missing = other_package:Missing
NoModule = no_such_package:NoModule

[nova_lite.scheduler.weighers]
EmptyWeigher = other_package:EmptyWeigher
"""


class TestOtherPackages(base.SchedulerTestCase):
    def setUp(self):
        super().setUp()
        self.useFixture(packages.OtherPackage(MODULE, ENTRY_POINTS))

    def load_filters(self, *names):
        self.set('filter_scheduler', enabled_filters=list(names))
        return filters.load(self.conf)

    def test_filter(self):
        ours, added = self.load_filters('ComputeFilter', 'QuietHoursFilter')
        self.assertEqual('QuietHoursFilter', added.name)
        rule = added.rule(base.make_request())
        self.assertEqual('it is asleep', rule(base.make_host(disabled=True)))
        self.assertIsNone(rule(base.make_host()))
        self.assertEqual('nova_lite.scheduler.filters.host_load', type(ours).__module__)

    def test_weigher_beside_all_of_ours(self):
        self.set('filter_scheduler', weight_classes=['all', 'EmptyWeigher'])
        found = [one.name for one in weighers.load(self.conf)]
        self.assertEqual([*weighers.known(), 'EmptyWeigher'], found)

    def test_names_of_nova(self):
        for given, expected in (
            ('nova.scheduler.weights.all_weighers', [*weighers.known()]),
            ('nova.scheduler.weights.ram.RAMWeigher', ['RAMWeigher']),
        ):
            self.set('filter_scheduler', weight_classes=[given])
            self.assertEqual(expected, [one.name for one in weighers.load(self.conf)])

    def test_unknown_names_what_is_offered(self):
        error = self.assertRaises(ValueError, self.load_filters, 'NoFilter')
        self.assertIn('unknown NoFilter', str(error))
        self.assertIn('QuietHoursFilter', str(error))

    def test_all_is_no_filter(self):
        error = self.assertRaises(ValueError, self.load_filters, 'all')
        self.assertIn('unknown all', str(error))

    def test_broken(self):
        for name, why in (
            ('NotDerived', 'is not derived from Filter'),
            ('Missing', 'cannot be loaded'),
            ('NoModule', 'cannot be loaded'),
        ):
            error = self.assertRaises(ValueError, self.load_filters, name)
            self.assertIn(why, str(error))
