"""The suites of tests: whose they are, and which of their tests concern users of compute."""

import dataclasses
import pathlib

LIVE = pathlib.Path(__file__).parent / 'live'
# Tests list servers by the time of their change, of which they see seconds. Real hosts take longer
# than a second, and so does an OpenStackClient that is started for each command.
SLOW = "extends: default\nhosts: [{match: '*', delays: {spawn: 1.2}}]\n"
# Of OpenStackClient: what users of compute need.
OSC = '|'.join(
    (
        r'compute\.v2\.',
        r'common\.',
        r'image\.v2\.test_(image|info|metadef_objects|metadef_resource_type)\.',
        r'volume\.v3\.test_(qos|service|transfer_request|volume|volume_snapshot|volume_type)\.',
        r'network\.v2\.test_(floating_ip|network|port|router|subnet)\.',
        r'network\.v2\.test_security_group(_rule)?\.',
        r'network\.v2\.test_(address_scope|subnet_pool)\.',
        r'network\.v2\.test_network_(qos_policy|qos_rule|qos_rule_type|rbac|trunk)\.',
        r'identity\.v3\.test_(access_rule|application_credential|catalog|domain|endpoint)\.',
        r'identity\.v3\.test_(group|project|region|role|role_assignment|service|token|user)\.',
    )
)


@dataclasses.dataclass(frozen=True)
class Suite:
    """A package of tests as it is installed.

    distribution: that has it; path: of its tests, from where packages are installed
    regex: which of them run; concurrency: how many at once
    together: pattern of the part of a test's name that tests share which do not run at once
    starts_clients: whether its tests start the programs of this environment
    environment: more variables; profile: of the hosts, YAML
    """

    name: str
    distribution: str
    path: str
    regex: str = ''
    concurrency: int = 2
    together: str = r'([^\.]+\.)+'
    starts_clients: bool = True
    environment: dict = dataclasses.field(default_factory=dict)
    profile: str = 'extends: default\n'


SUITES = (
    Suite(
        'novaclient',
        'python-novaclient',
        'novaclient/tests/functional',
        # As in its tox.ini: tests count the servers that there are.
        concurrency=1,
        environment={'OS_NOVACLIENT_NETWORK': 'private'},
    ),
    Suite(
        'openstackclient',
        'python-openstackclient',
        'openstackclient/tests/functional',
        rf'functional\.({OSC})',
        # Tests of most classes use the same names. Those of servers take the first one of all
        # servers for their own.
        together=r'.*\.compute\.v2\.test_server|([^\.]+\.)+',
        profile=SLOW,
    ),
    *(
        Suite(
            f'openstacksdk-{part}',
            'openstacksdk',
            f'openstack/tests/functional/{part}',
            # One at a time, as in its tox.ini: a test cleans up a whole project.
            concurrency=1,
            environment={'OS_CLOUD': 'devstack-admin', 'OS_TEST_TIMEOUT': '600'},
        )
        for part in ('compute', 'cloud')
    ),
    Suite(
        'osc-placement',
        'osc-placement',
        'osc_placement/tests/functional',
        concurrency=1,
        # In the place of the placement that these tests would start in their own process.
        environment={'PYTHONPATH': str(LIVE)},
    ),
    Suite('rally', 'rally-openstack', '', starts_clients=False),
)
