"""Addresses on which services that believe identity headers may listen."""

import argparse

import testtools

from nova_lite.cmd import up
from nova_lite.daemons import exposure
from nova_lite.launcher import options

LOOPBACK = ('127.0.0.1', '127.3.2.1', '::1', '[::1]', 'localhost')
OTHERS = ('0.0.0.0', '::', '192.0.2.1', 'example.org', '')


class ExposureTest(testtools.TestCase):
    def test_noauth_on_loopback_alone(self):
        self.assertEqual([], [each for each in LOOPBACK if exposure.problem('noauth', each)])
        self.assertEqual([], [each for each in OTHERS if not exposure.problem('noauth', each)])

    def test_keystone_anywhere(self):
        found = [each for each in (*LOOPBACK, *OTHERS) if exposure.problem('keystone', each)]
        self.assertEqual([], found)

    def test_services_do_not_start(self):
        asked = argparse.Namespace(auth_strategy='noauth', listen='0.0.0.0')
        refused = self.assertRaises(SystemExit, exposure.require_safe, asked)
        self.assertIn('Listen on 127.0.0.1', str(refused))

    def test_up_refuses(self):
        parser = argparse.ArgumentParser()
        up.add_arguments(parser)
        asked = parser.parse_args(['--auth', 'noauth', '--listen', '0.0.0.0'])
        self.assertIn('noauth', str(self.assertRaises(ValueError, options.read, asked)))
        asked = parser.parse_args(['--lab', '--listen', '0.0.0.0'])
        self.assertIn('--lab', str(self.assertRaises(ValueError, options.read, asked)))
