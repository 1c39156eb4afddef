"""The configuration of each daemon of a cloud, as sections and options.

A compute gets the bus of its cell and the neighbours, and no database.
"""

from nova_lite.lab.launcher import layout

# All is on one machine: a call that takes longer was lost with a process that died.
RPC_TIMEOUT_S = 20


def everyone(places, urls):
    """Sections that every daemon needs: neighbours and who we are to them."""
    noauth = places.settings.auth == 'noauth'
    # In one process no client can consume them; `nova-lite events` listens there.
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


def credentials(places, urls, user):
    """keystoneauth1's options for one of our service users."""
    return {
        'auth_type': 'password',
        'auth_url': urls['simcloud'] + '/identity/v3',
        'username': user,
        'password': places.secrets['service_password'],
        'project_name': 'service',
        'user_domain_id': 'default',
        'project_domain_id': 'default',
    }


def control(places, urls):
    """Return the options of API, super-conductor and scheduler: top bus and API database."""
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
        sections['keystone'] = {'endpoint_override': urls['simcloud'] + '/identity/v3'}
    return sections


def metadata(places, port=None):
    """Return the metadata service: the databases alone. port: of a process of its own"""
    return {
        'DEFAULT': {'state_path': places.root},
        'api_database': {'connection': places.database_url(layout.API)},
        'metadata': {'port': port},
        'neutron': {
            'service_metadata_proxy': True,
            'metadata_proxy_shared_secret': places.metadata_secret,
        },
    }


def cell_conductor(places, urls, cell):
    """Return a cell conductor: the bus and the database of its cell, no other."""
    sections = everyone(places, urls)
    sections['DEFAULT'] |= {'transport_url': places.bus_url(cell), 'host': f'{cell}-conductor'}
    sections['database'] = {'connection': places.database_url(cell)}
    return sections


def compute(places, urls, cell):
    """Return a compute process: the bus of its cell, its hosts, and no database."""
    sections = everyone(places, urls)
    sections['DEFAULT'] |= {
        'transport_url': places.bus_url(cell),
        'host': f'{cell}-compute',
        'state_path': places.path('guests', cell, ''),
    }
    sections['compute'] = {
        'hosts': places.hosts(cell),
        'profile': places.settings.profile,
        'speed': places.settings.speed,
    }
    return sections


def simcloud(places, urls, port):
    """Return the stand-ins for Keystone, Glance, Neutron, Cinder and Manila."""
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


def placement(places, urls, port):
    """Placement, with its own database and its own service user."""
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
