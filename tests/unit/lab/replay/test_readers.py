"""Readers of public formats, on small files that the tests write in them."""

import contextlib
import os
import pathlib
import sqlite3

import testtools

from nova_lite.lab.replay import readers
from nova_lite.lab.replay import trace
from nova_lite.lab.replay.readers import machine
from tests.fixtures import traces

# As the description of the data set says, with types as its file has them.
SCHEMA = """
CREATE TABLE vm (vmId INTEGER, tenantId INTEGER, vmTypeId INTEGER, priority INTEGER,
    starttime REAL, endtime REAL);
CREATE TABLE vmType (id INTEGER, vmTypeId INTEGER, machineId INTEGER, core REAL, memory REAL,
    hdd REAL, ssd REAL, nic REAL);
"""
HUAWEI = 'vmid,cpu,memory,time,type'
AZURE = '{},sub,dep,{},{},91.2,0.7,20.8,Delay-insensitive,{},{}'


class ReadersTest(testtools.TestCase):
    def setUp(self):
        super().setUp()
        self.traces = self.useFixture(traces.Traces())

    def read(self, path, **of):
        """Return the machines, by a reader that is chosen by the file."""
        return [*readers.READERS[readers.format_of(path)](path, machine.Type(**of))]

    def refused(self, path, **of):
        return str(self.assertRaises(trace.TraceError, self.read, path, **of)).removeprefix(path)


class FormatTest(ReadersTest):
    def test_own(self):
        path = self.traces.write('t', traces.HEADER, 'a,1,2,1,512,0')
        self.assertEqual('csv', readers.format_of(path))

    def test_unknown(self):
        self.assertIn(
            ':1: this is the first line of no format', self.refused(self.traces.write('t', 'a,b'))
        )
        self.assertEqual(':1: the file is empty', self.refused(self.traces.write('t')))


class AzurePackingTest(ReadersTest):
    def write(self, machines, types):
        path = os.path.join(self.traces.path, 'packing.sqlite')
        pathlib.Path(path).unlink(missing_ok=True)
        with contextlib.closing(sqlite3.connect(path)) as database, database:
            database.executescript(SCHEMA)
            database.executemany('INSERT INTO vm VALUES (?, 0, ?, 0, ?, ?)', machines)
            database.executemany('INSERT INTO vmType VALUES (0, ?, ?, ?, ?, ?, ?, 0)', types)
        return path

    def test_machines(self):
        path = self.write(
            [(7, 1, -3.5, 0.5), (8, 2, 0.25, None)],
            [
                (1, 0, 0.5, 0.25, 0.125, 0.25),
                (2, 10, 0.01, 0.00001, None, None),
                (2, 9, 0.1, 0.1, 0, 0),
            ],
        )
        self.assertEqual('azure-packing', readers.format_of(path))
        self.assertEqual(
            [
                trace.Machine('7', 0.0, 43200.0, trace.Size(32, 65536, 1024), 1),
                trace.Machine('8', 21600.0, None, trace.Size(7, 26215, 0), 2),
            ],
            self.read(path),
        )
        small = self.read(path, name='10', size=trace.Size(10, 1000, 100))
        self.assertEqual([trace.Size(5, 250, 25), trace.Size(1, 1, 0)], [x.size for x in small])

    def test_errors_name_the_row(self):
        types = [(1, 0, 0.5, 0.5, 0, 0)]
        for machines, of_types, text in (
            ([(7, 2, 0, 1)], types, ':1: table vm: there is no type 2 of virtual machine'),
            ([(7, 1, 'x', 1)], types, ":1: table vm: starttime is 'x', not a number of days"),
            ([], [(1, 0, 1.5, 0, 0, 0)], ':1: table vmType: 1.5 is no fraction of a machine'),
        ):
            self.assertEqual(text, self.refused(self.write(machines, of_types)))
        path = self.write([], types)
        self.assertEqual(':0: table vmType: there is no machine 5', self.refused(path, name='5'))

    def test_another_database(self):
        path = os.path.join(self.traces.path, 'other.sqlite')
        with contextlib.closing(sqlite3.connect(path)) as database, database:
            database.execute('CREATE TABLE other (id INTEGER)')
        self.assertIn(':0: table vm: it cannot be read: no such table', self.refused(path))


class AzureVmTest(ReadersTest):
    def test_2017(self):
        path = self.traces.write('vmtable.csv', AZURE.format('x+/=', 0, 2591700, 2, '1.75'))
        self.assertEqual('azure-vm', readers.format_of(path))
        self.assertEqual(
            [trace.Machine('x+/=', 0.0, 2591700.0, trace.Size(2, 1792, 0), 1)], self.read(path)
        )

    def test_2019(self):
        path = self.traces.write('vmtable.csv', AZURE.format('x', 300, '', '>24', '>64'))
        self.assertEqual(
            [trace.Machine('x', 300.0, None, trace.Size(32, 131072, 0), 1)], self.read(path)
        )

    def test_errors_name_the_line(self):
        first = AZURE.format('x', 1, 2, 2, 4)
        for wrong, text in (
            (AZURE.format('y', 'z', 2, 2, 4), ":2: the time of creation is 'z', not a number"),
            (AZURE.format('y', 1, 2, '>x', 4), ":2: the number of cores is '>x', not a number"),
            (AZURE.format('', 1, 2, 2, 4), ':2: the machine has no id'),
            ('y,1', ':2: it has 2 columns, not 11'),
        ):
            self.assertIn(text, self.refused(self.traces.write('vmtable.csv', first, wrong)))


class HuaweiTest(ReadersTest):
    def test_machines(self):
        """A machine without a deletion stays, and an id may be used again."""
        path = self.traces.write(
            'Huawei.csv', HUAWEI, '0,4,8,10,0', '1,1,2,11,0', '0,4,8,20,1', '0,2,4,30,0'
        )
        self.assertEqual('huawei', readers.format_of(path))
        self.assertEqual(
            [
                trace.Machine('0-2', 10.0, 20.0, trace.Size(4, 8192, 0), 2),
                trace.Machine('1-3', 11.0, None, trace.Size(1, 2048, 0), 3),
                trace.Machine('0-5', 30.0, None, trace.Size(2, 4096, 0), 5),
            ],
            self.read(path),
        )

    def test_errors_name_the_line(self):
        for wrong, text in (
            ('1,1,2,11,1', ':3: machine 1 is deleted and was not created before'),
            ('0,1,2,11,0', ':3: machine 0 is created a second time'),
            ('1,1,2,11,2', ":3: type is '2', not 0 or 1"),
            ('1,1,2,11', ':3: it has 4 columns, not 5'),
        ):
            path = self.traces.write('Huawei.csv', HUAWEI, '0,4,8,10,0', wrong)
            self.assertEqual(text, self.refused(path))
