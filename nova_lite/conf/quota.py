"""[quota]: limits of a project."""

from oslo_config import cfg

GROUP = 'quota'
STORED, UNIFIED = 'nova.quota.DbQuotaDriver', 'nova.quota.UnifiedLimitsDriver'
NONE = 'nova.quota.NoopQuotaDriver'
REQUIRE, IGNORE = 'require', 'ignore'


def _limit(name: str, default: int, text: str) -> cfg.IntOpt:
    return cfg.IntOpt(
        name,
        default=default,
        min=-1,
        deprecated_name=f'quota_{name}',
        deprecated_group='DEFAULT',
        help=f'{text} -1 means no limit.',
    )


OPTS: list[cfg.Opt] = [
    cfg.StrOpt(
        'driver',
        default=STORED,
        choices=[
            (STORED, 'limits of these options, of quota classes, projects and users'),
            (UNIFIED, 'limits in the identity service, see [oslo_limit]'),
            (NONE, 'no limits'),
        ],
        help='Source of limits. The names are those of Nova.',
    ),
    cfg.StrOpt(
        'unified_limits_resource_strategy',
        default=REQUIRE,
        choices=[
            (REQUIRE, 'resources in the list have the limit 0, all others are unlimited'),
            (IGNORE, 'resources in the list are unlimited, all others have the limit 0'),
        ],
        help='Limit of resources without a registered limit in the identity service. Only used '
        'with the driver nova.quota.UnifiedLimitsDriver.',
    ),
    cfg.ListOpt(
        'unified_limits_resource_list',
        default=['servers'],
        help='Names of resources for unified_limits_resource_strategy, such as servers or '
        'class:VCPU.',
    ),
    _limit('instances', 10, 'Default maximum number of servers of a project.'),
    _limit('cores', 20, 'Default maximum number of vCPUs of a project.'),
    _limit('ram', 51200, 'Default maximum memory of a project in MiB.'),
    _limit('metadata_items', 128, 'Default maximum number of metadata items of a server.'),
    _limit('injected_files', 5, 'Default maximum number of files injected into a server.'),
    _limit(
        'injected_file_content_bytes', 10240, 'Default maximum size of an injected file in bytes.'
    ),
    _limit(
        'injected_file_path_length', 255, 'Default maximum length of the path of an injected file.'
    ),
    _limit('key_pairs', 100, 'Default maximum number of key pairs of a user.'),
    _limit('server_groups', 10, 'Default maximum number of server groups of a project.'),
    _limit('server_group_members', 10, 'Default maximum number of servers in a server group.'),
]
