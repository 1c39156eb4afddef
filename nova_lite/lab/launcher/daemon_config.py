"""The configuration of each daemon of a cloud, as sections and options.

urls: {service: URL} of the services of the cloud, as other daemons reach them
"""

from collections.abc import Mapping
from collections.abc import Sequence
import typing

from nova_lite.lab.launcher import layout

# All daemons run on one machine: a call that takes longer was lost with a process that died.
RPC_TIMEOUT_S = 20

Options: typing.TypeAlias = layout.Options
Sections: typing.TypeAlias = dict[str, Options]
Urls: typing.TypeAlias = Mapping[str, str]


def everyone(places: layout.Layout, urls: Urls) -> Sections:
    """Return the sections for all daemons: other services, and the user for requests to them."""
    noauth = places.settings.auth == 'noauth'
    # Clients cannot reach the buses of one process; `nova-lite events` reads its notifications.
    notifies = {'driver': 'messagingv2'} if places.settings.bus else {}
    return {
        'DEFAULT': {'state_path': places.root, 'rpc_response_timeout': RPC_TIMEOUT_S},
        'oslo_messaging_notifications': notifies,
        'placement': {'endpoint_override': urls['placement'] + '/placement'},
        'glance': {'endpoint_override': urls['simcloud'] + '/image'},
        'neutron': {
            'endpoint_override': urls['simcloud'] + '/network',
            'default_floating_pool': 'public',
        },
        'cinder': {'endpoint_override': urls['simcloud'] + '/volume/v3'},
        'manila': {'endpoint_override': urls['simcloud'] + '/share/v2'},
        'service_user': {'auth_type': 'none'} if noauth else credentials(places, urls, 'nova'),
    }


def credentials(places: layout.Layout, urls: Urls, user: str) -> Options:
    """Return the options of keystoneauth1 for requests as `user` of the project service."""
    return {
        'auth_type': 'password',
        'auth_url': urls['simcloud'] + '/identity/v3',
        'username': user,
        'password': places.secrets['service_password'],
        'project_name': 'service',
        'user_domain_id': 'default',
        'project_domain_id': 'default',
    }


def control(places: layout.Layout, urls: Urls) -> Sections:
    """Return the sections for API, super-conductor and scheduler: top bus and API database."""
    sections = everyone(places, urls)
    sections['DEFAULT'] |= {'transport_url': places.bus_url(layout.TOP), 'host': 'top'}
    sections['api_database'] = {'connection': places.database_url(layout.API)}
    sections['api'] = {
        'auth_strategy': places.settings.auth,
        'listen': places.settings.listen,
        'port': places.settings.port,
        'compute_link_prefix': None,
    }
    sections['conductor'] = {'super': True}
    sections['oslo_policy'] = {'policy_file': places.policy_path}
    if places.settings.auth == 'keystone':
        sections['keystone_authtoken'] = {
            **credentials(places, urls, 'nova'),
            'www_authenticate_uri': f'{places.public_url}/identity',
        }
        for group in ('keystone', 'oslo_limit'):
            sections[group] = {'endpoint_override': urls['simcloud'] + '/identity/v3'}
    return sections


def metadata(places: layout.Layout, port: int | None = None) -> Sections:
    """Return the sections for the metadata service, which uses only databases.

    port: None if the service shares the process of the cloud
    """
    return {
        'DEFAULT': {'state_path': places.root},
        'api_database': {'connection': places.database_url(layout.API)},
        'metadata': {'port': port},
        'neutron': {
            'service_metadata_proxy': True,
            'metadata_proxy_shared_secret': places.metadata_secret,
        },
    }


def cell_conductor(places: layout.Layout, urls: Urls, cell: str) -> Sections:
    """Return the sections for a conductor of a cell: its bus and its database, and no other."""
    sections = everyone(places, urls)
    sections['DEFAULT'] |= {'transport_url': places.bus_url(cell), 'host': f'{cell}-conductor'}
    sections['database'] = {'connection': places.database_url(cell)}
    return sections


def compute(places: layout.Layout, urls: Urls, cell: str, hosts: Sequence[str] = ()) -> Sections:
    """Return the sections for a compute process: the bus of its cell, hosts, and no database.

    hosts: those of the process if it has not all hosts of the cell
    """
    sections = everyone(places, urls)
    sections['DEFAULT'] |= {
        'transport_url': places.bus_url(cell),
        'host': hosts[0] if len(hosts) == 1 else f'{cell}-compute',
        'state_path': places.path('guests', cell, ''),
    }
    sections['compute'] = {
        'hosts': hosts or places.hosts(cell),
        'profile': places.settings.profile,
        'speed': places.settings.speed,
    }
    if places.settings.bus:
        sections['compute']['failures_file'] = places.failures_path(cell)
    return sections


def simcloud(places: layout.Layout, urls: Urls, port: int) -> Sections:
    """Return the sections for simcloud: Keystone, Glance, Neutron, Cinder and Manila."""
    return {
        'simcloud': {
            **places.secrets,
            'port': port,
            'auth_strategy': places.settings.auth,
            'connection': places.database_url(layout.SIMCLOUD),
            'public_url': places.public_url,
            'internal_url': urls['simcloud'],
            'urls_by_request': places.is_everywhere,
            'profile': places.settings.profile,
            'speed': places.settings.speed,
        }
    }


def placement(places: layout.Layout, urls: Urls, port: int) -> Sections:
    """Return the sections for placement, with a database and a service user."""
    return {
        'placement_server': {
            'port': port,
            'auth_strategy': places.settings.auth,
            'connection': places.database_url(layout.PLACEMENT),
        },
        'keystone_authtoken': {
            **credentials(places, urls, 'placement'),
            'www_authenticate_uri': f'{places.public_url}/identity',
        },
    }


def embedded(places: layout.Layout, urls: Urls) -> dict[str, Sections]:
    """Return {name: sections} of the daemons of a cloud in one process."""
    found = {'control': control(places, urls), 'metadata': metadata(places)}
    viewer = f'{places.public_url}/console/'
    found['control']['consoles'] = {
        'novncproxy_base_url': f'{viewer}vnc_auto.html',
        'html5proxy_base_url': f'{viewer}spice_auto.html',
        'serial_base_url': urls['serial'],
    }
    for cell in places.cell_names:
        found[f'conductor-{cell}'] = cell_conductor(places, urls, cell)
        found[f'compute-{cell}'] = compute(places, urls, cell)
    return found
