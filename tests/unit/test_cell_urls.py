"""Templates in the URLs of cell mappings."""

import testtools

from nova_lite import cells


class FillTest(testtools.TestCase):
    def test_of_the_own_url(self):
        template = 'rabbit://{username}:{password}@{hostname}:{port}/cell1'
        self.assertEqual(
            'rabbit://nova:pw@mq:5672/cell1', cells.fill(template, 'rabbit://nova:pw@mq:5672/')
        )
        self.assertEqual(template, cells.fill(template, None))

    def test_of_a_file(self):
        self.assertEqual('sqlite:////a/b', cells.fill('{scheme}:///{path}', 'sqlite:////a/b'))

    def test_of_ipv6(self):
        for host in ('{hostname}', '[{hostname}]'):
            found = cells.fill(f'rabbit://{host}:{{port}}/cell1', 'rabbit://[fd00::1]:5672/')
            self.assertEqual('rabbit://[fd00::1]:5672/cell1', found)
