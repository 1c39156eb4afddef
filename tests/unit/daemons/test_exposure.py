"""Addresses on which services that believe identity headers may listen."""

import argparse
import contextlib
import io
import os

import fixtures
import testtools

from nova_lite.cmd import up
from nova_lite.daemons import exposure
from nova_lite.lab.launcher import cloud_snapshots
from nova_lite.lab.launcher import layout
from nova_lite.lab.launcher import options
from nova_lite.lab.launcher import snapshot_file

LOOPBACK = ('127.0.0.1', '127.3.2.1', '::1', '[::1]', 'localhost')
OTHERS = ('0.0.0.0', '::', '192.0.2.1', 'example.org', '')

# Name, words for `up`, options of the snapshot that it continues with, environment.
API = {'auth_strategy': 'noauth'}
WAYS = (
    ('flag', ['--auth', 'noauth'], None, {}),
    ('option', ['--set', 'api.auth_strategy=noauth'], None, {}),
    ('group in capitals', ['--set', 'API.auth_strategy=noauth'], None, {}),
    ('snapshot', [], {'api': API}, {}),
    ('snapshot, group in capitals', [], {'Api': API}, {}),
    ('environment', [], None, {'OS_API__AUTH_STRATEGY': 'noauth'}),
)


class ExposureTest(testtools.TestCase):
    def test_noauth_on_loopback_alone(self):
        self.assertEqual([], [each for each in LOOPBACK if exposure.problem('noauth', each)])
        self.assertEqual([], [each for each in OTHERS if not exposure.problem('noauth', each)])

    def test_keystone_anywhere(self):
        found = [each for each in (*LOOPBACK, *OTHERS) if exposure.problem('keystone', each)]
        self.assertEqual([], found)

    def test_services_do_not_start(self):
        asked = argparse.Namespace(auth_strategy='noauth', listen='0.0.0.0')
        with contextlib.redirect_stderr(io.StringIO()) as printed:
            refused = self.assertRaises(SystemExit, exposure.serve, None, asked)
        self.assertEqual(os.EX_CONFIG, refused.code)  # systemd does not start it again
        self.assertIn('Listen on 127.0.0.1', printed.getvalue())

    def test_each_way_to_set_noauth(self):
        """By a flag, an option, an option of a snapshot, and the environment, at each address."""
        for name, words, options_of_snapshot, variables in WAYS:
            with self.subTest(name), contextlib.ExitStack() as undo:
                for variable, value in variables.items():
                    undo.enter_context(fixtures.EnvironmentVariable(variable, value))
                if options_of_snapshot is not None:
                    words = ['--from', self.snapshot(options_of_snapshot), *words]
                for listen in OTHERS[:-1]:
                    asked = self.parse(*words, '--listen', listen)
                    refused = self.assertRaises(exposure.Exposed, options.read, asked)
                    self.assertIn('noauth', str(refused))
                for listen in ('127.0.0.1', '::1', 'localhost'):
                    options.read(self.parse(*words, '--listen', listen))

    def parse(self, *words):
        parser = argparse.ArgumentParser()
        up.add_arguments(parser)
        return parser.parse_args(['--state-dir', '/nowhere', *words])

    def snapshot(self, given):
        """Return the path of a snapshot without files, of a cloud with some options."""
        settings = layout.Settings(state_dir='', options=given)
        path = self.useFixture(fixtures.TempDir()).join('snapshot')
        manifest = snapshot_file.Manifest(
            release='1',
            schemas=cloud_snapshots.schemas(),
            taken_at=0.0,
            settings={name: getattr(settings, name) for name in snapshot_file.SETTINGS},
            files={},
        )
        snapshot_file.write(path, manifest, {})
        return path

    def test_up_refuses(self):
        asked = self.parse('--auth', 'noauth', '--listen', '0.0.0.0')
        self.assertIn('noauth', str(self.assertRaises(exposure.Exposed, options.read, asked)))
        asked = self.parse('--lab', '--listen', '0.0.0.0')
        self.assertIn('--lab', str(self.assertRaises(ValueError, options.read, asked)))

    def test_foreign_pages(self):
        """With noauth, a page that has its name point to loopback would be an administrator."""
        served = exposure.protected(self.answer, {'keystone', 'noauth'}, '127.0.0.1')
        for headers in (
            {'HTTP_HOST': 'evil.example:8774'},
            {},
            {'HTTP_HOST': '127.0.0.1', 'HTTP_ORIGIN': 'http://evil.example'},
            {'HTTP_HOST': '127.0.0.1', 'HTTP_SEC_FETCH_SITE': 'cross-site'},
        ):
            self.assertEqual('403 Forbidden', self.status(served, headers))
        for headers in (
            {'HTTP_HOST': 'localhost:8774'},
            {'HTTP_HOST': '[::1]:1', 'HTTP_ORIGIN': 'http://[::1]:1'},
        ):
            self.assertEqual('200 OK', self.status(served, headers))
        everywhere = exposure.protected(self.answer, {'keystone'}, '0.0.0.0')
        self.assertEqual('200 OK', self.status(everywhere, {'HTTP_HOST': 'example.org'}))

    def test_a_server_of_others_listens_elsewhere(self):
        """uWSGI and mod_wsgi choose the address, so that of the client counts."""
        options_of_api = argparse.Namespace(auth_strategy='noauth', listen='127.0.0.1')
        served = exposure.plain(self.answer, options_of_api)
        found = {
            address: self.status(served, {'HTTP_HOST': 'localhost', 'REMOTE_ADDR': address})[:3]
            for address in ('127.0.0.1', '::1', '', '192.0.2.1', '::ffff:192.0.2.1')
        }
        self.assertEqual(['200', '200', '200', '403', '403'], [*found.values()])
        options_of_api.listen = '0.0.0.0'
        self.assertRaises(exposure.Exposed, exposure.plain, self.answer, options_of_api)

    @staticmethod
    def answer(_environ, start_response):
        start_response('200 OK', [])
        return []

    def status(self, application, headers):
        found = []
        application(headers, lambda status, _headers: found.append(status))
        return found[0]
