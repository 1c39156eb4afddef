"""The registry of operations, walked: every declaration is complete and true."""

import json
import re

import jsonschema
import testtools

from nova_lite.api import microversion
from nova_lite.api import operation
from nova_lite.api import policies
from nova_lite.states import transitions
from tools.api_pages import coverage

RULES = {rule.name for rule in policies.list_rules()}
METHODS = ('GET', 'POST', 'PUT', 'DELETE')


class TestRegistry(testtools.TestCase):
    def setUp(self):
        super().setUp()
        self.operations = operation.load_all()

    def wrong(self, condition):
        """Operations for which `condition` holds, which should be none."""
        self.assertEqual([], [str(each) for each in self.operations if condition(each)])

    def test_methods_and_paths(self):
        self.wrong(lambda each: each.method not in METHODS)
        self.wrong(lambda each: not each.path.startswith('/') or each.path.endswith('/'))
        self.wrong(lambda each: each.action is not None and not each.path.endswith('/action'))

    def test_versions(self):
        self.wrong(lambda each: each.since > each.until)
        self.wrong(lambda each: each.until > microversion.MAXIMUM)

    def test_no_two_operations_answer_the_same_request(self):
        seen = {}
        for each in self.operations:
            key = each.method, each.path, each.action
            for other in seen.setdefault(key, []):
                apart = each.since > other.until or other.since > each.until
                self.assertTrue(apart, f'{each} is declared twice')
            seen[key].append(each)

    def test_schemas_hold_from_the_start(self):
        for each in self.operations:
            if each.body is not None:
                self.assertIsNotNone(each.body.at(each.since), str(each))
            self.assertIsNotNone(each.query.at(each.since), str(each))

    def test_schemas_are_schemas(self):
        # Most operations have one that others have, too, and a check takes milliseconds.
        distinct = {}
        for each in self.operations:
            for versions in each.body, each.query:
                for first in versions.firsts() if versions else ():
                    source = versions.at(first).source
                    distinct.setdefault(json.dumps(source), (source, f'{each} from {first}'))
        for source, name in distinct.values():
            try:
                jsonschema.Draft202012Validator.check_schema(source)
            except jsonschema.SchemaError as error:
                self.fail(f'{name}: {error}')

    def test_rules_exist(self):
        self.wrong(lambda each: isinstance(each.policy, str) and each.policy not in RULES)

    def test_errors_follow_from_the_rest(self):
        self.wrong(lambda each: each.policy is not None and 403 not in each.faults)
        self.wrong(lambda each: each.load and 404 not in each.faults)
        self.wrong(lambda each: each.guard is not None and 409 not in each.faults)
        self.wrong(lambda each: any(code < 400 or code > 599 for code in each.faults))

    def test_guards_are_transitions(self):
        self.wrong(
            lambda each: (
                each.guard is not None
                and not callable(each.guard)
                and not isinstance(each.guard, transitions.Transition)
            )
        )

    def test_answers_that_succeed(self):
        self.wrong(lambda each: each.success not in (200, 201, 202, 204) and each.faults != {410})

    def test_table(self):
        rows = coverage.rows()
        self.assertEqual(len(self.operations), len(rows))
        self.assertTrue(all(re.match('(GET|POST|PUT|DELETE) /', row[0]) for row in rows))
        self.assertIn('POST /servers/{server_id}/action (os-start)', coverage.table())
