"""[scheduler]: choosing hosts."""

from oslo_config import cfg

GROUP = 'scheduler'
OPTS = [
    cfg.IntOpt(
        'max_attempts',
        default=3,
        min=1,
        help='Hosts a build may try: the chosen one and its alternates. And how often a '
        'build may be scheduled that the policy of its server group refuses afterwards.',
    ),
    cfg.IntOpt(
        'max_placement_results',
        default=1000,
        min=1,
        help='Allocation candidates asked of placement.',
    ),
    cfg.FloatOpt(
        'candidates_reuse_s',
        default=1.0,
        min=0,
        help='Seconds for which an answer of placement may serve further requests '
        'of the same shape. The claim refuses what no longer fits. 0 to ask '
        'each time.',
    ),
    cfg.FloatOpt(
        'host_state_reuse_s',
        default=1.0,
        min=0,
        help='Seconds for which host records read from the cells may be reused.',
    ),
    cfg.IntOpt(
        'discover_hosts_in_cells_interval',
        default=-1,
        min=-1,
        help='Seconds between searches for hosts that are in no mapping; -1 for never.',
    ),
    cfg.BoolOpt(
        'limit_tenants_to_placement_aggregate',
        default=False,
        help='A project may only use hosts of aggregates whose metadata filter_tenant_id names it.',
    ),
    cfg.BoolOpt(
        'placement_aggregate_required_for_tenants',
        default=False,
        help='With the option above: a project without such an aggregate gets no host at all.',
    ),
    cfg.BoolOpt(
        'query_placement_for_image_type_support',
        default=False,
        help="Ask for hosts that support the image's disk format.",
    ),
    cfg.BoolOpt(
        'enable_isolated_aggregate_filtering',
        default=False,
        deprecated_name='enable_forbidden_aggregates_filter',
        help='Keep servers out of aggregates whose metadata trait:NAME=required '
        'they do not ask for.',
    ),
    cfg.BoolOpt(
        'image_metadata_prefilter',
        default=False,
        help='Turn image properties into required traits.',
    ),
    cfg.BoolOpt(
        'query_placement_for_routed_network_aggregates',
        default=False,
        help="Keep servers to the aggregates of their networks' segments.",
    ),
    cfg.IntOpt(
        'remembered_decisions',
        default=1000,
        min=0,
        help='Servers for which each scheduler remembers why hosts were refused, for '
        '"nova-lite why".',
    ),
]


def register(conf):
    """Register this module's options on `conf`."""
    conf.register_opts(OPTS, group=GROUP)


def list_opts():
    """(group, options) pairs for the sample file."""
    return [(GROUP, OPTS)]
