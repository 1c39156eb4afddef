"""The configuration files of nova's daemons, as sections and options.

All other options have nova's defaults.
"""

from collections.abc import Mapping
import dataclasses
import typing

# Nova's default permits no role to move servers between cells.
POLICY = {'compute:servers:resize:cross_cell': 'rule:admin_api'}
API_PROCESSES, API_THREADS = '2', '8'
# Options with their values, by section.
Sections: typing.TypeAlias = dict[str, dict[str, str]]


@dataclasses.dataclass(frozen=True)
class Places:
    """Addresses that the daemons of a cloud reach, and directories of their files.

    buses, databases: {name: URL}, of the cells, of `top`, and databases also of `api`, `cell0`
    simcloud, placement: URLs; password: of the service users
    notifications: whether the daemons send notifications
    options: of all daemons of nova
    """

    root: str
    buses: Mapping[str, str]
    databases: Mapping[str, str]
    simcloud: str
    placement: str
    password: str
    notifications: bool
    options: Sections = dataclasses.field(default_factory=dict)


def text(sections: Sections) -> str:
    """Return sections as the text of a file."""
    lines = []
    for section, options in sections.items():
        lines.append(f'[{section}]')
        lines.extend(f'{key} = {value}' for key, value in options.items())
    return '\n'.join([*lines, ''])


def credentials(places: Places, user: str) -> dict[str, str]:
    """Return keystoneauth's options for a service user."""
    return {
        'auth_type': 'password',
        'auth_url': places.simcloud + '/identity/v3',
        'username': user,
        'password': places.password,
        'project_name': 'service',
        'user_domain_id': 'default',
        'project_domain_id': 'default',
    }


def _with(sections: Sections, more: Sections) -> Sections:
    return {name: {**sections.get(name, {}), **more.get(name, {})} for name in {**sections, **more}}


def _everyone(places: Places, bus: str, host: str) -> Sections:
    user = credentials(places, 'nova')
    driver = 'messagingv2' if places.notifications else 'noop'
    return {
        'DEFAULT': {
            'transport_url': places.buses[bus],
            'host': host,
            'my_ip': '127.0.0.1',
            'state_path': f'{places.root}/state/{host}',
        },
        'oslo_concurrency': {'lock_path': f'{places.root}/state/{host}'},
        'oslo_messaging_notifications': {'driver': driver},
        'oslo_policy': {'policy_file': f'{places.root}/etc/policy.yaml'},
        'placement': {**user, 'endpoint_override': places.placement},
        'glance': {**user, 'endpoint_override': places.simcloud + '/image'},
        'neutron': {**user, 'endpoint_override': places.simcloud + '/network'},
        'service_user': {**user, 'send_service_user_token': 'true'},
    }


def control(places: Places) -> Sections:
    """Return the sections of the API, the scheduler and the super-conductor, a process each."""
    user = credentials(places, 'nova')
    sections = {
        **_everyone(places, 'top', 'top'),
        'api_database': {'connection': places.databases['api']},
        'database': {'connection': places.databases['cell0']},
        'keystone_authtoken': {**user, 'www_authenticate_uri': places.simcloud + '/identity'},
        'conductor': {'workers': '1'},
        'scheduler': {'workers': '1'},
    }
    return _with(sections, places.options)


def cell_conductor(places: Places, cell: str) -> Sections:
    """Return the sections of the conductor of a cell, which does not reach the API database."""
    sections = {
        **_everyone(places, cell, f'{cell}-conductor'),
        'database': {'connection': places.databases[cell]},
        'conductor': {'workers': '1'},
        'workarounds': {'disable_group_policy_check_upcall': 'true'},
    }
    return _with(sections, places.options)


def compute(places: Places, cell: str, host: str) -> Sections:
    """Return the sections of a compute with nova's fake driver."""
    sections = _everyone(places, cell, host)
    sections['DEFAULT']['compute_driver'] = 'fake.FakeDriver'
    sections['workarounds'] = {'disable_group_policy_check_upcall': 'true'}
    sections['vnc'] = {'enabled': 'false'}
    return _with(sections, places.options)


def placement(places: Places) -> Sections:
    """Return the sections of placement."""
    user = credentials(places, 'placement')
    return {
        'placement_database': {'connection': places.databases['placement']},
        'keystone_authtoken': {**user, 'www_authenticate_uri': places.simcloud + '/identity'},
    }


def simcloud(places: Places, passwords: Mapping[str, str]) -> Sections:
    """Return the sections of nova_lite's simulated services. passwords: options with passwords"""
    return {
        'simcloud': {
            **passwords,
            'port': places.simcloud.rpartition(':')[2],
            'connection': places.databases['simcloud'],
            'public_url': places.simcloud,
            'internal_url': places.simcloud,
            'profile': 'instant',
        }
    }


def uwsgi(environment: str, module: str, port: int) -> list[str]:
    """Return the command that serves a WSGI module of nova or placement with threads."""
    return [
        f'{environment}/bin/uwsgi',
        *('--virtualenv', environment, '--module', f'{module}:application'),
        *('--http-socket', f'127.0.0.1:{port}', '--add-header', 'Connection: close'),
        *('--processes', API_PROCESSES, '--threads', API_THREADS),
        *('--master', '--enable-threads', '--lazy-apps', '--need-app', '--die-on-term'),
        *('--thunder-lock', '--buffer-size', '65535', '--disable-logging'),
    ]
