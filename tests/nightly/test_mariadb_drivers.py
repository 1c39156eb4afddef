"""The comparison of drivers that a decision is based on."""

import contextlib
import io

import testtools

from tools import mariadb_drivers


class DriversTest(testtools.TestCase):
    def test_the_driver_of_the_daemons(self):
        out = io.StringIO()
        with contextlib.redirect_stdout(out):
            mariadb_drivers.main(['pymysql', '--turns', '1'])
        self.assertRegex(
            out.getvalue(), r'^pymysql: \d+\.\d\d ms of CPU a server, 0\.\d{3} ms a row'
        )
