"""Options of `up --set` that daemons do not know, and values that they would not take."""

import testtools

from nova_lite import conf
from nova_lite.lab.launcher import given_options
from tests.fixtures import commands


class GivenOptionsTest(testtools.TestCase):
    def refusal(self, *assignments):
        """The error that a user gets; empty if there is none."""
        try:
            given_options.check(given_options.parse(assignments))
        except ValueError as error:
            return str(error)
        return ''

    def test_all_that_are_documented_are_known(self):
        every = [f'{group}.{one.dest}=' for group, found in conf.list_opts() for one in found]
        self.assertEqual('', self.refusal(*every))

    def test_those_of_libraries(self):
        for accepted in (
            'DEFAULT.rpc_response_timeout=3',
            'DEFAULT.debug=true',
            'oslo_messaging_rabbit.ssl=true',
            'oslo_messaging_notifications.driver=noop',
            # Of a plugin of keystoneauth1.
            'service_user.application_credential_id=1',
            'keystone_authtoken.password=p$word',
            'scheduler.enable_forbidden_aggregates_filter=true',
            # oslo.config does not tell these from small letters.
            'API.max_limit=5',
        ):
            self.assertEqual('', self.refusal(accepted), accepted)

    def test_unknown(self):
        for given, expected in (
            (
                'DEFAULT.resize_confirm_windw=1',
                'group DEFAULT has no option resize_confirm_windw. Did you mean '
                'resize_confirm_window?',
            ),
            ('filtr_scheduler.x=1', 'group of options filtr_scheduler. Did you mean filter_s'),
            ('quota.unlike=1', 'config.rst lists options'),
            ('nothing.like.it=1', 'there is no group of options nothing.like.'),
            ('oslo_messaging_rabbit.ssll=true', 'Did you mean ssl?'),
            ('oslo_messaging_kafka.pool_size=1', 'there is no group of options oslo_messaging_k'),
        ):
            self.assertIn(expected, self.refusal(given))

    def test_of_a_plugin_that_is_given(self):
        given = ('placement.auth_type=v3applicationcredential', 'placement.usernam=x')
        self.assertIn('group placement has no option usernam. Did', self.refusal(*given))

    def test_values(self):
        for given in (
            'api.workers=many',
            'quota.instances=-7',
            'DEFAULT.debug=perhaps',
            'DEFAULT.ram_allocation_ratio=-1',
            'oslo_messaging_rabbit.heartbeat_rate=often',
        ):
            name, _equals, value = given.partition('=')
            self.assertIn(f'--set {name} does not take the value {value}', self.refusal(given))

    def test_line_breaks(self):
        """They would be lines of the files of the configuration."""
        for given in ('service_user.a=b\n[DEFAULT]', 'service_user.a\nb=c', 'x.y=\x1b[2J'):
            self.assertIn('control character', self.refusal(given), given)

    def test_by_the_command(self):
        code, _printed, errors = commands.run(
            'up', '--state-dir', '/nowhere', '--set', 'api.port=x'
        )
        self.assertEqual(2, code)
        self.assertIn('nova-lite up: --set api.port does not take the value x', errors)
