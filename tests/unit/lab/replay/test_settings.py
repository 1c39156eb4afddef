"""Settings to compare, and flavors for sizes."""

import testtools

from nova_lite.lab.replay import flavors
from nova_lite.lab.replay import readers
from nova_lite.lab.replay import settings
from nova_lite.lab.replay import trace
from nova_lite.lab.replay.readers import machine
from tests.fixtures import traces

CPU, RAM = 'cpu_weight_multiplier', 'ram_weight_multiplier'


class SettingsTest(testtools.TestCase):
    def test_each_value_with_each_other(self):
        found = settings.of([f'{CPU}=1,-1', f'filter_scheduler.{RAM}=2,0'])
        self.assertEqual(
            [
                f'{CPU}=1 {RAM}=2',
                f'{CPU}=1 {RAM}=0',
                f'{CPU}=-1 {RAM}=2',
                f'{CPU}=-1 {RAM}=0',
            ],
            [each.name for each in found],
        )
        self.assertEqual({'filter_scheduler': {CPU: '-1', RAM: '0'}}, found[3].options)

    def test_no_option(self):
        self.assertEqual([settings.Setting('default', {})], settings.of([]))

    def test_lists_by_semicolons(self):
        text = 'enabled_filters=ComputeFilter;ComputeFilter,IoOpsFilter'
        values = [
            each.options['filter_scheduler']['enabled_filters'] for each in settings.of([text])
        ]
        self.assertEqual(['ComputeFilter', 'ComputeFilter,IoOpsFilter'], values)

    def test_refused(self):
        for texts, reason in (
            ([CPU], 'must be'),
            ([f'{CPU}=1,'], 'must be'),
            (['compute.cpu_allocation_ratio=1'], 'only options of filter_scheduler'),
            (['no_such=1'], 'group filter_scheduler has no option no_such'),
            ([f'{CPU}=much'], 'does not take the value much'),
            (
                ['enabled_filters=NoFilter'],
                '--vary: [filter_scheduler]enabled_filters: unknown NoFilter',
            ),
            ([f'{CPU}=1', f'{CPU}=2'], 'given twice'),
            ([f'{CPU}=1,2,1'], f'--vary {CPU}: a value is given twice'),
            ([f'{CPU}=1,2,3,4,5', f'{RAM}=1,2,3,4'], '20 settings are too many'),
        ):
            error = self.assertRaises((ValueError, Exception), settings.of, texts)
            self.assertIn(reason, str(error))


class FlavorsTest(testtools.TestCase):
    def setUp(self):
        super().setUp()
        self.traces = self.useFixture(traces.Traces())
        path = self.traces.write(
            't.csv', traces.HEADER, 'a,1,2,1,512,0', 'b,1,2,3,2048,10', 'c,1,2,3,2048,10'
        )
        self.trace = trace.Trace(path, readers.READERS['csv'](path, machine.Type()))

    def test_exact(self):
        found = flavors.exact(self.trace.sizes())
        self.assertEqual(['1x512x0', '3x2048x10'], [each.name for each in found.values()])
        self.assertEqual(trace.Size(3, 2048, 10), flavors.size_of(found[trace.Size(3, 2048, 10)]))

    def test_the_smallest_that_holds_it(self):
        path = self.traces.write(
            'f.csv',
            ','.join(flavors.HEADER),
            'large,8,8192,80',
            'medium,4,4096,40',
            'small,1,1024,10',
        )
        found = flavors.of_list(self.trace, path)
        self.assertEqual(['small', 'medium'], [each.name for each in found.values()])

    def test_none_holds_it(self):
        path = self.traces.write('f.csv', ','.join(flavors.HEADER), 'small,1,1024,10')
        error = self.assertRaises(flavors.NoFlavor, flavors.of_list, self.trace, path)
        self.assertEqual(
            f'{self.trace.path}:3: no flavor of {path} holds machine b with 3 vCPUs, 2048 MiB of '
            'memory and 10 GiB of disk',
            str(error),
        )

    def test_lists_that_are_wrong(self):
        for lines, reason in (
            ([], ':1: the first line must be name,vcpus,memory_mb,disk_gb'),
            (['name,vcpus,memory_mb,disk_gb', 'tiny,0,1,1'], ':2: it is no flavor'),
            (['name,vcpus,memory_mb,disk_gb', 'tiny,x,1,1'], ":2: vcpus is 'x'"),
        ):
            path = self.traces.write('f.csv', *lines)
            error = self.assertRaises(trace.TraceError, flavors.of_list, self.trace, path)
            self.assertIn(reason, str(error))
