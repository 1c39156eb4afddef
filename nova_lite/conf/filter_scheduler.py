"""[filter_scheduler]: filters and weighers."""

from oslo_config import cfg

GROUP = 'filter_scheduler'
OPTS = [
    cfg.ListOpt(
        'enabled_filters',
        default=[
            'ComputeFilter',
            'ComputeCapabilitiesFilter',
            'ImagePropertiesFilter',
            'ServerGroupAntiAffinityFilter',
            'ServerGroupAffinityFilter',
        ],
        help='Filters by class name, in the order they run. Other packages add filters by entry '
        'points of the group nova_lite.scheduler.filters.',
    ),
    cfg.ListOpt(
        'weight_classes',
        default=['all'],
        help='Weighers by class name; "all" stands for every one of nova-lite. Other packages '
        'add weighers by entry points of the group nova_lite.scheduler.weighers.',
    ),
    cfg.IntOpt(
        'host_subset_size',
        default=1,
        min=1,
        help='Choose at random among this many of the best hosts.',
    ),
    cfg.BoolOpt(
        'shuffle_best_same_weighed_hosts',
        default=False,
        help='Put hosts that weigh the same in random order.',
    ),
    cfg.IntOpt(
        'max_io_ops_per_host',
        default=8,
        min=0,
        help='IoOpsFilter: busy operations a host may have.',
    ),
    cfg.IntOpt(
        'max_instances_per_host',
        default=50,
        min=1,
        help='NumInstancesFilter: servers a host may have.',
    ),
    cfg.ListOpt('isolated_images', default=[], help='IsolatedHostsFilter: image ids.'),
    cfg.ListOpt('isolated_hosts', default=[], help='IsolatedHostsFilter: host names.'),
    cfg.BoolOpt(
        'restrict_isolated_hosts_to_isolated_images',
        default=True,
        help='IsolatedHostsFilter: isolated hosts refuse all other images.',
    ),
    cfg.StrOpt(
        'aggregate_image_properties_isolation_namespace',
        help='AggregateImagePropertiesIsolation: only metadata keys that begin so.',
    ),
    cfg.StrOpt(
        'aggregate_image_properties_isolation_separator',
        default='.',
        help='What follows that namespace.',
    ),
    cfg.FloatOpt('ram_weight_multiplier', default=1.0, help='Weight of free memory.'),
    cfg.FloatOpt('cpu_weight_multiplier', default=1.0, help='Weight of free vCPUs.'),
    cfg.FloatOpt('disk_weight_multiplier', default=1.0, help='Weight of free disk.'),
    cfg.FloatOpt(
        'hypervisor_version_weight_multiplier', default=1.0, help='Weight of newer hypervisors.'
    ),
    cfg.FloatOpt(
        'num_instances_weight_multiplier',
        default=0.0,
        help='Weight of the number of servers on a host.',
    ),
    cfg.FloatOpt(
        'io_ops_weight_multiplier', default=-1.0, help='Weight of the busy operations of a host.'
    ),
    cfg.FloatOpt(
        'soft_affinity_weight_multiplier',
        default=1.0,
        min=0.0,
        help='Weight of group members on a host, for soft affinity.',
    ),
    cfg.FloatOpt(
        'soft_anti_affinity_weight_multiplier',
        default=1.0,
        min=0.0,
        help='Weight of their absence, for soft anti-affinity.',
    ),
    cfg.FloatOpt(
        'build_failure_weight_multiplier',
        default=1000000.0,
        min=0.0,
        help='Weight against hosts whose last builds failed.',
    ),
    cfg.FloatOpt(
        'cross_cell_move_weight_multiplier',
        default=1000000.0,
        help='Weight for hosts in the cell of a server that moves; negative to prefer other cells.',
    ),
    cfg.FloatOpt(
        'image_props_weight_multiplier',
        default=0.0,
        help='Weight of servers with the same image properties.',
    ),
    cfg.DictOpt(
        'image_props_weight_setting',
        default={},
        help='Image properties that count for the weight above, with the weight of each, as '
        'name:1.0. Empty: all count the same.',
    ),
]


def register(conf):
    """Register this module's options on `conf`."""
    conf.register_opts(OPTS, group=GROUP)


def list_opts():
    """(group, options) pairs for the sample file."""
    return [(GROUP, OPTS)]
