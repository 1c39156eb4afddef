"""Libraries that are tried at their lowest versions."""

import testtools

from tools import lowest


class LowestTest(testtools.TestCase):
    def test_of_private_apis(self):
        self.assertIn('oslo-messaging', lowest.names())
        text = (lowest.TOP / 'lowest-constraints.txt').read_text()
        found = lowest.pins(text)
        self.assertEqual(len(lowest.names()), len(found), found)

    def test_pins(self):
        text = (
            '# oslo.config==1\noslo-config==10.0.0\nkombu==5.5.3 ; python_version > "3"\nrich==1\n'
        )
        wanted = ['oslo-config==10.0.0', 'kombu==5.5.3 ; python_version > "3"']
        self.assertEqual(wanted, lowest.pins(text))
