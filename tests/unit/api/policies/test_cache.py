"""The cache of policy decisions: it tells callers apart by all that a rule may ask."""

import pathlib

import fixtures
import testtools

from nova_lite import conf as configuration
from nova_lite import context
from nova_lite.api import policies
from nova_lite.api.policies import servers as rules


class CacheTest(testtools.TestCase):
    def test_service_roles(self):
        enforcer = self.enforcer(f'"{rules.SHOW}": "service_roles:service"\n')
        found = [
            enforcer.allows(self.caller(service_roles), rules.SHOW)
            for service_roles in ([], ['service'], [])
        ]
        self.assertEqual([False, True, False], found)

    def test_defaults_are_shared_but_not_what_a_file_says(self):
        strict = self.enforcer(f'"{rules.SHOW}": "!"\n')
        answers = [each.allows(self.caller([]), rules.SHOW) for each in (strict, self.enforcer(''))]
        self.assertEqual([False, True], answers)

    def test_no_default_is_changed_when_it_is_loaded(self):
        deprecated = [rule.name for rule in policies.list_rules() if rule.deprecated_rule]
        self.assertEqual([], deprecated, 'each enforcer needs a copy of its own')

    def enforcer(self, text):
        """An Enforcer with this policy file."""
        path = pathlib.Path(self.useFixture(fixtures.TempDir()).path, 'policy.yaml')
        path.write_text(text)
        conf = configuration.make_conf([], files=[])
        conf.set_override('policy_file', str(path), 'oslo_policy')
        return policies.Enforcer(conf)

    def caller(self, service_roles):
        return context.RequestContext(
            user_id='u',
            project_id='p',
            roles=['member', 'reader'],
            service_roles=service_roles,
            overwrite=False,
        )
