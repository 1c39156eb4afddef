"""[scheduler]: the selection of hosts."""

from oslo_config import cfg

GROUP = 'scheduler'
OPTS = [
    cfg.IntOpt(
        'max_attempts',
        default=3,
        min=1,
        help='Maximum number of hosts on which a build is tried: the chosen host and its alternates. '
        'It also limits how often a build is rescheduled after a violation of its server group '
        'policy.',
    ),
    cfg.IntOpt(
        'max_placement_results',
        default=1000,
        min=1,
        help='Maximum number of allocation candidates requested from placement.',
    ),
    cfg.FloatOpt(
        'candidates_reuse_s',
        default=1.0,
        min=0,
        help='Seconds for which allocation candidates are reused for requests of the same shape, or '
        'five times the time that placement took if that is longer, up to 10 s. With 200 hosts and '
        'more: twenty times, up to 30 s, and as long again until the next ones come. A claim for a '
        'candidate that no longer fits is refused by placement. 0 disables reuse.',
    ),
    cfg.FloatOpt(
        'host_state_reuse_s',
        default=1.0,
        min=0,
        help='Seconds for which host records read from the cells are reused, or five times the time '
        'that the reading took (with 200 hosts and more, twenty times) if that is longer, up to '
        '10 s. 0 disables reuse.',
    ),
    cfg.IntOpt(
        'discover_hosts_in_cells_interval',
        default=-1,
        min=-1,
        help='Seconds between two searches for hosts that have no host mapping. -1 disables the '
        'search.',
    ),
    cfg.BoolOpt(
        'limit_tenants_to_placement_aggregate',
        default=False,
        help='Restrict a project to the hosts of aggregates whose metadata key filter_tenant_id names '
        'it.',
    ),
    cfg.BoolOpt(
        'placement_aggregate_required_for_tenants',
        default=False,
        help='With limit_tenants_to_placement_aggregate, reject requests of projects that no aggregate'
        ' names.',
    ),
    cfg.BoolOpt(
        'query_placement_for_image_type_support',
        default=False,
        help='Require hosts that support the disk format of the image.',
    ),
    cfg.BoolOpt(
        'enable_isolated_aggregate_filtering',
        default=False,
        deprecated_name='enable_forbidden_aggregates_filter',
        help='Exclude the hosts of aggregates with metadata trait:NAME=required from requests that do '
        'not require all of these traits.',
    ),
    cfg.BoolOpt(
        'image_metadata_prefilter',
        default=False,
        help='Require traits that correspond to image properties.',
    ),
    cfg.BoolOpt(
        'query_placement_for_routed_network_aggregates',
        default=False,
        help='Require hosts in the aggregates of the segments of the requested routed networks.',
    ),
    cfg.IntOpt(
        'remembered_decisions',
        default=1000,
        min=0,
        help='Number of servers for which each scheduler keeps the reasons why hosts were refused; '
        '"nova-lite why" shows them.',
    ),
]
