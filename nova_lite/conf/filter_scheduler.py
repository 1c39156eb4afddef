"""[filter_scheduler]: filters and weighers."""

from oslo_config import cfg
from oslo_config import types

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
        help='Class names of the enabled filters, in the order in which they run. Other packages add '
        'filters through entry points in the group nova_lite.scheduler.filters.',
    ),
    cfg.ListOpt(
        'weight_classes',
        default=['all'],
        help='Class names of the enabled weighers; "all" means all weighers of nova-lite. Other '
        'packages add weighers through entry points in the group nova_lite.scheduler.weighers.',
    ),
    cfg.BoolOpt(
        'pci_in_placement',
        default=False,
        help='Ask placement for the PCI devices of flavors. All computes must have [pci] '
        'report_in_placement.',
    ),
    cfg.IntOpt(
        'host_subset_size',
        default=1,
        min=1,
        help='Size of the subset of best hosts from which one is picked at random. 1 means always the '
        'best host.',
    ),
    cfg.BoolOpt(
        'shuffle_best_same_weighed_hosts',
        default=False,
        help='Order hosts of equal weight randomly.',
    ),
    cfg.IntOpt(
        'max_io_ops_per_host',
        default=8,
        min=0,
        help='Maximum number of disk-intensive operations (such as builds and resizes) in progress on '
        'a host. Used by IoOpsFilter.',
    ),
    cfg.IntOpt(
        'max_instances_per_host',
        default=50,
        min=1,
        help='Maximum number of servers on a host. Used by NumInstancesFilter.',
    ),
    cfg.ListOpt(
        'isolated_images',
        default=[],
        help='Ids of images whose servers run only on the hosts in isolated_hosts. Used by '
        'IsolatedHostsFilter.',
    ),
    cfg.ListOpt(
        'isolated_hosts',
        default=[],
        help='Names of hosts for servers of the images in isolated_images. Used by '
        'IsolatedHostsFilter.',
    ),
    cfg.BoolOpt(
        'restrict_isolated_hosts_to_isolated_images',
        default=True,
        help='Reject all other images on the hosts in isolated_hosts. Used by IsolatedHostsFilter.',
    ),
    cfg.StrOpt(
        'image_properties_default_architecture',
        help='Architecture, such as x86_64, of images without the property hw_architecture. Used by '
        'ImagePropertiesFilter. Unset: such an image runs on any host.',
    ),
    cfg.StrOpt(
        'aggregate_image_properties_isolation_namespace',
        help='Prefix of the metadata keys that AggregateImagePropertiesIsolation compares. Unset: all '
        'keys are compared.',
    ),
    cfg.StrOpt(
        'aggregate_image_properties_isolation_separator',
        default='.',
        help='Separator between the prefix in aggregate_image_properties_isolation_namespace and the '
        'name of the property.',
    ),
    cfg.FloatOpt(
        'ram_weight_multiplier',
        default=1.0,
        help='Multiplier of the RAM weigher: positive values prefer hosts with more free memory.',
    ),
    cfg.FloatOpt(
        'cpu_weight_multiplier',
        default=1.0,
        help='Multiplier of the CPU weigher: positive values prefer hosts with more free vCPUs.',
    ),
    cfg.FloatOpt(
        'disk_weight_multiplier',
        default=1.0,
        help='Multiplier of the disk weigher: positive values prefer hosts with more free disk.',
    ),
    cfg.FloatOpt(
        'hypervisor_version_weight_multiplier',
        default=1.0,
        help='Multiplier of the hypervisor version weigher: positive values prefer newer hypervisors.',
    ),
    cfg.FloatOpt(
        'num_instances_weight_multiplier',
        default=0.0,
        help='Multiplier of the server count weigher: positive values prefer hosts with more servers.',
    ),
    cfg.FloatOpt(
        'io_ops_weight_multiplier',
        default=-1.0,
        help='Multiplier of the I/O operations weigher: negative values prefer hosts with fewer disk-'
        'intensive operations in progress.',
    ),
    cfg.FloatOpt(
        'soft_affinity_weight_multiplier',
        default=1.0,
        min=0.0,
        help='Multiplier of the soft affinity weigher: positive values prefer hosts with more members '
        'of the server group.',
    ),
    cfg.FloatOpt(
        'soft_anti_affinity_weight_multiplier',
        default=1.0,
        min=0.0,
        help='Multiplier of the soft anti-affinity weigher: positive values prefer hosts with fewer '
        'members of the server group.',
    ),
    cfg.FloatOpt(
        'pci_weight_multiplier',
        default=1.0,
        min=0.0,
        help='Multiplier of the PCI weigher: positive values prefer hosts with fewer free PCI devices.',
    ),
    cfg.FloatOpt(
        'build_failure_weight_multiplier',
        default=1000000.0,
        min=0.0,
        help='Multiplier of the build failure weigher: positive values avoid hosts on which recent '
        'builds failed.',
    ),
    cfg.FloatOpt(
        'cross_cell_move_weight_multiplier',
        default=1000000.0,
        help='Multiplier of the cross-cell weigher: positive values prefer hosts in the current cell '
        'of a server that is moved, negative values prefer other cells.',
    ),
    cfg.FloatOpt(
        'image_props_weight_multiplier',
        default=0.0,
        help='Multiplier of the image properties weigher: positive values prefer hosts with servers '
        'that have the same image properties.',
    ),
    cfg.Opt(
        'image_props_weight_setting',
        type=types.Dict(value_type=types.Float(), key_value_separator='='),
        default={},
        help='Image properties that the image properties weigher compares, each with its weight, as '
        'name=1.0. Empty: all properties with equal weight.',
    ),
]
