"""[quota]: limits of a project."""

from oslo_config import cfg

GROUP = 'quota'
OPTS = [
    cfg.IntOpt('instances', default=10, min=-1, help='Servers; -1 for no limit.'),
    cfg.IntOpt('cores', default=20, min=-1, help='vCPUs.'),
    cfg.IntOpt('ram', default=51200, min=-1, help='Memory in MiB.'),
    cfg.IntOpt('metadata_items', default=128, min=-1, help='Metadata entries of a server.'),
    cfg.IntOpt('injected_files', default=5, min=-1, help='Files injected into a server.'),
    cfg.IntOpt(
        'injected_file_content_bytes', default=10240, min=-1, help='Bytes of an injected file.'
    ),
    cfg.IntOpt(
        'injected_file_path_length', default=255, min=-1, help="Length of an injected file's path."
    ),
    cfg.IntOpt('key_pairs', default=100, min=-1, help='Key pairs of a user.'),
    cfg.IntOpt('server_groups', default=10, min=-1, help='Server groups.'),
    cfg.IntOpt('server_group_members', default=10, min=-1, help='Servers in a group.'),
    cfg.BoolOpt(
        'recheck_quota',
        default=True,
        help='Check again after records were made, so that requests which race '
        'cannot pass the limit together.',
    ),
]


def register(conf):
    """Register this module's options on `conf`."""
    conf.register_opts(OPTS, group=GROUP)


def list_opts():
    """(group, options) pairs for the sample file."""
    return [(GROUP, OPTS)]
