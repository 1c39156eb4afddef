"""[conductor]: sagas and the sweep."""

from oslo_config import cfg

GROUP = 'conductor'
OPTS = [
    cfg.BoolOpt(
        'super',
        default=False,
        help='Run as the super-conductor; otherwise as the conductor of one cell.',
    ),
    cfg.IntOpt(
        'lease_s',
        default=15,
        min=1,
        max=3600,
        help='Seconds a super-conductor owns a saga without renewing its lease.',
    ),
    cfg.FloatOpt(
        'sweep_interval_s',
        default=5.0,
        min=0.1,
        help='Seconds between searches for work that nobody owns.',
    ),
    cfg.IntOpt(
        'build_lease_s',
        default=60,
        min=1,
        max=3600,
        help='Seconds after which an unfinished build is taken up again. With the '
        'timeout of [cinder] added: how long volumes stay reserved for servers whose API '
        'process was killed before it accepted them.',
    ),
    cfg.IntOpt(
        'audit_interval',
        default=30,
        min=1,
        help="Seconds between two audits of a cell's records by its conductor, and of "
        "cell0's by the super-conductor.",
    ),
    cfg.IntOpt(
        'audit_idle_s',
        default=60,
        min=1,
        help='Seconds without a change after which the audit takes up a build or a deletion '
        'that is on no host.',
    ),
    cfg.IntOpt(
        'allocation_audit_interval',
        default=1800,
        min=0,
        help='Seconds between two audits of what placement holds on compute nodes; what '
        'belongs to no server or move in two of them is given up. 0: never.',
    ),
    cfg.IntOpt(
        'aggregate_audit_interval',
        default=300,
        min=0,
        help='Seconds between two audits in which the super-conductor compares the members of '
        'host aggregates with the aggregates that placement has for the resource providers of '
        'compute nodes. It repairs what differs in placement. Aggregates of placement that '
        'are not host aggregates of this deployment are left alone. 0 disables the audit.',
    ),
    cfg.IntOpt(
        'aggregate_audit_nodes',
        default=500,
        min=1,
        help='Maximum number of compute nodes that one audit of aggregates looks at. Each '
        'costs one request to placement, one after the other. The next audit goes on with '
        'the following nodes: with the defaults, each of 10000 nodes is looked at every 100 '
        'minutes. Nodes that are still members of a deleted aggregate are looked at in every '
        'audit and do not count.',
    ),
    cfg.IntOpt(
        'saga_threads',
        default=16,
        min=1,
        help='Number of threads that run the steps of sagas. The sagas of one cell occupy at '
        'most half of them and those of one host at most a quarter (at least one thread '
        'each), so that a host or a cell that does not answer leaves threads for the others. '
        'Sagas that wait for a poll or a retry need no thread.',
    ),
]


def register(conf):
    """Register this module's options on `conf`."""
    conf.register_opts(OPTS, group=GROUP)


def list_opts():
    """(group, options) pairs for the sample file."""
    return [(GROUP, OPTS)]
