"""The base rules, of which all others are made: reader, member, manager, admin.

A role implies the lower roles, and a token names them all. Source: reference/nova/cells-and-rpc 7.
"""

from collections.abc import Iterable
import typing

from oslo_policy import policy

Rules: typing.TypeAlias = list[policy.RuleDefault]

ADMIN = 'rule:context_is_admin'
READER = 'rule:project_reader_or_admin'
MEMBER = 'rule:project_member_or_admin'
MANAGER = 'rule:project_manager_or_admin'
SERVICE = 'rule:service_or_admin'
ANYONE = '@'
NOBODY = '!'

PROJECT = ('project',)

_BASE = {
    'context_is_admin': ('role:admin', 'An administrator of the deployment.'),
    'admin_api': ('is_admin:True', 'A caller with administrator rights.'),
    'project_reader_api': (
        'role:reader and project_id:%(project_id)s',
        'Reader of the project.',
    ),
    'project_member_api': (
        'role:member and project_id:%(project_id)s',
        'Member of the project.',
    ),
    'project_manager_api': (
        'role:manager and project_id:%(project_id)s',
        'Manager of the project.',
    ),
    'project_reader_or_admin': (
        'rule:project_reader_api or rule:context_is_admin',
        'Reader of the project, or administrator.',
    ),
    'project_member_or_admin': (
        'rule:project_member_api or rule:context_is_admin',
        'Member of the project, or administrator.',
    ),
    'project_manager_or_admin': (
        'rule:project_manager_api or rule:context_is_admin',
        'Manager of the project, or administrator.',
    ),
    'service_api': ('role:service', 'Another service of the cloud.'),
    'service_or_admin': (
        'rule:service_api or rule:context_is_admin',
        'Another service of the cloud, or an administrator.',
    ),
}


class Rule(str):
    """The name of a rule, with the other facts of its default; see `rule`."""

    check: str
    description: str
    operations: tuple[str, ...]

    def documented(self, operations: Iterable[str]) -> policy.RuleDefault:
        """Return the default of the rule. operations: those that name the rule as their policy"""
        listed: list[typing.Any] = [
            dict(zip(('method', 'path'), text.split(' ', 1), strict=True))
            for text in self.operations or operations
        ]
        return policy.DocumentedRuleDefault(
            name=str(self),
            check_str=self.check,
            description=self.description,
            operations=listed,
            scope_types=list(PROJECT),
        )


def rule(name: str, check: str, description: str, *operations: str) -> Rule:
    """Return a rule. check: its default

    operations: 'METHOD /path' or 'METHOD /path (action)', for the sample file. None: the operations
        that name the rule as their policy
    """
    made = Rule(name)
    made.check, made.description, made.operations = check, description, operations
    return made


def list_rules() -> Rules:
    """Return the base rules."""
    return [
        policy.RuleDefault(name, check, description=description)
        for name, (check, description) in _BASE.items()
    ]
