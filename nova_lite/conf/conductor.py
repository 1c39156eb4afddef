"""[conductor]: sagas and the sweep."""

from oslo_config import cfg

from nova_lite.states import nova_failures

GROUP = 'conductor'
OPTS = [
    cfg.BoolOpt(
        'super',
        default=False,
        help='Run as the super-conductor. If false, run as the conductor of one cell.',
    ),
    cfg.IntOpt(
        'lease_s',
        default=15,
        min=1,
        max=3600,
        help='Seconds for which a lease on a saga is valid. A super-conductor renews the leases of its'
        ' sagas; when a lease expires, another super-conductor takes the saga over.',
    ),
    cfg.FloatOpt(
        'sweep_interval_s',
        default=5.0,
        min=0.1,
        help='Seconds between two searches for sagas, builds and deletions that are due and that no '
        'super-conductor owns.',
    ),
    cfg.IntOpt(
        'build_lease_s',
        default=60,
        min=1,
        max=3600,
        help='Seconds after which an unfinished build is taken over. Volumes that an API process '
        'reserved for servers before it was killed are released after this time plus the timeout '
        'of [cinder].',
    ),
    cfg.IntOpt(
        'audit_interval',
        default=30,
        min=1,
        help="Seconds between two audits of a cell's records by its conductor, and of cell0's records "
        'by the super-conductor.',
    ),
    cfg.IntOpt(
        'audit_idle_s',
        default=60,
        min=1,
        help='Seconds without a change after which the audit takes over a build or a deletion that has'
        ' no host.',
    ),
    cfg.IntOpt(
        'allocation_audit_interval',
        default=1800,
        min=0,
        help='Seconds between two audits of the allocations on compute nodes. Allocations that belong '
        'to no server and no migration in two successive audits are deleted. 0 disables the '
        'audit.',
    ),
    cfg.IntOpt(
        'aggregate_audit_interval',
        default=300,
        min=0,
        help='Seconds between two audits in which the super-conductor compares the members of host '
        'aggregates with the aggregates that placement has for the resource providers of compute '
        'nodes. Differences are repaired in placement. Aggregates of placement that are not host '
        'aggregates of this deployment are not changed. 0 disables the audit.',
    ),
    cfg.StrOpt(
        'failures',
        default=str(nova_failures.Mode.UNDO),
        choices=[
            (
                'undo',
                'A move that fails is undone, or repeated where it cannot be undone, as far as possible.',
            ),
            (
                'nova',
                'A move that fails ends as in nova: the server can be in ERROR or keep its task, and '
                'resources can stay behind that an operator has to clean up. A server whose metadata '
                'has nova-lite-failures=undo is excepted.',
            ),
            (
                'metadata',
                'As undo, but users can choose the end as in nova for their servers, with the metadata '
                'nova-lite-failures=nova.',
            ),
        ],
        help='How moves of servers end that fail. The failures that differ are listed in '
        'doc/source/admin/failures.rst. Read by the super-conductor and by the API.',
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
