"""tempest.conf: what the cloud is, and what its simulated hosts can do."""

import configparser
import io

from tests.tempest import clouds

# Guests have no operating system: nothing logs in, and no console can be looked at.
HOSTS_CAN = (
    'block_migration_for_live_migration',
    'change_password',
    'cold_migration',
    'config_drive',
    'console_output',
    'hostname_fqdn_sanitization',
    'interface_attach',
    'live_migration',
    'pause',
    'personality',
    'rescue',
    'resize',
    'shelve',
    'shelve_migrate',
    'snapshot',
    'stable_rescue',
    'suspend',
    'swap_volume',
    'volume_backed_live_migration',
    'volume_multiattach',
)
HOSTS_CANNOT = ('metadata_service', 'serial_console', 'spice_console', 'vnc_console')
# The roles that the default policies of the compute API know.
ROLES = ('admin', 'manager', 'member', 'reader', 'service')
# No signature is checked: the image has none.
CERTIFICATES = ('certificate',)
# Seconds between two requests of a test that waits, and until it gives up.
BUILD = {'build_interval': 1, 'build_timeout': 120}


def text(found, directory):
    """Return tempest.conf. found: resources.Resources; directory: for logs and locks."""
    parser = configparser.RawConfigParser()
    parser.read_dict({**_cloud(found), **_tests(found, directory)})
    written = io.StringIO()
    parser.write(written)
    return written.getvalue()


def _cloud(found):
    auth = found.auth
    return {
        'auth': {
            'use_dynamic_credentials': True,
            'admin_username': auth['username'],
            'admin_password': auth['password'],
            'admin_project_name': auth['project_name'],
            'admin_domain_name': 'Default',
        },
        'identity': {'auth_version': 'v3', 'uri_v3': auth['auth_url'], 'region': 'RegionOne'},
        'enforce_scope': {'nova': True},
        'service_available': {
            **dict.fromkeys(('cinder', 'glance', 'neutron', 'nova'), True),
            **dict.fromkeys(('horizon', 'swift'), False),
        },
        'network': {
            'public_network_id': found.public_network,
            'floating_network_name': 'public',
        },
        'network-feature-enabled': {'api_extensions': ','.join(found.extensions)},
        'placement': {'min_microversion': '1.0', 'max_microversion': 'latest'},
        'volume': {
            'min_microversion': '3.0',
            'max_microversion': 'latest',
            'volume_type_multiattach': 'multiattach',
            **BUILD,
        },
    }


def _tests(found, directory):
    return {
        'DEFAULT': {'log_dir': directory, 'log_file': 'tempest.log'},
        'oslo_concurrency': {'lock_path': f'{directory}/locks'},
        'compute': {
            'image_ref': found.image,
            'image_ref_alt': found.image_copy,
            'certified_image_ref': found.image,
            'certified_image_trusted_certs': ','.join(CERTIFICATES),
            'flavor_ref': found.flavor,
            'flavor_ref_alt': found.flavor_alt,
            'min_compute_nodes': clouds.HOSTS,
            'min_microversion': '2.1',
            'max_microversion': 'latest',
            **BUILD,
        },
        'compute-feature-enabled': {
            **dict.fromkeys(HOSTS_CAN, True),
            **dict.fromkeys(HOSTS_CANNOT, False),
            'nova_policy_roles': ','.join(ROLES),
            'scheduler_enabled_filters': ','.join(clouds.filters()),
        },
        'validation': {'run_validation': False},
    }
