"""Where the databases and buses of a cloud are said to be."""

import fixtures
import testtools

from nova_lite.launcher import layout


class LayoutTest(testtools.TestCase):
    def places(self, **settings):
        directory = self.useFixture(fixtures.TempDir()).path
        return layout.Layout(layout.Settings(state_dir=directory, cells=1, hosts=1, **settings))

    def test_what_a_server_is_to_be_reached_with_stays(self):
        places = self.places(database='mysql+pymysql://nova:s%40t@db:3306?ssl_ca=/ca.pem')
        name = places.database_name('cell1')
        self.assertEqual(
            f'mysql+pymysql://nova:s%40t@db:3306/{name}?ssl_ca=/ca.pem',
            places.database_url('cell1').replace('%2F', '/'),
        )

    def test_a_bus_for_each(self):
        places = self.places(bus=('rabbit://nova@mq/{cell}?ssl=1&ssl_ca_file=/ca.pem',))
        self.assertEqual(
            'rabbit://nova@mq/cell1?ssl=1&ssl_ca_file=/ca.pem', places.bus_url('cell1')
        )
