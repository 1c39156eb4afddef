"""The configuration of each daemon of a cloud, as sections and options.

A compute gets the bus of its cell and the neighbours, and no database.
"""

from nova_lite.cmd.cloud import layout


def everyone(places, urls):
    """Sections that every daemon needs: neighbours and who we are to them."""
    noauth = places.settings.auth == 'noauth'
    sections = {
        'DEFAULT': {'state_path': places.root},
        'placement': {'endpoint_override': urls['placement'] + '/placement'},
        'glance': {'endpoint_override': urls['simcloud'] + '/image'},
        'neutron': {'endpoint_override': urls['simcloud'] + '/network'},
        'cinder': {'endpoint_override': urls['simcloud'] + '/volume/v3'},
        'service_user': {'auth_type': 'none'} if noauth else credentials(places, urls, 'nova'),
        'oslo_messaging_rabbit': {'rpc_conn_pool_size': 30, 'heartbeat_in_pthread': False},
    }
    return sections


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
    """api, super-conductor and scheduler: the top bus and the API database."""
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


def cell_conductor(places, urls, cell):
    """A cell conductor: the bus and the database of its cell, no other."""
    sections = everyone(places, urls)
    sections['DEFAULT'] |= {'transport_url': places.bus_url(cell), 'host': f'{cell}-conductor'}
    sections['database'] = {'connection': places.database_url(cell)}
    return sections


def compute(places, urls, cell):
    """A compute process: the bus of its cell, its hosts, and no database."""
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
