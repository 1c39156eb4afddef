"""Traces and the readers of their formats, on files that the tests write."""

import gzip
import pathlib

import testtools
from testtools import matchers

from nova_lite.lab.replay import readers
from nova_lite.lab.replay import trace
from nova_lite.lab.replay.readers import machine
from tests.fixtures import traces


class TraceTest(testtools.TestCase):
    def setUp(self):
        super().setUp()
        self.traces = self.useFixture(traces.Traces())

    def read(self, path, name='csv', **options):
        found = trace.Trace(path, readers.READERS[name](path, machine.Type()), **options)
        self.addCleanup(found.close)
        return found

    def refused(self, *lines):
        """Return the text of the error for a CSV file."""
        path = self.traces.write('wrong.csv', *lines)
        error = self.assertRaises(trace.TraceError, self.read, path)
        return str(error).removeprefix(path)

    def test_order_of_arrival(self):
        """Machines come in the order of time, and those of the same time in that of the file."""
        path = self.traces.write(
            't.csv', traces.HEADER, 'c,7,,1,512,0', 'b,2.5,9,2,1024,10', '', 'a,2.5,2.5,1,512,0'
        )
        found = self.read(path)
        self.assertEqual(['b', 'a', 'c'], [each.name for each in found.machines()])
        self.assertEqual((3, 2.5, 7.0), (found.count, found.began_s, found.ended_s))
        first = next(found.machines())
        self.assertEqual(
            (9.0, trace.Size(2, 1024, 10), 3), (first.leaves_s, first.size, first.line)
        )
        self.assertEqual(['c'], [each.name for each in found.machines(after=2)])
        self.assertEqual([trace.Size(1, 512, 0), trace.Size(2, 1024, 10)], [*found.sizes()])

    def test_first_arrivals(self):
        found = self.read(self.traces.drawn(20, life_s=5), most=7)
        self.assertEqual((7, 6.0), (found.count, found.ended_s))
        self.assertEqual(['vm-5', 'vm-6'], [each.name for each in found.machines(after=5)])

    def test_compressed(self):
        plain = pathlib.Path(self.traces.drawn(5, life_s=5))
        packed = plain.with_suffix('.csv.gz')
        packed.write_bytes(gzip.compress(plain.read_bytes()))
        self.assertEqual([*self.read(str(plain)).machines()], [*self.read(str(packed)).machines()])
        packed.write_bytes(gzip.compress(plain.read_bytes())[:60])
        error = self.assertRaises(trace.TraceError, self.read, str(packed))
        self.assertIn('it cannot be read: ', str(error))

    def test_damaged(self):
        """A bit is wrong in the compressed data."""
        path = pathlib.Path(self.traces.drawn(500, life_s=5))
        packed = bytearray(gzip.compress(path.read_bytes()))
        packed[100:120] = bytes(byte ^ 0x5A for byte in packed[100:120])
        path.write_bytes(packed)
        error = self.assertRaises(trace.TraceError, self.read, str(path))
        self.assertIn('it cannot be read: ', str(error))

    def test_errors_name_the_line(self):
        header = traces.HEADER
        self.assertEqual(
            f':1: the first line must be {header}', self.refused('a,1,2,1,512,0', 'b,1,2,1,512,0')
        )
        self.assertEqual(':3: it has 5 columns, not 6', self.refused(header, '', 'a,1,2,1,512'))
        self.assertEqual(
            ":2: arrival_s is 'soon', not a number", self.refused(header, 'a,soon,2,1,512,0')
        )
        self.assertEqual(
            ":2: memory_mb is '1e30', which is too large", self.refused(header, 'a,1,2,1,1e30,0')
        )
        self.assertEqual(
            ":2: departure_s is 'nan', not a number", self.refused(header, 'a,1,nan,1,512,0')
        )
        self.assertEqual(
            ":2: vcpus is '1.5', not a whole number", self.refused(header, 'a,1,2,1.5,512,0')
        )
        self.assertEqual(':2: the machine has no name', self.refused(header, ',1,2,1,512,0'))
        self.assertEqual(
            ':2: machine a cannot have 0 vCPUs, 512 MiB of memory and 0 GiB of disk',
            self.refused(header, 'a,1,2,0,512,0'),
        )
        self.assertEqual(
            ':2: machine a leaves before it arrives', self.refused(header, 'a,3,2,1,512,0')
        )
        self.assertEqual(
            ':3: machine a occurs a second time',
            self.refused(header, 'a,1,2,1,512,0', 'a,3,4,1,512,0'),
        )

    def test_what_no_server_can_be(self):
        for name in ('x' * 256, 'a\x07', '"a\nb"', '\U0001f600'):
            self.assertIn(
                'cannot be the name of a server', self.refused(traces.HEADER, f'{name},1,2,1,512,0')
            )
        for size in ('2147483648,512,0', '1,2147483648,0', '1,512,2147483648'):
            self.assertThat(
                self.refused(traces.HEADER, f'a,1,2,{size}'),
                matchers.EndsWith('no flavor has more than 2147483647'),
            )
        self.assertEqual(
            1,
            self.read(
                self.traces.write(
                    'most.csv', traces.HEADER, f'{"x" * 255},1,2,2147483647,2147483647,0'
                )
            ).count,
        )

    def test_not_text(self):
        path = pathlib.Path(self.traces.path, 'binary.csv')
        path.write_bytes(f'{traces.HEADER}\n'.encode() + b'\xff\xfe,1\n')
        error = self.assertRaises(trace.TraceError, self.read, str(path))
        self.assertIn('it cannot be read: it is not text', str(error))

    def test_empty(self):
        path = self.traces.write('empty.csv', traces.HEADER)
        self.assertEqual(
            f'{path} has no virtual machine', str(self.assertRaises(trace.Empty, self.read, path))
        )
