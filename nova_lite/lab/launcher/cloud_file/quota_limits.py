"""The names of limits in quotas. A test compares them with those of the services."""

# By service.
NAMES = {
    'compute': (
        'instances',
        'cores',
        'ram',
        'metadata_items',
        'key_pairs',
        'server_groups',
        'server_group_members',
    ),
    'network': (
        'network',
        'subnet',
        'subnetpool',
        'port',
        'router',
        'floatingip',
        'rbac_policy',
        'security_group',
        'security_group_rule',
        'trunk',
    ),
    'volume': (
        'volumes',
        'snapshots',
        'gigabytes',
        'backups',
        'backup_gigabytes',
        'per_volume_gigabytes',
        'groups',
    ),
}
