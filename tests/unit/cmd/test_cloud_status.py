"""The numbers of hosts in the table of `nova-lite status`."""

import contextlib
import io

import testtools

from nova_lite.cmd import cloud_status


class HostsTest(testtools.TestCase):
    def test_hosts_of_each_cell(self):
        for cells, hosts, text in (
            (('cell1',), 500, '500 '),
            (('cell1', 'cell2'), 500, '500 in each cell'),
            (('cell1', 'cell2'), (3, 5), 'cell1 3, cell2 5'),
        ):
            with contextlib.redirect_stdout(io.StringIO()) as out:
                cloud_status.show({'state': 'running', 'cells': cells, 'hosts': hosts})
            self.assertRegex(out.getvalue(), f'hosts +. {text}')

    def test_a_cloud_that_does_not_run(self):
        with contextlib.redirect_stdout(io.StringIO()) as out:
            cloud_status.show({'state': 'not running', 'pid': None})
        self.assertNotIn('hosts', out.getvalue())
