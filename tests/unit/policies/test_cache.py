"""The cache of policy decisions: it tells callers apart by all that a rule may ask."""

import pathlib

import fixtures
import testtools

from nova_lite import conf as configuration
from nova_lite import context
from nova_lite import policies
from nova_lite.policies import servers as rules


class CacheTest(testtools.TestCase):
    def test_service_roles(self):
        path = pathlib.Path(self.useFixture(fixtures.TempDir()).path, 'policy.yaml')
        path.write_text(f'"{rules.SHOW}": "service_roles:service"\n')
        conf = configuration.make_conf([], files=[])
        conf.set_override('policy_file', str(path), 'oslo_policy')
        enforcer = policies.Enforcer(conf)
        found = [
            enforcer.allows(self.caller(service_roles), rules.SHOW)
            for service_roles in ([], ['service'], [])
        ]
        self.assertEqual([False, True, False], found)

    def caller(self, service_roles):
        return context.RequestContext(
            user_id='u',
            project_id='p',
            roles=['member'],
            service_roles=service_roles,
            overwrite=False,
        )
