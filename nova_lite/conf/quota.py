"""[quota]: limits of a project."""

from oslo_config import cfg

GROUP = 'quota'
STORED, UNIFIED = 'nova.quota.DbQuotaDriver', 'nova.quota.UnifiedLimitsDriver'
NONE = 'nova.quota.NoopQuotaDriver'
REQUIRE, IGNORE = 'require', 'ignore'
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
    cfg.IntOpt(
        'instances',
        default=10,
        min=-1,
        help='Default maximum number of servers of a project. -1 means no limit.',
    ),
    cfg.IntOpt(
        'cores',
        default=20,
        min=-1,
        help='Default maximum number of vCPUs of a project. -1 means no limit.',
    ),
    cfg.IntOpt(
        'ram',
        default=51200,
        min=-1,
        help='Default maximum memory of a project in MiB. -1 means no limit.',
    ),
    cfg.IntOpt(
        'metadata_items',
        default=128,
        min=-1,
        help='Default maximum number of metadata items of a server. -1 means no limit.',
    ),
    cfg.IntOpt(
        'injected_files',
        default=5,
        min=-1,
        help='Default maximum number of files injected into a server. -1 means no limit.',
    ),
    cfg.IntOpt(
        'injected_file_content_bytes',
        default=10240,
        min=-1,
        help='Default maximum size of an injected file in bytes. -1 means no limit.',
    ),
    cfg.IntOpt(
        'injected_file_path_length',
        default=255,
        min=-1,
        help='Default maximum length of the path of an injected file. -1 means no limit.',
    ),
    cfg.IntOpt(
        'key_pairs',
        default=100,
        min=-1,
        help='Default maximum number of key pairs of a user. -1 means no limit.',
    ),
    cfg.IntOpt(
        'server_groups',
        default=10,
        min=-1,
        help='Default maximum number of server groups of a project. -1 means no limit.',
    ),
    cfg.IntOpt(
        'server_group_members',
        default=10,
        min=-1,
        help='Default maximum number of servers in a server group. -1 means no limit.',
    ),
]
